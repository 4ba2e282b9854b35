"""Rows about how costs grow: over tables, readers, snapshots, writers, batches. Each point of a curve
is a row, named scale_X/CURVE/POINT, so that report.py can draw it."""

import pathlib
import shutil

from metadata_rows import parsing
from program import CatalogServer, median
from rest_rows import table_commits
from row import absolute_row, rate_row, ratio_row

# What a table takes while it is measured, in bytes: segment, LMDB, the private map, arenas that are
# being built.
BYTES_PER_TABLE = 1_000


def label(count):
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size and count % size == 0:
            return f"{count // size}{letter}"
    return str(count)


def available_bytes(directory):
    """Of memory, and of the file system that the segments lie on."""
    with open("/proc/meminfo") as meminfo:
        fields = dict(line.split(":") for line in meminfo)
    return min(int(fields["MemAvailable"].split()[0]) * 1024, shutil.disk_usage(directory).free)


def scale_tables(lab):
    for tables in lab.sizes["scale_tables"]:
        needed, available = tables * BYTES_PER_TABLE, available_bytes(lab.memory_dir)
        if needed > available:
            print(f"scale_tables/{label(tables)}: left out: takes {needed / 1e9:.0f} GB of memory, "
                  f"and {available / 1e9:.0f} GB are free", flush=True)
            continue
        directory = pathlib.Path(lab.memory_dir) / "scale"
        directory.mkdir()
        try:
            yield from publishes(lab, directory, tables)
            server = CatalogServer(lab.programs, directory, (tables,))
            try:
                yield from reads(lab, server, tables)
            finally:
                server.stop()
        finally:
            shutil.rmtree(directory)


def rounds_at(lab, tables):
    return lab.sizes["scale_rounds" if tables < 10_000_000 else "scale_rounds_at_10M"]


def publishes(lab, directory, tables):
    s = lab.sizes
    figures = lab.programs.samples(
        "publish_bench", "--dir", directory, "--small", s["tiny"], "--large", tables, "--rounds",
        rounds_at(lab, tables), "--commits", s["scale_commits"], "--build-commits", 0)
    yield ratio_row(f"scale_tables/publish/{label(tables)}",
                    f"one pointer move a commit in {tables:,} tables against in {s['tiny']:,}; "
                    "median thread CPU time", "ns", figures["large/cpu"], figures["small/cpu"])


def reads(lab, server, tables):
    s = lab.sizes
    point = label(tables)
    places = ("--segment", server.segment(tables), "--lmdb", server.lmdb(tables), "--tables", tables)
    figures = lab.programs.samples("lookup_bench", *places, "--lookups", s["lookups"], "--rounds",
                                   rounds_at(lab, tables), "--listings", s["scale_listings"],
                                   "--one-map", 1, alone=True)
    where = f"{tables:,} tables, thread CPU time"
    for name, what, ours, theirs in (
            ("table_exists", "Catalog::table_exists against a private map", "table_exists",
             "map_by_parts"),
            ("find", "Snapshot::find against a private map", "find", "map_by_parts"),
            ("lmdb", "Catalog::table_exists against LMDB renew + get", "table_exists", "lmdb"),
            ("find_many", "Snapshot::find_many, per key, against one find after another",
             "find_many", "find"),
            ("list", "list a random namespace's 100 tables against one find", "list_random",
             "find")):
        yield ratio_row(f"scale_tables/{name}/{point}", f"{what}; {where}", "ns",
                        figures[f"{ours}/cpu"], figures[f"{theirs}/cpu"])
    opened = lab.programs.samples("open_bench", *places, "--rounds", s["open_rounds"], alone=True)
    yield ratio_row(f"scale_tables/open/{point}", "Catalog::open and a first lookup in a new process "
                    f"against LMDB's; {tables:,} tables; wall", "us", opened["catalog/wall"],
                    opened["lmdb/wall"], "-", 1e-3)
    weight = server.weights[tables]

    def beyond_payload(total):
        return [(weight[total] - weight["payload_bytes"]) / tables]

    yield absolute_row(f"scale_tables/bytes/{point}", "bytes a table beyond key and location, "
                       f"{tables:,} tables; theirs a private map's", "bytes",
                       beyond_payload("used_bytes"), beyond_payload("private_map_bytes"))


