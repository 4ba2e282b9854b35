#!/usr/bin/env python3
"""DuckDB on the REST catalog, alone and beside PyIceberg: what one writes, all others see.

    rest_duckdb_test.py --bin DIRECTORY [unittest's arguments]

DIRECTORY has the programs of the build. Run by run.py, in the environment that has both."""

import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import duckdb
from duckdb_client import connect
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import LongType
from rest_test_case import RestTestCase, run_tests
from small_tables import SCHEMA, rows

VALUES = ("true AS flag", "1::INTEGER AS small", "2::BIGINT AS large", "0.5::FLOAT AS half",
          "-0.5::DOUBLE AS below", "-1.5::DECIMAL(9, 2) AS exact", "DATE '2024-02-29' AS day",
          "TIME '12:34:56.789' AS time", "TIMESTAMP '2024-02-29 12:34:56.789' AS at",
          "TIMESTAMPTZ '2024-02-29 12:34:56+00' AS zoned", "'ü' AS text",
          "UUID '01234567-89ab-cdef-0123-456789abcdef' AS uuid", "'\\xFF'::BLOB AS bytes",
          "[1, NULL]::INTEGER[] AS numbers", "{'x': 1, 'y': [{'z': 'ü'}]} AS parts",
          "MAP {'k': 1} AS pairs")


class DuckDbTestCase(RestTestCase):
    def setUp(self):
        super().setUp()
        self.duckdb = self.new_duckdb()

    def new_duckdb(self, options=""):
        made = connect(self.server.uri, options)
        self.addCleanup(made.close)
        return made

    def query(self, statement):
        return self.duckdb.execute(statement).fetchall()

    def assert_rows(self, name, expected):
        """As both read them."""
        self.assertEqual(self.query(f"SELECT * FROM ice.n.{name} ORDER BY ALL"), expected)
        self.assertEqual(sorted(tuple(row.values()) for row in self.rows_of(("n", name))), expected)

    def assert_moved(self, name, version):
        """After a statement of DuckDB: what PyIceberg loads is what all saw at once."""
        seen = self.pointer(("n", name))
        table = self.pyiceberg.load_table(("n", name))
        self.assertEqual(seen, table.metadata_location)
        self.assert_agree(table, version)
        return table


