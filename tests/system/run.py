#!/usr/bin/env python3
"""run.py DEB BIN_DIR VENV SCRIPT ARGUMENTS: runs one of the scripts here, or skips it (77) on a
host where no machine can be booted. VENV has the clients that tests/interop installs; without it
what needs them is skipped, or fails where ICEBLINK_INTEROP_REQUIRED is set."""

import os
import sys
from pathlib import Path

from machine import can_boot

SKIPPED = 77


def main():
    if (missing := can_boot()) is not None:
        print(f"skipped: {missing}")
        return SKIPPED
    deb, bin_dir, venv, script, *arguments = sys.argv[1:]
    os.environ |= {"ICEBLINK_DEB": deb, "ICEBLINK_BIN_DIR": bin_dir, "PYTHONDONTWRITEBYTECODE": "1"}
    if Path(venv).exists() or os.environ.get("ICEBLINK_INTEROP_REQUIRED"):
        os.environ["ICEBLINK_VENV"] = venv
    os.execv(sys.executable, [sys.executable, Path(__file__).with_name(script), *arguments])


if __name__ == "__main__":
    sys.exit(main())
