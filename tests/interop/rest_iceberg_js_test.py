#!/usr/bin/env python3
"""iceberg-js on the REST catalog: names as it writes them, pages, tables and commits.

    rest_iceberg_js_test.py --bin DIRECTORY [unittest's arguments]

DIRECTORY has the programs of the build. Run by run.py, in the environment that has it."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from iceberg_js import IcebergJs, Refused
from rest_test_case import RestTestCase, dotted, levels_of, run_tests, version_of

ODD = ("a.b", "t /x", "é+1", "\U0001f9ca%1F%2F", "q\"?&=#;")
FIELDS = [{"id": 7, "name": "id", "type": "long", "required": True},
          {"id": 9, "name": "l", "required": False, "type": {
              "type": "list", "element-id": 3, "element": "decimal(9, 2)",
              "element-required": False}}]
REQUEST = {"schema": {"type": "struct", "schema-id": 0, "fields": FIELDS,
                      "identifier-field-ids": [7]},
           "partition-spec": {"spec-id": 0, "fields": [
               {"source-id": 7, "field-id": 1000, "name": "b", "transform": "bucket[4]"}]},
           "properties": {"k": "ü"}}


class IcebergJsTestCase(RestTestCase):
    def setUp(self):
        super().setUp()
        self.js = self.enterContext(IcebergJs(self.server.uri))

    def create(self, levels, name, **members):
        """The result of creating the table."""
        return self.js.createTableResult({"namespace": levels}, REQUEST | {"name": name} | members)

    def assert_refused(self, status, kind, call, *arguments):
        with self.assertRaises(Refused) as refused:
            call(*arguments)
        self.assertEqual((refused.exception.status, refused.exception.type), (status, kind))


class Namespaces(IcebergJsTestCase):
    def test_with_odd_names_on_every_level(self):
        for size in range(1, len(ODD) + 1):
            levels = ODD[:size]
            self.js.createNamespace({"namespace": levels}, {"properties": {"size": str(size)}})
            self.assertTrue(self.js.namespaceExists({"namespace": levels}))
            self.assertEqual(self.js.loadNamespaceMetadata({"namespace": levels}),
                             {"properties": {"size": str(size)}})
            self.assertEqual(self.pyiceberg.load_namespace_properties(levels), {"size": str(size)})
            parent = {"parent": {"namespace": levels[:-1]}} if size > 1 else {}
            self.assertIn({"namespace": list(levels)}, self.js.listNamespaces(parent)["namespaces"])
            parent = [dotted(levels[:-1])] if size > 1 else []
            self.assertIn(levels, map(levels_of, self.server.lines("namespaces", *parent)))
        updated = self.js.updateNamespaceProperties(
            {"namespace": ODD}, {"updates": {"new": "ü"}, "removals": ["size", "missing"]})
        self.assertEqual(updated, {"updated": ["new"], "removed": ["size"], "missing": ["missing"]})
        self.assert_refused(409, "NamespaceNotEmptyException", self.js.dropNamespace,
                            {"namespace": ODD[:-1]})
        self.js.dropNamespace({"namespace": ODD})
        self.assertFalse(self.js.namespaceExists({"namespace": ODD}))
        self.assertEqual(self.js.listNamespaces({"parent": {"namespace": ODD[:-1]}})["namespaces"],
                         [])

    def test_that_are_refused(self):
        self.assert_refused(409, "AlreadyExistsException", self.js.createNamespace,
                            {"namespace": ["n"]})
        self.assert_refused(404, "NoSuchNamespaceException", self.js.dropNamespace,
                            {"namespace": ["missing"]})
        self.assert_refused(400, "IllegalArgumentException", self.js.createNamespace,
                            {"namespace": [""]})
        self.assertIsNone(self.js.createNamespaceIfNotExists({"namespace": ["n"]}))

    def pages(self, call, member):
        """What all pages have, and how many there were."""
        found, options, count = [], {"pageSize": 3}, 0
        while True:
            page = call(options | ({} if count else {"pageToken": ""}))
            count += 1
            self.assertLessEqual(len(page[member]), 3)
            found += page[member]
            if not page.get("nextPageToken"):
                return found, count
            options = {"pageSize": 3, "pageToken": page["nextPageToken"]}

    def test_in_pages(self):
        names = sorted([f"{number:02} {name}" for number in range(2) for name in ODD] + ["n"])
        for name in names:
            if name != "n":
                self.js.createNamespace({"namespace": [name]})
        found, count = self.pages(lambda options: self.js.listNamespaces(options), "namespaces")
        self.assertEqual(([entry["namespace"][0] for entry in found], count), (names, 4))

    def test_tables_of_one_in_pages(self):
        names = sorted([*ODD, "a", "b"])
        for name in names:
            self.create(["n"], name)
        found, count = self.pages(
            lambda options: self.js.listTables({"namespace": ["n"]}, options), "identifiers")
        self.assertEqual(([entry["name"] for entry in found], count), (names, 3))
        self.assertEqual([name for _, name in self.pyiceberg.list_tables("n")], names)


class Tables(IcebergJsTestCase):
    def test_from_creation_to_the_end(self):
        levels, name = list(ODD[:2]), ODD[2]
        ident = {"namespace": levels, "name": name}
        for size in (1, 2):
            self.js.createNamespace({"namespace": levels[:size]})
        made = self.create(levels, name)
        table = self.pyiceberg.load_table((*levels, name))
        self.assertEqual(made["metadata-location"], table.metadata_location)
        self.assertEqual(made["metadata"]["table-uuid"], str(table.metadata.table_uuid))
        self.assert_agree(table, 0)
        self.assertEqual([field.field_id for field in table.schema().fields], [1, 2])
        self.assertEqual(table.spec().fields[0].source_id, 1)
        self.assertTrue(self.js.tableExists(ident))
        loaded = self.js.loadTableResult(ident)
        self.assertEqual((loaded["metadata"], loaded["etag"]), (made["metadata"], made["etag"]))
        self.assertIsNone(self.js.loadTable(ident, {"ifNoneMatch": made["etag"]}))
        committed = self.js.commitTable(ident, {
            "requirements": [{"type": "assert-table-uuid", "uuid": made["metadata"]["table-uuid"]}],
            "updates": [{"action": "set-properties", "updates": {"new": "\U0001f9ca"}}]})
        self.assertEqual(committed["metadata"]["properties"], {"k": "ü", "new": "\U0001f9ca"})
        table.refresh()
        self.assertEqual(committed["metadata-location"], table.metadata_location)
        self.assert_agree(table, 1)
        self.assertIsNotNone(self.js.loadTable(ident, {"ifNoneMatch": made["etag"]}))
        self.js.renameTable({"source": ident, "destination": {"namespace": ["n"], "name": "t"}})
        self.assert_gone((*levels, name))
        self.assert_agree(self.pyiceberg.load_table("n.t"), 1)
        self.js.dropTable({"namespace": ["n"], "name": "t"}, {"purge": False})
        self.assert_gone(("n", "t"))
        registered = self.js.registerTableResult(
            {"namespace": ["n"]},
            {"name": "t", "metadata-location": committed["metadata-location"]})
        self.assertEqual(registered["metadata"], committed["metadata"])
        self.assert_agree(self.pyiceberg.load_table("n.t"), 1)

    def test_created_in_two_steps(self):
        staged = self.create(["n"], "t", **{"stage-create": True})
        self.assertFalse(staged.get("metadata-location"))
        self.assert_gone(("n", "t"))
        metadata = staged["metadata"]
        self.js.commitTable({"namespace": ["n"], "name": "t"}, {
            "requirements": [{"type": "assert-create"}],
            "updates": [
                {"action": "assign-uuid", "uuid": metadata["table-uuid"]},
                {"action": "upgrade-format-version", "format-version": 2},
                {"action": "add-schema", "schema": metadata["schemas"][0]},
                {"action": "set-current-schema", "schema-id": -1},
                {"action": "add-spec", "spec": metadata["partition-specs"][0]},
                {"action": "set-default-spec", "spec-id": -1},
                {"action": "set-location", "location": metadata["location"]}]})
        table = self.pyiceberg.load_table("n.t")
        self.assert_agree(table, 0)
        self.assertEqual(str(table.metadata.table_uuid), metadata["table-uuid"])

    def test_that_are_refused(self):
        self.create(["n"], "t")
        ident = {"namespace": ["n"], "name": "t"}
        missing = {"namespace": ["n"], "name": "missing"}
        set_property = {"action": "set-properties", "updates": {"new": "v"}}
        self.assert_refused(409, "AlreadyExistsException", self.create, ["n"], "t")
        self.assert_refused(404, "NoSuchNamespaceException", self.create, ["missing"], "t")
        self.assert_refused(404, "NoSuchTableException", self.js.loadTable, missing)
        self.assert_refused(404, "NoSuchTableException", self.js.commitTable, missing,
                            {"requirements": [], "updates": [set_property]})
        self.assert_refused(409, "CommitFailedException", self.js.commitTable, ident, {
            "requirements": [{"type": "assert-current-schema-id", "current-schema-id": 5}],
            "updates": [set_property]})
        self.assert_refused(400, "IllegalArgumentException", self.js.commitTable, ident, {
            "requirements": [], "updates": [{"action": "no-such-action"}]})
        table = self.pyiceberg.load_table("n.t")
        self.assert_agree(table, 0)
        self.assertEqual(version_of(table.metadata_location), 0)


if __name__ == "__main__":
    run_tests()
