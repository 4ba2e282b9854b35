"""The units, under a real systemd: an instance's life from installation to purge."""

import ctypes
import json
import os
import subprocess
import unittest
from pathlib import Path

from installed import UNIT, InstalledTestCase, Reader

PTRACE_CONT, PTRACE_SEIZE, PTRACE_INTERRUPT = 7, 0x4206, 0x4207
WALL = 0x40000000  # waits for threads, too


class Units(InstalledTestCase):
    def test_are_right(self):
        for unit in ("iceblinkd@.service", "iceblinkd@.socket"):
            done = self.machine.run("systemd-analyze", "verify", "--man=no",
                                    f"/usr/lib/systemd/system/{unit}")
            self.assertEqual(done.stdout + done.stderr, "", unit)

    def test_expose_little(self):
        self.start()
        done = self.machine.run("systemd-analyze", "security", "--threshold=20", "--no-pager",
                                UNIT.format("main"))
        self.assertIn("Overall exposure level", done.stdout)

    def test_confine_the_daemon_while_it_works(self):
        self.start()
        status = self.machine.path(f"/proc/{self.main_pid()}/status").read_text()
        for line in ("Seccomp:\t2", "NoNewPrivs:\t1", "CapEff:\t0000000000000000"):
            self.assertIn(line, status)
        self.iceblink("create-namespace", "confined")
        for number in range(200):
            self.put(f"confined.t{number % 10}", f"/w/{number}")
        listed = self.iceblink("tables", "confined", user="reader").split()
        self.assertEqual(len(listed), 10)


    def test_leave_readers_of_files_what_they_need(self):
        """io_uring, mappings and the like, in the daemon's own sandbox."""
        self.start()
        self.machine.write("/etc/systemd/system/iceblinkd@probe.service.d/probe.conf",
                           "[Service]\nType=oneshot\nWatchdogSec=0\nRestart=no\nExecStart=\n"
                           "ExecStart=iceblink --dir /run/iceblink/main doctor --json\n")
        self.systemctl("daemon-reload")
        self.systemctl("start", UNIT.format("probe"), check=False)
        findings = {finding["check"]: finding for line in self.log("probe").splitlines()
                    if line.startswith('{"findings"')
                    for finding in json.loads(line)["findings"]}
        for check in ("io-uring", "membarrier", "futex", "openat2"):
            self.assertEqual(findings[check]["severity"], "ok", findings[check])


