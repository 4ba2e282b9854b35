#!/usr/bin/env python3
"""Measures iceblink against its alternatives and judges what it must reach.

Both sides of a comparison run in turn, round by round, on the same CPUs; figures are medians. Exit
code: 0 all targets reached, 1 some missed, 2 nothing to judge (a wrong build, a failed program).
Without --only: what the design sets a target for; with --full everything. With --smoke everything
at small sizes, no judgement: 0 when everything ran and computed the right results.
"""

import argparse
import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

import machine
import rows
from program import Failure, Programs

ROOT = pathlib.Path(__file__).resolve().parent.parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build/release", metavar="DIR",
                        help="the build to measure (default: build/release)")
    parser.add_argument("--smoke", action="store_true",
                        help="everything at small sizes, under a minute, no judgement")
    parser.add_argument("--full", action="store_true",
                        help="also what is not judged by the design: " + ", ".join(rows.FULL_ONLY))
    parser.add_argument("--only", metavar="ROW,...", help="of " + ", ".join(rows.ROWS))
    parsed = parser.parse_args()
    parsed.rows = parsed.only.split(",") if parsed.only else rows.names(parsed.full or parsed.smoke)
    for name in parsed.rows:
        if name not in rows.ROWS:
            parser.error(f"no row {name}; there are {', '.join(rows.ROWS)}")
    return parsed


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
    """All rows that could be measured, what each name took in seconds, and whether something failed."""
    measured, seconds, failed = [], {}, False
    print(line(HEADINGS))
    for name in names:
        begin = time.monotonic()
        try:
            for row in rows.ROWS[name](lab):
                measured.append(row)
                show(row)
        except (Failure, AssertionError) as failure:
            failed = True
            print(f"{name}: FAILED: {failure}", flush=True)
        seconds[name] = round(time.monotonic() - begin, 1)
    return measured, seconds, failed


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")


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
    described = machine.describe(programs, build, options)
    machine.show(described)
    begin = time.monotonic()
    lab = rows.Lab(programs, rows.SMOKE if options.smoke else rows.FULL)
    try:
        measured, seconds, failed = measure(lab, options.rows)
    finally:
        lab.close()
    path = programs.build / "bench/results.json"
    write(path, [row.as_json(options.smoke) for row in measured])
    write(path.with_name("machine.json"), described | {"seconds": seconds})
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
