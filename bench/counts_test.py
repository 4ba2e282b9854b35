#!/usr/bin/env python3
"""What calls cost in instructions may not grow by more than 3 % over bench/counts.json.

    counts_test.py BIN          compares; fails with what grew, or shrank so far that it should be
                                written down
    counts_test.py BIN --write  writes down what is counted now

The cheapest of a call's windows counts: a lookup now and then also checks that the segment is still
in its place, at intervals that follow the clock. Counts hang on the compiler and on libc; they are
those of Debian 12."""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

COUNTS = pathlib.Path(__file__).resolve().parent / "counts.json"
GROWTH_MAX = 1.03
SHRINKAGE_MAX = 0.90


def count(program):
    """{call: instructions of one}."""
    with tempfile.TemporaryDirectory(prefix="iceblink-counts-") as directory:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/out", program,
             "--dir", directory], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{program} ended with {done.returncode}: {done.stderr}")
        window = int(done.stdout)
        windows = collections.defaultdict(list)
        for path in pathlib.Path(directory).glob("out.*"):
            text = path.read_text()
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
            total = re.search(r"^summary: (\d+)$", text, re.MULTILINE)
            if name and total:
                windows[name[1]].append(int(total[1]))
        return {name: round(min(totals) / window, 1) for name, totals in windows.items()}


def main():
    program = pathlib.Path(sys.argv[1]) / "bench/instruction_counts"
    counted = count(program)
    if sys.argv[2:] == ["--write"]:
        COUNTS.write_text(json.dumps(counted, indent=1) + "\n")
        return 0
    expected = json.loads(COUNTS.read_text())
    if counted.keys() != expected.keys():
        sys.exit(f"counted are {sorted(counted)}, expected {sorted(expected)}")
    wrong = 0
    for name, before in expected.items():
        ratio = counted[name] / before
        verdict = ("grew" if ratio > GROWTH_MAX else
                   "shrank: write it down" if ratio < SHRINKAGE_MAX else "")
        wrong += bool(verdict)
        print(f"{name:<32} {counted[name]:>10,.1f} {before:>10,.1f} {ratio:6.3f} {verdict}".rstrip())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
