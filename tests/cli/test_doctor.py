#!/usr/bin/env python3
"""`sardonyx doctor`: what it finds, and how it answers when something is wrong.

Usage: test_doctor.py SARDONYX_COMMAND [unittest arguments]
"""

import json
import os
import re
import subprocess
import sys
import unittest

import test_cli
from test_cli import CommandTest

NAMES = ["version", "build", "kernels", "cpu", "cores", "memory", "log", "extras", "cache", "trial run"]


class TestDoctor(CommandTest):
    def doctor(self, code=0, cores=None, **variables):
        """The checks by name."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SARDONYX_MAX")}
        environment.update(variables)
        done = subprocess.run([test_cli.COMMAND, "doctor", "--json"], capture_output=True, text=True, check=False,
                              timeout=60, env={name: value for name, value in environment.items() if value is not None},
                              preexec_fn=None if cores is None else lambda: os.sched_setaffinity(0, cores))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        result = json.loads(done.stdout)
        worst = [row["status"] for row in result["checks"]]
        self.assertEqual(result["status"], next(s for s in ("broken", "warning", "ok") if s in worst))
        self.assertEqual(result["status"] == "broken", code == 1)
        for row in result["checks"]:
            self.assertTrue(row["text"])
            self.assertEqual(bool(row["advice"]), row["status"] != "ok", row)
        return {row["name"]: row for row in result["checks"]}

    def test_all_is_well(self):
        checks = self.doctor()
        self.assertEqual(list(checks), NAMES)
        version = self.run_command("--version").stdout.split()[1]
        self.assertEqual(checks["version"]["facts"]["version"], version)
        listed = json.loads(self.run_command("ops", "--json").stdout)
        self.assertEqual(checks["version"]["facts"]["operators"], len(listed))
        newest = max(max(op["versions"]) for op in listed if op["domain"] == "")
        self.assertEqual(checks["version"]["facts"]["newest_opsets"]["ai.onnx"], newest)
        self.assertGreaterEqual(checks["version"]["facts"]["newest_ir_version"], 13)
        self.assertIn("scalar", checks["kernels"]["facts"]["rows"])
        self.assertEqual(checks["trial run"]["status"], "ok")
        self.assertEqual(checks["extras"]["status"], "ok")
        self.assertTrue(os.path.exists(checks["extras"]["facts"]["path"]))

    def test_text(self):
        lines = self.run_command("doctor").stdout.splitlines()
        found = [re.match(r"(?:ok|warning|broken) +(\w+(?: run)?) +\S", line) for line in lines
                 if not line.startswith(" ")]
        self.assertEqual([match[1] for match in found], NAMES)

    def test_instruction_sets(self):
        kernels = self.doctor(SARDONYX_MAX_ISA="scalar")["kernels"]
        self.assertEqual(kernels["facts"]["used"], "scalar")
        if kernels["facts"]["cpu"] != "scalar":
            self.assertEqual(kernels["status"], "warning")
            self.assertIn("SARDONYX_MAX_ISA=scalar", kernels["advice"])
        kernels = self.doctor(code=1, SARDONYX_MAX_ISA="AVX9")["kernels"]
        self.assertEqual(kernels["status"], "broken")
        self.assertIn("scalar, sse4, avx2, avx512", kernels["advice"])

    def test_cores(self):
        facts = self.doctor(cores={min(os.sched_getaffinity(0))})["cores"]["facts"]
        self.assertEqual((facts["affinity"], facts["used"]), (1, 1))
        self.assertGreaterEqual(facts["present"], 1)
        facts = self.doctor()["cores"]["facts"]
        self.assertEqual(facts["affinity"], len(os.sched_getaffinity(0)))
        self.assertLessEqual(facts["used"], facts["affinity"])

    def test_memory(self):
        facts = self.doctor()["memory"]["facts"]
        self.assertGreater(facts["bytes"], 0)
        self.assertLessEqual(facts["available_bytes"], facts["bytes"])

    def test_log_level(self):
        self.assertEqual(self.doctor(SARDONYX_LOG_LEVEL="info")["log"]["facts"]["level"], "info")
        log = self.doctor(code=1, SARDONYX_LOG_LEVEL="loud")["log"]
        self.assertIn("verbose, info, warning, error, off", log["advice"])

    def test_extras(self):
        self.assertEqual(self.doctor(code=1, SARDONYX_EXTRAS="/none.so")["extras"]["status"], "broken")

    def test_cache_folder(self):
        def cache(**variables):
            return self.doctor(**variables)["cache"]

        row = cache(XDG_CACHE_HOME=self.folder)
        self.assertEqual(row["facts"], {"path": self.path("sardonyx"), "exists": False, "writable": True, "mode": "",
                                        "used": False})
        self.assertIn("keeps no cache yet", row["text"])
        self.assertFalse(os.path.exists(self.path("sardonyx")))  # it only looks
        os.mkdir(self.path("sardonyx"))
        os.chmod(self.path("sardonyx"), 0o700)
        row = cache(XDG_CACHE_HOME=self.folder)
        self.assertEqual((row["status"], row["facts"]["mode"]), ("ok", "0700"))
        os.chmod(self.path("sardonyx"), 0o777)
        self.assertIn("chmod 700", cache(XDG_CACHE_HOME=self.folder)["advice"])
        os.rmdir(self.path("sardonyx"))
        with open(self.path("sardonyx"), "wb"):
            pass
        self.assertEqual(cache(XDG_CACHE_HOME=self.folder)["status"], "warning")
        # The standard says: a relative folder is ignored.
        self.assertEqual(cache(XDG_CACHE_HOME="here", HOME="/home/somebody")["facts"]["path"],
                         "/home/somebody/.cache/sardonyx")
        self.assertEqual(cache(XDG_CACHE_HOME=None, HOME=None)["status"], "warning")

    def test_a_folder_that_cannot_be_written(self):
        os.chmod(self.folder, 0o500)
        row = self.doctor(XDG_CACHE_HOME=self.folder)["cache"]
        # Root may write everywhere.
        self.assertEqual(row["status"], "ok" if os.geteuid() == 0 else "warning")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    test_cli.COMMAND = os.path.abspath(sys.argv.pop(1))
    unittest.main()
