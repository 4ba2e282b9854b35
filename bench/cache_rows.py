"""Rows about the cache of parsed metadata."""

from program import median
from row import rate_row, ratio_row


def c3(lab):
    s = lab.sizes
    figures = lab.programs.samples("resolve_bench", "--dir", lab.memory_dir, "--tables", s["small"],
                                   "--rounds", s["resolve_rounds"], "--lookups", s["resolves"])

    def wall(ours, theirs, by_threads=1):
        return by_threads * median(figures[f"{ours}/wall"]) / median(figures[f"{theirs}/wall"])

    where = f"{s['small']:,} tables in the cache, thread CPU time"
    for entry in ("resolve_metadata", "load_table"):
        for other, of in (("table_exists", "Catalog::table_exists"), ("find", "Snapshot::find")):
            yield ratio_row(f"C3/{entry}/{other}",
                            f"{entry} against {of}; {where}; wall {wall(entry, other):.2f}", "ns",
                            figures[f"{entry}/cpu"], figures[f"{other}/cpu"], "<= 2.5")

    def rate(name, clock, count):
        return [count / ns * 1e9 for ns in figures[f"{name}/{clock}"]]

    for entry in ("resolve_metadata", "load_table"):
        one, two = f"{entry}_hot_1", f"{entry}_hot_2"
        yield rate_row(f"C3/{entry}/two-threads",
                       f"{entry} of one hot table by two threads against one; thread CPU time; "
                       f"wall {wall(one, two, 2):.2f}", "1/s", rate(two, "cpu", 2),
                       rate(one, "cpu", 1), ">= 1.8")
    one, four = "load_table_processes_1", "load_table_processes_4"
    yield ratio_row("C3/load_table/four-processes",
                    "load_table of one hot table, each of four processes against one alone; CPU "
                    f"time; wall {wall(four, one):.2f} on the CPUs there are", "ns",
                    figures[f"{four}/cpu"], figures[f"{one}/cpu"], "<= 1.15")


def cache_policy(lab):
    s = lab.sizes
    figures = lab.programs.samples("cache_policy_bench", "--uses", s["cache_uses"], "--rounds",
                                   s["cache_rounds"], alone=True)
    trace = ("10,000 tables by Zipf's law, documents of 1 KB to 10 MB, a cache of 128 MiB, scans of "
             "all tables, popularity that moves")
    for other in ("lru", "clock", "sieve"):
        target = ">= 1.1" if other == "lru" else "-"
        yield rate_row(f"cache_policy/{other}/objects",
                       f"share of hits of S3-FIFO against {other.upper()}; {trace}", "hits",
                       figures["s3_fifo/objects"], figures[f"{other}/objects"], target)
        yield rate_row(f"cache_policy/{other}/bytes", "the same by bytes", "bytes",
                       figures["s3_fifo/bytes"], figures[f"{other}/bytes"], target)
        yield ratio_row(f"cache_policy/{other}/cost", "an operation of the simulation, its map "
                        "included", "ns", figures["s3_fifo/ns"], figures[f"{other}/ns"])
