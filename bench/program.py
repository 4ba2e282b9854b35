"""Running the measuring programs: pinned, one after the other, their answers checked."""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import time


class Failure(Exception):
    """A program failed or found a wrong result: there is nothing to judge."""


def pinned(cpus):
    """What makes a child run on these CPUs, or anywhere when it may not."""

    def pin():
        try:
            os.sched_setaffinity(0, cpus)
        except OSError:
            pass

    return pin


class Programs:
    """The programs of one build. `cpus` are those this process may use."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.cpus = sorted(os.sched_getaffinity(0))

    def path(self, name):
        for directory in ("bin/bench", "bin"):
            path = self.build / directory / name
            if path.exists():
                return path
        raise Failure(f"{name} is not built in {self.build}")

    def has(self, name):
        return any((self.build / d / name).exists() for d in ("bin/bench", "bin"))

    def run(self, name, *arguments, alone=False, timeout_s=900):
        """Runs a program to its end; what it printed. `alone`: on one CPU, the last."""
        command = [str(self.path(name)), *map(str, arguments)]
        cpus = self.cpus[-1:] if alone else self.cpus
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s,
                                  preexec_fn=pinned(cpus))
        except subprocess.TimeoutExpired:
            raise Failure(f"{name} did not end within {timeout_s} s") from None
        if done.returncode != 0:
            raise Failure(f"{name} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def samples(self, name, *arguments, **options):
        """Runs a program that prints {name: [a figure per round]}."""
        return json.loads(self.run(name, *arguments, **options))

    def build_description(self):
        return json.loads(self.run("catalog_server").splitlines()[0])


class CatalogServer:
    """The sample catalogs, served in the background until the end."""

    def __init__(self, programs, directory, sizes):
        self.directory = pathlib.Path(directory)
        self.weights = {}
        self.process = subprocess.Popen(
            [str(programs.path("catalog_server")), str(directory), *map(str, sizes)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.strip() == "ready":
                return
            described = json.loads(line)
            if "tables" in described:
                self.weights[described["tables"]] = described
        raise Failure("catalog_server ended early")

    def segment(self, tables):
        return self.directory / f"segment.{tables}"

    def lmdb(self, tables):
        return self.directory / f"lmdb.{tables}"

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


class Daemon:
    """iceblinkd, from its start to its ready line and to its end."""

    def __init__(self, programs, runtime_dir, data_dir, *arguments, cpus=None):
        self.log = pathlib.Path(f"{runtime_dir}.log")
        begin = time.monotonic()
        self.process = subprocess.Popen(
            [str(programs.path("iceblinkd")), "--runtime-dir", str(runtime_dir),
             "--data-dir", str(data_dir), *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=self.log.open("w"), text=True,
            preexec_fn=pinned(cpus or programs.cpus))
        self.ready_line = self.process.stdout.readline()
        self.start_s = time.monotonic() - begin
        if "ready" not in self.ready_line:
            self.process.wait(timeout=60)
            raise Failure(f"iceblinkd did not start: {self.log.read_text()[-2000:]}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure("iceblinkd did not stop") from None
        if code != 0:
            raise Failure(f"iceblinkd ended with {code}: {self.log.read_text()[-2000:]}")


class BareServer:
    """C12's other side, in the background until the end."""

    def __init__(self, programs, socket_path, cpus):
        self.process = subprocess.Popen(
            [str(programs.path("bare_server")), "--socket", str(socket_path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=pinned(cpus))
        if self.process.stdout.readline().strip() != "ready":
            raise Failure("bare_server did not start")

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


def median(samples):
    return statistics.median(samples)


def quartiles(samples):
    if len(samples) < 2:
        return samples[0], samples[0]
    first, _, third = statistics.quantiles(samples, n=4, method="inclusive")
    return first, third
