"""docs/operations.md, word for word: its shell commands end with an instance that works."""

import json
import re
import unittest
from pathlib import Path

from installed import DEB
from machine import Machine

GUIDE = Path(__file__).parents[2] / "docs/operations.md"


class Newcomer(unittest.TestCase):
    def test_gets_a_working_instance(self):
        commands = re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(commands), 4)
        with Machine() as machine:
            machine.copy(DEB, f"/opt/{DEB.name}")
            machine.path("/srv/warehouse").mkdir()
            for block in commands:
                machine.run("bash", "-euo", "pipefail", "-c", "cd /opt\n" + block)
            status = json.loads(machine.run("iceblink", "status", "--json").stdout)
            self.assertTrue(status["daemon"]["alive"])
            listed = machine.run("iceblink", "namespaces", user="alice").stdout
            self.assertEqual(listed, "analytics\n")
            self.assertIn("401", machine.run(
                "python3", "-c",
                "import urllib.request, urllib.error\n"
                "try: urllib.request.urlopen('http://127.0.0.1:8181/v1/namespaces')\n"
                "except urllib.error.HTTPError as error: print(error.code)\n").stdout)


if __name__ == "__main__":
    unittest.main()
