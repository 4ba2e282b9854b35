"""Rows about loading a table, against catalogs in Rust and in Java where they can be built."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tomllib

from program import Failure
from row import ratio_row

HERE = pathlib.Path(__file__).resolve().parent
# Where rustup puts cargo is in the path of login shells only.
PATH = f"{os.environ.get('PATH', os.defpath)}:{pathlib.Path.home() / '.cargo/bin'}"


class NotBuilt(Exception):
    """A client cannot be built here: its rows are left out, and a line says so."""


def run(*command, timeout_s=900):
    try:
        return subprocess.run(list(map(str, command)), capture_output=True, text=True,
                              timeout=timeout_s, env=os.environ | {"PATH": PATH})
    except subprocess.TimeoutExpired:
        raise Failure(f"{command[0]} did not end within {timeout_s} s") from None


def build(*command):
    done = run(*command, timeout_s=3600)
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).splitlines()
        errors = [line.strip() for line in lines if "error" in line.lower()] or lines[-1:]
        raise NotBuilt(f"{command[0]} ended with {done.returncode}: {' '.join(errors[:1])}")


class RustClient:
    """iceberg-rust and skade-katalog."""

    name = "iceberg-rust"
    source = HERE / "iceberg_rust"

    def __init__(self, target):
        needed = tomllib.loads((self.source / "Cargo.toml").read_text())["package"]["rust-version"]
        there = shutil.which("cargo", path=PATH) and run("cargo", "--version").stdout
        found = re.match(r"cargo (\d+)\.(\d+)", there or "")
        if not found or list(map(int, found.groups())) < list(map(int, needed.split("."))):
            raise NotBuilt(f"cargo {needed} or newer is not installed")
        build("cargo", "build", "--release", "--locked", "--manifest-path",
              self.source / "Cargo.toml", "--target-dir", target)
        self.program = target / "release/iceberg_rust_load"
        locked = tomllib.loads((self.source / "Cargo.lock").read_text())["package"]
        self.versions = {package["name"]: package["version"] for package in locked}

    def command(self, uri, directory, metadata_file, rounds):
        return self.program, uri, directory, metadata_file, rounds

    def rows(self, ours, theirs, size):
        iceberg = f"iceberg-rust {self.versions['iceberg']}"
        skade = f"skade-katalog {self.versions['skade-katalog']}"
        clients = {
            "rest": ("iceberg-rust-rest", f"{iceberg} with a REST catalog, which is ours"),
            "sql": ("iceberg-rust-sql", f"{iceberg} with an SQL catalog on SQLite"),
            "skade": ("skade-katalog", f"{skade}: a redb file that one process may hold, "
                      "and a cache of tables in that process"),
        }
        for key, (name, of) in clients.items():
            require_same_table(name, theirs[f"{key}/snapshots"])
            yield cold_row(name, of, size, ours, theirs[f"{key}/cold"])
            yield warm_row(name, of, ours, theirs[f"{key}/warm"])


class JavaClient:
    """Iceberg's own client, as query engines have it."""

    name = "iceberg-java"
    source = HERE / "iceberg_java"

    def __init__(self, target):
        missing = [tool for tool in ("mvn", "java", "javac") if not shutil.which(tool, path=PATH)]
        if missing:
            raise NotBuilt(f"{', '.join(missing)} not installed: ./dev bench --full does that")
        build("mvn", "-q", "-B", "-Dstyle.color=never", "-f", self.source, f"-Dtarget={target}",
              "compile", "dependency:copy-dependencies")
        self.classes = f"{target / 'classes'}:{target / 'dependency'}/*"

    def command(self, uri, directory, metadata_file, rounds):
        return "java", "-cp", self.classes, "LoadBench", uri, rounds

    def rows(self, ours, theirs, size):
        iceberg = f"Iceberg {theirs['versions']['Iceberg']} in Java"
        require_same_table(self.name, theirs["snapshots"])
        first_ms = f"{theirs['rest/first'][0] / 1e6:,.0f} ms"
        yield cold_row("iceberg-java-rest", f"{iceberg} with a RESTCatalog, in a warm virtual "
                       f"machine (the first in a fresh one: {first_ms})", size, ours,
                       theirs["rest/cold"])
        yield warm_row("iceberg-java-rest", f"{iceberg} with a RESTCatalog, which asks whether its "
                       "table is still the newest", ours, theirs["rest/warm"])
        yield warm_row("iceberg-java-caching", f"{iceberg} with a CachingCatalog, which asks "
                       "only when a table was not used for 30 s", ours, theirs["caching/warm"])


def require_same_table(name, snapshots):
    if snapshots != [25]:
        raise Failure(f"{name} loads another table")


def cold_row(name, of, size, ours, theirs):
    return ratio_row(f"load/cold/{name}", "Catalog::open and load_table, nothing cached, against "
                     f"the same of {of}; {size}; wall", "us", ours["cold"], theirs, ">= 1", 1e-3)


def warm_row(name, of, ours, theirs):
    return ratio_row(f"load/warm/{name}", f"load_table again against load_table again of {of}; "
                     "wall", "us", ours["warm"], theirs, ">= 1", 1e-3)


def clients(lab):
    """Those that can be built; a line for each other."""
    for kind in (RustClient, JavaClient):
        target = lab.programs.build / "peers" / kind.source.name
        if not target.exists():
            print(f"load: building {kind.name}, for minutes the first time", flush=True)
        try:
            yield kind(target)
        except NotBuilt as why:
            print(f"load: {kind.name} not measured: {why}", flush=True)


def samples(client, uri, directory, metadata_file, rounds):
    done = run(*client.command(uri, directory, metadata_file, rounds))
    if done.returncode != 0:
        raise Failure(f"{client.name} ended with {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)
