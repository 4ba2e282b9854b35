"""Rows about other places for the pointers of tables: servers on a Unix socket, SQLite, LMDB."""

import json
import pathlib
import shutil
import subprocess
import time

from program import Failure, pinned
from row import ratio_row


class Server:
    """A server that listens on a Unix socket, in the background until the end."""

    def __init__(self, programs, socket, *command):
        if shutil.which(command[0]) is None:
            raise Failure(f"{command[0]} is not installed: ./dev bench does that")
        self.version = subprocess.run([command[0], "--version"], capture_output=True, text=True,
                                      check=True).stdout.strip()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=pinned(programs.cpus[:1]))
        deadline = time.monotonic() + 60
        while not pathlib.Path(socket).is_socket():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"{command[0]} did not start")
            time.sleep(0.01)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def peers(lab):
    s = lab.sizes
    tables = s["small"]
    directory = pathlib.Path(lab.memory_dir) / "peers"
    directory.mkdir()
    redis_socket, memcached_socket = directory / "redis.sock", directory / "memcached.sock"
    servers = []
    try:
        servers.append(Server(lab.programs, redis_socket, "redis-server", "--port", "0",
                              "--unixsocket", str(redis_socket), "--save", "", "--appendonly",
                              "no", "--dir", str(directory)))
        servers.append(Server(lab.programs, memcached_socket, "memcached", "-s",
                              str(memcached_socket), "-m", "1024", "-u", "root"))
        figures = lab.programs.samples(
            "peers_bench", "--segment", lab.catalogs.segment(tables), "--lmdb",
            lab.catalogs.lmdb(tables), "--tables", tables, "--rounds", s["peer_rounds"],
            "--lookups", s["peer_lookups"], "--redis", redis_socket, "--memcached",
            memcached_socket, "--sqlite", directory / "catalog.db", alone=True)
    finally:
        for server in servers:
            server.stop()
    versions = json.loads(lab.programs.run("peers_bench", "--versions"))
    what = {
        "lmdb_held": ("find", "Snapshot::find against LMDB within one transaction; both see one "
                      "state and bring a view"),
        "sqlite": ("resolve_location", f"resolve_location against SQLite {versions['sqlite']}: the "
                   "table and the question of PyIceberg's SQL catalog, prepared, without its "
                   "Python"),
        "redis": ("resolve_location", "resolve_location against Redis over a Unix socket, on two "
                  f"CPUs ({servers[0].version}; hiredis {versions['hiredis']})"),
        "memcached": ("resolve_location", "resolve_location against memcached over a Unix socket, "
                      f"on two CPUs ({servers[1].version}; libmemcached "
                      f"{versions['libmemcached']})"),
    }
    for peer, (entry, description) in what.items():
        yield ratio_row(f"peers/{peer}", f"{description}; {tables:,} tables; wall", "ns",
                        figures[f"{entry}/wall"], figures[f"{peer}/wall"], ">= 1")
