#!/usr/bin/env python3
"""Writers of two kinds on the same tables for a while: every append that was acknowledged is in its
table once, and none that was refused; also where the daemon is killed meanwhile.

    races_test.py --bin DIRECTORY [unittest's arguments]

DIRECTORY has the programs of the build. Run by run.py, in the environment that has the clients.
ICEBLINK_RACE_SECONDS=N writes for N seconds instead of 20, half of that beside kills."""

import collections
import json
import logging
import multiprocessing
import os
import sys
import tempfile
import time
from multiprocessing import connection
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import duckdb_client
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from race_writers import ACKNOWLEDGED, UNKNOWN, DuckDbWriter, KeyedWriter, PyIcebergWriter
from rest_test_case import RestTestCase, run_tests

KILLS = 3
SECONDS = float(os.environ.get("ICEBLINK_RACE_SECONDS", "20"))
WRITERS_OF_A_KIND = 8
TABLES = ("a", "b", "c", "d")
RETRIES = {"a": "4", "b": "4", "c": "0", "d": "0"}  # those of the table, which both clients follow
SCHEMA = Schema(NestedField(1, "writer", LongType()), NestedField(2, "number", LongType()))


def write(kind, writer, log, ready, seconds, places):
    """The body of a writer's process: a line of `log` for each append, as it ends."""
    logging.disable(logging.WARNING)  # of attempts that are made again
    client = kind(*places)
    with open(log, "w", encoding="utf-8") as file:
        ready.wait()
        deadline = time.monotonic() + seconds
        number = 0
        while time.monotonic() < deadline:
            names = client.tables_of(TABLES, writer + number)
            entry = {"kind": kind.__name__, "writer": writer, "number": number, "tables": names}
            try:
                entry["outcome"] = client.append(names, writer, number)
            except AssertionError:
                raise
            except Exception as error:  # whose outcome the client does not know
                entry |= {"outcome": UNKNOWN, "error": f"{type(error).__name__}: {error}"}
            file.write(json.dumps(entry) + "\n")
            number += 1
    client.close()


class Races(RestTestCase):
    def run_writers(self, kinds, seconds, meanwhile=lambda writers: None):
        """All that was appended, or was to be. `meanwhile` is called as they begin."""
        for name in TABLES:
            self.pyiceberg.create_table(("n", name), SCHEMA, properties={
                "commit.retry.num-retries": RETRIES[name], "commit.retry.min-wait-ms": "10"})
        places = (self.server.uri, self.server.bin_dir, self.server.runtime_dir)
        kinds = kinds * WRITERS_OF_A_KIND
        # Of a process that has imported all this, and has no threads of it.
        forking = multiprocessing.get_context("forkserver")
        ready = forking.Barrier(len(kinds) + 1)
        with tempfile.TemporaryDirectory() as directory:
            logs = [Path(directory) / str(writer) for writer in range(len(kinds))]
            writers = [
                forking.Process(target=write, args=(kind, writer, log, ready, seconds, places))
                for writer, (kind, log) in enumerate(zip(kinds, logs))]
            for writer in writers:
                writer.start()
            ready.wait(timeout=300)
            meanwhile(writers)
            for writer in writers:
                writer.join()
            self.assertEqual([writer.exitcode for writer in writers], [0] * len(writers))
            return [json.loads(line) for log in logs for line in log.read_text().splitlines()]

    def check_counts(self, kinds, seconds, entries):
        """All kinds have written; prints how much."""
        counts = collections.Counter((entry["kind"], entry["outcome"]) for entry in entries)
        print(f"{seconds:g} s:", *(f"{kind} {outcome} {count}"
                                   for (kind, outcome), count in sorted(counts.items())),
              sep="\n  ")
        for kind in kinds:
            self.assertGreater(counts[kind.__name__, ACKNOWLEDGED], 0)

    def check_tables(self, entries):
        """What is there of each table: what was acknowledged, and maybe what is unknown."""
        duckdb_reader = duckdb_client.connect(self.server.uri)
        self.addCleanup(duckdb_reader.close)
        found = {}
        for name in TABLES:
            found[name] = sorted(
                (row["writer"], row["number"]) for row in self.rows_of(("n", name)))
            self.assertEqual(duckdb_reader.execute(
                f"SELECT writer, number FROM ice.n.{name} ORDER BY ALL").fetchall(), found[name])
            unknown = self.appends(entries, name, UNKNOWN) & set(found[name])
            self.assertEqual(found[name],
                             sorted(self.appends(entries, name, ACKNOWLEDGED) | unknown))
            table = self.pyiceberg.load_table(("n", name))
            self.assert_agree(table, len(found[name]))
            self.assertEqual(len(table.metadata.snapshots), len(found[name]))
        for entry in entries:  # of two tables: in both or in none
            append = (entry["writer"], entry["number"])
            self.assertEqual(len({append in found[name] for name in entry["tables"]}), 1, entry)

    def appends(self, entries, name, outcome):
        return {(entry["writer"], entry["number"]) for entry in entries
                if name in entry["tables"] and entry["outcome"] == outcome}

    def test_every_acknowledged_append_is_there_once_and_no_other(self):
        kinds = [PyIcebergWriter, DuckDbWriter]
        entries = self.run_writers(kinds, SECONDS)
        self.check_counts(kinds, SECONDS, entries)
        self.assertEqual([entry for entry in entries if entry["outcome"] == UNKNOWN], [])
        self.check_tables(entries)

    def test_kills_lose_no_acknowledged_append_and_halve_no_transaction(self):
        """Without DuckDB, which deletes its files where an answer was lost."""
        def kill(writers):
            sentinels = [writer.sentinel for writer in writers]
            for _ in range(KILLS):
                ended = connection.wait(sentinels, timeout=SECONDS / 2 / (KILLS + 1))
                self.assertEqual(ended, [], "a writer ended before its time")
                self.server.kill_and_start_again()

        kinds = [PyIcebergWriter, KeyedWriter]
        entries = self.run_writers(kinds, SECONDS / 2, meanwhile=kill)
        self.check_counts(kinds, SECONDS / 2, entries)
        self.assertEqual([entry for entry in entries
                          if entry["outcome"] == UNKNOWN and entry["kind"] == "KeyedWriter"], [])
        self.check_tables(entries)


if __name__ == "__main__":
    run_tests()
