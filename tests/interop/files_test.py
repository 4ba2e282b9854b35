#!/usr/bin/env python3
"""Files of snapshots and plans of scans: what we say of them, and what PyIceberg says.

    files_test.py --bin DIRECTORY [unittest's arguments]

DIRECTORY has the programs of the build. Run by run.py, in the environment that has PyIceberg."""

import itertools
import json
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import files_of_pyiceberg as theirs
import histories_of_pyiceberg as histories
import mapped_io
from catalog import Catalog
from pyarrow import parquet
from pyiceberg.exceptions import ValidationError
from pyiceberg.table import StaticTable
from pyiceberg.types import UUIDType

SHARED = Path(__file__).resolve().parents[3] / "shared/data"
BIN_DIR = ""


def our_plan(catalog, ident, *options):
    return [(task["file_path"], sorted(file["file_path"] for file in task["delete_files"]))
            for task in catalog.objects("files", ident, "--plan", *options)]


def has_uuids(table):
    """PyIceberg has no table of bounds of UUIDs."""
    return any(isinstance(field.field_type, UUIDType) for field in table.schema().fields)


def has_partitions_of_dropped_columns(table):
    """Nor one of partitions whose column is gone."""
    known = table.schema()._lazy_id_to_field
    return any(field.source_id not in known
               for spec in table.specs().values() for field in spec.fields)


NOT_SHOWN_BY_PYICEBERG = (has_uuids, has_partitions_of_dropped_columns)


class FilesTest(unittest.TestCase):
    maxDiff = 5000

    def assert_same_files(self, catalog, ident, table, snapshot):
        """Of one snapshot: files, plan, and what PyIceberg shows of them to people, if it can."""
        options = ("--snapshot", snapshot.snapshot_id)
        files = catalog.objects("files", ident, *options)
        self.assertEqual(files, theirs.live_files(table, snapshot.manifests(table.io)))
        self.assertEqual(our_plan(catalog, ident, *options),
                         theirs.plan(table, snapshot.snapshot_id))
        if reason := next((reason for reason in NOT_SHOWN_BY_PYICEBERG if reason(table)), None):
            with self.assertRaises(Exception, msg=reason.__doc__):
                table.inspect.files(snapshot.snapshot_id)
            return files
        shown = table.inspect.files(snapshot.snapshot_id).to_pylist()
        columns = ("content", "file_path", "file_format", "record_count", "file_size_in_bytes")
        self.assertEqual([[file[name] for name in columns] for file in files],
                         [[file[name] for name in columns] for file in shown])
        return files


# Tables that PyIceberg cannot read: what it stumbles over.
REFUSED_BY_PYICEBERG = {
    "duckdb-iceberg/big_query_error": "maps without ids in a manifest",
    "duckdb-iceberg/iceberg_v1_deprecated": "manifests in the snapshot, as format 1 allows"}
# What locations in these tables begin with, and the folder that has the same below it.
FOLDERS = {"data/persistent": "duckdb-iceberg",
           "lineitem_iceberg": "duckdb-iceberg/iceberg/lineitem_iceberg",
           "lineitem_iceberg_gz": "duckdb-iceberg/iceberg/lineitem_iceberg_gz",
           "s3://hyperparam-iceberg": "icebird", "s3a://hyperparam-iceberg": "icebird"}
PREFIXES = [(given, SHARED / folder) for given, folder in FOLDERS.items()]


