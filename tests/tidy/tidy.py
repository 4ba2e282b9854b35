#!/usr/bin/env python3
"""Checks on the tree itself: layers, names, labels, sizes. `tidy.py` checks this tree;
`tidy.py --self-test` plants one fault of each kind in a made-up tree and expects it to be found."""

import re
import sys
import tempfile
from pathlib import Path

ROOMS = ["shm", "iceberg", "client", "daemon"]
# What a room may include of the others. Public headers: the vocabulary everywhere, the model of
# the table format but in shm/, the rest in client/ and those above it.
MAY_INCLUDE = {
    "shm": {"shm"},
    "iceberg": {"iceberg"},
    "client": {"client", "shm", "iceberg"},
    "daemon": {"daemon", "shm", "iceberg"},
}
VOCABULARY = {"iceblink/result.h", "iceblink/identifier.h", "iceblink/location_prefix.h",
              "iceblink/object_kind.h"}
# The model of the table format is public, and iceberg/ is where it is built.
MODEL = "iceblink/metadata/"
LINES_MAX = 400
COLUMNS_MAX = 100
README_LINES_MAX = 30


def sources(root, *rooms):
    for room in rooms or ROOMS + ["include", "tests", "bench", "faults", "stress"]:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in (".h", ".cc") and path.is_file():
                yield path


def room_of(root, path):
    return path.relative_to(root).parts[0]


def may_include_public(room, header):
    return header in VOCABULARY or (room != "shm" and header.startswith(MODEL))


def check_layers(root):
    for path in sources(root, *ROOMS, "include"):
        room = room_of(root, path)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'#include ["<]([^">]+)[">]', line)
            if not match:
                continue
            target = match[1].split("/")[0]
            where = f"{path.relative_to(root)}:{number}"
            if room == "include":
                if target in ROOMS + ["boost"]:
                    yield f"{where}: a public header includes {match[1]}"
            elif target in ROOMS and target not in MAY_INCLUDE[room]:
                yield f"{where}: {room}/ may not include {match[1]}"
            elif target == "iceblink" and room != "client" and not may_include_public(room, match[1]):
                yield f"{where}: {room}/ may only include the vocabulary headers of <iceblink/>"
            elif target in ("tests", "bench", "stress"):
                yield f"{where}: {room}/ may not include {match[1]}"
            elif room in ("shm", "iceberg") and target in ("spdlog", "lmdb.h"):
                yield f"{where}: no logging and no store in {room}/"
            elif room == "client" and target in ("spdlog", "lmdb.h"):
                yield f"{where}: the library in a host process does not use {target}"


def check_sync_labels(root):
    """Every ordered access carries a label; every label has two ends and a line in the docs."""
    ends = {}
    ordered = re.compile(r"memory_order_(acquire|release|acq_rel|seq_cst)")
    for path in sources(root, *ROOMS):
        lines = path.read_text().splitlines()
        label = None
        for number, line in enumerate(lines, 1):
            match = re.search(r"// SYNC ([a-z0-9-]+):", line)
            if match:
                label = match[1]
                ends.setdefault(label, set()).add((str(path), number))
            if ordered.search(line):
                near = "\n".join(lines[max(0, number - 6) : number])
                if "// SYNC" not in near:
                    yield f"{path.relative_to(root)}:{number}: an ordered access without a label"
    model = root / "docs/memory-model.md"
    documented = set(re.findall(r"`([a-z0-9-]+)`", model.read_text())) if model.exists() else set()
    for label, places in ends.items():
        if len(places) < 2:
            yield f"{label}: has one end only, {sorted(places)[0]}"
        if label not in documented:
            yield f"{label}: is not in docs/memory-model.md"


def check_relaxed_has_a_reason(root):
    for path in sources(root, *ROOMS):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            if "memory_order_relaxed" in line or "__ATOMIC_RELAXED" in line:
                near = "\n".join(lines[max(0, number - 12) : number + 1]).lower()
                if "relaxed:" not in near and "relaxed," not in near and "relaxed (" not in near:
                    yield f"{path.relative_to(root)}:{number}: relaxed, and does not say why"


