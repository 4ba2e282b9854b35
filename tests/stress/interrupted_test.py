#!/usr/bin/env python3
"""The stress program cleans up after itself when it is interrupted: `interrupted_test.py BIN`."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def processes_with(text):
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:
            pass  # ended meanwhile
    return found


def interrupt(bin_dir, number, in_the_middle):
    with tempfile.TemporaryDirectory() as directory:
        with subprocess.Popen([bin_dir + "/iceblink-stress", "--seconds", "600", "--dir", directory],
                              stdout=subprocess.PIPE, text=True) as program:
            program.stdout.readline()  # it has begun
            until = time.monotonic() + 30
            while in_the_middle and not list(Path(directory).glob("*/data/warehouse/*")):
                assert time.monotonic() < until, "nobody wrote"
            program.send_signal(number)
            program.stdout.read()
            assert program.wait(timeout=60) == 2, f"it ended with {program.returncode}"
        # What was killed may take a moment to be gone.
        until = time.monotonic() + 30
        while processes_with(directory):
            assert time.monotonic() < until, f"processes are left: {processes_with(directory)}"
        assert os.listdir(directory) == [], f"files are left: {os.listdir(directory)}"
        mounts = Path("/proc/self/mounts").read_text()
        assert directory not in mounts, "a mount is left"


def main():
    interrupt(sys.argv[1], signal.SIGINT, False)
    interrupt(sys.argv[1], signal.SIGTERM, True)
    print("ended twice, and left nothing")


if __name__ == "__main__":
    main()