@unittest.skipUnless((SHARED / "expectations.tsv").exists(), "no tables of other projects here")
class TablesOfOtherProjects(FilesTest):
    """Complete tables from the tests and test data of other implementations."""

    def metadata_files(self, *verdicts):
        """Of tables that have manifests, too: names, and whether they are valid."""
        for line in (SHARED / "expectations.tsv").read_text().splitlines()[1:]:
            name, kind, verdict = line.split("\t")[:3]
            has_manifests = any((SHARED / name).parent.glob("*.avro"))
            if kind == "table" and verdict in verdicts and has_manifests:
                yield name

    def open_in_pyiceberg(self, name):
        return StaticTable.from_metadata(str(SHARED / name), mapped_io.properties(
            (given, str(read)) for given, read in PREFIXES))

    def test_every_snapshot_of_each(self):
        refused = set()
        tables = {}
        with Catalog(BIN_DIR, PREFIXES) as catalog:
            for number, name in enumerate(self.metadata_files("accept")):
                folder = "/".join(name.split("/")[:2])
                with self.subTest(file=name):
                    ident = catalog.register(f"t{number}", SHARED / name)
                    snapshots = catalog.objects("snapshots", ident)
                    tables[folder] = tables.get(folder, 0) + len(snapshots)
                    if snapshots and folder in REFUSED_BY_PYICEBERG:
                        refused.add(folder)
                        self.check_beyond_pyiceberg(catalog, ident, name)
                        continue
                    self.check_table(catalog, ident, self.open_in_pyiceberg(name), snapshots)
        self.assertEqual(refused, set(REFUSED_BY_PYICEBERG))
        self.assertGreaterEqual(len(tables), 20)
        self.assertNotIn(0, tables.values(), "a table without any snapshot")

    def check_table(self, catalog, ident, table, snapshots):
        self.assertEqual([snapshot["snapshot-id"] for snapshot in snapshots],
                         [snapshot.snapshot_id for snapshot in table.snapshots()])
        for snapshot in table.snapshots():
            files = self.assert_same_files(catalog, ident, table, snapshot)
            self.check_records(files)
        current = table.current_snapshot()
        self.assertEqual(catalog.objects("files", ident), [] if current is None else
                         catalog.objects("files", ident, "--snapshot", current.snapshot_id))

    def check_records(self, files):
        """Against the data files themselves, as far as they are here."""
        checked = 0
        for file in files[:10]:
            path = file["file_path"]
            for given, read in PREFIXES:
                if path.startswith(given + "/"):
                    path = f"{read}{path[len(given):]}"
            if file["file_format"] == "PARQUET" and Path(path).exists():
                self.assertEqual(parquet.read_metadata(path).num_rows, file["record_count"])
                checked += 1
        return checked

    def check_beyond_pyiceberg(self, catalog, ident, name):
        with self.assertRaises((ValueError, TypeError, ValidationError)):  # else it reads them now
            table = self.open_in_pyiceberg(name)
            theirs.live_files(table, table.current_snapshot().manifests(table.io))
        files = catalog.objects("files", ident)
        self.assertEqual(self.check_records(files), len(files))
        self.assertEqual([file["file_path"] for file in files],
                         [path for path, deletes in our_plan(catalog, ident) if deletes == []])
        if "v1_deprecated" in name:
            self.check_embedded_manifests(files, name)

    def check_embedded_manifests(self, files, name):
        """What it can read: the manifests, by a table that has none."""
        table = self.open_in_pyiceberg(name.replace("v2", "v1"))
        snapshot = json.loads((SHARED / name).read_text())["snapshots"][0]
        manifests = [theirs.embedded_manifest(path, snapshot["snapshot-id"])
                     for path in snapshot["manifests"]]
        self.assertEqual(files, theirs.live_files(table, manifests))

    def test_what_is_refused_stays_refused(self):
        names = list(self.metadata_files("reject"))
        self.assertEqual({name.split("/")[1] for name in names},
                         {"big_query_error", "equality_delete_extra_column"})
        with Catalog(BIN_DIR, PREFIXES) as catalog:
            for number, name in enumerate(names):
                with self.subTest(file=name):
                    # The daemon looks at what a catalog must know, and the one fault is elsewhere.
                    done = catalog.run("register", f"n.r{number}", SHARED / name)
                    self.assertEqual(done.returncode, 5 if "big_query_error" in name else 0)
                    ident = catalog.register(f"u{number}", SHARED / name, "--unverified")
                    for command in ("table", "snapshots", "files"):
                        done = catalog.run(command, ident)
                        self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
                        self.assertIn(name, done.stderr)

    def test_a_table_without_snapshots_has_no_files(self):
        with Catalog(BIN_DIR) as catalog:
            ident = catalog.register(
                "t", SHARED / "duckdb-iceberg/partition_bool/metadata/v1.metadata.json")
            for options in ((), ("--plan",), ("--json",)):
                self.assertEqual(catalog.lines("files", ident, *options), [])


