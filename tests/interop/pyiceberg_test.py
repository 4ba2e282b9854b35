#!/usr/bin/env python3
"""Metadata between PyIceberg and us: we read what it writes, it reads what we write.

    pyiceberg_test.py --dump PROGRAM [unittest's arguments]

PROGRAM is metadata_dump. Run by run.py, in the environment that has PyIceberg."""

import gzip
import json
import re
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import documents
import model_values
from expected_values import EXPECTED_V3, EXPECTED_VIEW
from pyiceberg.exceptions import ValidationError
from pyiceberg.io import load_file_io
from pyiceberg.serializers import FromInputFile, ToOutputFile
from pyiceberg.table import StaticTable
from pyiceberg.table.metadata import TableMetadataUtil
from pyiceberg.view.metadata import ViewMetadata
from tables_of_pyiceberg import make_tables, new_v3_table, text_of_v3_table

SHARED = Path(__file__).resolve().parents[3] / "shared/data"
DUMP = ""


def run_dump(wanted, path):
    done = subprocess.run([DUMP, wanted, path], capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{path}: {done.stderr.decode()}")
    return done.stdout.decode()


def our_values(path):
    return model_values.parse_dump(run_dump("dump", path))


def load_table(path):
    return FromInputFile.table_metadata(load_file_io().new_input(str(path)))


class InteropTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def file(self, text, name="a.metadata.json"):
        path = Path(self.directory.name) / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def assert_same(self, ours, theirs, but=()):
        """`but`: members, named without brackets, that PyIceberg has otherwise."""
        def is_known(line):
            path = re.sub(r"\[\d+\]|{.*}", "", line.split(": ")[0])
            return any(path == known or path.startswith(known + ".") for known in but)

        found = [line for line in model_values.differences(ours, theirs) if not is_known(line)]
        self.assertEqual(found, [])

    def rewritten(self, path):
        """By us; with the name that a file of plain text has."""
        return self.file(run_dump("write", path), "rewritten.metadata.json")

    def assert_rewriting_keeps(self, path, table):
        again = load_table(self.rewritten(path))
        self.assertEqual(model_values.differences(model_values.of_table(again),
                                                  model_values.of_table(table)), [])
        if table.format_version == 1:
            # What readers of format 1 need beside the lists; PyIceberg leaves it as it once was.
            fields = [json.loads(field.model_dump_json()) for field in table.spec().fields]
            table = table.model_copy(update={"schema_": table.schema(), "partition_spec": fields})
        if table.schema().fields:  # PyIceberg takes a schema without columns for no schema
            self.assertEqual(again, table)


class TablesOfPyIceberg(InteropTest):
    """Every metadata file of tables that PyIceberg makes and changes."""

    def test_we_read_them_and_it_reads_what_we_write(self):
        paths = make_tables(self.directory.name)
        self.assertGreater(len(paths), 30)
        for path in paths:
            with self.subTest(path=path.name):
                table = load_table(path)
                self.assert_same(our_values(path), model_values.of_table(table))
                self.assert_rewriting_keeps(path, table)

    def test_it_reads_the_rows_by_what_we_write(self):
        paths = [path for path in make_tables(self.directory.name) if load_table(path).refs]
        self.assertTrue(paths)
        for path in paths[-3:]:
            by_original = StaticTable.from_metadata(str(path)).scan().to_arrow()
            by_ours = StaticTable.from_metadata(str(self.rewritten(path))).scan().to_arrow()
            self.assertGreater(by_ours.num_rows, 0)
            self.assertEqual(by_ours, by_original)

    def test_files_that_it_writes_of_documents_by_hand(self):
        for name in ("plain.metadata.json", "compressed.gz.metadata.json"):
            for document in (documents.table_v1(), documents.table_v2()):
                with self.subTest(name=name, version=document["format-version"]):
                    table = TableMetadataUtil.parse_raw(json.dumps(document))
                    path = Path(self.directory.name) / name
                    output = load_file_io().new_output(str(path))
                    ToOutputFile.table_metadata(table, output, overwrite=True)
                    self.assertEqual(path.read_bytes()[:1] == b"\x1f", ".gz." in name)
                    self.assert_same(our_values(path), model_values.of_table(table))
                    self.assert_rewriting_keeps(path, table)

    def test_what_it_says_of_a_table_of_format_3(self):
        table = new_v3_table()
        path = self.file(text_of_v3_table(table))
        self.assert_same(our_values(path), model_values.of_table(table))
        self.assert_rewriting_keeps(path, table)


class DocumentsByHand(InteropTest):
    """Documents with every member there is, and the extremes of their types."""

    def check(self, document, but=()):
        path = self.file(json.dumps(document))
        table = load_table(path)
        self.assert_same(our_values(path), model_values.of_table(table), but)
        return path, table

    def test_format_1(self):
        self.assert_rewriting_keeps(*self.check(documents.table_v1()))

    def test_format_1_with_no_more_than_it_demands(self):
        # PyIceberg makes up a uuid, another one each time.
        uuid = {"table_uuid", "table_uuid_text"}
        path, _ = self.check(documents.table_v1_bare(), but=uuid)
        table = load_table(self.rewritten(path))
        self.assert_same(our_values(path), model_values.of_table(table), but=uuid)
        self.assert_rewriting_keeps(
            *self.check(documents.table_v1_bare() | {"table-uuid": documents.TABLE_UUID}))

    def test_format_2(self):
        self.assert_rewriting_keeps(*self.check(documents.table_v2()))

    def test_format_2_without_columns_and_snapshots(self):
        self.assert_rewriting_keeps(*self.check(documents.table_v2_empty()))

    def test_format_3_as_far_as_pyiceberg_goes(self):
        self.assert_rewriting_keeps(*self.check(documents.table_v3()))

    def test_no_current_snapshot_however_it_is_written(self):
        for none in ({"current-snapshot-id": -1}, {"current-snapshot-id": None}, {}):
            for version in (1, 2, 3):
                document = documents.table_v2_empty() | none | {"format-version": version}
                if version == 1:
                    document = documents.table_v1_bare() | none
                    document |= {"table-uuid": documents.TABLE_UUID}
                with self.subTest(none=none, version=version):
                    self.assert_rewriting_keeps(*self.check(document))

    def test_gzip(self):
        text = json.dumps(documents.table_v2()).encode()
        path = self.file(gzip.compress(text), "a.gz.metadata.json")
        table = load_table(path)
        self.assert_same(our_values(path), model_values.of_table(table))
        self.assert_rewriting_keeps(path, table)

    def test_ids_beyond_64_bits_are_refused(self):
        # PyIceberg's integers have no end: it reads such a file.
        document = documents.table_v2() | {"last-updated-ms": 2**63}
        TableMetadataUtil.parse_raw(json.dumps(document))
        with self.assertRaisesRegex(AssertionError, "last-updated-ms.*does not fit into 64 bits"):
            our_values(self.file(json.dumps(document)))

    def test_a_view(self):
        path = self.file(json.dumps(documents.view()))
        view = ViewMetadata.model_validate_json(path.read_bytes())
        self.assert_same(our_values(path), model_values.of_view(view))
        again = ViewMetadata.model_validate_json(self.rewritten(path).read_bytes())
        self.assertEqual(again, view)


class BeyondPyIceberg(InteropTest):
    """What PyIceberg does not know, against values that were written down by hand."""

    def assert_has(self, values, expected):
        """`expected`: for each path, the values of all that lie under it."""
        for path, members in expected.items():
            found = {at[len(path):].lstrip("."): value for at, value in values.items()
                     if at == path or at.startswith((path + ".", path + "[", path + "{"))}
            self.assertEqual(found, members, path)

    def test_format_3(self):
        path = self.file(json.dumps(documents.table_v3_all()))
        values = our_values(path)
        self.assert_has(values, EXPECTED_V3)
        self.assertEqual(our_values(self.rewritten(path)), values)

    def test_format_3_is_the_table_that_pyiceberg_knows_and_more(self):
        known = our_values(self.file(json.dumps(documents.table_v3()), "known"))
        values = our_values(self.file(json.dumps(documents.table_v3_all()), "all"))
        changed = {"last_column_id", "encryption_keys", "snapshots[2].first_row_id",
                   "snapshots[2].added_rows", "snapshots[2].key_id"}
        self.assertEqual({path for path, value in known.items() if values.get(path) != value},
                         changed)

    def test_a_view(self):
        path = self.file(json.dumps(documents.view()))
        values = our_values(path)
        self.assert_has(values, EXPECTED_VIEW)
        self.assertEqual(our_values(self.rewritten(path)), values)

    def test_a_view_with_a_representation_of_another_type(self):
        document = documents.view()
        document["versions"][0]["representations"].insert(0, {"type": "plan", "plan": [1]})
        path = self.file(json.dumps(document))
        values = our_values(path)
        self.assertEqual(our_values(self.rewritten(path)), values)
        at = "versions[0].representations"
        self.assert_has(values, {f"{at}[0]": {"type": "plan", "sql": "", "dialect": "",
                                                  "json": '{"type":"plan","plan":[1]}'},
                                 f"{at}[1]": EXPECTED_VIEW[f"{at}[0]"]})

    def test_format_1_with_manifests_in_the_snapshot(self):
        document = documents.table_v1_bare() | {
            "current-snapshot-id": 7,
            "snapshots": [{"snapshot-id": 7, "timestamp-ms": 8, "manifests": ["/m1", "/m2"]}]}
        path = self.file(json.dumps(document))
        values = our_values(path)
        self.assert_has(values, {"snapshots[0].manifests": {"[0]": "/m1", "[1]": "/m2"},
                                 "snapshots[0].manifest_list": {"": ""},
                                 "snapshots[0].operation": {"": "overwrite"},
                                 "snapshots[0].summary": {"": {}}})
        self.assertEqual(our_values(self.rewritten(path)), values)


# Why PyIceberg refuses files that are valid: what it says, and the rule that it has alone.
REFUSED_BY_PYICEBERG = {
    r"manifest-list\s+Field required": "manifests in the snapshot, as format 1 allows",
    r"should be a valid UUID": "a table-uuid that is none, which formats below 4 do not forbid",
    r"blob-metadata.*should be 'apache-datasketches": "a type of blob that it does not know",
    r"1\.schema\s+Field required": "format 1 with schemas and without schema"}
# What the two read otherwise: the members, and why.
READ_OTHERWISE = {"encryption_keys": "PyIceberg passes over them",
                  "snapshots.key_id": "and over the names of them"}
# Files that may be read and not written: two representations of one dialect.
NOT_WRITTEN = {"ViewMetadataMultipleSQLsForDialect.json"}


@unittest.skipUnless((SHARED / "expectations.tsv").exists(), "no files of other projects here")
class FilesOfOtherProjects(InteropTest):
    """Metadata files from the tests and test data of other implementations."""

    def parts(self, kind, path):
        """The path of a metadata file and its text; a response's metadata becomes one."""
        bytes = path.read_bytes()
        if kind == "load-table-response":
            bytes = json.dumps(json.loads(bytes)["metadata"]).encode()
            path = self.file(bytes, "of_response")
        text = gzip.decompress(bytes) if bytes.startswith(b"\x1f\x8b") else bytes
        return path, text.decode()

    def test_each_that_is_valid(self):
        seen = set()
        for line in (SHARED / "expectations.tsv").read_text().splitlines()[1:]:
            name, kind, expected = line.split("\t")[:3]
            if expected != "accept":
                continue
            with self.subTest(file=name):
                seen |= self.check_file(kind, *self.parts(kind, SHARED / name))
        self.assertEqual(seen, {"same", "refused", "otherwise", "not written"})

    def check_file(self, kind, path, text):
        is_view = kind == "view"
        parse = ViewMetadata.model_validate_json if is_view else TableMetadataUtil.parse_raw
        values_of = model_values.of_view if is_view else model_values.of_table
        ours = our_values(path)
        try:
            theirs = parse(text)
        except (ValueError, ValidationError) as error:
            self.assertTrue(any(re.search(pattern, str(error), re.DOTALL)
                                for pattern in REFUSED_BY_PYICEBERG), str(error))
            return {"refused"}
        otherwise = {} if is_view else READ_OTHERWISE
        self.assert_same(ours, values_of(theirs), but=otherwise)
        seen = {"otherwise" if model_values.differences(ours, values_of(theirs)) else "same"}
        if path.name in NOT_WRITTEN:
            return seen | {"not written"}
        again = parse(run_dump("write", path))
        self.assertEqual(model_values.differences(values_of(again), values_of(theirs)), [])
        return seen


if __name__ == "__main__":
    assert sys.argv[1] == "--dump", __doc__
    DUMP = sys.argv[2]
    warnings.simplefilter("ignore")
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