def check_sizes(root):
    for path in sources(root):
        lines = path.read_text().splitlines()
        limit = LINES_MAX if room_of(root, path) in ROOMS else LINES_MAX + 100
        if len(lines) > limit:
            yield f"{path.relative_to(root)}: {len(lines)} lines, the limit is {limit}"
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                yield f"{path.relative_to(root)}:{number}: wider than {COLUMNS_MAX} columns"


def check_readmes(root):
    for room in ROOMS + ["tests", "bench", "faults", "stress", "systemd"]:
        if not (root / room).is_dir():
            continue
        readme = root / room / "README.md"
        if not readme.exists():
            yield f"{room}/ has no README.md"
        elif len(readme.read_text().splitlines()) > README_LINES_MAX:
            yield f"{room}/README.md: more than {README_LINES_MAX} lines"


def check_everything_is_built(root):
    cmake = "\n".join(p.read_text() for p in root.rglob("CMakeLists.txt") if "build" not in p.parts)
    for path in sources(root):
        listed = rf"\b{re.escape(path.name)}\b|iceblink_measurement\({re.escape(path.stem)}\b"
        if path.suffix == ".cc" and not re.search(listed, cmake):
            yield f"{path.relative_to(root)}: is in no CMakeLists.txt"


def check_tests_do_not_sleep(root):
    for path in sources(root, "tests"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\(", line):
                yield f"{path.relative_to(root)}:{number}: a test sleeps"


def check_names(root):
    bad = re.compile(r"\b(class|struct) \w*(Manager|Helper|Impl|Utils?)\b")
    for path in sources(root):
        if not re.fullmatch(r"[a-z0-9_]+\.(h|cc)", path.name) or "util" in path.name:
            yield f"{path.relative_to(root)}: is not named for a concept in snake_case"
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if bad.search(line):
                yield f"{path.relative_to(root)}:{number}: a name that hides its role"


def check_hosts_stay_quiet(root):
    """The libraries in a host process print nothing, start no thread, install no handler."""
    quiet = re.compile(r"\b(std::c(out|err|log)|f?printf\(|std::signal|sigaction|std::thread\b)")
    for path in sources(root, "iceberg", "client"):
        if "cli" in path.relative_to(root).parts:
            continue  # a program, not the library
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if quiet.search(line.split("//")[0]):
                yield f"{path.relative_to(root)}:{number}: not in a host process"


def check_log_lines_are_explained(root):
    guide = root / "docs/observability.md"
    for path in sources(root, "daemon"):
        if path.suffix == ".h":
            continue  # an example at most
        for event in re.findall(r'\blog_event\(\s*[^"]+?,\s*"([^"]+)"', path.read_text()):
            if not guide.exists() or f"`{event}`" not in guide.read_text():
                yield f"{path.relative_to(root)}: docs/observability.md does not explain '{event}'"


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]


def run(root):
    return [(check.__name__, problem) for check in CHECKS for problem in check(root)]


FAULTS = {
    "check_layers": {"shm/a.cc": '#include "daemon/store.h"\n'},
    "check_sync_labels": {"shm/a.cc": "x.load(std::memory_order_acquire);\n"},
    "check_relaxed_has_a_reason": {"shm/a.cc": "x.load(std::memory_order_relaxed);\n"},
    "check_sizes": {"daemon/a.cc": "\n" * (LINES_MAX + 1)},
    "check_readmes": {"bench/x.txt": ""},
    "check_everything_is_built": {"tests/forgotten_test.cc": ""},
    "check_tests_do_not_sleep": {"tests/a.cc": "std::this_thread::sleep_for(1s);\n"},
    "check_names": {"client/a.h": "class TableManager {};\n"},
    "check_log_lines_are_explained": {"daemon/a.cc": 'log_event(level::info, "it came", {});\n'},
    "check_hosts_stay_quiet": {"client/a.cc": "std::thread t;\n"},
}


def self_test():
    assert set(FAULTS) == {check.__name__ for check in CHECKS}, "a check without a planted fault"
    for name, files in FAULTS.items():
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            for file, text in files.items():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text)
            assert name in {found for found, _ in run(root)}, f"{name} found nothing"
    with tempfile.TemporaryDirectory() as directory:
        assert run(Path(directory)) == [], "an empty tree has no faults"
    print(f"each of {len(FAULTS)} planted faults was found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    problems = run(Path(__file__).resolve().parents[2])
    for check, problem in problems:
        print(f"{check}: {problem}")
    print(f"{len(CHECKS)} checks, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
