"""The curves that docs/performance.md shows: each is one side of the rows scale_X/CURVE/POINT."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Curve:
    label: str
    rows: str  # their names without the point
    side: str = "ours"  # or "theirs"
    scale: float = 1.0  # of the rows' unit to the plot's

    def points(self, rows):
        """[(abscissa, value)] of those rows that were measured."""
        prefix = self.rows + "/"
        found = [(number_of(row["name"].removeprefix(prefix)), row[self.side] * self.scale)
                 for row in rows if row["name"].startswith(prefix) and row[self.side] is not None]
        return sorted(found)


@dataclasses.dataclass(frozen=True)
class Plot:
    name: str  # of the block and of the file
    title: str
    abscissa: str
    ordinate: str
    curves: tuple
    ordinate_scale: str = "log"


def number_of(label):
    factor = {"k": 1_000, "M": 1_000_000}.get(label[-1], 1)
    return int(label.rstrip("kM")) * factor


def readers(kind):
    return (Curve("table_exists", f"scale_readers/{kind}-map", scale=1e-6),
            Curve("a private map", f"scale_readers/{kind}-map", "theirs", 1e-6),
            Curve("LMDB", f"scale_readers/{kind}-lmdb", "theirs", 1e-6))


PLOTS = (
    Plot("lookups", "A lookup", "tables", "ns of thread CPU time", (
        Curve("table_exists", "scale_tables/table_exists"),
        Curve("Snapshot::find", "scale_tables/find"),
        Curve("find_many, a key", "scale_tables/find_many"),
        Curve("a private map", "scale_tables/find", "theirs"),
        Curve("LMDB", "scale_tables/lmdb", "theirs"))),
    Plot("operations", "Other operations", "tables", "us", (
        Curve("publish one move", "scale_tables/publish", scale=1e-3),
        Curve("list 100 tables", "scale_tables/list", scale=1e-3),
        Curve("open, first lookup", "scale_tables/open"),
        Curve("the same with LMDB", "scale_tables/open", "theirs"))),
    Plot("processes", "Processes that look up", "processes",
         "million lookups a second of CPU time, each", readers("processes"), "linear"),
    Plot("threads", "Threads that look up", "threads",
         "million lookups a second of CPU time, each",
         (*readers("threads"), Curve("load_table, one hot table", "scale_readers/hot_table",
                                     scale=1e-6)), "linear"),
    Plot("snapshots", "Parsing table metadata", "snapshots", "ns of thread CPU time a snapshot", (
        Curve("the whole model", "scale_snapshots/whole"),
        Curve("the current snapshot alone", "scale_snapshots/current"),
        Curve("simdjson's DOM, no model", "scale_snapshots/dom", "theirs"),
        Curve("nlohmann/json, the same model", "scale_snapshots/whole", "theirs"))),
    Plot("writers", "Durable commits", "writers", "commits a second", (
        Curve("pointer moves", "scale_writers/pointers"),
        Curve("LMDB, a put a transaction", "scale_writers/pointers", "theirs"),
        Curve("table commits", "scale_writers/tables"),
        Curve("files and directories synced, no catalog", "scale_writers/tables", "theirs"))),
    Plot("batch", "Metadata files of 20 KB, cold", "files read at once", "us a file", (
        Curve("read together", "scale_batch/cold"),
        Curve("a loop", "scale_batch/cold", "theirs")), "linear"),
)
