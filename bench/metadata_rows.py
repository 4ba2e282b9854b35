"""Rows about parsing table metadata."""

from row import absolute_row, ratio_row

# Snapshots of a document, and what C10 asks for at that size.
DOCUMENTS = {"25KB": (25, ">= 6"), "1k-snapshots": (1_000, ">= 10"), "9k-snapshots": (9_000, ">= 10")}


def parsing(lab, snapshots, rounds=None):
    rounds = rounds or lab.sizes["parse_rounds"]
    repeats = 20 if snapshots < 1_000 else 1
    return lab.programs.samples("parse_bench", "--snapshots", snapshots, "--rounds", rounds,
                                "--repeats", repeats, "--file",
                                f"{lab.disk_dir}/metadata.{snapshots}.json", alone=True)


def c10(lab):
    for name, (snapshots, target) in DOCUMENTS.items():
        figures = parsing(lab, snapshots)
        size = f"{figures['bytes'][0] / 1000:,.0f} KB, {snapshots:,} snapshots; thread CPU time"
        yield ratio_row(f"C10/{name}",
                        f"metadata to the whole model against nlohmann/json into the same; {size}",
                        "us", figures["whole/cpu"], figures["nlohmann/cpu"], target, 1e-3)
        if snapshots >= 1_000:
            yield absolute_row(f"C10/{name}/growth",
                               "resident growth at its highest, text and model included, per byte "
                               "of the document", "x", figures["growth"], None, "<= 3")
        if snapshots >= 9_000:
            yield ratio_row("C11", f"the same document when the current snapshot alone is asked for, "
                            f"against all of it; {size}", "us", figures["current/cpu"],
                            figures["whole/cpu"], "<= 0.333", 1e-3)
