#!/usr/bin/env python3
"""PyIceberg's side of loading a table from end to end, in the same form as load_bench: from a REST
catalog and from an SQL catalog, by a catalog that is opened for it and by one that has been used.
Registers the table in both first. Run by the Python that has PyIceberg.

    pyiceberg_load.py REST_URI SQLITE_FILE METADATA_FILE ROUNDS
"""

import importlib.metadata
import json
import sys
import time

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog

TABLE = ("n", "t")


def main():
    uri, database, metadata_file, rounds = *sys.argv[1:4], int(sys.argv[4])
    openers = {
        "rest": lambda: RestCatalog("rest", uri=uri),
        "sql": lambda: SqlCatalog("sql", uri=f"sqlite:///{database}", init_catalog_tables="true"),
    }
    samples = {"versions": {"PyIceberg": importlib.metadata.version("pyiceberg")}}
    for name, open_catalog in openers.items():
        catalog = open_catalog()
        catalog.create_namespace_if_not_exists(TABLE[0])
        catalog.register_table(TABLE, f"file://{metadata_file}")
        snapshots = len(catalog.load_table(TABLE).metadata.snapshots)
        samples[f"{name}/snapshots"] = [snapshots]
        samples[f"{name}/cold"], samples[f"{name}/warm"] = [], []
        for _ in range(rounds):
            begin = time.perf_counter_ns()
            catalog = open_catalog()
            table = catalog.load_table(TABLE)
            middle = time.perf_counter_ns()
            again = catalog.load_table(TABLE)
            end = time.perf_counter_ns()
            if len(table.metadata.snapshots) != snapshots or again.metadata != table.metadata:
                sys.exit("another table")
            samples[f"{name}/cold"].append(middle - begin)
            samples[f"{name}/warm"].append(end - middle)
    print(json.dumps(samples))


if __name__ == "__main__":
    main()
