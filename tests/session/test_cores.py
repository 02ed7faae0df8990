"""Sessions under an affinity mask, a cpuset and a CPU quota: the right number of threads, no throttling, no words.

Real cgroups are used where this process may make some; where it may not, the readers of cgroup files are covered by
src/base/cgroup_test.cc alone. Argument: the program print_threads.
"""

import os
import pathlib
import subprocess
import sys
import unittest

PROGRAM = ""
MOUNT = pathlib.Path("/sys/fs/cgroup")


class Group:
    """A cgroup for one process, removed at the end; None from make() where it cannot be had."""

    def __init__(self, parent):
        self.path = parent / f"sardonyx_test_{os.getpid()}"
        self.path.mkdir()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.path.rmdir()

    def set(self, file, text):
        (self.path / file).write_text(text)

    def read(self, file):
        return (self.path / file).read_text()


def make_group(controller):
    """A v1 group of the controller or a v2 group, and which of the two it is."""
    v1 = MOUNT / controller
    try:
        if (v1 / "cgroup.procs").exists():
            return Group(v1), 1
        if controller in (MOUNT / "cgroup.controllers").read_text().split():
            (MOUNT / "cgroup.subtree_control").write_text(f"+{controller}")
            return Group(MOUNT), 2
    except OSError:
        pass
    return None, 0


class Cores(unittest.TestCase):
    def threads(self, group=None, prefix=(), seconds=0):
        enter = None
        if group is not None:
            def enter():
                group.set("cgroup.procs", str(os.getpid()))
        done = subprocess.run([*prefix, PROGRAM, str(seconds)], capture_output=True, text=True, preexec_fn=enter,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return int(done.stdout)

    def test_affinity(self):
        cores = sorted(os.sched_getaffinity(0))
        self.assertLessEqual(self.threads(), len(cores))
        for core in cores[:4]:
            self.assertEqual(self.threads(prefix=["taskset", "-c", str(core)]), 1)

    def test_cpuset(self):
        group, version = make_group("cpuset")
        if group is None:
            print("test_cpuset: no cgroup can be made here; test_affinity covers the mask")
            return
        last = max(os.sched_getaffinity(0))
        with group:
            if version == 1:
                group.set("cpuset.mems", (MOUNT / "cpuset/cpuset.mems").read_text())
            group.set("cpuset.cpus", str(last))
            self.assertEqual(self.threads(group), 1)

    def test_quota(self):
        group, version = make_group("cpu")
        if group is None:
            print("test_quota: no cgroup can be made here; cgroup_test.cc covers the files")
            return
        available = len(os.sched_getaffinity(0))
        with group:
            for quota in (50000, 100000, 150000, 800000):
                if version == 1:
                    group.set("cpu.cfs_period_us", "100000")
                    group.set("cpu.cfs_quota_us", str(quota))
                else:
                    group.set("cpu.max", f"{quota} 100000")
                expected = min(available, -(-quota // 100000))
                self.assertEqual(self.threads(group), expected, f"quota {quota}")
            # One thread on a quota of one core is not held back.
            if version == 1:
                group.set("cpu.cfs_quota_us", "100000")
            else:
                group.set("cpu.max", "100000 100000")

            def throttled():
                stat = dict(line.split() for line in group.read("cpu.stat").splitlines())
                return int(stat["throttled_time"]) / 1e9 if "throttled_time" in stat else int(
                    stat["throttled_usec"]) / 1e6
            before = throttled()
            self.assertEqual(self.threads(group, seconds=1.5), 1)
            self.assertLess(throttled() - before, 0.15, "seconds throttled in 1.5 s")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
