#!/usr/bin/env python3
"""PyIceberg's side of the plan: StaticTable and plan_files from nothing, in the same form as
plan_bench. Run by the Python that has PyIceberg.

    pyiceberg_plan.py METADATA_FILE ROUNDS [FROM=TO]
"""

import json
import sys
import time

from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import clear_manifest_cache
from pyiceberg.table import StaticTable


class MappedFileIO(PyArrowFileIO):
    """Reads locations below one prefix somewhere else."""

    prefix = None

    def new_input(self, location):
        if self.prefix and location.startswith(self.prefix[0] + "/"):
            location = self.prefix[1] + location[len(self.prefix[0]):]
        return super().new_input(location)


def plan(metadata_file):
    table = StaticTable.from_metadata(
        metadata_file, {"py-io-impl": f"{MappedFileIO.__module__}.{MappedFileIO.__qualname__}"})
    return len(list(table.scan().plan_files()))


def main():
    metadata_file, rounds = sys.argv[1], int(sys.argv[2])
    if len(sys.argv) > 3:
        MappedFileIO.prefix = sys.argv[3].split("=", 1)
    samples = {"cold/cpu": [], "cold/wall": []}
    count = plan(metadata_file)
    for _ in range(rounds):
        clear_manifest_cache()
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        if plan(metadata_file) != count:
            sys.exit("another number of files")
        samples["cold/cpu"].append(time.process_time_ns() - cpu)
        samples["cold/wall"].append(time.perf_counter_ns() - wall)
    print(json.dumps(samples | {"files": [count]}))


if __name__ == "__main__":
    main()
