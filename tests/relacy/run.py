#!/usr/bin/env python3
"""Searches every scenario of relacy_search as the code is: nothing may be found. Then once for each
ordered access of the code, weakened to relaxed, and for each barrier, left out: it must be found.

    run.py RELACY_SEARCH [--times N]     N times as many runs; exit code 0: all as expected

What the scenarios do not reach, or cannot tell, stands below with its reason; such an access that
is caught after all, or that is gone, is a failure too."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["shm", "iceberg", "client", "daemon"]
# The quickest to find something first; with the runs of a clean search.
SCENARIOS = {"section": 20000, "cache": 4000, "lookup": 3000, "listing": 2000, "names": 2000,
             "feed": 2000, "wait": 2000, "retire": 1500, "flip": 2000, "catch-up": 2000,
             "restart": 1000, "start": 1000, "replace": 800}
FENCES = {"ICEBLINK_FENCES": "1"}  # as where membarrier is not offered
TMPFS = "/dev/shm"
WEAKENED_RUNS = 4000
# Searched to the end without a fault: redundant, and kept.
REDUNDANT = {
    ("shm/control_page.cc", "page->magic.load("):
        "a page is given its name after its magic: the kernel's directory orders them already",
    ("shm/control_page.cc", "page->magic.store("): "the same, at its other end",
}
NOT_SHOWN = {
    ("shm/segment.cc", "current_.store(&lost_mapping()"):
        "orders what one process makes once, a static object; the model takes those as always made",
    ("shm/publisher.cc", "  control.root.store("):
        "what planted faults store: wrong on purpose, and never as the code is",
    ("iceberg/build_lock.h", ""): "threads of one process: ThreadSanitizer sees them",
    ("iceberg/lazy_table_parts.cc", ""): "threads of one process: ThreadSanitizer sees them",
}
ORDERED = re.compile(r"memory_order_(acquire|release|acq_rel|seq_cst)")


def ordered_accesses():
    """'file:line' -> (label, the line)."""
    accesses = {}
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix not in (".h", ".cc") or path.name == "atomic_word.h":
                continue
            lines = path.read_text().splitlines()
            for number, line in enumerate(lines, 1):
                if not ORDERED.search(line) or "compiler_fence(" in line:
                    continue
                label = re.findall(r"// SYNC ([a-z0-9-]+):", "\n".join(lines[:number]))[-1]
                # The name of an access is the line on which its call begins.
                start = number if re.search(r"[.\w](load|store|_weak|fence)\(", line) else number - 1
                accesses[f"{path.relative_to(ROOT)}:{start}"] = (label, lines[start - 1])
    return accesses


def exempt(table, place, line):
    file = place.split(":")[0]
    return next((key for key in table if key[0] == file and key[1] in line), None)


class Search:
    def __init__(self, program, times):
        self.program, self.times, self.reached, self.failures = program, times, {}, 0

    def run(self, scenario, runs, weakened=None, environment=None):
        options = ["--weaken", weakened] if weakened else []
        with tempfile.TemporaryDirectory(dir=TMPFS if Path(TMPFS).is_dir() else None) as directory:
            done = subprocess.run(
                [self.program, scenario, directory, "--runs", str(runs * self.times), *options],
                capture_output=True, text=True, timeout=600 * self.times,
                env=os.environ | (environment or {}))
        lines = done.stdout.splitlines()
        places = {re.sub(r"^.*?((shm|client|iceberg|daemon)/)", r"\1", line.split()[1])
                  for line in lines if line.startswith("reached ")}
        if done.returncode == 0:
            return None, places
        said = lines[-1] if lines and done.returncode == 3 else f"ended with {done.returncode}"
        return said, places

    def expect(self, is_right, text):
        print(("as expected  " if is_right else "WRONG        ") + text, flush=True)
        self.failures += not is_right

    def clean(self):
        for scenario, runs in SCENARIOS.items():
            for environment in ({}, FENCES) if scenario in ("section", "retire") else ({},):
                begun = time.monotonic()
                found, places = self.run(scenario, runs, environment=environment)
                for place in places:
                    self.reached.setdefault(place, []).append((scenario, environment))
                self.expect(found is None, f"{scenario}{', fences' if environment else ''}: "
                            f"{found or 'clean'}, {runs * self.times} runs, "
                            f"{time.monotonic() - begun:.1f} s")

    def catch(self, name, text, where):
        for scenario, environment in where:
            found, _ = self.run(scenario, WEAKENED_RUNS, name, environment)
            if found:
                return self.expect(True, f"{text}: caught by {scenario}: {found}")
        return self.expect(False, f"{text}: not caught")

    def weakened(self):
        accesses = ordered_accesses()
        for place in self.reached:
            if place not in accesses:
                self.expect(False, f"{place}: an ordered access that the sources do not show")
        unused = set(REDUNDANT) | set(NOT_SHOWN)
        for place, (label, line) in sorted(accesses.items()):
            text = f"{label} at {place}"
            where = self.reached.get(place, [])
            if key := exempt(NOT_SHOWN, place, line):
                unused.discard(key)
            elif key := exempt(REDUNDANT, place, line):
                unused.discard(key)
                found = next(filter(None, (self.run(scenario, SCENARIOS[scenario] // 2, place,
                                                    environment)[0]
                                           for scenario, environment in where)), None)
                self.expect(bool(where) and not found, f"{text}: redundant; {found or 'clean'}")
            elif not where:
                self.expect(False, f"{text}: reached by no scenario")
            else:
                self.catch(place, text, where)
        for file, line in sorted(unused):
            self.expect(False, f"{file}: is exempt for '{line}', which is not there")
        self.catch("membarrier", "section-enter, no membarrier", [("section", {})])
        self.catch("compiler-fence", "section-enter, no compiler fence", [("section", {})])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--times", type=int, default=1)
    arguments = parser.parse_args()
    begun = time.monotonic()
    search = Search(arguments.program, arguments.times)
    search.clean()
    search.weakened()
    print(f"{search.failures} not as expected, {time.monotonic() - begun:.0f} s")
    return 1 if search.failures else 0


if __name__ == "__main__":
    sys.exit(main())