def scale_readers(lab):
    s = lab.sizes
    figures = lab.programs.samples("readers_bench", "--dir", lab.memory_dir, "--tables", s["small"],
                                   "--readers-max", s["readers_max"], "--rounds",
                                   s["reader_rounds"], "--lookups", s["reader_lookups"])

    def rates(name):
        return [1e9 / ns for ns in figures[name]]

    counts = [1 << power for power in range(s["readers_max"].bit_length())]
    where = f"{s['small']:,} tables; lookups a second of each reader's CPU time"
    for kind, of in (("processes", "each of so many processes"), ("threads", "each of so many threads")):
        for side, theirs in (("map", "a private map"), ("lmdb", "LMDB renew + get")):
            for count in counts:
                yield rate_row(f"scale_readers/{kind}-{side}/{count}",
                               f"Catalog::table_exists against {theirs} by {of}; {where}", "1/s",
                               rates(f"{kind}_{count}/catalog"), rates(f"{kind}_{count}/{side}"))
    for count in counts:
        yield rate_row(f"scale_readers/hot_table/{count}", "load_table of one table by each of so "
                       "many threads against one thread alone; by CPU time", "1/s",
                       rates(f"threads_{count}/hot_table"), rates("threads_1/hot_table"))


def scale_snapshots(lab):
    for count in lab.sizes["scale_snapshots"]:
        rounds = lab.sizes["parse_rounds"] if count < 100_000 else lab.sizes["scale_rounds"]
        figures = parsing(lab, count, rounds)
        scale = 1 / count
        size = f"{figures['bytes'][0] / 1000:,.0f} KB; thread CPU time for each snapshot"
        for name, what, ours, theirs in (
                ("whole", "metadata to the whole model against nlohmann/json into the same",
                 "whole", "nlohmann"),
                ("dom", "metadata to the whole model against simdjson's DOM of the text, without a "
                 "model", "whole", "dom"),
                ("current", "when the current snapshot alone is asked for, against all of it",
                 "current", "whole")):
            yield ratio_row(f"scale_snapshots/{name}/{label(count)}", f"{what}; {size}", "ns",
                            figures[f"{ours}/cpu"], figures[f"{theirs}/cpu"], "-", scale)


def scale_writers(lab):
    s = lab.sizes
    how = {"rounds": s["writer_rounds"], "milliseconds": s["writer_ms"]}
    for writers in s["writer_counts"]:
        figures = lab.programs.samples(
            "commit_bench", "--data-dir", lab.disk_dir, "--runtime-dir", lab.memory_dir, "--writers",
            writers, "--rounds", how["rounds"], "--milliseconds", how["milliseconds"])
        yield rate_row(f"scale_writers/pointers/{writers}", f"durable pointer moves, writers: "
                       f"{writers}; against LMDB's one put a transaction", "1/s",
                       figures["committer"], figures["lmdb"])
    for writers in s["writer_counts"]:
        figures = table_commits(lab, writers, **how)
        yield rate_row(f"scale_writers/tables/{writers}", f"durable commits of tables, writers: "
                       f"{writers}; against as many threads that only create such a file and sync "
                       "it and its directory", "1/s", figures["commits"], figures["files"])


def scale_batch(lab):
    s = lab.sizes
    for files in s["batches"]:
        rounds = max(s["batch_rounds"], s["batch_files"] // files)
        figures = lab.programs.samples("file_bench", "--dir", lab.disk_dir, "--files", files,
                                       "--bytes", 20_480, "--rounds", rounds, alone=True)
        for state in ("cold", "warm"):
            yield ratio_row(f"scale_batch/{state}/{files}", f"files of 20 KB read at once: {files}; "
                            f"{state}; wall time for each, against a loop of open, fstat, pread, "
                            "close", "us", figures[f"{state}/ours/wall"],
                            figures[f"{state}/loop/wall"], "-", 1e-3 / files)


def short_lived(lab):
    s = lab.sizes
    tables = s["small"]
    figures = lab.programs.samples("process_bench", "--segment", lab.catalogs.segment(tables),
                                   "--lmdb", lab.catalogs.lmdb(tables), "--tables", tables,
                                   "--rounds", s["process_rounds"], alone=True)
    fork = {clock: median(figures[f"nothing/{clock}"]) / 1000 for clock in ("wall", "cpu")}
    faults = {side: f"{median(figures[f'{side}/faults']):.0f}"
              for side in ("catalog", "lmdb", "nothing")}
    yield ratio_row("short_lived/wall", "fork, Catalog::open, one lookup, exit, against LMDB's "
                    f"environment, transaction and get; {tables:,} tables; wall; of both, "
                    f"{fork['wall']:.0f} us are fork and exit", "us", figures["catalog/wall"],
                    figures["lmdb/wall"], ">= 1", 1e-3)
    yield ratio_row("short_lived/cpu", "the same in the child's CPU time, of which fork and exit are "
                    f"{fork['cpu']:.0f} us; page faults {faults['catalog']}, LMDB's "
                    f"{faults['lmdb']}, of fork and exit {faults['nothing']}", "us",
                    figures["catalog/cpu"], figures["lmdb/cpu"], "-", 1e-3)


ROWS = {"scale_tables": scale_tables, "scale_readers": scale_readers,
        "scale_snapshots": scale_snapshots, "scale_writers": scale_writers,
        "scale_batch": scale_batch, "short_lived": short_lived}
