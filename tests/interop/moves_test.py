#!/usr/bin/env python3
"""Catalogs of PyIceberg, imported: what it had there is what it finds here.

    moves_test.py --bin DIRECTORY [unittest's arguments]

DIRECTORY has the programs of the build. Run by run.py, in the environment that has PyIceberg."""

import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from rest_test_case import RestTestCase, dotted, run_tests
from small_tables import ARROW, SCHEMA, rows

NAMESPACES = [("a",), ("a", "b"), ("a", "b", "c"), ("empty",), ("ü x",)]


class Imports(RestTestCase):
    """Into the test's daemon."""

    def fill(self, catalog):
        """Tables with some commits each; their rows by identifier."""
        filled = {}
        for number, levels in enumerate(NAMESPACES):
            catalog.create_namespace(levels, {"owner": f"o{number}"})
            if levels == ("empty",):
                continue
            for name in ("t", f"table {number}"):
                table = catalog.create_table((*levels, name), schema=SCHEMA)
                for commit in range(number + 1):
                    table.append(rows(number, commit, name=name))
                filled[(*levels, name)] = table
        return filled

    def assert_imported(self, filled):
        self.assertEqual(sorted(self.server.lines("tables")), sorted(map(self.shown, filled)))
        for ident, table in filled.items():
            here = self.pyiceberg.load_table(ident)
            self.assertEqual(here.metadata_location, table.metadata_location)
            self.assertEqual(here.metadata, table.metadata)
            self.assertEqual(self.pointer(ident), table.metadata_location)
            self.assertEqual(here.scan().to_arrow().schema.names, ARROW.names)
            self.assertEqual(self.rows_of(ident), sorted(
                table.scan().to_arrow().to_pylist(), key=lambda row: (row["id"], row["name"])))
        for number, levels in enumerate(NAMESPACES):
            properties = self.pyiceberg.load_namespace_properties(levels)
            self.assertEqual(properties.get("owner"), f"o{number}", levels)

    @staticmethod
    def shown(ident):
        return ".".join(ident)

    def sql_catalog(self, name="sql"):
        directory = Path(self.server.directory.name)
        made = SqlCatalog(name, uri=f"sqlite:///{directory}/catalog.db",
                          warehouse=f"file://{self.server.warehouse}")
        self.addCleanup(made.close)
        return made, directory / "catalog.db"

    def test_a_sqlite_catalog(self):
        catalog, file = self.sql_catalog()
        filled = self.fill(catalog)
        lines = self.server.lines("import", "sqlite", file)
        self.assertEqual(lines, [f"{len(filled)} read, {len(filled)} created, 0 moved, 0 skipped, "
                                 f"0 conflicts, 0 failed; {len(NAMESPACES)} namespaces created"])
        self.assert_imported(filled)
        ident, table = next(iter(filled.items()))
        table.append(rows(99))
        self.assertEqual(self.server.run("import", "sqlite", file).returncode, 4)
        self.server.lines("import", "sqlite", file, "--overwrite")
        self.assert_imported({**filled, ident: catalog.load_table(ident)})

    def test_one_of_several_sqlite_catalogs(self):
        first, file = self.sql_catalog("one")
        second, _ = self.sql_catalog("two")
        first.create_namespace("n1")
        second.create_namespace("n2")
        table = second.create_table("n2.t", schema=SCHEMA)
        refused = self.server.run("import", "sqlite", file)
        self.assertIn("'one', 'two'", refused.stderr)
        self.server.lines("import", "sqlite", file, "--catalog", "two")
        self.assertEqual(self.pyiceberg.load_table("n2.t").metadata, table.metadata)
        self.assertFalse(self.pyiceberg.namespace_exists("n1"))

    def test_a_folder(self):
        catalog, _ = self.sql_catalog()
        filled = {}
        for levels in [("f",), ("g",)]:
            catalog.create_namespace(levels)
            table = catalog.create_table((*levels, "t"), schema=SCHEMA)
            table.append(rows(1))
            filled[(*levels, "t")] = table
        self.server.lines("import", "folder", self.server.warehouse)
        for ident, table in filled.items():
            here = self.pyiceberg.load_table(ident)
            self.assertEqual(here.metadata, table.metadata)

    def test_a_rest_catalog(self):
        with Catalog(self.bin_dir) as other:
            source = RestCatalog("source", uri=other.uri)
            self.addCleanup(source.close)
            filled = self.fill(source)
            self.server.lines("import", "rest", other.uri)
            self.assert_imported(filled)
            exported = [catalog.lines("export")[1:] for catalog in (other, self.server)]
            self.assertEqual(*exported)
            for ident in filled:
                self.assertEqual(self.server.lines("resolve", dotted(ident)),
                                 other.lines("resolve", dotted(ident)))


