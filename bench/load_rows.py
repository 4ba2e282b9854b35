"""Rows about loading a table from end to end, against other clients."""

import pathlib
import socket

import client_rows
from program import Daemon, Failure
from plan_rows import pyiceberg
from row import ratio_row


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def load(lab):
    s = lab.sizes
    directory = pathlib.Path(lab.disk_dir) / "load"
    directory.mkdir()
    metadata_file = directory / "00000-t.metadata.json"
    lab.programs.run("load_bench", "--make", metadata_file)
    clients = list(client_rows.clients(lab)) if s["other_clients"] else []
    memory_dir = pathlib.Path(lab.memory_dir)
    runtime_dir = memory_dir / "load"
    address = f"127.0.0.1:{free_port()}"
    daemon = Daemon(lab.programs, runtime_dir, directory / "data", "--listen", address)
    try:
        theirs = pyiceberg(lab, "pyiceberg_load.py", f"http://{address}", directory / "catalog.db",
                           metadata_file, s["pyiceberg_rounds"])
        ours = lab.programs.samples("load_bench", "--segment", runtime_dir, "--table", "n.t",
                                    "--rounds", s["open_rounds"])
        others = [client_rows.samples(client, f"http://{address}", memory_dir, metadata_file,
                                      s["open_rounds"]) for client in clients]
    finally:
        daemon.stop()
    size = f"{metadata_file.stat().st_size / 1000:.0f} KB of metadata"
    version = theirs["versions"]["PyIceberg"]
    for catalog, of in (("rest", "REST catalog, which is ours"), ("sql", "SQL catalog on SQLite")):
        if theirs[f"{catalog}/snapshots"] != [25]:
            raise Failure("PyIceberg loads another table")
        yield ratio_row(f"load/cold/pyiceberg-{catalog}", "Catalog::open and load_table, nothing "
                        f"cached, against PyIceberg {version}, a new {of}; {size}; wall", "us",
                        ours["cold"], theirs[f"{catalog}/cold"], ">= 1", 1e-3)
        yield ratio_row(f"load/warm/pyiceberg-{catalog}", "load_table again against load_table "
                        "again, of the same catalog; wall", "us", ours["warm"],
                        theirs[f"{catalog}/warm"], ">= 1", 1e-3)
    for client, figures in zip(clients, others):
        yield from client.rows(ours, figures, size)
