#!/usr/bin/env python3
"""What memory a call that hits touches: nothing it stores lies where another thread reads.

    hit_path_test.py BIN

Two threads make each call, one after the other, under valgrind's lackey. Prints how many lines of
64 bytes a call touches, by where they lie, and fails when a call stores into the segment, or into a
line outside its thread's stack and thread-local storage which a call of the other thread touches.
The store that `planted` makes must be found by that.

Left out are the calls that also look at whether the segment is still in its place: every Nth lookup
of a thread does, N up to 4,096. They are counted, and are those of the most instructions."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

LINE = 64
MARK = b" S 600000000,8\n"  # as in hit_path.cc
PLANTED = "planted"


class Call:
    """What one call did, of the trace between two marks."""

    def __init__(self, trace):
        self.instructions = 0
        self.touched = set()  # numbers of lines
        self.written = set()
        for line in trace.splitlines():
            kind, access = line[:3], line[3:]
            if kind == b"I  ":
                self.instructions += 1
            elif kind in (b" L ", b" S ", b" M "):
                address, size = access.split(b",")
                begin = int(address, 16)
                lines = range(begin // LINE, (begin + int(size) - 1) // LINE + 1)
                self.touched.update(lines)
                if kind != b" L ":
                    self.written.update(lines)


class Thread:
    """Its calls by name, and where its own block lies."""

    def __init__(self, described, calls):
        self.begin, self.end = described["own"]
        self.calls = {}
        for number, (name, checks) in enumerate(described["checks"].items()):
            count = len(calls) // len(described["checks"])
            made = calls[number * count:(number + 1) * count]
            self.calls[name] = sorted(made, key=lambda call: call.instructions)[:count - checks]

    def owns(self, line):
        return self.begin <= line * LINE < self.end

    def touched(self, name):
        return set().union(*(call.touched for call in self.calls[name]))

    def written(self, name):
        """Outside of its own block."""
        written = set().union(*(call.written for call in self.calls[name]))
        return {line for line in written if not self.owns(line)}


def run(program, directory):
    """What the program prints, and its trace."""
    server = subprocess.Popen([program, "--serve", "1", "--dir", directory],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if server.stdout.readline().strip() != "ready":
            sys.exit(f"{program} does not serve")
        trace = pathlib.Path(directory) / "trace"  # not a pipe, which would wake us for each line
        done = subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes",
                               f"--log-file={trace}", program, "--dir", directory],
                              capture_output=True)
    finally:
        server.communicate()
    if done.returncode != 0:
        sys.exit(f"{program} ended with {done.returncode}: {done.stderr[-2000:].decode()}")
    return done.stdout.decode(), trace.read_bytes()


def mapped(maps, directory):
    """Numbers of the lines where files of the directory are mapped."""
    ranges = []
    for line in maps.splitlines():
        if directory in line:
            begin, end = (int(bound, 16) for bound in line.split()[0].split("-"))
            ranges.append(range(begin // LINE, end // LINE))
    if not ranges:
        sys.exit("the segment is not mapped")
    return ranges


def is_in(line, ranges):
    return any(line in lines for lines in ranges)


def violations(name, threads, segment):
    """Stores of one thread that another one could see."""
    for one, other in (threads, threads[::-1]):
        for line in one.written(name):
            if is_in(line, segment):
                yield f"{name} stores into the segment at {line * LINE:#x}"
            elif line in other.touched(name):
                yield f"{name} stores to {line * LINE:#x}, which another thread touches"


def show(name, threads, segment):
    """Medians of a call: lines by where they lie, and lines written outside the thread's block."""
    def median(count):
        return statistics.median(count(thread, call) for thread in threads
                                 for call in thread.calls[name])

    in_segment = median(lambda _, call: sum(is_in(line, segment) for line in call.touched))
    own = median(lambda thread, call: sum(map(thread.owns, call.touched)))
    total = median(lambda _, call: len(call.touched))
    written = median(lambda thread, call: sum(not thread.owns(line) for line in call.written))
    instructions = median(lambda _, call: call.instructions)
    print(f"{name:<18} {in_segment:>8.0f} {total - in_segment - own:>8.0f} {own:>8.0f} "
          f"{written:>8.0f} {instructions:>13.0f}")


def main():
    program = str(pathlib.Path(sys.argv[1]) / "bench/hit_path")
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="iceblink-hit-path-", dir=memory) as directory:
        output, trace = run(program, directory)
        described, _, maps = output.partition("}}]}\n")
        described = json.loads(described + "}}]}")
        segment = mapped(maps, directory)
    calls = [Call(part) for part in trace.split(MARK)[1::2]]
    count = described["call_count"] * len(described["threads"][0]["checks"])
    if len(calls) != 2 * count:
        sys.exit(f"{len(calls)} calls are marked in the trace, not {2 * count}")
    threads = [Thread(of, calls[number * count:(number + 1) * count])
               for number, of in enumerate(described["threads"])]

    print("lines of 64 bytes   segment  process      own  written  instructions")
    wrong = []
    for name in threads[0].calls:
        show(name, threads, segment)
        found = list(violations(name, threads, segment))
        if name == PLANTED and not found:
            wrong.append("the planted store was not found")
        elif name != PLANTED:
            wrong += found
    print("\n".join(wrong) or "\nNo call stores where another thread reads; the planted store was found.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
