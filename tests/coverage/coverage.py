#!/usr/bin/env python3
"""What the tests of units and processes run of the rooms: `coverage.py BUILD` runs them, and prints
a table of lines and branches; pages of the source go to BUILD/html. Exits 1 where a floor is not
reached or a test fails. `--tests PATTERN` runs those of such names alone; `--missing ROOM` names
what the last run left out of a room."""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
ROOMS = ["shm", "iceberg", "client", "daemon", "daemon/http", "include"]
FLOORS = {"shm": 95.0, "overall": 85.0}  # percent, of lines and of branches
NEGATIVE = 1 << 63  # a count that a process left unfinished between two counters


def llvm(tool, *arguments, **options):
    return subprocess.run([f"llvm-{tool}-14", *map(str, arguments)], check=True, **options)


def programs(build):
    """Those that were compiled with counters."""
    found = [path for path in sorted((build / "bin").iterdir())
             if path.is_file() and b"__llvm_covmap" in path.read_bytes()]
    if not found:
        sys.exit(f"coverage: no program in {build}/bin counts anything")
    return found


def run_tests(build, pattern):
    counters = build / "counters"
    shutil.rmtree(counters, ignore_errors=True)
    counters.mkdir()
    # Counters lie in mapped files (%c), one for each program (%m): a process that is killed, or
    # that a fork left without its end, loses none.
    environment = dict(os.environ, LLVM_PROFILE_FILE=str(counters / "%c%m.profraw"))
    ran = subprocess.run(
        ["ctest", "--test-dir", build, "-L", "unit|memory|process|stress.library", "-R", pattern,
         "--output-on-failure", "--no-tests=error", "-j", str(os.cpu_count())], env=environment)
    return ran.returncode == 0


def merge(build):
    raw = sorted((build / "counters").glob("*.profraw"))
    merged = build / "coverage.profdata"
    llvm("profdata", "merge", "-sparse", "-o", merged, *raw)
    return merged


def covered(build, command, *arguments):
    first, *rest = programs(build)
    objects = [argument for program in rest for argument in ("-object", program)]
    sources = [SOURCE / room for room in ("shm", "iceberg", "client", "daemon", "include")]
    ran = llvm("cov", command, first, *objects, "-instr-profile", build / "coverage.profdata",
               *arguments, *sources, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for line in ran.stderr.decode().splitlines():
        # Of an inline function, the sources that do not use it have a record without counters.
        if "mismatched data" not in line and line.startswith(("warning", "error")):
            print(line, file=sys.stderr)
    return ran.stdout


def room_of(path):
    inside = Path(path).relative_to(SOURCE).as_posix()
    return max((room for room in ROOMS if inside.startswith(room + "/")), key=len)


def figures(build):
    """Room: {lines|branches: [covered, all]}."""
    told = covered(build, "export", "-summary-only")
    rooms = collections.defaultdict(lambda: {"lines": [0, 0], "branches": [0, 0]})
    for file in json.loads(told)["data"][0]["files"]:
        for room in (room_of(file["filename"]), "overall"):
            for kind in ("lines", "branches"):
                rooms[room][kind][0] += file["summary"][kind]["covered"]
                rooms[room][kind][1] += file["summary"][kind]["count"]
    return rooms


def percent(pair):
    return 100.0 * pair[0] / pair[1] if pair[1] else 100.0


def print_table(rooms):
    reached = True
    print(f"{'room':<12} {'lines':>14} {'':>6} {'branches':>14}")
    for room in [*ROOMS, "overall"]:
        cells = []
        for kind in ("lines", "branches"):
            pair = rooms[room][kind]
            cells.append(f"{pair[0]:>6} of {pair[1]:>5} {percent(pair):5.1f}%")
            reached = reached and percent(pair) >= FLOORS.get(room, 0.0)
        floor = f"  at least {FLOORS[room]:.0f}%" if room in FLOORS else ""
        print(f"{room:<12} {'   '.join(cells)}{floor}")
    return reached


def missing(functions):
    """(file, line, column): what no process did there, in any instantiation of the function. A
    branch in a macro stands where the macro is used."""
    runs = collections.Counter()
    sides = collections.defaultdict(lambda: [False, False])
    for function in functions:
        names = function["filenames"]
        used_at = {}  # of a macro: its use
        for line, column, end, _, count, file, expanded, kind in function["regions"]:
            if kind == 1:
                used_at[expanded] = (file, line, column)
            elif kind == 0 and file == 0:
                runs[(names[file], line, column, end)] += count if count < NEGATIVE else 0
        for line, column, _, _, true, false, file, *_ in function["branches"]:
            inside = ()
            while file in used_at:
                inside += (line, column)
                file, line, column = used_at[file]
            taken = sides[(names[file], line, column, inside)]
            taken[0] |= 0 < true < NEGATIVE
            taken[1] |= 0 < false < NEGATIVE
    for (name, line, column, end), count in runs.items():
        if count == 0:
            yield name, line, column, f"never run, to line {end}"
    for (name, line, column, _), taken in sides.items():
        if not all(taken):
            never = " or ".join(w for w, t in zip(("true", "false"), taken) if not t)
            yield name, line, column, f"never {never}"


def print_missing(build, room):
    told = json.loads(covered(build, "export"))["data"][0]
    found = {place for place in missing(told["functions"])
             if place[0].startswith(f"{SOURCE}/{room}/") and room_of(place[0]) == room}
    for name, line, column, what in sorted(found):
        text = Path(name).read_text().splitlines()[line - 1]
        print(f"{Path(name).relative_to(SOURCE)}:{line}:{column}: {what}: {text.strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--missing", metavar="ROOM", choices=ROOMS)
    parser.add_argument("--tests", metavar="PATTERN", default=".", help="only these, by name")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    if arguments.missing:
        print_missing(build, arguments.missing)
        return 0
    passed = run_tests(build, arguments.tests)
    merge(build)
    reached = print_table(figures(build))
    covered(build, "show", "-format=html", "-show-branches=count", "-output-dir", build / "html")
    print(f"the sources, line by line: {build}/html/index.html")
    return 0 if passed and reached else 1


if __name__ == "__main__":
    sys.exit(main())
