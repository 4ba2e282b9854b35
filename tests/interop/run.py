#!/usr/bin/env python3
"""run.py VENV SCRIPT ARGUMENTS: runs one of the scripts here in the environment VENV, which
`./dev test` makes. Without it: skipped (77), or failed where ICEBLINK_INTEROP_REQUIRED is set."""

import filecmp
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77


def is_installed(venv, pinned):
    installed = venv / pinned
    return installed.exists() and filecmp.cmp(installed, HERE / pinned, shallow=False)


def main():
    venv, script, arguments = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if all(is_installed(venv, pinned) for pinned in ("requirements.txt", "package-lock.json")):
        python = venv / "bin/python"
        # Without its settings of whoever runs this.
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("PYICEBERG_")} | {"PYICEBERG_HOME": str(venv)}
        os.execve(python, [python, HERE / script, *arguments], environment)
    print(f"The clients, in the versions of requirements.txt and package-lock.json, are not "
          f"installed in {venv}: ./dev test does that")
    return 1 if os.environ.get("ICEBLINK_INTEROP_REQUIRED") else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