class Alone(DuckDbTestCase):
    def test_schemas(self):
        self.query("CREATE SCHEMA ice.m")
        self.query("CREATE SCHEMA IF NOT EXISTS ice.m")
        self.assertEqual(self.pyiceberg.list_namespaces(), [("m",), ("n",)])
        names = self.query("SELECT schema_name FROM information_schema.schemata "
                           "WHERE catalog_name = 'ice' ORDER BY ALL")
        self.assertEqual(names, [("m",), ("n",)])
        self.query("CREATE TABLE ice.m.t (id BIGINT)")
        with self.assertRaises(duckdb.Error):
            self.query("DROP SCHEMA ice.m")
        self.query("DROP TABLE ice.m.t")
        self.query("DROP SCHEMA ice.m")
        self.assertEqual(self.server.lines("namespaces"), ["n"])

    def test_a_table_from_its_creation_to_its_end(self):
        self.query("CREATE TABLE ice.n.t (id BIGINT, name VARCHAR)")
        table = self.assert_moved("t", 0)
        self.assert_below_the_warehouse(table)
        self.query("INSERT INTO ice.n.t VALUES (1, 'a'), (2, 'b')")
        self.assert_moved("t", 1)
        self.query("INSERT INTO ice.n.t SELECT range, 'r' FROM range(3, 5)")
        self.assert_moved("t", 2)
        self.assert_rows("t", [(1, "a"), (2, "b"), (3, "r"), (4, "r")])
        self.query("UPDATE ice.n.t SET name = 'u' WHERE id = 2")
        self.assert_moved("t", 3)
        self.query("DELETE FROM ice.n.t WHERE id > 3")
        self.assert_moved("t", 4)
        self.assert_rows("t", [(1, "a"), (2, "u"), (3, "r")])
        self.assertEqual(self.query("SHOW TABLES FROM ice.n"), [("t",)])
        self.query("DROP TABLE ice.n.t")
        self.assert_gone(("n", "t"))

    def test_a_table_of_a_query(self):
        """It writes to directories that a catalog makes with a table, not before."""
        statement = "CREATE TABLE ice.n.t AS SELECT range AS id, 'x' AS name FROM range(3)"
        with self.assertRaisesRegex(duckdb.Error, "No such file or directory"):
            self.query(statement)
        self.assert_gone(("n", "t"))
        self.duckdb = self.new_duckdb(", STAGE_CREATE_TABLES false")
        self.query(statement)
        self.assert_moved("t", 1)
        self.assert_rows("t", [(0, "x"), (1, "x"), (2, "x")])

    def test_a_table_of_a_query_where_its_directory_is(self):
        """The creation and the rows are one change of a transaction."""
        location = self.server.warehouse / "given"
        (location / "metadata").mkdir(parents=True)
        self.query(f"CREATE TABLE ice.n.t WITH ('location' = '{location}') AS "
                   "SELECT range AS id, 'x' AS name FROM range(3)")
        self.assertEqual(self.assert_moved("t", 0).location(), str(location))
        self.assert_rows("t", [(0, "x"), (1, "x"), (2, "x")])

    def test_partitions_merges_and_older_snapshots(self):
        self.query("CREATE TABLE ice.n.t (id BIGINT, name VARCHAR) "
                   "PARTITIONED BY (bucket(4, id), truncate(1, name))")
        self.query("INSERT INTO ice.n.t SELECT range, 'n' || range FROM range(5)")
        table = self.assert_moved("t", 1)
        self.assertEqual([str(field.transform) for field in table.spec().fields],
                         ["bucket[4]", "truncate[1]"])
        self.query("MERGE INTO ice.n.t USING (SELECT range AS id FROM range(3, 7)) AS new "
                   "ON t.id = new.id WHEN MATCHED THEN DELETE "
                   "WHEN NOT MATCHED THEN INSERT VALUES (new.id, 'm')")
        self.assert_moved("t", 2)
        self.assert_rows("t", [(0, "n0"), (1, "n1"), (2, "n2"), (5, "m"), (6, "m")])
        self.assertEqual(self.query(f"SELECT count(*) FROM ice.n.t AT "
                                    f"(VERSION => {table.current_snapshot().snapshot_id})"), [(5,)])

    def test_types(self):
        self.query(f"CREATE TABLE given AS SELECT {', '.join(VALUES)}")
        types = ", ".join(f'"{name}" {kind}' for name, kind, *_ in self.query("DESCRIBE given"))
        self.query(f"CREATE TABLE ice.n.t ({types})")
        self.assert_moved("t", 0)
        self.query("INSERT INTO ice.n.t FROM given")
        self.assert_moved("t", 1)
        texts = [self.query(f"SELECT COLUMNS(*)::VARCHAR FROM {name}")
                 for name in ("ice.n.t", "given")]
        self.assertEqual(*texts)
        row, = self.rows_of(("n", "t"))
        self.assertEqual((row["day"], row["exact"], row["bytes"], row["parts"], dict(row["pairs"])),
                         (date(2024, 2, 29), Decimal("-1.50"), b"\xff",
                          {"x": 1, "y": [{"z": "ü"}]}, {"k": 1}))

    def test_evolution(self):
        self.query("CREATE TABLE ice.n.t (id INTEGER, name VARCHAR)")
        for version, change in enumerate((
                "ADD COLUMN added DOUBLE", "RENAME COLUMN name TO title",
                "ALTER COLUMN id TYPE BIGINT", "DROP COLUMN added"), 1):
            self.query(f"ALTER TABLE ice.n.t {change}")
            table = self.assert_moved("t", version)
        self.assertEqual(table.schema().column_names, ["id", "title"])
        self.query("ALTER TABLE ice.n.t SET PARTITIONED BY (bucket(4, id))")
        table = self.assert_moved("t", 5)
        self.assertEqual(str(table.spec().fields[0].transform), "bucket[4]")
        self.query("INSERT INTO ice.n.t VALUES (1, 'a')")
        self.assert_rows("t", [(1, "a")])
        self.query("ALTER TABLE ice.n.t RENAME TO u")
        self.assert_gone(("n", "t"))
        self.assert_rows("u", [(1, "a")])

    def test_properties(self):
        self.query("CREATE TABLE ice.n.t (id BIGINT) WITH ('format-version' = '2', 'k' = 'v')")
        self.assertEqual(self.assert_moved("t", 0).properties.get("k"), "v")
        self.query("CALL set_iceberg_table_properties('ice.n.t', {'k': 'w', 'new': 'x'})")
        table = self.assert_moved("t", 1)
        self.assertEqual((table.properties["k"], table.properties["new"]), ("w", "x"))
        self.query("CALL remove_iceberg_table_properties('ice.n.t', ['new'])")
        self.assertNotIn("new", self.assert_moved("t", 2).properties)

    def test_format_3(self):
        """PyIceberg reads its metadata, not its files."""
        self.query("CREATE TABLE ice.n.t (id BIGINT) WITH ('format-version' = '3')")
        self.query("INSERT INTO ice.n.t VALUES (1), (2)")
        self.query("DELETE FROM ice.n.t WHERE id = 1")
        table = self.assert_moved("t", 2)
        self.assertEqual((table.format_version, table.metadata.next_row_id), (3, 2))
        self.assertEqual(self.query("SELECT * FROM ice.n.t"), [(2,)])


