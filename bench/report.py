#!/usr/bin/env python3
"""Fills docs/performance.md from a full run: its tables, and the plots in docs/performance/.

    report.py [--results FILE] [--document FILE] [--tables-only]

A table stands between `<!-- begin NAME -->` and `<!-- end NAME -->`. A block whose rows were not
measured stays as it is, and is named. Plots need matplotlib (Debian: python3-matplotlib, whose
Python is /usr/bin/python3); the same results make the same bytes."""

import argparse
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from curves import PLOTS
from limits import LIMITS

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ("peers/", "load/", "plan/", "cache_policy/", "short_lived/")


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(headings, rows):
    """Markdown; nothing where there are no rows."""
    rows = list(rows)
    if not rows:
        return None
    right = " ---: |" * (len(headings) - 1)
    return "\n".join([f"| {' | '.join(headings)} |", f"| --- |{right}",
                      *(f"| {' | '.join(row)} |" for row in rows)])


def machine_block(machine):
    build = machine["build"]
    caches = ", ".join(f"{name} {size}" for name, size in machine["caches"].items())
    rows = (("date", machine["date"]),
            ("CPU", f"{machine['cpu']}, {machine['cpu_count']} CPUs; {caches}"),
            ("memory", f"{machine['memory_gib']} GiB, huge pages {machine['huge_pages']}"),
            ("kernel", f"Linux {machine['kernel']}"),
            ("load before the run", str(machine["load"])),
            ("build", f"{build['compiler']}; iceblink {build['iceblink']}, layout {build['layout']}"),
            ("against", f"LMDB {build['lmdb']}, Boost {build['boost']}, xxHash {build['xxhash']}, "
             f"Python {machine['python']}"),
            ("minutes", f"{sum(machine['seconds'].values()) / 60:.0f}"))
    return table(("", ""), rows)


def verdict(row):
    if row["target"] == "-":
        return ""
    return f"{row['target']} {'reached' if row['pass'] else '**missed**'}"


def rows_block(rows):
    return table(("row", "ours", "theirs", "unit", "ratio", "middle half", "target"),
                 ((f"`{row['name']}`", number(row["ours"]), number(row["theirs"]), row["unit"],
                   f"{row['ratio']:.2f}", f"{row['spread'][0]:.2f}–{row['spread'][1]:.2f}",
                   verdict(row)) for row in rows))


def explanations_block(rows):
    return "\n".join(f"- `{row['name']}`: {row['what']}." for row in rows) or None


def limits_block(rows):
    """What the limit of a row takes, and how much of that is reached."""
    by_name = {row["name"]: row for row in rows}

    def share(row):
        better_is_more = row["unit"] == "1/s"
        return (row["ours"] / row["theirs"]) if better_is_more else (row["theirs"] / row["ours"])

    return table(("row", "ours", "the limit", "unit", "reached", "what the limit is"),
                 ((f"`{name}`", number(by_name[name]["ours"]), number(by_name[name]["theirs"]),
                   by_name[name]["unit"], f"{share(by_name[name]):.0%}", limit)
                  for name, limit in LIMITS if name in by_name))


def label(value):
    return f"{value:,}"


def curves_block(plot, rows):
    """A line for each point, a column for each curve."""
    columns = [dict(curve.points(rows)) for curve in plot.curves]
    abscissae = sorted(set().union(*columns))
    return table((plot.abscissa, *(curve.label for curve in plot.curves)),
                 ([label(at), *(number(column.get(at)) for column in columns)]
                  for at in abscissae))


def blocks(rows, machine):
    """{name: Markdown, or None where nothing was measured}."""
    peers = [row for row in rows if row["name"].startswith(PEERS)]
    judged = [row for row in rows
              if not row["name"].startswith((*PEERS, "scale_"))]
    made = {"machine": machine_block(machine), "judged": rows_block(judged),
            "limits": limits_block(rows), "peers": rows_block(peers),
            "rows": explanations_block(judged + peers)}
    for plot in PLOTS:
        made[plot.name] = curves_block(plot, rows)
    return made


def fill(text, made):
    """The document with its blocks, which are exactly those that are made."""
    found = re.findall(r"<!-- begin (\w+) -->", text)
    if sorted(found) != sorted(made):
        raise SystemExit(f"the document has the blocks {sorted(found)}, not {sorted(made)}")

    def block(match):
        name = match[1]
        if made[name] is None:
            print(f"left as it was: {name}")
            return match[0]
        return f"<!-- begin {name} -->\n{made[name]}\n<!-- end {name} -->"

    return re.sub(r"<!-- begin (\w+) -->\n.*?<!-- end \1 -->", block, text, flags=re.DOTALL)


def draw(plot, rows, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": plot.name, "svg.fonttype": "none", "font.size": 10})
    from matplotlib import pyplot

    curves = [(curve, curve.points(rows)) for curve in plot.curves]
    abscissae = sorted({at for _, points in curves for at, _ in points})
    if not abscissae:
        return
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for curve, points in curves:
        is_theirs = curve.side == "theirs"
        axes.plot([at for at, _ in points], [value for _, value in points], marker="o",
                  linestyle="--" if is_theirs else "-", label=curve.label)
    axes.set(title=plot.title, xlabel=plot.abscissa, ylabel=plot.ordinate, xscale="log",
             yscale=plot.ordinate_scale)
    axes.set_xticks(abscissae, [label(at) for at in abscissae])
    axes.minorticks_off()
    if plot.ordinate_scale == "linear":
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=pathlib.Path,
                        default=ROOT / "build/release/bench/results.json",
                        help="machine.json stands beside it")
    parser.add_argument("--document", type=pathlib.Path, default=ROOT / "docs/performance.md",
                        help="plots go to the directory of its name without .md")
    parser.add_argument("--tables-only", action="store_true")
    options = parser.parse_args()
    rows = json.loads(options.results.read_text())
    machine = json.loads(options.results.with_name("machine.json").read_text())
    if machine["smoke"] and options.document.is_relative_to(ROOT):
        sys.exit("these are the results of a smoke run: their figures mean nothing")
    options.document.write_text(fill(options.document.read_text(), blocks(rows, machine)))
    if options.tables_only:
        return
    directory = options.document.with_suffix("")
    directory.mkdir(exist_ok=True)
    for plot in PLOTS:
        draw(plot, rows, directory / f"{plot.name}.svg")


if __name__ == "__main__":
    main()
