"""Clients that append rows to tables while others do; each method `append` says what came of it."""

import random
import time
import uuid

import duckdb
import duckdb_client
import pyarrow
import requests
from pointer_watch import PointerWatch
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import CommitTableRequest, TableIdentifier
from requests.adapters import HTTPAdapter
from rest_test_case import dotted, version_of
from urllib3.util import Retry

ACKNOWLEDGED, REFUSED, UNKNOWN = "acknowledged", "refused", "unknown"


def row(writer, number):
    return pyarrow.table({"writer": [writer], "number": [number]})


def one_or_two(tables, at):
    return [tables[at % len(tables)], tables[(at + 1) % len(tables)]][:1 + at % 2]


class PyIcebergWriter:
    """Appends to one table at a time."""

    def __init__(self, uri, bin_dir, runtime_dir):
        self.catalog = RestCatalog("rest", uri=uri)
        self.watch = PointerWatch(bin_dir, runtime_dir)
        self.watch.__enter__()

    @staticmethod
    def tables_of(tables, at):
        return [tables[at % len(tables)]]

    def append(self, names, writer, number):
        table = self.catalog.load_table(("n", names[0]))
        try:
            table.append(row(writer, number))
        except CommitFailedException:
            return REFUSED
        seen = self.watch.location_of(dotted(("n", names[0])))
        if version_of(seen) < version_of(table.metadata_location):
            raise AssertionError(f"{seen} is seen after {table.metadata_location} was committed")
        return ACKNOWLEDGED

    def close(self):
        self.watch.__exit__()
        self.catalog.close()


class DuckDbWriter:
    """Appends to two tables in a transaction each second time."""

    def __init__(self, uri, *_):
        self.connection = duckdb_client.connect(uri, settings={"threads": 1})

    @staticmethod
    def tables_of(tables, at):
        return one_or_two(tables, at)

    def append(self, names, writer, number):
        self.connection.execute("BEGIN")
        try:
            for name in names:
                self.connection.execute(f"INSERT INTO ice.n.{name} VALUES ({writer}, {number})")
            self.connection.execute("COMMIT")
        except duckdb.Error as error:
            try:
                self.connection.execute("ROLLBACK")
            except duckdb.TransactionException:
                pass  # a commit that failed has ended it
            if "Conflict_409" not in str(error):
                raise
            return REFUSED
        return ACKNOWLEDGED

    def close(self):
        self.connection.close()


class KeyedWriter:
    """Commits the files that PyIceberg writes itself, to two tables in a transaction each second
    time. A request whose answer is lost is sent again, with its idempotency key."""

    tables_of = staticmethod(one_or_two)

    def __init__(self, uri, *_):
        self.uri = uri
        again = Retry(total=60, backoff_factor=0.05, backoff_max=1, allowed_methods=None)
        self.session = requests.Session()
        self.session.mount("http://", HTTPAdapter(max_retries=again))
        self.catalog = RestCatalog("rest", uri=uri)
        self.catalog._session.mount("http://", HTTPAdapter(max_retries=again))  # it only loads

    def change(self, name, rows):
        transaction = self.catalog.load_table(("n", name)).transaction()
        transaction.append(rows)
        return CommitTableRequest(identifier=TableIdentifier(namespace=["n"], name=name),
                                  requirements=transaction._requirements,
                                  updates=transaction._updates).model_dump_json()

    def append(self, names, writer, number):
        changes = ",".join(self.change(name, row(writer, number)) for name in names)
        answer = self.session.post(
            f"{self.uri}/v1/transactions/commit", data=f'{{"table-changes":[{changes}]}}'.encode(),
            headers={"Content-Type": "application/json", "Idempotency-Key": new_key()})
        if answer.status_code not in (204, 409):
            raise RuntimeError(f"{answer.status_code}: {answer.text}")
        return ACKNOWLEDGED if answer.status_code == 204 else REFUSED

    def close(self):
        self.session.close()
        self.catalog.close()


def new_key():
    """A UUID of version 7."""
    milliseconds = time.time_ns() // 1_000_000
    return str(uuid.UUID(int=milliseconds << 80 | 7 << 76 | random.getrandbits(12) << 64
                         | 2 << 62 | random.getrandbits(62)))
