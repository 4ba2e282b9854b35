"""Who may do what, tried as other users of a machine that the package is installed on."""

import json
import os
import unittest
from pathlib import Path

from installed import UNIT, InstalledTestCase

DIR = "/run/iceblink/main"
TOKEN = "correct-horse-battery-staple"
LISTENING = 'listen = "127.0.0.1:8181"\ntoken_file = "/etc/iceblink/token"\n'
NOT_FOUND_OR_NO, NO_DAEMON, NOT_ALLOWED = 1, 3, 7


class AccessTestCase(InstalledTestCase):
    @classmethod
    def users(cls):
        return {"reader": ["iceblink-readers"],
                "writer": ["iceblink-readers", "iceblink-writers"],
                "other": ["nogroup"]}

    def refusals(self):
        """Lines of the journal about refused requests."""
        return [line for line in self.log().splitlines() if "request refused" in line]

    def assert_one_more_refusal(self, before, *parts):
        new = self.refusals()[len(before):]
        self.assertEqual(len(new), 1, new)
        for part in parts:
            self.assertIn(part, new[0])

    def uid(self, user):
        return self.machine.run("id", "-u", user).stdout.strip()


class Files(AccessTestCase):
    def test_are_not_read_without_the_group(self):
        self.start()
        self.iceblink("create-namespace", "read")
        self.put("read.t", "/w/1")
        self.assertIn("Permission denied",
                      self.iceblink("resolve", "read.t", user="other", code=NOT_ALLOWED))
        self.assertIn("/w/1", self.iceblink("resolve", "read.t", user="reader"))
        for path in (f"{DIR}/control", "/var/lib/iceblink/main/lmdb/data.mdb"):
            shown = self.machine.run("cat", path, user="other", check=False)
            self.assertNotEqual(shown.returncode, 0, path)
        self.assertNotEqual(self.machine.run("ls", "/var/lib/iceblink/main/lmdb", user="writer",
                                             check=False).returncode, 0)

    def test_of_the_segment_are_not_written_or_cut(self):
        self.start()
        arena = next(name for name in os.listdir(self.machine.path(DIR))
                     if name.startswith("arena."))
        for user in ("reader", "writer"):
            for name in ("control", arena):
                path = f"{DIR}/{name}"
                size = os.stat(self.machine.path(path)).st_size
                for spoil in (["dd", "if=/dev/zero", f"of={path}", "bs=8", "conv=notrunc"],
                              ["truncate", "--size=0", path], ["rm", "-f", path],
                              ["ln", "-s", "/etc/passwd", f"{path}.new"]):
                    done = self.machine.run(*spoil, user=user, check=False)
                    self.assertNotEqual(done.returncode, 0, (user, spoil))
                    self.assertIn("Permission denied", done.stderr)
                self.assertEqual(os.stat(self.machine.path(path)).st_size, size)
        self.iceblink("verify", "--segment-only", user="reader")


class Socket(AccessTestCase):
    def test_is_not_written_to_with_the_right_to_read(self):
        self.start()
        self.iceblink("create-namespace", "socket")
        before = self.refusals()
        said = self.iceblink("create-namespace", "refused", user="reader", code=NOT_ALLOWED)
        self.assertIn("may not write", said)
        self.assert_one_more_refusal(before, f"uid={self.uid('reader')}", "status=403")
        self.iceblink("exists", "socket.t", user="reader", code=NOT_FOUND_OR_NO)

    def test_is_written_to_by_the_group_of_writers(self):
        self.start()
        self.iceblink("create-namespace", "written", user="writer")
        self.assertIn("written", self.iceblink("namespaces", user="reader"))

    def test_takes_those_whom_the_settings_name(self):
        self.start(settings='writers = ["reader"]\nreaders = []\n')
        self.iceblink("create-namespace", "named", user="reader")
        before = self.refusals()
        self.iceblink("create-namespace", "refused", user="writer", code=NOT_ALLOWED)
        self.assert_one_more_refusal(before, f"uid={self.uid('writer')}", "status=403")

    def test_takes_new_rights_without_a_restart(self):
        self.start(settings="")
        self.iceblink("create-namespace", "refused", user="reader", code=NOT_ALLOWED)
        self.machine.write("/etc/iceblink/main.toml", 'writers = ["@iceblink-readers"]\n')
        self.systemctl("reload", UNIT.format("main"))
        self.iceblink("create-namespace", "reloaded", user="reader")

    def test_is_not_reached_without_the_group(self):
        self.start()
        said = self.iceblink("create-namespace", "refused", user="other", code=NOT_ALLOWED)
        self.assertIn("Permission denied", said)