class Service(InstalledTestCase):
    def test_starts_ready_and_with_the_right_modes(self):
        self.start()
        self.assert_modes()
        status = self.status(user="reader")
        self.assertTrue(status["daemon"]["alive"])
        self.assertEqual(status["daemon"]["pid"], self.main_pid())
        self.assertEqual(self.systemctl("is-active", UNIT.format("main")).stdout, "active\n")

    def test_starts_a_second_time_with_the_right_modes(self):
        self.start()
        self.systemctl("stop", UNIT.format("main"))
        for path in ("/run/iceblink/main", "/run/iceblink/main/control"):
            self.machine.run("chown", "root:root", path)  # by hand: lost at the next start
        self.machine.run("chmod", "0777", "/run/iceblink/main")
        self.systemctl("start", UNIT.format("main"))
        self.assert_modes()

    def test_is_restarted_when_it_is_killed_and_readers_go_on(self):
        self.start()
        self.iceblink("create-namespace", "killed")
        self.put("killed.t", "/w/1")
        reader = Reader(self)
        self.assertEqual(reader.resolve("killed.t"), "/w/1")
        control, pid = self.inode("/run/iceblink/main/control"), self.main_pid()
        self.systemctl("kill", "--signal=SIGKILL", UNIT.format("main"))
        self.assertEqual(reader.resolve("killed.t"), "/w/1")
        self.wait_for_log(r"Started iceblinkd@main\.service")
        while self.main_pid() in (0, pid):
            self.assertEqual(reader.resolve("killed.t"), "/w/1")
        self.systemctl("start", UNIT.format("main"))  # returns when it is ready
        self.put("killed.t", "/w/2")
        self.assertEqual(reader.resolve("killed.t"), "/w/2")
        self.assertEqual(self.inode("/run/iceblink/main/control"), control)
        self.assertIsNone(reader.process.poll())

    def test_reloads_its_settings(self):
        self.start(settings='log-level = "info"\n')
        pid = self.main_pid()
        self.machine.write("/etc/iceblink/main.toml", 'log-level = "debug"\n')
        self.systemctl("reload", UNIT.format("main"))
        self.wait_for_log("settings reloaded")
        self.assertEqual(self.main_pid(), pid)

    def test_keeps_its_settings_when_the_new_ones_are_wrong(self):
        self.start(settings='log-level = "info"\n')
        self.machine.write("/etc/iceblink/main.toml", 'lgo-level = "debug"\n')
        self.systemctl("reload", UNIT.format("main"))
        self.wait_for_log("did you mean 'log-level'")
        self.assertTrue(self.status()["daemon"]["alive"])

    def test_is_restarted_when_its_writer_is_stuck(self):
        self.start(drop_in="WatchdogSec=2s")
        self.iceblink("create-namespace", "stuck")
        self.put("stuck.t", "/w/1")
        reader, pid = Reader(self), self.main_pid()
        writer = self.stop_thread(pid, "committer")
        self.wait_for_log("Watchdog timeout")
        self.wait_for_end(writer)
        self.assertEqual(reader.resolve("stuck.t"), "/w/1")
        self.wait_for_log("restart job|restart counter")
        self.systemctl("start", UNIT.format("main"))
        self.assertNotEqual(self.main_pid(), pid)
        self.put("stuck.t", "/w/2")
        self.assertEqual(reader.resolve("stuck.t"), "/w/2")

    def stop_thread(self, pid, name):
        """Holds one thread of a process inside, and lets all others run."""
        for task in self.machine.path(f"/proc/{pid}/task").iterdir():
            if (task / "comm").read_text() == name + "\n":
                outside = self.pid_outside(int(task.name))
                libc = ctypes.CDLL(None, use_errno=True)
                for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
                    if libc.ptrace(request, outside, None, None) != 0:
                        raise OSError(ctypes.get_errno(), f"ptrace of thread {name}")
                os.waitpid(outside, WALL)  # it has stopped
                return outside
        raise AssertionError(f"there is no thread {name}")

    @staticmethod
    def wait_for_end(thread):
        """Of one that is held: it dies with its process, and is ours to be waited for."""
        while os.WIFSTOPPED(os.waitpid(thread, WALL)[1]):
            ctypes.CDLL(None).ptrace(PTRACE_CONT, thread, None, None)

    @staticmethod
    def pid_outside(inside):
        for process in Path("/proc").glob("[0-9]*/task/[0-9]*/status"):
            try:
                line = next(line for line in process.read_text().splitlines()
                            if line.startswith("NSpid:"))
            except (FileNotFoundError, ProcessLookupError):
                continue
            ids = line.split()[1:]
            if len(ids) > 1 and ids[-1] == str(inside):
                return int(ids[0])
        raise AssertionError(f"thread {inside} is not there")

    def test_stops_in_order(self):
        self.start()
        self.iceblink("create-namespace", "stopped")
        self.put("stopped.t", "/w/1")
        reader = Reader(self)
        self.systemctl("stop", UNIT.format("main"))
        shown = self.systemctl("show", "-P", "Result", UNIT.format("main")).stdout
        self.assertEqual(shown, "success\n")
        self.assertEqual(reader.resolve("stopped.t"), "/w/1")
        status = self.status(user="reader", code=3)
        self.assertFalse(status["daemon"]["alive"])
        self.systemctl("start", UNIT.format("main"))
        self.put("stopped.t", "/w/2")
        self.assertEqual(reader.resolve("stopped.t"), "/w/2")

    def test_gives_up_where_no_start_helps(self):
        self.machine.write("/etc/iceblink/wrong.toml", "htp-threads = 4\n")
        self.addCleanup(self.forget, "wrong")
        started = self.systemctl("start", UNIT.format("wrong"), check=False)
        self.assertNotEqual(started.returncode, 0)
        self.assertIn("did you mean 'http-threads'", self.log("wrong"))
        shown = self.systemctl("show", "-P", "NRestarts", UNIT.format("wrong")).stdout
        self.assertEqual(shown, "0\n")

    def test_runs_beside_another_instance(self):
        for instance in ("one", "two"):
            self.start(instance)
            self.iceblink("create-namespace", "n", instance=instance)
            self.put("n.t", f"/w/{instance}", instance=instance)
            self.assert_modes(instance)
        for instance in ("one", "two"):
            self.assertEqual(Reader(self, instance).resolve("n.t"), f"/w/{instance}")
        self.systemctl("stop", UNIT.format("one"))
        self.put("n.t", "/w/two/2", instance="two")
        self.assertEqual(self.status("one", code=3)["daemon"]["alive"], False)


