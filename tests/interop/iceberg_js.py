"""The client iceberg-js, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

from node import NODE

BRIDGE = Path(__file__).resolve().parent / "iceberg_js_bridge.mjs"
MODULE = Path(sys.prefix) / "node_modules/iceberg-js/dist/index.mjs"


class Refused(Exception):
    """By the catalog: `status` and `type` are of its answer."""

    def __init__(self, error):
        super().__init__(f"{error['status']} {error.get('type')}: {error['message']}")
        self.status, self.type = error["status"], error.get("type")


class IcebergJs:
    """Use it in a `with`. Its methods are the client's, which name them camelCase."""

    def __init__(self, uri):
        self.command = [NODE, BRIDGE, MODULE, uri]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def __getattr__(self, method):
        return lambda *parameters: self.call(method, parameters)

    def call(self, method, parameters):
        self.process.stdin.write(json.dumps([method, *parameters]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"iceberg-js ended in {method}")
        answer = json.loads(line)
        if error := answer.get("error"):
            raise Refused(error)
        return answer["value"]