class ListeningTestCase(AccessTestCase):
    def write_token(self, mode=0o600, owner="iceblink"):
        self.machine.write("/etc/iceblink/token", TOKEN + "\n")
        self.machine.run("chown", owner, "/etc/iceblink/token")
        os.chmod(self.machine.path("/etc/iceblink/token"), mode)

    def start_listening(self):
        self.write_token()
        self.start(settings=LISTENING)


class Tcp(ListeningTestCase):
    def request(self, *headers, method="GET", path="/v1/namespaces", user="other"):
        """Status of a request that is made inside."""
        done = self.machine.run(
            "python3", "-c",
            "import http.client, json, sys\n"
            "connection = http.client.HTTPConnection('127.0.0.1', 8181, timeout=60)\n"
            "connection.request(sys.argv[1], sys.argv[2], headers=dict(json.loads(sys.argv[3])))\n"
            "print(connection.getresponse().status)\n",
            method, path, json.dumps(headers), user=user)
        return int(done.stdout)

    def test_is_refused_without_the_token_or_with_another(self):
        self.start_listening()
        self.assertEqual(self.request(("Authorization", f"Bearer {TOKEN}")), 200)
        for wrong in (None, "Bearer wrong", f"Bearer {TOKEN}x", TOKEN, f"Basic {TOKEN}"):
            before = self.refusals()
            headers = [] if wrong is None else [("Authorization", wrong)]
            self.assertEqual(self.request(*headers), 401, wrong)
            self.assert_one_more_refusal(before, "peer=127.0.0.1:", "status=401")
        self.assertNotIn(TOKEN, self.machine.run("journalctl", "--no-pager", "-o", "export").stdout)

    def test_needs_a_token_by_the_packaged_settings(self):
        self.assert_refused('listen = "127.0.0.1:8181"\n', "token")

    def test_beyond_this_host_needs_tls_and_a_token(self):
        self.write_token()
        for settings in ('listen = "0.0.0.0:8181"\n',
                         'listen = "0.0.0.0:8181"\ntoken_file = "/etc/iceblink/token"\n',
                         'listen = "[::]:8181"\ntoken_file = "/etc/iceblink/token"\n'):
            self.assert_refused(settings, "tls")

    def test_takes_no_token_file_that_others_can_read(self):
        for mode, owner in ((0o644, "iceblink"), (0o640, "iceblink"), (0o600, "other")):
            self.write_token(mode, owner)
            self.assert_refused(LISTENING, "/etc/iceblink/token")

    def assert_refused(self, settings, reason):
        self.machine.write("/etc/iceblink/refused.toml", settings)
        self.addCleanup(self.forget, "refused")
        self.systemctl("reset-failed", UNIT.format("refused"), check=False)
        before = len(self.log("refused"))
        started = self.systemctl("start", UNIT.format("refused"), check=False)
        self.assertNotEqual(started.returncode, 0, settings)
        self.assertIn(reason, self.log("refused")[before:].lower())