class TablesOfPyIceberg(FilesTest):
    """Tables that PyIceberg makes here: it knows what is in them."""

    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.warehouse = histories.make_catalog(directory)
        self.catalog = self.enterContext(Catalog(BIN_DIR))

    def register(self, table):
        return self.catalog.register(table.name()[-1], table.metadata_location)

    def check_history(self, table):
        """Every snapshot, every ref, and every time at which something changed."""
        ident = self.register(table)
        for snapshot in table.snapshots():
            files = self.assert_same_files(self.catalog, ident, table, snapshot)
            if all(file["content"] == 0 for file in files):
                self.assertEqual(sum(file["record_count"] for file in files),
                                 table.scan(snapshot_id=snapshot.snapshot_id).count())
        for name, ref in table.metadata.refs.items():
            self.assert_is_snapshot(ident, ref.snapshot_id, "--ref", name)
        for at in {entry.timestamp_ms + step for entry in table.history() for step in (-1, 0, 1)}:
            current = table.snapshot_as_of_timestamp(at)
            self.assert_is_snapshot(ident, current and current.snapshot_id, "--as-of", at)
        self.assert_is_snapshot(ident, table.current_snapshot().snapshot_id)
        self.check_diffs(ident, table)
        return ident

    def assert_is_snapshot(self, ident, snapshot_id, *options):
        """That these options mean that snapshot. None: there is none."""
        if snapshot_id is None:
            done = self.catalog.run("files", ident, *options)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            return
        self.assertEqual(self.catalog.lines("files", ident, *options),
                         self.catalog.lines("files", ident, "--snapshot", snapshot_id), options)

    def check_diffs(self, ident, table):
        """Between every two snapshots, in both directions."""
        paths = {snapshot.snapshot_id: {file["file_path"] for file in theirs.live_files(
                     table, snapshot.manifests(table.io))} for snapshot in table.snapshots()}
        for older, newer in itertools.product(paths, repeat=2):
            changes = {"added": set(), "removed": set()}
            for file in self.catalog.objects("diff", ident, older, newer):
                changes[file["change"]].add(file["file_path"])
            self.assertEqual(changes, {"added": paths[newer] - paths[older],
                                       "removed": paths[older] - paths[newer]})

    def test_changed_schemas_and_specs(self):
        for version in (1, 2):
            with self.subTest(version=version):
                self.check_history(histories.make_evolved(self.warehouse, version))

    def test_branches_tags_and_a_main_that_went_back(self):
        for version in (1, 2):
            with self.subTest(version=version):
                table = histories.make_branched(self.warehouse, version)
                ident = self.check_history(table)
                expired = {entry.snapshot_id for entry in table.history()} - {
                    snapshot.snapshot_id for snapshot in table.snapshots()}
                for snapshot_id in expired:
                    done = self.catalog.run("files", ident, "--snapshot", snapshot_id)
                    self.assertEqual(done.returncode, 1)

    def test_manifests_that_were_rewritten(self):
        self.check_history(histories.make_merged(self.warehouse))

    def test_position_deletes(self):
        table = histories.make_deleted_by_position(self.warehouse)
        ident = self.check_history(table)
        applied = [len(deletes) for _, deletes in our_plan(self.catalog, ident)]
        self.assertEqual({0, 1, 2}, set(applied))

    def test_equality_deletes(self):
        """PyIceberg plans no scan with them, so the rules are written down here once more."""
        table = histories.make_deleted_by_value(self.warehouse)
        ident = self.register(table)
        for snapshot in table.snapshots():
            options = ("--snapshot", snapshot.snapshot_id)
            files = self.catalog.objects("files", ident, *options)
            self.assertEqual(files, theirs.live_files(table, snapshot.manifests(table.io)))
            deletes = [file for file in files if file["content"] == 2]
            self.assertEqual(our_plan(self.catalog, ident, *options), [
                (file["file_path"], sorted(delete["file_path"] for delete in deletes
                                           if self.is_applied(delete, file)))
                for file in files if file["content"] == 0])
        applied = [len(deletes) for _, deletes in our_plan(self.catalog, ident)]
        self.assertEqual({0, 1, 2}, set(applied))
        with self.assertRaisesRegex(ValueError, "does not yet support equality deletes"):
            theirs.plan(table, table.current_snapshot().snapshot_id)

    @staticmethod
    def is_applied(delete, file):
        """To rows that are older, everywhere if the spec has no partitions, else in its own."""
        is_everywhere = delete["partition"] == {}
        is_same = (delete["spec_id"], delete["partition"]) == (file["spec_id"], file["partition"])
        return delete["sequence_number"] > file["sequence_number"] and (is_everywhere or is_same)

    def test_partitions_of_every_type(self):
        count = 0
        for version in (1, 2):
            for table in histories.make_partitioned(self.warehouse, version):
                with self.subTest(table=table.name()):
                    ident = self.register(table)
                    self.assert_same_files(self.catalog, ident, table, table.current_snapshot())
                    count += 1
        self.assertGreater(count, 60)


if __name__ == "__main__":
    assert sys.argv[1] == "--bin", __doc__
    BIN_DIR = sys.argv[2]
    warnings.simplefilter("ignore")
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
