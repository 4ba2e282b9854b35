#!/usr/bin/env python3
"""Measures iceblink against its alternatives and judges what it must reach.

Both sides of a comparison run in turn, round by round, on the same CPUs; figures are medians. Exit
code: 0 all targets reached, 1 some missed, 2 nothing to judge (a wrong build, a failed program).
With --smoke small sizes, no judgement: 0 when everything ran and computed the right results.
"""

import argparse
import json
import os
import pathlib
import platform
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

import rows
from program import Failure, Programs

ROOT = pathlib.Path(__file__).resolve().parent.parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build/release", metavar="DIR",
                        help="the build to measure (default: build/release)")
    parser.add_argument("--smoke", action="store_true", help="small sizes, under a minute, no judgement")
    parser.add_argument("--only", metavar="ROW,...", help="of " + ", ".join(rows.ROWS))
    parsed = parser.parse_args()
    parsed.rows = parsed.only.split(",") if parsed.only else list(rows.ROWS)
    for name in parsed.rows:
        if name not in rows.ROWS:
            parser.error(f"no row {name}; there are {', '.join(rows.ROWS)}")
    return parsed


def first_line(path, prefix=""):
    try:
        with open(path) as file:
            return next((line.strip() for line in file if line.startswith(prefix)), "unknown")
    except OSError:
        return "unknown"


def describe(programs, build, smoke):
    cpu = first_line("/proc/cpuinfo", "model name").split(":")[-1].strip()
    load = os.getloadavg()[0]
    pages = first_line("/sys/kernel/mm/transparent_hugepage/enabled")
    print(f"machine   {cpu}, {os.cpu_count()} CPUs, load {load:.1f}; Linux {platform.release()}, "
          f"huge pages {pages}")
    print(f"build     {programs.build}: {build['compiler']}"
          + (f"; UNFIT: {build['unfit']}" if build["unfit"] else ""))
    print(f"versions  iceblink {build['iceblink']} (layout {build['layout']}), LMDB {build['lmdb']}, "
          f"Boost {build['boost']}, xxHash {build['xxhash']}, Python {platform.python_version()}")
    if smoke:
        print("SMOKE     small sizes: the names of rows stand, their figures mean nothing")
    elif load > 0.5 * (os.cpu_count() or 1):
        print("WARNING   the machine is busy with something else: repeat when it is not")
    print()


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


HEADINGS = ("row", "ours", "theirs", "unit", "ratio", "middle half", "target", "")


def line(cells):
    widths = (31, 9, 9, 7, 8, 15, 8, 6)
    left = (True, False, False, True, False, False, False, True)
    return " ".join(cell.ljust(width) if is_left else cell.rjust(width)
                    for cell, width, is_left in zip(cells, widths, left)).rstrip()


def show(row):
    verdict = "" if row.target == "-" else "ok" if row.passed else "MISSED"
    spread = f"{row.spread[0]:.2f} - {row.spread[1]:.2f}"
    print(line((row.name, number(row.ours), number(row.theirs), row.unit, f"{row.ratio:.2f}", spread,
                row.target, verdict)), flush=True)


def measure(lab, names):
    """All rows that could be measured, and whether something failed."""
    measured, failed = [], False
    print(line(HEADINGS))
    for name in names:
        try:
            for row in rows.ROWS[name](lab):
                measured.append(row)
                show(row)
        except (Failure, AssertionError) as failure:
            failed = True
            print(f"{name}: FAILED: {failure}", flush=True)
    return measured, failed


def write(path, measured, smoke):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([row.as_json(smoke) for row in measured], indent=1) + "\n")


def main():
    options = arguments()
    programs = Programs(options.build)
    try:
        build = programs.build_description()
    except Failure as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 2
    # Fault points cost a branch each: the tests' smoke run bears them, a measurement does not.
    if build["unfit"] and not (options.smoke and build["unfit"].startswith("fault points")):
        print(f"bench: {programs.build} is not fit to be measured: {build['unfit']}", file=sys.stderr)
        return 2
    describe(programs, build, options.smoke)
    begin = time.monotonic()
    lab = rows.Lab(programs, rows.SMOKE if options.smoke else rows.FULL)
    try:
        measured, failed = measure(lab, options.rows)
    finally:
        lab.close()
    path = programs.build / "bench/results.json"
    write(path, measured, options.smoke)
    print()
    for row in measured:
        print(f"{row.name}: {row.what}")
    missed = [row.name for row in measured if not row.passed]
    print(f"\n{len(measured)} rows in {time.monotonic() - begin:.0f} s, {path}")
    if failed:
        print("Something failed: see above.")
        return 2
    if options.smoke:
        return 0
    print("Missed: " + ", ".join(missed) if missed else "Every target is reached.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
