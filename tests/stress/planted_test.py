#!/usr/bin/env python3
"""The stress program finds what is planted: `planted_test.py BIN NAME KIND` starts it with a fault of
that name in its daemons, and expects it to end with 1 in time and to name what it found as KIND."""

import os
import re
import subprocess
import sys
import tempfile

SECONDS_MAX = 60


def main():
    bin_dir, name, kind = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        ran = subprocess.run(
            [bin_dir + "/iceblink-stress", "--seconds", str(SECONDS_MAX), "--plant", name,
             "--dir", directory],
            stdout=subprocess.PIPE, text=True, timeout=SECONDS_MAX)
        left = os.listdir(directory)
    print(ran.stdout)
    assert ran.returncode == 1, f"it ended with {ran.returncode}"
    assert re.search(f"^{kind}: ", ran.stdout, re.MULTILINE), f"nothing was found to be a {kind}"
    last = ran.stdout.splitlines()[-1]
    assert re.search(r"^stress: .*; wrong: [1-9]\d*$", last), f"the last line is {last!r}"
    assert left == [], f"it left {left}"


if __name__ == "__main__":
    main()
