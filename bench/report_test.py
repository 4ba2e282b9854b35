#!/usr/bin/env python3
"""The report of a run that measured everything, a smoke run: every block, curve and limit of it has
its rows, and the same results make the same bytes.

    report_test.py RESULTS.json

Plots are drawn where there is a matplotlib, which the tests do not ask for."""

import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

import report
from curves import number_of
from scale_rows import label

BENCH = pathlib.Path(__file__).resolve().parent


def lacking(rows):
    """What the report speaks of and the rows do not have."""
    for plot in report.PLOTS:
        for curve in plot.curves:
            if not curve.points(rows):
                yield f"{plot.name}: the curve '{curve.label}' has no points"
    names = {row["name"] for row in rows}
    for name, _ in report.LIMITS:
        if name not in names and not name.startswith("scale_"):  # whose points are others here
            yield f"limits: there is no row {name}"


def misread():
    """Labels of points that are not read as they were written."""
    return [count for count in (1, 64, 1_000, 1_024, 25_500, 100_000, 10_000_000)
            if number_of(label(count)) != count]


def made_by(results, directory):
    """{file: bytes} that report.py makes in the directory."""
    document = pathlib.Path(directory) / "performance.md"
    shutil.copy(report.ROOT / "docs/performance.md", document)
    has_matplotlib = importlib.util.find_spec("matplotlib") is not None
    subprocess.run([sys.executable, BENCH / "report.py", "--results", results, "--document",
                    document, *([] if has_matplotlib else ["--tables-only"])], check=True)
    files = {path.relative_to(directory): path.read_bytes()
             for path in pathlib.Path(directory).rglob("*") if path.is_file()}
    if len(files) != 1 + (len(report.PLOTS) if has_matplotlib else 0):
        sys.exit(f"made were {sorted(map(str, files))}")
    return files


def refuses_another_block():
    try:
        report.fill("<!-- begin none -->\n<!-- end none -->", {"one": ""})
    except SystemExit:
        return True
    return False


def main():
    results = pathlib.Path(sys.argv[1])
    problems = list(lacking(json.loads(results.read_text())))
    problems += [f"the label of {count} is read as another number" for count in misread()]
    if not refuses_another_block():
        problems.append("a block that nothing fills was accepted")
    with tempfile.TemporaryDirectory(prefix="iceblink-report-") as first:
        with tempfile.TemporaryDirectory(prefix="iceblink-report-") as second:
            if made_by(results, first) != made_by(results, second):
                problems.append("the same results made other bytes")
    print("\n".join(problems) or "the report is whole")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