class Locations(AccessTestCase):
    METADATA = json.dumps({
        "format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "/t",
        "last-sequence-number": 0, "last-updated-ms": 1, "last-column-id": 1,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [
            {"id": 1, "name": "a", "required": True, "type": "long"}]}], "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}], "default-spec-id": 0,
        "last-partition-id": 999, "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0})

    def test_outside_are_neither_read_nor_written(self):
        for path in ("/srv/tables/v1.metadata.json", "/srv/other/v1.metadata.json",
                     "/srv/tables-beside/v1.metadata.json"):
            self.machine.write(path, self.METADATA)
        os.symlink("/srv/other", self.machine.path("/srv/tables/link"))
        self.start(settings='read_roots = ["/srv/tables", "/var/lib/iceblink/main/warehouse"]\n')
        self.iceblink("create-namespace", "located", user="writer")
        self.iceblink("register", "located.t", "/srv/tables/v1.metadata.json", user="writer")
        for location in ("/srv/other/v1.metadata.json", "/srv/tables/../other/v1.metadata.json",
                         "/srv/tables-beside/v1.metadata.json", "/srv/tables/link/v1.metadata.json",
                         "s3://bucket/v1.metadata.json"):
            before = self.log().count("status=403")
            self.iceblink("register", "located.u", location, user="writer", code=NOT_ALLOWED)
            self.assertEqual(self.log().count("status=403") - before, 1, location)
        self.iceblink("exists", "located.u", code=NOT_FOUND_OR_NO)
        for location in ("/srv/elsewhere", "/var/lib/iceblink/main/warehouse/../lmdb"):
            self.assertEqual(self.create("made", location), 403, location)
        self.assertFalse(self.machine.path("/srv/elsewhere").exists())

    def create(self, name, location):
        body = json.dumps({"name": name, "location": location, "schema": {
            "type": "struct",
            "fields": [{"id": 1, "name": "a", "required": True, "type": "long"}]}})
        done = self.machine.run(
            "python3", "-c",
            "import http.client, socket, sys\n"
            "connection = http.client.HTTPConnection('localhost', timeout=60)\n"
            "connection.sock = socket.socket(socket.AF_UNIX)\n"
            f"connection.sock.connect('{DIR}/catalog.sock')\n"
            "connection.request('POST', '/v1/namespaces/located/tables', sys.argv[1])\n"
            "print(connection.getresponse().status)\n", body, user="writer")
        return int(done.stdout)


@unittest.skipUnless(os.environ.get("ICEBLINK_VENV"), "the clients are not installed")
class Engines(ListeningTestCase):
    """A user that is not the daemon appends with PyIceberg, a third one reads it."""

    VENV = "/opt/venv"
    APPEND = """
import pyarrow, sys
from pyiceberg.catalog import load_catalog
catalog = load_catalog("main", type="rest", uri="http://127.0.0.1:8181", token=sys.argv[1])
catalog.create_namespace_if_not_exists("engines")
rows = pyarrow.table({"a": [1, 2, 3]})
table = catalog.create_table_if_not_exists("engines.t", schema=rows.schema)
table.append(rows)
"""
    READ = """
import sys
from pyiceberg.table import StaticTable
print(sorted(StaticTable.from_metadata(sys.argv[1]).scan().to_arrow()["a"].to_pylist()))
"""

    def test_write_beside_the_daemon_and_read_what_it_wrote(self):
        self.machine.run("mkdir", "-p", self.VENV)
        self.machine.run("mount", "--bind", os.environ["ICEBLINK_VENV"], self.VENV)
        python = f"{self.VENV}/bin/python"
        self.start_listening()
        for _ in range(2):
            self.machine.run(python, "-c", self.APPEND, TOKEN, user="writer",
                             env={"HOME": "/home/writer"})
        location = self.iceblink("resolve", "engines.t", user="reader").splitlines()[0]
        shown = self.machine.run(python, "-c", self.READ, location, user="other",
                                 env={"HOME": "/home/other"}).stdout
        self.assertEqual(shown, "[1, 1, 2, 2, 3, 3]\n")
        path = location.removeprefix("file://")
        self.assertEqual(self.mode(path), "0644 iceblink:iceblink-writers")
        table = Path(path).parent.parent
        for directory in (table, table / "metadata", table.parent):
            self.assertEqual(self.mode(directory), "2775 iceblink:iceblink-writers")
        listed = self.iceblink("files", "engines.t", "--json", user="reader").splitlines()
        self.assertEqual(len(listed), 2)


if __name__ == "__main__":
    unittest.main()
