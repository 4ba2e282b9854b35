"""A daemon for each test, a client of its REST protocol, and who else on the host sees the tables:
`iceblink`, and a process that maps the segment."""

import json
import re
import sys
import unittest
import warnings
from pathlib import Path

from catalog import Catalog
from pointer_watch import PointerWatch
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table import StaticTable
from pyiceberg.table.metadata import TableMetadataUtil
from pyiceberg.view.metadata import ViewMetadata

FILE_NAME = re.compile(r"(\d{5,})-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.gz)?\.metadata\.json")


def dotted(levels):
    """As `iceblink` reads names."""
    return ".".join('"' + level.replace('"', '""') + '"' for level in levels)


def levels_of(name):
    """The inverse, also where only what must be is quoted."""
    parts = re.findall(r'"(?:[^"]|"")*"|[^."]+', name)
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part
                 for part in parts)


def path_of(location):
    return Path(location.removeprefix("file://"))


def version_of(location):
    """The number that a metadata file's name begins with."""
    found = FILE_NAME.fullmatch(path_of(location).name)
    if not found:
        raise AssertionError(f"{location} is not named as metadata files are")
    return int(found[1])


class RestTestCase(unittest.TestCase):
    maxDiff = 5000
    bin_dir = ""
    daemon_options = ()

    def setUp(self):
        self.server = self.enterContext(Catalog(self.bin_dir, daemon_options=self.daemon_options))
        self.watch = self.enterContext(PointerWatch(self.server.bin_dir, self.server.runtime_dir))
        self.pyiceberg = self.new_pyiceberg()

    def new_pyiceberg(self, **properties):
        made = RestCatalog("rest", uri=self.server.uri, **properties)
        self.addCleanup(made.close)
        return made

    def pointer(self, ident):
        """At once, of the process that maps the segment."""
        return self.watch.location_of(dotted(ident))

    def our_metadata(self, ident, read=TableMetadataUtil.parse_raw):
        return read("\n".join(self.server.lines("--json", "metadata", dotted(ident))))

    def assert_same_snapshots(self, table):
        ours = self.server.objects("snapshots", dotted(table.name()))
        self.assertEqual([snapshot["snapshot-id"] for snapshot in ours],
                         [snapshot.snapshot_id for snapshot in table.metadata.snapshots])
        self.assertEqual(
            {name: snapshot["snapshot-id"] for snapshot in ours for name in snapshot["refs"]},
            {name: ref.snapshot_id for name, ref in table.metadata.refs.items()})

    def assert_agree(self, table, version=None):
        """`table` is PyIceberg's, after a call that changed it: is that what all others see, and
        the file at the place for it? `version`: how many commits there were before."""
        location = table.metadata_location
        self.assertEqual(self.pointer(table.name()), location)
        self.assertEqual(self.server.lines("resolve", dotted(table.name())), [location])
        loaded = self.pyiceberg.load_table(table.name())
        self.assertEqual((loaded.metadata_location, loaded.metadata), (location, table.metadata))
        self.assertEqual(self.our_metadata(table.name()), table.metadata)
        self.assertEqual(StaticTable.from_metadata(location).metadata, table.metadata)
        shown, = self.server.objects("table", dotted(table.name()))
        self.assertEqual(shown["metadata-location"], location)
        self.assertEqual(shown["identifier"]["name"], table.name()[-1])
        self.assert_same_snapshots(table)
        self.assertEqual(path_of(location).parent, path_of(table.location()) / "metadata")
        if version is not None:
            self.assertEqual(version_of(location), version)
            self.assert_has_log_of_files(table)

    def assert_has_log_of_files(self, table):
        """Each of which is there, and is older."""
        log = [entry.metadata_file for entry in table.metadata.metadata_log]
        for location in log:
            self.assertTrue(path_of(location).is_file(), location)
        versions = [version_of(location) for location in [*log, table.metadata_location]]
        self.assertEqual(versions, list(range(versions[-1] - len(log), versions[-1] + 1)))

    def assert_below_the_warehouse(self, table):
        self.assertTrue(path_of(table.location()).is_relative_to(self.server.warehouse),
                        table.location())

    def assert_gone(self, ident):
        self.assertIsNone(self.pointer(ident))
        self.assertEqual(self.server.run("exists", dotted(ident)).returncode, 1)
        self.assertFalse(self.pyiceberg.table_exists(ident))

    def assert_same_view(self, view):
        self.assertEqual(self.our_metadata(view.name(), ViewMetadata.model_validate_json),
                         view.metadata)
        loaded = self.pyiceberg.load_view(view.name())
        self.assertEqual(loaded.metadata, view.metadata)
        self.assertIsNone(self.pointer(view.name()))  # which is asked for tables

    def rows_of(self, ident):
        """As PyIceberg reads them anew, sorted."""
        rows = self.new_pyiceberg().load_table(ident).scan().to_arrow().to_pylist()
        return sorted(rows, key=lambda row: json.dumps(row, default=str))


def run_tests():
    """`--bin DIRECTORY`, with the programs of the build; then unittest's arguments."""
    if len(sys.argv) < 3 or sys.argv[1] != "--bin":
        sys.exit(f"usage: {sys.argv[0]} --bin DIRECTORY [unittest's arguments]")
    RestTestCase.bin_dir = sys.argv[2]
    del sys.argv[1:3]
    warnings.simplefilter("ignore")
    unittest.main()
