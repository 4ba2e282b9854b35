"""A systemd of its own: process 1 of namespaces, over a throw-away copy of this host's files.

    with Machine() as machine:
        machine.run("systemctl", "start", "iceblinkd@main")

Needs root and what the kernel lets root of a container do; can_boot() says whether it is there. All
of it is gone at the end, whatever happened.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

BOOT = Path(__file__).with_name("boot_systemd.sh")
BOOT_SECONDS_MAX = 30
UNSHARE = ["unshare", "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "--fork",
           "--kill-child=SIGKILL", "--propagation", "private"]
# Of one command: a watchdog, not a measure.
COMMAND_SECONDS_MAX = 120


def can_boot():
    """What is missing, or None."""
    if os.geteuid() != 0:
        return "only root boots a machine"
    if not Path("/lib/systemd/systemd").exists():
        return "systemd is not installed"
    if cgroup2() is None or not os.access(cgroup2(), os.W_OK):
        return "there is no cgroup2 hierarchy to write to"
    tried = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else tried.stderr.strip()


def cgroup2():
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(where)
    return None


class Machine:
    def __enter__(self):
        self.work = tempfile.mkdtemp(prefix="iceblink-machine-")
        self.boot_log = open(self.work + ".log", "w+b")
        self.cgroup = cgroup2() / Path(self.work).name
        self.pid = None
        self.cgroup.mkdir()
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(self.work + ".notify")
        self.notify.settimeout(BOOT_SECONDS_MAX)
        self.launcher = subprocess.Popen(
            [*UNSHARE, "bash", BOOT, self.work, self.work + ".notify"],
            stdin=subprocess.DEVNULL, stdout=self.boot_log, stderr=subprocess.STDOUT,
            preexec_fn=lambda: (self.cgroup / "cgroup.procs").write_text(str(os.getpid())))
        try:
            self.wait_for_boot()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def wait_for_boot(self):
        """systemd, as process 1 of a container, notifies whoever started it."""
        while True:
            try:
                notified = self.notify.recv(4096).decode().split("\n")
            except TimeoutError:
                self.boot_log.seek(0)
                said = self.boot_log.read().decode()
                raise RuntimeError("systemd did not boot: " + said) from None
            if "READY=1" in notified:
                break
        children = Path(f"/proc/{self.launcher.pid}/task/{self.launcher.pid}/children")
        self.pid = int(children.read_text().split()[0])
        self.run("systemctl", "start", "systemd-journald.socket", "systemd-journald")

    def close(self):
        if self.launcher.poll() is None:
            if self.pid is not None:
                os.kill(self.pid, signal.SIGKILL)  # process 1: all of the namespace goes with it
            else:
                self.launcher.kill()
        self.launcher.wait()
        for group in sorted(self.cgroup.rglob("*/"), reverse=True):
            group.rmdir()
        self.cgroup.rmdir()
        self.boot_log.close()
        self.notify.close()
        os.unlink(self.work + ".notify")
        os.unlink(self.work + ".log")
        os.rmdir(self.work)

    def command(self, *arguments, user=None):
        """The command that runs `arguments` inside, as `user` with that user's groups."""
        inside = ["nsenter", "--target", str(self.pid), "--mount", "--pid", "--uts", "--ipc",
                  "--net", "--cgroup", "--root", "--wd", "--"]
        if user is not None:
            inside += ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "--"]
        return inside + [str(argument) for argument in arguments]

    def run(self, *arguments, user=None, check=True, input=None, env=None):
        done = subprocess.run(
            self.command(*arguments, user=user), input=input, capture_output=True, text=True,
            timeout=COMMAND_SECONDS_MAX, check=False,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **(env or {})})
        if check and done.returncode != 0:
            raise AssertionError(
                f"{arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def start(self, *arguments, user=None, **options):
        """A process inside that the caller ends."""
        return subprocess.Popen(self.command(*arguments, user=user), text=True, **options)

    def path(self, inside):
        """A path of the machine, for this process to open."""
        return Path(f"/proc/{self.pid}/root{inside}")

    def write(self, inside, text):
        self.path(inside).parent.mkdir(parents=True, exist_ok=True)
        self.path(inside).write_text(text)

    def copy(self, outside, inside):
        self.path(inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(outside, self.path(inside))

    def journal(self, unit, *arguments):
        self.run("journalctl", "--sync")
        return self.run("journalctl", "--no-pager", "-o", "cat", "-u", unit, *arguments).stdout