class SocketActivation(InstalledTestCase):
    def setUp(self):
        self.addCleanup(self.forget, "main")
        self.systemctl("start", "iceblinkd@main.socket")

    def test_lets_readers_come_before_the_daemon(self):
        self.assertEqual(self.mode("/run/iceblink/main"), "0750 iceblink:iceblink-readers")
        self.assertEqual(self.mode("/run/iceblink/main/catalog.sock"),
                         "0660 iceblink:iceblink-readers")
        self.assertEqual(self.main_pid(), 0)
        self.iceblink("create-namespace", "first")  # whoever asks first starts it
        self.assertTrue(self.status(user="reader")["daemon"]["alive"])
        self.assertNotEqual(self.main_pid(), 0)
        self.assert_modes()

    def test_mends_a_directory_that_is_roots(self):
        self.systemctl("stop", "iceblinkd@main.socket", UNIT.format("main"))
        self.machine.run("rm", "-rf", "/run/iceblink/main")
        self.machine.run("install", "-d", "-m", "0700", "/run/iceblink/main")
        self.systemctl("start", "iceblinkd@main.socket")
        self.assertEqual(self.mode("/run/iceblink/main"), "0750 iceblink:iceblink-readers")
        self.systemctl("start", UNIT.format("main"))
        self.assert_modes()

    def test_lets_clients_wait_through_a_restart(self):
        self.systemctl("start", UNIT.format("main"))
        self.iceblink("create-namespace", "waiting")
        self.systemctl("stop", UNIT.format("main"))
        self.put("waiting.t", "/w/1")  # starts it
        writers = [self.machine.start(
            "sh", "-ec", f"for i in $(seq 20); do iceblink --dir /run/iceblink/main register "
            f"waiting.t{number} /w/$i --unverified --overwrite; done",
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for number in range(2)]
        for _ in range(3):
            self.systemctl("restart", UNIT.format("main"))
        for writer in writers:
            _, errors = writer.communicate()
            self.assertEqual((writer.returncode, errors), (0, ""))
        for number in range(2):
            self.assertEqual(Reader(self).resolve(f"waiting.t{number}"), "/w/20")


class Package(InstalledTestCase):
    def test_is_upgraded_removed_and_purged(self):
        self.start()
        self.systemctl("enable", UNIT.format("main"))
        self.iceblink("create-namespace", "kept")
        self.put("kept.t", "/w/1")
        reader, pid = Reader(self), self.main_pid()

        self.machine.run("dpkg", "-i", "/opt/iceblink.deb")
        self.assertNotIn(self.main_pid(), (0, pid), "an upgrade restarts what runs")
        self.assertEqual(reader.resolve("kept.t"), "/w/1")

        self.machine.run("dpkg", "--remove", "iceblink")
        shown = self.systemctl("show", "-P", "ActiveState", UNIT.format("main")).stdout
        self.assertEqual(shown, "inactive\n")
        for gone in ("/usr/bin/iceblinkd", "/usr/lib/systemd/system/iceblinkd@.service",
                     "/run/iceblink", "/etc/systemd/system/multi-user.target.wants/"
                     "iceblinkd@main.service"):
            self.assertFalse(os.path.lexists(self.machine.path(gone)), gone)
        self.assertTrue(self.machine.path("/etc/iceblink/iceblinkd.toml").exists())

        self.machine.run("dpkg", "-i", "/opt/iceblink.deb")
        self.systemctl("start", UNIT.format("main"))
        self.assertEqual(self.iceblink("resolve", "kept.t").splitlines()[0], "/w/1")

        purged = self.machine.run("dpkg", "--purge", "iceblink")
        self.assertIn("the catalogs in /var/lib/iceblink were left", purged.stderr)
        for gone in ("/etc/iceblink", "/run/iceblink", "/usr/share/doc/iceblink",
                     "/usr/lib/libiceblink_client.a"):
            self.assertFalse(self.machine.path(gone).exists(), gone)
        self.assertTrue(self.machine.path("/var/lib/iceblink/main/lmdb/data.mdb").exists())


if __name__ == "__main__":
    unittest.main()