class Transactions(DuckDbTestCase):
    def setUp(self):
        super().setUp()
        for name in ("t", "u"):
            self.query(f"CREATE TABLE ice.n.{name} (id BIGINT, name VARCHAR)")
        self.before = self.pointers()

    def pointers(self):
        return [self.pointer(("n", name)) for name in ("t", "u")]

    def begin(self, connection, number):
        connection.execute("BEGIN")
        for name in ("t", "u"):
            connection.execute(f"INSERT INTO ice.n.{name} VALUES ({number}, 'x')")

    def test_of_two_tables_are_one_generation(self):
        generation = self.server.generation()
        self.begin(self.duckdb, 1)
        self.assertEqual(self.pointers(), self.before)
        self.duckdb.execute("COMMIT")
        self.assertEqual(self.server.generation(), generation + 1)
        for name in ("t", "u"):
            self.assert_moved(name, 1)
            self.assert_rows(name, [(1, "x")])

    def test_of_rows_and_schemas(self):
        self.begin(self.duckdb, 1)
        self.duckdb.execute("ALTER TABLE ice.n.t ADD COLUMN added INTEGER")
        self.duckdb.execute("INSERT INTO ice.n.t VALUES (2, 'y', 3)")
        self.duckdb.execute("COMMIT")
        for name in ("t", "u"):
            self.assert_moved(name, 1)
        self.assert_rows("t", [(1, "x", None), (2, "y", 3)])

    def test_that_are_given_up_leave_nothing(self):
        self.begin(self.duckdb, 1)
        self.duckdb.execute("ROLLBACK")
        self.assertEqual(self.pointers(), self.before)

    def test_of_which_one_table_has_changed_fail_for_both(self):
        self.begin(self.duckdb, 1)
        self.pyiceberg.load_table("n.u").append(rows(7))
        changed = self.pointers()
        with self.assertRaisesRegex(duckdb.Error, "Conflict_409"):  # it does not try again
            self.duckdb.execute("COMMIT")
        self.assertEqual(self.pointers(), changed)
        self.assert_rows("t", [])
        self.assert_rows("u", [(7, "n7")])

    def test_beside_a_change_of_the_schema(self):
        """It requires nothing of schemas."""
        self.begin(self.duckdb, 1)
        with self.pyiceberg.load_table("n.u").update_schema() as update:
            update.add_column("added", LongType())
        self.duckdb.execute("COMMIT")
        self.assert_moved("t", 1)
        self.assert_moved("u", 2)
        self.assert_rows("u", [(1, "x", None)])


class BesidePyIceberg(DuckDbTestCase):
    def test_reads_what_it_writes(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA, partition_spec=PartitionSpec(
            PartitionField(1, 1000, BucketTransform(4), "b")))
        self.assertEqual(self.query("SELECT * FROM ice.n.t"), [])
        table.append(rows(1, 2, 3, name="p"))
        self.assert_rows("t", [(1, "p1"), (2, "p2"), (3, "p3")])
        table.delete("id = 2")
        self.assert_rows("t", [(1, "p1"), (3, "p3")])
        table.overwrite(rows(9, name="p"))
        self.assert_rows("t", [(9, "p9")])

    def test_they_take_turns(self):
        """In a table whose locations are URIs, with metadata files that are compressed."""
        table = self.pyiceberg.create_table(
            "n.t", SCHEMA, location=f"file://{self.server.warehouse}/t",
            properties={"write.metadata.compression-codec": "gzip"})
        expected = []
        for number in range(0, 8, 2):
            table.refresh().append(rows(number, name="p"))
            self.assert_agree(table, number + 1)
            self.query(f"INSERT INTO ice.n.t VALUES ({number + 1}, 'd')")
            self.assert_moved("t", number + 2)
            expected += [(number, f"p{number}"), (number + 1, "d")]
            self.assert_rows("t", expected)

    def test_drops_what_it_made(self):
        self.pyiceberg.create_table("n.t", SCHEMA)
        self.query("DROP TABLE ice.n.t")
        with self.assertRaises(NoSuchTableError):
            self.pyiceberg.load_table("n.t")
        self.assert_gone(("n", "t"))

    def test_names(self):
        for name in ("a.b", "c d", "e+f", "ü\U0001f9ca", "%41", "g/h"):
            with self.subTest(name):
                table = self.pyiceberg.create_table(("n", name), SCHEMA)
                table.append(rows(1, name="p"))
                self.query(f'INSERT INTO ice.n."{name}" VALUES (2, \'d\')')
                self.assertEqual(self.query(f'SELECT * FROM ice.n."{name}" ORDER BY ALL'),
                                 [(1, "p1"), (2, "d")])
                self.assert_agree(table.refresh(), 2)


class InLevels(DuckDbTestCase):
    def test_of_namespaces(self):
        self.pyiceberg.create_namespace("a")
        self.pyiceberg.create_namespace(("a", "b"))
        table = self.pyiceberg.create_table(("a", "b", "t"), SCHEMA)
        table.append(rows(1, name="p"))
        nested = self.new_duckdb(", SUPPORT_NESTED_NAMESPACES true")
        self.assertEqual(nested.execute('SELECT * FROM ice."a.b".t').fetchall(), [(1, "p1")])
        nested.execute('INSERT INTO ice."a.b".t VALUES (2, \'d\')')
        self.assert_agree(table.refresh(), 2)


if __name__ == "__main__":
    run_tests()
