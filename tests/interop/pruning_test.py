#!/usr/bin/env python3
"""Plans with predicates: against the rows that are in the files, and against PyIceberg's plans.

    pruning_test.py --bin DIRECTORY [unittest's arguments]

DIRECTORY has the programs of the build. Run by run.py, in the environment that has PyIceberg.
ICEBLINK_SEED=N draws the predicates of another run again."""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import files_of_pyiceberg as theirs
import histories_of_pyiceberg as histories
import pyarrow
from catalog import Catalog
from predicates import draw
from pyarrow import parquet
from pyiceberg.types import DoubleType, FloatType, UUIDType

BIN_DIR = ""
PREDICATES = 400


def are_nans_unknown(predicate, types, table):
    """PyIceberg's files do not say how many there are, and to some engines they are above all."""
    return types & {FloatType, DoubleType}


def has_order_of_uuids(predicate, types, table):
    """Which is not one: older writers had another."""
    return UUIDType in types


def may_be_null_in_a_struct(predicate, types, table):
    """Where nulls are counted in the struct, and not those of it."""
    return any("." in column for column in predicate.columns)


def leaves_nulls_out(predicate, types, table):
    """To PyIceberg, nulls are other values than the one that `!=` has."""
    return predicate.has("!=") or predicate.has("not")


def joins_partitions_and_bounds(predicate, types, table):
    """To PyIceberg, one side of an `or` may be in the partition and the other one in the bounds."""
    return predicate.has("or") and any(spec.fields for spec in table.specs().values())


WE_LEAVE_IN_MORE = (are_nans_unknown, has_order_of_uuids, may_be_null_in_a_struct)
WE_LEAVE_OUT_MORE = (leaves_nulls_out, joins_partitions_and_bounds)


def is_wanted(predicate, row):
    """By one of the two ways in which engines compare NaN: by none, or above all numbers."""
    above = {column: math.inf if value != value else value for column, value in row.items()}
    return predicate.matches(row) or predicate.matches(above)


class Pruning(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        self.catalog = self.enterContext(Catalog(BIN_DIR))
        self.warehouse = histories.make_catalog(self.directory)
        self.seed = int(os.environ.get("ICEBLINK_SEED", random.randrange(2**32)))
        print(f"ICEBLINK_SEED={self.seed}", flush=True)
        self.random = random.Random(self.seed)

    def our_plans(self, table, predicates):
        ident = self.catalog.register(table.name()[-1], table.metadata_location)
        done = subprocess.run(
            [f"{BIN_DIR}/plan_dump", self.catalog.runtime_dir, ident], check=True, text=True,
            input="".join(json.dumps(predicate.ours) + "\n" for predicate in predicates),
            capture_output=True, timeout=60)
        return [json.loads(line) for line in done.stdout.split("\n")[:-1]]

    def rows_by_file(self, table):
        """Of each data file of the current snapshot: rows, by the names that columns have now."""
        names = {field.field_id: field.name for field in table.schema().fields}
        return {task.file.file_path: self.rows(task.file.file_path.removeprefix("file://"), names)
                for task in table.scan().plan_files()}

    @staticmethod
    def rows(path, names):
        """Of a file. What is in a struct stands beside the others."""
        data = parquet.read_table(path)
        columns = {}
        for at, field in enumerate(data.schema):
            name = names.get(int(field.metadata[b"PARQUET:field_id"]))
            values = data.column(at).to_pylist()
            if name and pyarrow.types.is_struct(field.type):
                for part in field.type:
                    columns[f"{name}.{part.name}"] = [value and value[part.name]
                                                      for value in values]
            elif name:
                columns[name] = values
        return [dict(zip(columns, values)) for values in zip(*columns.values())]

    def check(self, table, predicates):
        """How many files were left out, in all plans together."""
        rows = self.rows_by_file(table)
        plans = self.our_plans(table, predicates)
        self.assertEqual(len(plans), len(predicates))
        left_out = compared = 0
        for predicate, plan in zip(predicates, plans):
            with self.subTest(predicate=json.dumps(predicate.ours)):
                self.assertNotIn("error", plan)
                needed = {path for path, rows_of_file in rows.items()
                          if any(is_wanted(predicate, row) for row in rows_of_file)}
                self.assertEqual(needed - set(plan["paths"]), set(), "a file that has such rows")
                compared += self.compare(table, predicate, plan["paths"])
                left_out += len(rows) - len(plan["paths"])
        self.assertGreater(compared, len(predicates) / 2)
        return left_out

    def compare(self, table, predicate, paths):
        """With PyIceberg's plan. Whether it has one."""
        try:
            their_paths = [path for path, _ in theirs.plan(table, None, predicate.theirs)]
        except TypeError as error:  # it compares with a partition that is null
            self.assertIn("between instances of 'NoneType'", str(error))
            return False
        ours, others = set(paths), set(their_paths)
        of_types = {table.schema().find_type(column).__class__ for column in predicate.columns}
        if not any(reason(predicate, of_types, table) for reason in WE_LEAVE_IN_MORE):
            self.assertEqual(ours - others, set(), "PyIceberg leaves these out")
        if not any(reason(predicate, of_types, table) for reason in WE_LEAVE_OUT_MORE):
            self.assertEqual(others - ours, set(), "PyIceberg leaves these in")
        self.assertEqual([path for path in paths if path in others],
                         [path for path in their_paths if path in ours])
        return True

    def predicates(self, table, count=PREDICATES):
        """Drawn, with values that are in the table and others beside them."""
        values = {}
        for rows in self.rows_by_file(table).values():
            for row in rows:
                for column, value in row.items():
                    if value is not None and not (isinstance(value, float)
                                                  and not math.isfinite(value)):
                        values.setdefault(column, []).append(value)
        for column, of_column in values.items():
            of_column += histories.beside(table.schema().find_type(column), of_column)
        return [draw(self.random, values) for _ in range(count)]

    def test_changed_schemas_and_specs(self):
        for version in (1, 2):
            with self.subTest(version=version):
                table = histories.make_evolved(self.warehouse, version)
                self.assertGreater(self.check(table, self.predicates(table)), PREDICATES)

    def test_partitions_of_every_type(self):
        for table in histories.make_partitioned(self.warehouse, 2):
            with self.subTest(table=table.name()):
                self.check(table, self.predicates(table, 40))

    def test_nans(self):
        table = histories.make_with_nans(self.warehouse)
        self.check(table, self.predicates(table))

    def test_bounds_of_every_type(self):
        table = histories.make_bounded(self.warehouse)
        self.assertGreater(self.check(table, self.predicates(table)), PREDICATES)


if __name__ == "__main__":
    assert sys.argv[1] == "--bin", __doc__
    BIN_DIR = sys.argv[2]
    warnings.simplefilter("ignore")
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
