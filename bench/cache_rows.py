"""Rows about the cache of parsed metadata."""

from program import median
from row import rate_row, ratio_row


def c3(lab):
    s = lab.sizes
    figures = lab.programs.samples("resolve_bench", "--dir", lab.memory_dir, "--tables", s["small"],
                                   "--rounds", s["resolve_rounds"], "--lookups", s["resolves"])
    where = f"{s['small']:,} tables in the cache, thread CPU time"
    for entry, of in (("table_exists", "Catalog::table_exists"), ("find", "Snapshot::find")):
        wall = median(figures["resolve_metadata/wall"]) / median(figures[f"{entry}/wall"])
        yield ratio_row(f"C3/{entry}",
                        f"resolve_metadata against {of}; {where}; wall {wall:.2f}", "ns",
                        figures["resolve_metadata/cpu"], figures[f"{entry}/cpu"], "<= 2.5")

    def rate(threads, clock):
        return [threads / ns * 1e9 for ns in figures[f"hot_{threads}/{clock}"]]

    wall = median(rate(2, "wall")) / median(rate(1, "wall"))
    yield rate_row("C3/two-threads",
                   f"resolve_metadata of one hot table by two threads against one; thread CPU time; "
                   f"wall {wall:.2f}", "1/s", rate(2, "cpu"), rate(1, "cpu"), ">= 1.8")


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
