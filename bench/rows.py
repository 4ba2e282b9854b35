"""What is measured, row by row. Each function of ROWS yields Rows."""

import functools
import os
import shutil
import tempfile

import cache_rows
import load_rows
import metadata_rows
import peer_rows
import plan_rows
import rest_rows
import scale_rows
from program import CatalogServer, Daemon, median
from row import absolute_row, rate_row, ratio_row

FULL = {
    "tiny": 1_000, "small": 10_000, "large": 1_000_000,
    "lookups": 1 << 20, "small_rounds": 21, "large_rounds": 11, "listings": 2_000,
    "publish_rounds": 11, "commits": 20_000, "build_commits": 25_000, "pace_ns": 40_000,
    "wake_rounds": 21, "wakes": 100, "writes": 1_000,
    "disk_rounds": 5, "disk_ms": 2_000, "writers": 64,
    "open_rounds": 41, "flip_rounds": 15, "flip_lookups": 10_000, "start_rounds": 7, "parse_rounds": 15, "files": 1_000, "file_rounds": 21,
    "resolves": 60_000, "resolve_rounds": 61, "cache_uses": 1_000_000, "cache_rounds": 3,
    "plan_files": 500, "plan_rounds": 11, "pyiceberg_rounds": 5,
    "rest_rounds": 11, "requests": 2_000, "snapshots": 10_000,
    "peer_rounds": 11, "peer_lookups": 20_000,
    "scale_tables": (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    "scale_rounds": 7, "scale_rounds_at_10M": 3, "scale_listings": 400, "scale_commits": 5_000,
    "readers_max": 8, "reader_rounds": 9, "reader_lookups": 1 << 18,
    "scale_snapshots": (10, 100, 1_000, 10_000, 100_000),
    "writer_counts": (1, 2, 4, 8, 16, 32, 64), "writer_rounds": 3, "writer_ms": 1_000,
    "batches": (1, 4, 16, 64, 256, 1_024), "batch_rounds": 11, "batch_files": 512,
    "process_rounds": 201,
    "other_clients": True,
}
SMOKE = {
    "tiny": 1_000, "small": 2_000, "large": 20_000,
    "lookups": 1 << 15, "small_rounds": 3, "large_rounds": 3, "listings": 80,
    "publish_rounds": 2, "commits": 1_000, "build_commits": 5_000, "pace_ns": 10_000,
    "wake_rounds": 2, "wakes": 10, "writes": 100,
    "disk_rounds": 1, "disk_ms": 200, "writers": 64,
    "open_rounds": 3, "flip_rounds": 2, "flip_lookups": 200, "start_rounds": 1, "parse_rounds": 1, "files": 100, "file_rounds": 3,
    "resolves": 5_000, "resolve_rounds": 2, "cache_uses": 20_000, "cache_rounds": 1,
    "plan_files": 20, "plan_rounds": 2, "pyiceberg_rounds": 1,
    "rest_rounds": 2, "requests": 50, "snapshots": 500,
    "peer_rounds": 2, "peer_lookups": 500,
    "scale_tables": (1_000, 2_000),
    "scale_rounds": 2, "scale_rounds_at_10M": 1, "scale_listings": 8, "scale_commits": 200,
    "readers_max": 2, "reader_rounds": 1, "reader_lookups": 1 << 12,
    "scale_snapshots": (10, 100),
    "writer_counts": (1, 4), "writer_rounds": 1, "writer_ms": 50,
    "batches": (1, 16), "batch_rounds": 2, "batch_files": 16,
    "process_rounds": 5,
    "other_clients": False,  # they are built from the network
}


class Lab:
    """What the rows share: programs, sizes, places, and catalogs made once."""

    def __init__(self, programs, sizes):
        self.programs = programs
        self.sizes = sizes
        memory = "/dev/shm" if shutil.os.access("/dev/shm", shutil.os.W_OK) else None
        self.memory_dir = tempfile.mkdtemp(prefix="iceblink-bench-", dir=memory)
        (programs.build / "bench").mkdir(exist_ok=True)
        self.disk_dir = tempfile.mkdtemp(prefix="data-", dir=programs.build / "bench")

    @functools.cached_property
    def catalogs(self):
        s = self.sizes
        return CatalogServer(self.programs, self.memory_dir, (s["tiny"], s["small"], s["large"]))

    @functools.cached_property
    def small_lookups(self):
        s = self.sizes
        return self._lookups(s["small"], "--rounds", s["small_rounds"])

    @functools.cached_property
    def large_lookups(self):
        s = self.sizes
        return self._lookups(s["large"], "--rounds", s["large_rounds"],
                             "--listings", s["listings"],
                             "--beside", self.catalogs.segment(s["tiny"]),
                             "--beside-tables", s["tiny"])

    def _lookups(self, tables, *more):
        return self.programs.samples(
            "lookup_bench", "--segment", self.catalogs.segment(tables),
            "--lmdb", self.catalogs.lmdb(tables), "--tables", tables,
            "--lookups", self.sizes["lookups"], *more, alone=True)

    @functools.cached_property
    def publishing(self):
        s = self.sizes
        return self.programs.samples(
            "publish_bench", "--dir", self.memory_dir, "--small", s["tiny"], "--large", s["large"],
            "--rounds", s["publish_rounds"], "--commits", s["commits"],
            "--build-commits", s["build_commits"], "--pace-ns", s["pace_ns"])

    def store_of(self, tables):
        """A data directory with that many tables."""
        directory = f"{self.disk_dir}/store.{tables}"
        self.programs.run("store_filler", "fill", "--data-dir", directory,
                          "--runtime-dir", self.memory_dir, "--tables", tables)
        return directory

    def close(self):
        try:
            if "catalogs" in self.__dict__:
                self.catalogs.stop()
        finally:
            shutil.rmtree(self.memory_dir, ignore_errors=True)
            shutil.rmtree(self.disk_dir, ignore_errors=True)


def file_system(directory):
    """The type of the file system that the directory is on."""
    with open("/proc/mounts") as mounts:
        fields = [line.split()[1:3] for line in mounts]
    real = f"{os.path.realpath(directory)}/"
    return max((point.rstrip("/"), kind) for point, kind in fields
               if real.startswith(point.rstrip("/") + "/"))[1]


def lookups(name, tables, figures, lmdb_target):
    """C1 at one size."""
    forms = {"map_by_parts": "part by part",
             "map_by_bytes": "by a key assembled on the stack"}
    form, other = sorted(forms, key=lambda form: median(figures[f"{form}/cpu"]))
    private = figures[f"{form}/cpu"]
    where = f"{tables:,} tables, thread CPU time"
    for entry, of in (("table_exists", "Catalog::table_exists"), ("find", "Snapshot::find")):
        wall = median(figures[f"{entry}/wall"]) / median(figures[f"{form}/wall"])
        yield ratio_row(f"{name}/{entry}",
                        f"{of} against a private map looked up {forms[form]}; {where}; wall {wall:.2f}",
                        "ns", figures[f"{entry}/cpu"], private, "<= 1.15")
    yield ratio_row(f"{name}/lmdb", f"Catalog::table_exists against LMDB renew + get; {where}",
                    "ns", figures["table_exists/cpu"], figures["lmdb/cpu"], lmdb_target)
    yield ratio_row(f"{name}/prepared", "Catalog::table_exists of a prepared key against LMDB renew "
                    f"+ get of the same encoded key; {where}", "ns",
                    figures["table_exists_prepared/cpu"], figures["lmdb_prepared/cpu"], lmdb_target)
    yield ratio_row(f"{name}/resolve_location",
                    f"an owned string, against the private map's view; {where}",
                    "ns", figures["resolve_location/cpu"], private)
    yield ratio_row(f"{name}/other-map", f"the private map looked up {forms[other]}", "ns",
                    figures[f"{other}/cpu"], private)


def c1(lab):
    yield from lookups("C1/10k", lab.sizes["small"], lab.small_lookups, ">= 8")
    yield from lookups("C1/1M", lab.sizes["large"], lab.large_lookups, ">= 4.5")


def c2(lab):
    figures = lab.large_lookups
    where = f"per key, {lab.sizes['large']:,} tables, thread CPU time"
    yield ratio_row("C2/1M/find_many", f"Snapshot::find_many against one find after another; {where}",
                    "ns", figures["find_many/cpu"], figures["find/cpu"], ">= 1.4")
    yield ratio_row("C2/1M/tables_exist",
                    f"Catalog::tables_exist against one table_exists after another; {where}",
                    "ns", figures["tables_exist/cpu"], figures["table_exists/cpu"], ">= 1.4")


def c4(lab):
    figures = lab.publishing
    large, tiny = lab.sizes["large"], lab.sizes["tiny"]
    pause_us = int(figures["pause_us"][0])
    wall = median(figures["large/wall"]) / median(figures["small/wall"])
    yield ratio_row("C4/1M-vs-1k",
                    f"one pointer move a commit, reserve + publish: any of {large:,} tables "
                    f"against any of {tiny:,}; median thread CPU time; wall {wall:.2f}",
                    "ns", figures["large/cpu"], figures["small/cpu"], "<= 1.3")
    yield ratio_row("C4/1M-vs-1k/few-tables",
                    f"the same, but {tiny:,} tables are moved in both catalogs",
                    "ns", figures["large_few/cpu"], figures["small/cpu"])
    for step in ("reserve", "publish"):
        yield ratio_row(f"C4/1M-vs-1k/{step}", f"{step} alone, where {pause_us} us lie between reserve "
                        "and publish, less than a sync of a disk takes; thread CPU time", "ns",
                        figures[f"large_paused/{step}"], figures[f"small_paused/{step}"])
    share = sum(figures["builds/share"]) / len(figures["builds/share"])
    row = ratio_row("C4/p99.9-during-builds",
                    f"p99.9 against p50 of commits, {share:.0%} of them while an arena of "
                    f"{large:,} tables is built; thread CPU time",
                    "ns", figures["builds/cpu_p999"], figures["builds/cpu_p50"], "<= 10")
    row.is_valid = share >= 0.05
    yield row
    yield ratio_row("C4/p99.9-alone", "the same commits between builds: what this machine does to a "
                    "quantile by itself", "ns", figures["alone/cpu_p999"], figures["alone/cpu_p50"])
    yield ratio_row("C4/p99.9-during-builds/wall", "the same in wall time, waits for a CPU included",
                    "ns", figures["builds/wall_p999"], figures["builds/wall_p50"])


def c5(lab):
    s = lab.sizes
    figures = lab.programs.samples("wake_bench", "--dir", lab.memory_dir, "--rounds",
                                   s["wake_rounds"], "--wakes", s["wakes"], "--writes", s["writes"])
    yield ratio_row("C5/wake",
                    "publish to the return of wait_for_change in another process, against a bare "
                    "futex on the same CPUs; wall", "ns", figures["publish"], figures["futex"],
                    "<= 1.3")
    yield rate_row("C5/read-your-writes", "writes that the other process saw, of those it was told of",
                   "writes", figures["writes_seen"], figures["writes"], ">= 1")


def c6a(lab):
    s = lab.sizes
    figures = lab.programs.samples("commit_bench", "--data-dir", lab.disk_dir, "--runtime-dir",
                                   lab.memory_dir, "--writers", s["writers"], "--rounds",
                                   s["disk_rounds"], "--milliseconds", s["disk_ms"])
    yield rate_row("C6a/committer",
                   f"durable pointer moves by {s['writers']} writers that wait for their answers, "
                   "against LMDB's one put a transaction", "1/s", figures["committer"],
                   figures["lmdb"], ">= 5")
    if not lab.programs.has("iceblinkd"):
        return
    runtime_dir = f"{lab.memory_dir}/socket"
    daemon = Daemon(lab.programs, runtime_dir, lab.store_of(s["small"]))
    try:
        through = lab.programs.samples("socket_bench", "--runtime-dir", runtime_dir, "--tables",
                                       s["small"], "--connections", s["writers"], "--rounds",
                                       s["disk_rounds"], "--milliseconds", s["disk_ms"])
    finally:
        daemon.stop()
    yield rate_row("C6a/socket", f"the same through iceblinkd, {s['writers']} connections", "1/s",
                   through["socket"], figures["lmdb"])


def c7(lab):
    large = lab.sizes["large"]
    figures = lab.programs.samples("open_bench", "--segment", lab.catalogs.segment(large), "--lmdb",
                                   lab.catalogs.lmdb(large), "--tables", large, "--rounds",
                                   lab.sizes["open_rounds"], alone=True)
    yield absolute_row("C7/1M",
                       f"Catalog::open and a first lookup in a new process, {large:,} tables; the "
                       "ratio is our time in ms, theirs LMDB's open and first get; wall", "ms",
                       figures["catalog/wall"], figures["lmdb/wall"], "<= 1", 1e-6)


def first_touch(lab):
    s = lab.sizes
    large = s["large"]
    figures = lab.programs.samples("flip_bench", "--dir", lab.memory_dir, "--tables", large, "--rounds",
                                   s["flip_rounds"], "--lookups", s["flip_lookups"], alone=True)
    yield absolute_row("first_touch/lookup", "a reader's first lookup after a flip, in which it maps "
                       f"the new arena and unmaps the old one, {large:,} tables; the ratio is its time "
                       "in ms, theirs Catalog::open and a first lookup; wall", "ms", figures["first"],
                       figures["open"], "<= 1", 1e-6)
    yield ratio_row("first_touch/pages", f"each of the {s['flip_lookups']:,} lookups after that, "
                    "random ones, against as many others then, whose pages are mapped; wall", "ns",
                    figures["touch"], figures["warm"])


def c8(lab):
    large = lab.sizes["large"]
    data_dir = lab.store_of(large)
    starts, scans = [], []
    for turn in range(lab.sizes["start_rounds"]):
        daemon = Daemon(lab.programs, f"{lab.memory_dir}/start.{turn}", data_dir)
        daemon.stop()
        if f" {large} tables" not in daemon.ready_line:
            raise AssertionError(f"iceblinkd serves something else: {daemon.ready_line}")
        starts.append(daemon.start_s)
        scan = lab.programs.samples("store_filler", "scan", "--data-dir", data_dir, "--tables",
                                    large, "--rounds", 1)
        scans.append(scan["scan"][0] * 1e-9)
        shutil.rmtree(f"{lab.memory_dir}/start.{turn}", ignore_errors=True)
    yield absolute_row("C8/1M",
                       f"iceblinkd from its start to its ready line, {large:,} tables; the ratio is "
                       "our time in s, theirs a scan of the same LMDB", "s", starts, scans, "<= 2")


def c9(lab):
    large = lab.sizes["large"]
    weight = lab.catalogs.weights[large]

    def beyond_payload(total):
        return [(weight[total] - weight["payload_bytes"]) / large]

    yield absolute_row("C9/1M",
                       f"bytes a table beyond key and location, {large:,} tables: header, index, "
                       "records and namespaces; theirs a private map's", "bytes",
                       beyond_payload("used_bytes"), beyond_payload("private_map_bytes"), "<= 96")
    yield absolute_row("C9/1M/file", "the same of the whole file, room for changes included", "bytes",
                       beyond_payload("file_bytes"), None)


def c13(lab):
    figures = lab.large_lookups
    large, tiny = lab.sizes["large"], lab.sizes["tiny"]
    yield ratio_row("C13/1M",
                    f"list a random namespace's 100 tables of {large:,} against one find; thread "
                    "CPU time", "ns", figures["list_random/cpu"], figures["find/cpu"], "<= 200")
    yield ratio_row("C13/1M-vs-1k",
                    f"list one namespace's 100 tables in {large:,} against in {tiny:,}; thread CPU "
                    "time", "ns", figures["list_one/cpu"], figures["beside/list_one/cpu"], "<= 1.3")
    yield ratio_row("C13/1M-vs-1k/random",
                    "the same of random namespaces: a million tables do not fit into a cache", "ns",
                    figures["list_random/cpu"], figures["beside/list_random/cpu"])


def file_batch(lab):
    s = lab.sizes
    figures = lab.programs.samples("file_bench", "--dir", lab.disk_dir, "--files", s["files"],
                                   "--bytes", 20_480, "--rounds", s["file_rounds"], alone=True)
    way = "io_uring" if figures["uses_ring"][0] else "plain reads, io_uring being refused"
    what = (f"{s['files']:,} files of 20 KB at once by {way} against a loop of open, fstat, pread, "
            f"close, on {file_system(lab.disk_dir)}")

    def sides(state, clock):
        return figures[f"{state}/ours/{clock}"], figures[f"{state}/loop/{clock}"]

    def ratio(state, clock):
        return "{:.2f}".format(median(sides(state, clock)[0]) / median(sides(state, clock)[1]))

    yield ratio_row("file_batch/cold",
                    f"{what}; cold; wall; thread CPU time {ratio('cold', 'cpu')} of the loop's",
                    "ns", *sides("cold", "wall"), ">= 2")
    yield ratio_row("file_batch/warm",
                    f"{what}; warm; thread CPU time; wall {ratio('warm', 'wall')}", "ns",
                    *sides("warm", "cpu"), "<= 1.2")


ROWS = {"C1": c1, "C2": c2, "C3": cache_rows.c3, "C4": c4, "C5": c5, "C6a": c6a,
        "C6b": rest_rows.c6b, "C7": c7, "first_touch": first_touch,
        "C8": c8, "C9": c9, "C10": metadata_rows.c10,
        "C12": rest_rows.c12, "C13": c13, "commit": rest_rows.commit_size, "file_batch": file_batch,
        "cache_policy": cache_rows.cache_policy, "plan": plan_rows.plan, "peers": peer_rows.peers,
        "load": load_rows.load, **scale_rows.ROWS}

# Beyond what the design sets a target for: other catalogs, and how costs grow.
FULL_ONLY = ("cache_policy", "plan", "peers", "load", *scale_rows.ROWS)


def names(full):
    return [name for name in ROWS if full or name not in FULL_ONLY]
