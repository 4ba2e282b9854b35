#!/usr/bin/env python3
"""PyIceberg's REST client: what it makes and changes is what every process of the host sees.

    rest_pyiceberg_test.py --bin DIRECTORY [unittest's arguments]

DIRECTORY has the programs of the build. Run by run.py, in the environment that has PyIceberg."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import pyarrow
import tables_of_pyiceberg as tables
from pyiceberg.exceptions import (CommitFailedException, NamespaceAlreadyExistsError,
                                  NamespaceNotEmptyError, NoSuchNamespaceError, NoSuchTableError,
                                  NoSuchViewError, RESTError, TableAlreadyExistsError,
                                  ViewAlreadyExistsError)
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.types import DoubleType
from pyiceberg.view.metadata import SQLViewRepresentation, ViewVersion
from rest_test_case import RestTestCase, dotted, levels_of, path_of, run_tests
from small_tables import ARROW, SCHEMA, rows


class Namespaces(RestTestCase):
    def test_levels_and_properties(self):
        odd = ("a.b", "c d+e", "ü/\U0001f9ca%41")
        for size in range(1, len(odd) + 1):
            self.pyiceberg.create_namespace(odd[:size], {"level": str(size), "ü": ""})
        with self.assertRaises(NamespaceAlreadyExistsError):
            self.pyiceberg.create_namespace(odd)
        with self.assertRaisesRegex(RESTError, "NoSuchNamespaceException"):
            self.pyiceberg.create_namespace(("missing", "child"))
        self.assertEqual(self.pyiceberg.list_namespaces(), [odd[:1], ("n",)])
        self.assertEqual(self.pyiceberg.list_namespaces(odd[:1]), [odd[:2]])
        self.assertEqual(list(map(levels_of, self.server.lines("namespaces", dotted(odd[:2])))),
                         [odd])
        # It percent-encodes a parent's levels twice.
        with self.assertRaisesRegex(NoSuchNamespaceError, "c%20d%2Be"):
            self.pyiceberg.list_namespaces(odd[:2])
        self.assertEqual(self.pyiceberg.load_namespace_properties(odd), {"level": "3", "ü": ""})
        changed = self.pyiceberg.update_namespace_properties(
            odd, removals={"ü", "missing"}, updates={"level": "3+", "new": "\U0001f9ca"})
        self.assertEqual((set(changed.removed), set(changed.updated), set(changed.missing)),
                         ({"ü"}, {"level", "new"}, {"missing"}))
        self.assertEqual(self.pyiceberg.load_namespace_properties(odd),
                         {"level": "3+", "new": "\U0001f9ca"})
        with self.assertRaises(NamespaceNotEmptyError):
            self.pyiceberg.drop_namespace(odd[:2])
        self.pyiceberg.drop_namespace(odd)
        self.assertFalse(self.pyiceberg.namespace_exists(odd))
        self.assertTrue(self.pyiceberg.namespace_exists(odd[:2]))
        with self.assertRaises(NoSuchNamespaceError):
            self.pyiceberg.load_namespace_properties(odd)

    def test_tables_and_views_keep_a_namespace(self):
        self.pyiceberg.create_table("n.t", SCHEMA)
        with self.assertRaises(NamespaceNotEmptyError):
            self.pyiceberg.drop_namespace("n")
        self.pyiceberg.drop_table("n.t")
        self.pyiceberg.drop_namespace("n")
        with self.assertRaises(NoSuchNamespaceError):
            self.pyiceberg.create_table("n.t", SCHEMA)


class NewTables(RestTestCase):
    def create(self, name, schema=SCHEMA, **options):
        table = self.pyiceberg.create_table(("n", name), schema, **options)
        self.assert_agree(table, 0)
        return table

    def test_of_each_format_version(self):
        for version in (1, 2):
            table = self.create(f"v{version}",
                                properties={"format-version": str(version), "k": "ü"})
            self.assertEqual((table.format_version, table.properties), (version, {"k": "ü"}))
            self.assertEqual(table.schema().fields, SCHEMA.fields)
            self.assert_below_the_warehouse(table)
        self.assertEqual(self.create("default").format_version, 2)

    def test_with_every_type_partitioned_and_sorted(self):
        table = self.create("t", tables.schema(), partition_spec=tables.spec(),
                            sort_order=tables.order())
        self.assertEqual(len(table.spec().fields), len(tables.spec().fields))
        self.assertEqual(len(table.sort_order().fields), len(tables.order().fields))
        self.assertEqual(table.schema().as_arrow(), tables.schema().as_arrow().with_metadata(None))

    def test_where_they_are_asked_for(self):
        for number, scheme in enumerate(("", "file://")):
            location = f"{scheme}{self.server.warehouse}/given/{number}"
            table = self.create(f"t{number}", location=location + "/")
            self.assertEqual(table.location(), location)
        with self.assertRaises(Exception):
            self.pyiceberg.create_table("n.outside", SCHEMA, location="/outside/of/the/warehouse")
        self.assert_gone(("n", "outside"))

    def test_where_their_properties_ask_for_it(self):
        elsewhere = f"{self.server.warehouse}/elsewhere"
        table = self.pyiceberg.create_table("n.t", SCHEMA,
                                            properties={"write.metadata.path": elsewhere})
        table.append(rows(1))
        self.assertEqual(path_of(table.metadata_location).parent, Path(elsewhere))
        self.assertEqual(self.pointer(("n", "t")), table.metadata_location)

    def test_with_compressed_metadata(self):
        table = self.create("t", properties={"write.metadata.compression-codec": "gzip"})
        self.assertTrue(table.metadata_location.endswith(".gz.metadata.json"))
        table.append(rows(1))
        self.assert_agree(table, 1)

    def test_a_name_is_taken(self):
        first = self.create("t")
        with self.assertRaises(TableAlreadyExistsError):
            self.pyiceberg.create_table("n.t", SCHEMA)
        self.assert_agree(first, 0)
        self.assertEqual(self.pyiceberg.create_table_if_not_exists("n.t", SCHEMA), first)

    def test_odd_names(self):
        names = ["a.b", "c d", "e+f", "g/h", "ü\U0001f9ca", "%41", "...", "I'm \"quoted\"",
                 "x" * 200]  # of ".." it makes the URL of a namespace
        made = [self.create(name) for name in names]
        self.assertEqual(sorted(name for _, name in self.pyiceberg.list_tables("n")), sorted(names))
        self.assertEqual(len({table.location() for table in made}), len(names))
        for table in made:
            self.assert_below_the_warehouse(table)
            table.append(rows(1))
            self.assert_agree(table, 1)

    def test_in_a_staged_transaction(self):
        with self.pyiceberg.create_table_transaction(
                "n.t", SCHEMA, partition_spec=PartitionSpec(
                    PartitionField(1, 1000, BucketTransform(4), "b")),
                sort_order=SortOrder(SortField(1, IdentityTransform(), SortDirection.DESC,
                                               NullOrder.NULLS_LAST)),
                properties={"k": "v"}) as transaction:
            self.assert_gone(("n", "t"))
            with transaction.update_schema() as update:
                update.add_column("added", DoubleType())
            transaction.set_properties({"later": "w"})
            self.assertEqual(list(self.server.warehouse.rglob("*.metadata.json")), [])
        table = self.pyiceberg.load_table("n.t")
        self.assert_agree(table, 0)
        self.assertEqual(table.properties, {"k": "v", "later": "w"})
        self.assertEqual(table.schema().column_names, ["id", "name", "added"])
        self.assertEqual((len(table.spec().fields), len(table.sort_order().fields)), (1, 1))
        table.append(pyarrow.table({"id": [1], "name": ["n"], "added": [0.5]}, schema=ARROW.append(
            pyarrow.field("added", pyarrow.float64()))))
        self.assert_agree(table, 1)

    def test_of_two_staged_transactions_one_is(self):
        transactions = [self.pyiceberg.create_table_transaction("n.t", SCHEMA) for _ in range(2)]
        transactions[0].commit_transaction()
        with self.assertRaises(CommitFailedException):
            transactions[1].commit_transaction()
        self.assert_agree(self.pyiceberg.load_table("n.t"), 0)


class Names(RestTestCase):
    def test_renamed(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        table.append(rows(1))
        self.pyiceberg.create_namespace("m")
        renamed = self.pyiceberg.rename_table("n.t", "m.u")
        self.assert_gone(("n", "t"))
        self.assert_agree(renamed, 1)
        renamed.append(rows(2))
        self.assert_agree(renamed, 2)
        other = self.pyiceberg.create_table("n.t", SCHEMA)
        self.assertNotEqual(other.location(), renamed.location())
        with self.assertRaises(TableAlreadyExistsError):
            self.pyiceberg.rename_table("n.t", "m.u")
        with self.assertRaises(NoSuchTableError):
            self.pyiceberg.rename_table("n.missing", "n.x")
        self.assert_agree(other, 0)

    def test_dropped_and_registered_again(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        table.append(rows(1))
        self.pyiceberg.drop_table("n.t")
        self.assert_gone(("n", "t"))
        with self.assertRaises(NoSuchTableError):
            self.pyiceberg.load_table("n.t")
        with self.assertRaises(NoSuchTableError):
            self.pyiceberg.drop_table("n.t")
        again = self.pyiceberg.register_table("n.again", table.metadata_location)
        self.assertEqual(again.metadata, table.metadata)
        self.assert_agree(again, 1)
        again.append(rows(2))
        self.assert_agree(again, 2)
        with self.assertRaises(TableAlreadyExistsError):
            self.pyiceberg.register_table("n.again", table.metadata_location)
        back = self.pyiceberg.register_table("n.again", table.metadata_location, overwrite=True)
        self.assert_agree(back, 1)

    def test_purged(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        table.append(rows(1))
        table.delete("id = 1")
        kept = self.pyiceberg.create_table("n.kept", SCHEMA)
        self.pyiceberg.purge_table("n.t")
        self.assert_gone(("n", "t"))
        left = [path for path in path_of(table.location()).rglob("*") if path.is_file()]
        self.assertEqual(left, [])
        self.assert_agree(kept, 0)


class Views(RestTestCase):
    def create(self, ident, **options):
        version = ViewVersion(schema_id=0, default_namespace=("n",), summary={"engine-name": "ü"},
                              representations=[SQLViewRepresentation(
                                  type="sql", sql="SELECT 1 AS id", dialect="spark")])
        return self.pyiceberg.create_view(ident, SCHEMA, version, **options)

    def test_created_listed_and_dropped(self):
        view = self.create("n.v", properties={"k": "ü"})
        self.assert_same_view(view)
        self.assertEqual(view.sql_for("spark").sql, "SELECT 1 AS id")
        self.assertTrue(self.pyiceberg.view_exists("n.v"))
        self.assertEqual(self.pyiceberg.list_views("n"), [("n", "v")])
        self.assertEqual(self.pyiceberg.list_tables("n"), [])
        with self.assertRaises(ViewAlreadyExistsError):
            self.create("n.v")
        with self.assertRaises(NoSuchTableError):
            self.pyiceberg.load_table("n.v")
        self.pyiceberg.drop_view("n.v")
        self.assertFalse(self.pyiceberg.view_exists("n.v"))
        with self.assertRaises(NoSuchViewError):
            self.pyiceberg.load_view("n.v")

    def test_where_they_are_asked_for(self):
        location = f"{self.server.warehouse}/views/v"
        view = self.create("n.v", location=location + "/")
        self.assertEqual(view.location(), location)
        self.assert_same_view(view)
        file, = path_of(location).rglob("*.metadata.json")
        self.pyiceberg.drop_view("n.v")
        again = self.pyiceberg.register_view("n.w", str(file))
        self.assertEqual(again.metadata, view.metadata)
        self.assert_same_view(again)

    def test_names_are_shared_with_tables(self):
        self.create("n.v")
        with self.assertRaises(TableAlreadyExistsError):
            self.pyiceberg.create_table("n.v", SCHEMA)
        self.pyiceberg.create_table("n.t", SCHEMA)
        with self.assertRaises(ViewAlreadyExistsError):
            self.create("n.t")
        with self.assertRaises(TableAlreadyExistsError):
            self.pyiceberg.rename_table("n.t", "n.v")


if __name__ == "__main__":
    run_tests()
