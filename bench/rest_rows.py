"""Rows about the REST catalog: what requests cost, and durable commits of tables."""

import pathlib

from program import BareServer, Daemon, median
from row import rate_row, ratio_row


def c12(lab):
    programs = lab.programs
    for place, server_cpus in (("same-cpu", programs.cpus[:1]), ("other-cpu", programs.cpus[1:])):
        if server_cpus:
            yield from requests(lab, place, server_cpus)


def requests(lab, place, server_cpus):
    s = lab.sizes
    directory = pathlib.Path(lab.disk_dir) / f"rest.{place}"
    directory.mkdir()
    runtime_dir = pathlib.Path(lab.memory_dir) / f"rest.{place}"
    bare = BareServer(lab.programs, directory / "bare.sock", server_cpus)
    try:
        daemon = Daemon(lab.programs, runtime_dir, directory / "data", cpus=server_cpus)
        try:
            figures = lab.programs.samples(
                "rest_bench", "--socket", runtime_dir / "catalog.sock", "--bare",
                directory / "bare.sock", "--metadata", directory / "t.metadata.json", "--rounds",
                s["rest_rounds"], "--requests", s["requests"], "--cpu", lab.programs.cpus[0])
        finally:
            daemon.stop()
    finally:
        bare.stop()
    where = {"same-cpu": "client and server on one CPU",
             "other-cpu": "client and server on two CPUs"}[place]
    size = f"{figures['bytes'][0] / 1000:.0f} KB"
    yield ratio_row(f"C12/{place}/head", f"HEAD table against a bare Beast server's 204; {where}; "
                    "wall", "us", figures["head"], figures["bare/head"], "<= 1.3", 1e-3)
    yield ratio_row(f"C12/{place}/get", f"GET table, {size}, against the same; {where}; wall", "us",
                    figures["get"], figures["bare/get"], "<= 2", 1e-3)
    yield ratio_row(f"C12/{place}/304", f"GET table with its ETag, against the same; {where}; wall",
                    "us", figures["unchanged"], figures["bare/get"], "-", 1e-3)
    yield ratio_row(f"C12/{place}/commit", f"a durable commit of a table by one client, against the "
                    f"same; {where}; wall", "us", figures["commit"], figures["bare/get"], "-", 1e-3)


def table_commits(lab, writers, *more, rounds=None, milliseconds=None):
    s = lab.sizes
    return lab.programs.samples(
        "table_commit_bench", "--data-dir", lab.disk_dir, "--runtime-dir", lab.memory_dir,
        "--writers", writers, "--rounds", rounds or s["disk_rounds"], "--milliseconds",
        milliseconds or s["disk_ms"], *more)


def c6b(lab):
    for writers, target in ((64, ">= 0.7"), (16, "-"), (1, "-")):
        figures = table_commits(lab, writers)
        yield rate_row(f"C6b/{writers}", f"durable commits of tables by {writers} writers, each on "
                       f"its own, against as many threads that only create such a file "
                       f"({median(figures['bytes']) / 1000:.0f} KB) and sync it and its directory",
                       "1/s", figures["commits"], figures["files"], target)


def commit_size(lab):
    few = table_commits(lab, 1, "--snapshots", 10)
    many = table_commits(lab, 1, "--snapshots", lab.sizes["snapshots"])
    for count, figures in ((10, few), (lab.sizes["snapshots"], many)):
        yield rate_row(f"commit/{count}-snapshots", f"commits of a table with {count:,} snapshots "
                       f"({median(figures['bytes']) / 1000:,.0f} KB) by one writer, against one "
                       "thread that only creates and syncs such a file and its directory", "1/s",
                       figures["commits"], figures["files"])
