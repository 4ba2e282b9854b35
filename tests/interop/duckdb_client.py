"""DuckDB on a REST catalog, with the extensions of the environment and no network."""

import importlib
from pathlib import Path

import duckdb

OFFLINE = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}


def connect(uri, options="", settings=None):
    """A connection with the catalog attached as `ice`."""
    connection = duckdb.connect(config=OFFLINE | (settings or {}))
    for name in ("avro", "httpfs", "iceberg"):
        package = Path(importlib.import_module(f"duckdb_extension_{name}").__file__).parent
        file, = package.rglob(f"{name}.duckdb_extension")
        connection.execute(f"LOAD '{file}'")
    connection.execute(f"ATTACH '' AS ice (TYPE iceberg, ENDPOINT '{uri}', "
                       f"AUTHORIZATION_TYPE 'none', ACCESS_DELEGATION_MODE 'none'{options})")
    return connection