class OneTable(http.server.BaseHTTPRequestHandler):
    """The REST protocol of a catalog with one table."""

    ANSWERS = {"config": {}, "namespaces": {"namespaces": [["a"]]}, "namespaces/a": {},
               "namespaces/a/tables": {"identifiers": [{"namespace": ["a"], "name": "t"}]},
               "namespaces/a/tables/t": {"metadata-location": "s3://t"}}
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.removeprefix("/base/v1/").partition("?")
        found = self.ANSWERS.get(path) if "parent=" not in query else {"namespaces": []}
        body = json.dumps(found if found is not None else {}).encode()
        self.send_response(200 if found is not None else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Tls(RestTestCase):
    """From a catalog behind TLS, with a certificate of a test's own."""

    def serve(self, name):
        """Its URL's port, and its certificate."""
        place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=test",
                        "-addext", f"subjectAltName={name}", "-keyout", place / "key",
                        "-out", place / "certificate"], check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(place / "certificate", place / "key")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OneTable)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # of clients that do not trust it
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_port, place / "certificate"

    def import_from(self, url, *arguments):
        return self.server.run("import", "rest", url, "--unverified", *arguments)

    def test_what_is_trusted_is_read(self):
        port, certificate = self.serve("DNS:localhost,IP:127.0.0.1")
        for host in ("localhost", "127.0.0.1"):
            done = self.import_from(f"https://{host}:{port}/base/", "--ca-file", certificate)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.server.lines("resolve", "a.t"), ["s3://t"])

    def test_what_is_not_trusted_is_told_nothing(self):
        token = Path(self.enterContext(tempfile.TemporaryDirectory())) / "token"
        token.write_text("s3cret")
        port, certificate = self.serve("DNS:elsewhere.example")
        for arguments in ([], ["--ca-file", certificate]):  # nobody's; another host's
            refused = self.import_from(f"https://localhost:{port}/base", "--token-file", token,
                                       *arguments)
            self.assertEqual(refused.returncode, 7)
            self.assertIn("TLS: certificate verify failed", refused.stderr)
            self.assertNotIn("s3cret", refused.stderr)
        self.assertEqual(self.server.lines("tables"), [])


class Postgres(RestTestCase):
    """A server of the host's own, where PostgreSQL is installed."""

    TABLES = """
        CREATE TABLE iceberg_tables (
          catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL,
          table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000),
          previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),
          PRIMARY KEY (catalog_name, table_namespace, table_name));
        CREATE TABLE iceberg_namespace_properties (
          catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL,
          property_key VARCHAR(255), property_value VARCHAR(1000),
          PRIMARY KEY (catalog_name, namespace, property_key));
        INSERT INTO iceberg_tables SELECT
          'c', 'a.n' || (i % 50), 't' || i, 's3://t/' || i, NULL, 'TABLE'
          FROM generate_series(1, 5000) i;
        INSERT INTO iceberg_tables VALUES
          ('c', 'a', 'v', 's3://v', NULL, 'VIEW'), ('c', 'ü', 'x', 's3://ü', NULL, NULL),
          ('d', 'a', 'other', 's3://d', NULL, 'TABLE');
        INSERT INTO iceberg_namespace_properties VALUES
          ('c', 'a', 'owner', 'x'), ('c', 'z', 'exists', 'true');
        CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
        CREATE ROLE stranger LOGIN;"""

    def setUp(self):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not found:
            self.skipTest("no PostgreSQL server is installed")
        super().setUp()
        self.programs = found[-1].parent
        self.place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.user = "postgres" if os.geteuid() == 0 else None  # it refuses to be root's
        if self.user:
            shutil.chown(self.place, self.user)
        self.run_program("initdb", "-D", self.place / "data", "-A", "trust", "-U", "admin")
        self.run_program("pg_ctl", "-D", self.place / "data", "-w", "-l", self.place / "log", "-o",
                         f"-c listen_addresses='' -c unix_socket_directories={self.place}", "start")
        self.addCleanup(self.run_program, "pg_ctl", "-D", self.place / "data", "-m", "immediate",
                        "stop")
        self.run_program("psql", "-q", "-h", self.place, "-U", "admin", "-d", "postgres", "-c",
                         self.TABLES)

    def run_program(self, name, *arguments):
        subprocess.run([self.programs / name, *map(str, arguments)], user=self.user, check=True,
                       cwd="/", stdout=subprocess.DEVNULL, timeout=60)

    def import_as(self, user, *arguments):
        return self.server.run("import", "postgres", f"host={self.place} dbname=postgres "
                               f"user={user}", "--unverified", *arguments)

    def test_a_catalog_of_java(self):
        self.assertIn("'c', 'd'", self.import_as("reader").stderr)
        done = self.import_as("reader", "--catalog", "c")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "5002 read, 5002 created, 0 moved, 0 skipped, 0 conflicts, "
                                      "0 failed; 53 namespaces created\n")
        self.assertEqual(len(self.server.lines("tables")), 5001)
        self.assertEqual(self.server.lines("resolve", "a.n7.t4957"), ["s3://t/4957"])
        self.assertEqual(self.pyiceberg.load_namespace_properties("a"), {"owner": "x"})
        again = self.import_as("reader", "--catalog", "c")
        self.assertTrue(again.stdout.startswith("5002 read, 0 created, 0 moved, 5002 skipped"))

    def test_who_may_not_read(self):
        refused = self.import_as("stranger")
        self.assertEqual(refused.returncode, 7)
        self.assertIn("permission denied", refused.stderr)
        secret = self.import_as("reader password=geheim")
        self.assertEqual(secret.returncode, 5)
        self.assertNotIn("geheim", secret.stderr)
        self.assertIn(".pgpass", secret.stderr)


if __name__ == "__main__":
    run_tests()
