"""Rows about planning a scan."""

import json
import pathlib
import subprocess

from program import Failure, median, pinned
from row import ratio_row

ROOT = pathlib.Path(__file__).resolve().parent.parent


def pyiceberg(lab, script, *arguments):
    """The samples of a program that needs PyIceberg, from the environment that ./dev makes."""
    python = ROOT / "build/interop-venv/bin/python"
    if not python.exists():
        raise Failure("PyIceberg is not installed: ./dev bench does that")
    done = subprocess.run([str(python), str(ROOT / "bench" / script), *map(str, arguments)],
                          capture_output=True, text=True, timeout=900,
                          preexec_fn=pinned(lab.programs.cpus[-1:]))
    if done.returncode != 0:
        raise Failure(f"{script} ended with {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def plan(lab):
    s = lab.sizes
    directory = pathlib.Path(lab.disk_dir) / "plan"
    directory.mkdir()
    metadata_file = lab.programs.run("plan_bench", "--make", directory, "--manifests", 20,
                                     "--files", s["plan_files"]).strip()
    figures = lab.programs.samples("plan_bench", "--metadata", metadata_file, "--rounds",
                                   s["plan_rounds"], alone=True)
    theirs = pyiceberg(lab, "pyiceberg_plan.py", metadata_file, s["pyiceberg_rounds"])
    if figures["files"] != theirs["files"]:
        raise Failure("another number of files than PyIceberg plans")
    wall = median(figures["cold/wall"]) / median(theirs["cold/wall"])
    count = int(figures["files"][0])
    yield ratio_row("plan/cold", f"load_table and plan_files from nothing of {count:,} files in 20 "
                    "manifests, 10 columns with bounds, against PyIceberg's StaticTable and "
                    f"plan_files; CPU time; wall {wall:.2f}", "ms", figures["cold/cpu"],
                    theirs["cold/cpu"], "<= 0.25", 1e-6)
    yield ratio_row("plan/warm", "the same with everything cached, against from nothing", "ms",
                    figures["warm/cpu"], figures["cold/cpu"], "-", 1e-6)
