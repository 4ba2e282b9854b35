"""A daemon of the build in directories of its own, and the program `iceblink` on it."""

import json
import os
import subprocess
import tempfile
from pathlib import Path


TCP_LISTEN = "0A"  # the state, as the system's table of sockets has it


def listening_port(pid):
    """The one TCP port that a process listens on."""
    sockets = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    rows = [row.split() for row in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    ports = [int(row[1].partition(":")[2], 16) for row in rows
             if row[3] == TCP_LISTEN and f"socket:[{row[9]}]" in sockets]
    if len(ports) != 1:
        raise AssertionError(f"process {pid} listens on the ports {ports}")
    return ports[0]


class Catalog:
    """Use it in a `with`: the daemon is ended there, and its directories are gone."""

    def __init__(self, bin_dir, prefixes=(), daemon_options=()):
        """`prefixes`: pairs of what locations begin with and where that is read instead."""
        self.bin_dir = Path(bin_dir)
        self.daemon_options = daemon_options
        self.prefixes = [f"--location-prefix={given}={read}" for given, read in prefixes]

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.runtime_dir = Path(self.directory.name) / "runtime"
        self.warehouse = Path(self.directory.name) / "warehouse"
        self.data_dir = Path(self.directory.name) / "data"
        for made in (self.runtime_dir, self.data_dir, self.warehouse):
            made.mkdir(mode=0o700)
        self.start(port=0)
        try:
            self.lines("create-namespace", "n")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.daemon.terminate()
        self.end()
        self.directory.cleanup()

    def start(self, port):
        self.daemon = subprocess.Popen(
            [self.bin_dir / "iceblinkd", "--runtime-dir", self.runtime_dir,
             "--data-dir", self.data_dir, "--listen", f"127.0.0.1:{port}",
             "--warehouse", self.warehouse, "--write-roots", self.warehouse, *self.daemon_options],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            ready = self.daemon.stdout.readline()
            if not ready.startswith("iceblinkd ready"):
                raise AssertionError(f"iceblinkd did not start: {ready}")
            self.port = listening_port(self.daemon.pid)
        except BaseException:
            self.__exit__()
            raise

    def end(self):
        self.daemon.wait(timeout=60)
        self.daemon.stdout.close()

    def kill_and_start_again(self):
        """At the same address."""
        self.daemon.kill()
        self.end()
        self.start(self.port)

    @property
    def uri(self):
        """Of its REST protocol, on the port that the system chose."""
        return f"http://127.0.0.1:{self.port}"

    def run(self, *arguments):
        """The finished process, whatever its exit code is."""
        return subprocess.run(
            [self.bin_dir / "iceblink", "--dir", self.runtime_dir, *self.prefixes,
             *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60)

    def lines(self, *arguments):
        done = self.run(*arguments)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: exit code {done.returncode}: {done.stderr}")
        return done.stdout.split("\n")[:-1]  # not at what else ends a line in Unicode

    def objects(self, *arguments):
        """Of what is printed with --json, an object a line."""
        return [json.loads(line) for line in self.lines("--json", *arguments)]

    def generation(self):
        """Of what is published, as the segment says."""
        status, = self.objects("status")
        return status["generation"]

    def register(self, name, location, *options):
        """Its identifier."""
        self.lines("register", f"n.{name}", location, *options)
        return f"n.{name}"
