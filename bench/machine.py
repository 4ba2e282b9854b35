"""What a run was measured on: the machine, the build, the versions of both sides."""

import os
import platform
import time


def first_line(path, prefix=""):
    try:
        with open(path) as file:
            return next((line.strip() for line in file if line.startswith(prefix)), "unknown")
    except OSError:
        return "unknown"


def cache_sizes():
    """Of CPU 0: {"L1d": "32K", …}."""
    sizes = {}
    for index in range(8):
        directory = f"/sys/devices/system/cpu/cpu0/cache/index{index}"
        if not os.path.exists(directory):
            break
        kind = {"Data": "d", "Instruction": "i"}.get(first_line(f"{directory}/type"), "")
        sizes[f"L{first_line(f'{directory}/level')}{kind}"] = first_line(f"{directory}/size")
    return sizes


def describe(programs, build, options):
    """For machine.json, which stands beside results.json."""
    memory_kb = int(first_line("/proc/meminfo", "MemTotal").split()[1])
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "cpu": first_line("/proc/cpuinfo", "model name").split(":")[-1].strip(),
        "cpu_count": os.cpu_count(),
        "caches": cache_sizes(),
        "memory_gib": round(memory_kb / (1 << 20), 1),
        "load": round(os.getloadavg()[0], 1),
        "kernel": platform.release(),
        "huge_pages": first_line("/sys/kernel/mm/transparent_hugepage/enabled"),
        "build": build,
        "directory": str(programs.build),
        "python": platform.python_version(),
        "smoke": options.smoke,
        "full": options.full,
    }


def show(machine):
    build = machine["build"]
    print(f"machine   {machine['cpu']}, {machine['cpu_count']} CPUs, load {machine['load']}; "
          f"Linux {machine['kernel']}, huge pages {machine['huge_pages']}")
    print(f"build     {machine['directory']}: {build['compiler']}"
          + (f"; UNFIT: {build['unfit']}" if build["unfit"] else ""))
    print(f"versions  iceblink {build['iceblink']} (layout {build['layout']}), LMDB {build['lmdb']}, "
          f"Boost {build['boost']}, xxHash {build['xxhash']}, Python {machine['python']}")
    if machine["smoke"]:
        print("SMOKE     small sizes: the names of rows stand, their figures mean nothing")
    elif machine["load"] > 0.5 * (machine["cpu_count"] or 1):
        print("WARNING   the machine is busy with something else: repeat when it is not")
    print()
