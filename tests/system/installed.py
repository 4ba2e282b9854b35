"""A machine that the Debian package is installed on, and what tests do there."""

import json
import os
import re
import stat
import subprocess
import unittest
from pathlib import Path

from machine import Machine

DEB = Path(os.environ["ICEBLINK_DEB"])
BIN = Path(os.environ["ICEBLINK_BIN_DIR"])
UNIT = "iceblinkd@{}.service"


class InstalledTestCase(unittest.TestCase):
    """One machine for all tests of a class. `main` is an instance that each may use."""

    @classmethod
    def setUpClass(cls):
        cls.machine = cls.enterClassContext(Machine())
        cls.machine.copy(DEB, "/opt/iceblink.deb")
        cls.machine.run("dpkg", "-i", "/opt/iceblink.deb")
        cls.machine.copy(BIN / "pointer_watch", "/usr/local/bin/pointer_watch")
        for user, groups in cls.users().items():
            cls.machine.run("useradd", "--create-home", "--groups", ",".join(groups), user)

    @classmethod
    def users(cls):
        """Users beside root and iceblink, and their groups."""
        return {"reader": ["iceblink-readers"]}

    def systemctl(self, *arguments, check=True):
        return self.machine.run("systemctl", *arguments, check=check)

    def start(self, instance="main", *, settings=None, drop_in=None):
        """Anew, with settings and a drop-in of its own."""
        unit = UNIT.format(instance)
        if settings is not None:
            self.machine.write(f"/etc/iceblink/{instance}.toml", settings)
        if drop_in is not None:
            self.machine.write(f"/etc/systemd/system/{unit}.d/test.conf", f"[Service]\n{drop_in}\n")
        self.systemctl("daemon-reload")
        self.systemctl("restart", unit)
        self.addCleanup(self.forget, instance)

    def forget(self, instance):
        """Stops it, and takes away what is its own, but for the catalog."""
        unit = UNIT.format(instance)
        self.systemctl("stop", f"iceblinkd@{instance}.socket", unit, check=False)
        self.systemctl("reset-failed", unit, check=False)
        for path in (f"/etc/iceblink/{instance}.toml", f"/etc/systemd/system/{unit}.d/test.conf"):
            self.machine.path(path).unlink(missing_ok=True)

    def iceblink(self, *arguments, instance="main", user="root", code=0):
        """The program's output; its exit code must be `code`."""
        done = self.machine.run("iceblink", "--dir", f"/run/iceblink/{instance}", *arguments,
                                user=user, check=False)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def status(self, instance="main", user="root", code=0):
        shown = self.iceblink("status", "--json", instance=instance, user=user, code=code)
        return json.loads(shown)

    def put(self, name, location, instance="main"):
        self.iceblink("register", name, location, "--unverified", "--overwrite", instance=instance)

    def main_pid(self, instance="main"):
        return int(self.systemctl("show", "-P", "MainPID", UNIT.format(instance)).stdout)

    def mode(self, path):
        """"0750 iceblink:iceblink-readers"."""
        return self.machine.run("stat", "-c", "%04a %U:%G", path).stdout.strip()

    def inode(self, path):
        return os.stat(self.machine.path(path)).st_ino

    def assert_modes(self, instance="main"):
        runtime, state = f"/run/iceblink/{instance}", f"/var/lib/iceblink/{instance}"
        self.assertEqual(self.mode(runtime), "0750 iceblink:iceblink-readers")
        self.assertEqual(self.mode(f"{runtime}/control"), "0640 iceblink:iceblink-readers")
        self.assertEqual(self.mode(f"{runtime}/catalog.sock"), "0660 iceblink:iceblink-readers")
        arenas = [name for name in os.listdir(self.machine.path(runtime))
                  if name.startswith("arena.")]
        self.assertEqual(len(arenas), 1)
        self.assertEqual(self.mode(f"{runtime}/{arenas[0]}"), "0640 iceblink:iceblink-readers")
        self.assertEqual(self.mode(state), "0755 iceblink:iceblink-readers")
        self.assertEqual(self.mode(f"{state}/lmdb"), "0700 iceblink:iceblink-readers")
        self.assertEqual(self.mode(f"{state}/lmdb/data.mdb"), "0600 iceblink:iceblink-readers")
        self.assertEqual(self.mode(f"{state}/warehouse"), "2775 iceblink:iceblink-writers")

    def log(self, instance="main"):
        return self.machine.journal(UNIT.format(instance))

    def wait_for_log(self, pattern, instance="main"):
        """Until a line matches; from the start of this machine."""
        following = self.machine.start(
            "journalctl", "--no-pager", "-o", "cat", "-f", "-n", "all", "-u", UNIT.format(instance),
            stdout=subprocess.PIPE)
        try:
            for line in following.stdout:
                if re.search(pattern, line):
                    return line
        finally:
            following.kill()
            following.wait()
            following.stdout.close()
        raise AssertionError(f"no line matches {pattern}")


class Reader:
    """A process that stays attached, and answers for as long as it lives."""

    def __init__(self, test, instance="main", user="reader"):
        self.process = test.machine.start(
            "pointer_watch", f"/run/iceblink/{instance}", user=user,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        test.addCleanup(self.close)

    def resolve(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
