#!/usr/bin/env python3
"""The `sardonyx` command as people use it: progress, Ctrl-C, environment variables, common mistakes.

Usage: test_terminal.py SARDONYX_COMMAND [unittest arguments]
"""

import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import time
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import test_cli
from test_cli import CommandTest, info, save_model

PATIENCE = 120  # seconds


class Terminal:
    """A process whose input, output and errors are a terminal of its own."""

    def __init__(self, *words):
        self.process, self.end = pty.fork()
        if self.process == 0:
            os.environ["TERM"] = "xterm"
            os.execv(test_cli.COMMAND, [test_cli.COMMAND, *words])
        self.text = ""

    def read(self, until=None):
        """Until `until` matches what was read, or the end."""
        deadline = time.monotonic() + PATIENCE
        while until is None or not re.search(until, self.text):
            if not select.select([self.end], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(self.text)
            try:
                chunk = os.read(self.end, 4096)
            except OSError:  # the other side has closed
                chunk = b""
            if not chunk:
                return self.text
            self.text += chunk.decode(errors="replace")
        return self.text

    def press(self, keys):
        os.write(self.end, keys)

    def wait(self):
        self.read()
        _, status = os.waitpid(self.process, 0)
        os.close(self.end)
        return os.waitstatus_to_exitcode(status)


class TerminalTest(CommandTest):
    def start(self, *words, **options):
        process = subprocess.Popen([test_cli.COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def wait_until(self, holds):
        deadline = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def wait_for_work(self, process, seconds):
        """Until the process has taken so much processor time: it is well under way, however slow the machine is."""
        def taken():
            user, system = self.proc(process, "stat").rpartition(")")[2].split()[11:13]
            return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        self.wait_until(lambda: taken() >= seconds)

    def wait_for_handling(self, process):
        """Until the handler, which is for one signal only, has been called."""
        def caught():
            mask = int(re.search(r"SigCgt:\s*(\w+)", self.proc(process, "status"))[1], 16)
            return mask >> (signal.SIGINT - 1) & 1
        self.wait_until(lambda: not caught())

    def proc(self, process, file):
        with open(f"/proc/{process.pid}/{file}", encoding="utf-8") as text:
            return text.read()

    def pool_model(self):
        """One step that takes days, in chunks that take many seconds."""
        path = self.path("pool.onnx")
        save_model(path, [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[20000001])],
                   [info("x", [1, 1, 40000000])], [info("y", [1, 1, 20000000])])
        return path

    def endless_loop(self, before=()):
        """After the nodes `before`, which make v of x when there are any, a loop that never ends."""
        path = self.path("loop.onnx")
        body = helper.make_graph([helper.make_node("Identity", ["cond"], ["go"]),
                                  helper.make_node("Neg", ["v"], ["w"])], "body",
                                 [info("i", [], TensorProto.INT64), info("cond", [], TensorProto.BOOL),
                                  info("v", [4])], [info("go", [], TensorProto.BOOL), info("w", [4])])
        loop = helper.make_node("Loop", ["", "yes", "v" if before else "x"], ["y"], body=body)
        save_model(path, [*before, loop], [info("x", [4])], [info("y", [4])], [numpy_helper.from_array(np.array(True), "yes")])
        return path


class TestProgress(TerminalTest):
    def test_lines_when_asked(self):
        for words in (("run", self.add_model(), "--random"), ("inspect", self.add_model()),
                      ("inspect", self.add_model(), "--plan"), ("bench", self.add_model(), "--runs", "3"),
                      ("verify", self.path("none"), self.path("none"))):
            with self.subTest(verb=words[0]):
                done = subprocess.run([test_cli.COMMAND, *words, "--progress"], capture_output=True, text=True,
                                      check=False, timeout=PATIENCE)
                if words[0] == "verify":
                    self.assertEqual(done.stderr, "")  # no folder, nothing to wait for
                    continue
                percents = [int(line.split(" %")[0]) for line in done.stderr.splitlines()]
                self.assertGreaterEqual(len(percents), 3)
                self.assertRegex(done.stderr, r"^(?:[ \d]{3} %  [^\n]+\n)+$")
                if words[0] != "bench":  # whose processes and runs are counted after the session is ready
                    self.assertEqual(percents, sorted(percents))

    def test_silent_without_a_terminal(self):
        process = self.start("bench", self.add_model(), "--repeat", "0", "--runs", "200000")
        output, errors = process.communicate(timeout=PATIENCE)
        self.assertIn("hot, 200000 runs", output)
        self.assertEqual(errors, "")

    def test_one_line_on_a_terminal(self):
        terminal = Terminal("bench", self.add_model(), "--repeat", "0", "--runs", "1000000", "--shape",
                            "x=30000x3")
        terminal.read(r" %  hot run \d+ of 1000000")
        terminal.press(b"\x03")
        self.assertEqual(terminal.wait(), 130)
        shown = re.findall(r"\r\x1b\[2K([^\r\n]*)", terminal.text)
        self.assertRegex(shown[0], r"^[ \d]{3} %  ")
        # The line is erased before the message, which comes once.
        self.assertTrue(terminal.text.endswith("\r\x1b[2Ksardonyx: interrupted\r\n"), terminal.text[-200:])
        self.assertEqual(terminal.text.count("interrupted"), 1)

    def test_nothing_remains_of_it(self):
        terminal = Terminal("bench", self.add_model(), "--repeat", "2", "--runs", "300000")
        self.assertEqual(terminal.wait(), 0)
        final = [line.split("\x1b[2K")[-1] for line in terminal.text.split("\n")]
        self.assertFalse([line for line in final if " %  " in line], final)
        self.assertIn("hot, 300000 runs", terminal.text)

    def test_a_short_command_shows_none(self):
        terminal = Terminal("ops", "Conv")
        self.assertEqual(terminal.wait(), 0)
        self.assertNotIn(" %  ", terminal.text)


class TestInterrupt(TerminalTest):
    def interrupt(self, process):
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual([line for line in errors.splitlines() if not re.match(r"[ \d]{3} %  |sardonyx: info", line)],
                         ["sardonyx: interrupted"])
        return output

    def test_inside_a_run(self):
        process = self.start("run", self.endless_loop(), "--random", "--output-dir", self.path("out"), "--log-level",
                             "info")
        self.assertIn("nodes became", process.stderr.readline())
        self.wait_for_work(process, 0.2)
        self.interrupt(process)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_inside_bench(self):
        process = self.start("bench", self.add_model(), "--repeat", "0", "--runs", "1000000", "--shape", "x=100000x3")
        self.wait_for_work(process, 0.5)
        self.interrupt(process)

    def test_inside_create(self):
        names = ["x", *(f"v{i}" for i in range(60000)), "v"]
        path = self.endless_loop([helper.make_node("Sin" if i % 2 else "Cos", [name], [names[i + 1]])
                                  for i, name in enumerate(names[:-1])])
        process = self.start("run", path, "--random", "--progress", "--output-dir", self.path("out"))
        self.assertRegex(process.stderr.readline(), r"^  0 %  read")
        self.interrupt(process)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_between_folders_of_verify(self):
        process = self.start("verify", *[self.path("none")] * 10, self.endless_verify())
        self.wait_for_work(process, 0.5)
        self.interrupt(process)

    def endless_verify(self):
        folder = self.path("case")
        os.makedirs(folder + "/test_data_set_0")
        os.replace(self.endless_loop(), folder + "/model.onnx")
        with open(folder + "/test_data_set_0/input_0.pb", "wb") as file:
            file.write(numpy_helper.from_array(np.zeros(4, np.float32)).SerializeToString())
        return folder

    def test_serve_waiting_for_a_line(self):
        process = self.start("bench", self.add_model(), "--serve", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.wait_until(lambda: self.proc(process, "stat").rpartition(")")[2].split()[0] == "S")  # it reads
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), 130)
        process.stdin.close()

    def test_cold_processes_of_the_same_group(self):
        process = self.start("bench", self.endless_loop(), "--runs", "1", "--progress", start_new_session=True)
        # Its own session is ready and runs for ever: interrupt as a terminal does, the whole group.
        while "100 %" not in process.stderr.readline():
            pass
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(errors.count("interrupted"), 1)

    def test_sigterm_is_the_same(self):
        process = self.start("run", self.endless_loop(), "--random", "--log-level", "info")
        process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)

    def test_a_second_one_ends_at_once(self):
        # A chunk of a step is not left before its end.
        environment = {**os.environ, "SARDONYX_MAX_ISA": "scalar"}
        process = self.start("run", self.pool_model(), "--random", "--threads", "1", env=environment)
        self.wait_for_work(process, 2)
        process.send_signal(signal.SIGINT)
        self.wait_for_handling(process)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), -signal.SIGINT)


class TestEnvironment(TerminalTest):
    def run_with(self, variables, *words, code=0):
        done = subprocess.run([test_cli.COMMAND, *words], env={**os.environ, **variables}, capture_output=True,
                              text=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_max_isa(self):
        model = self.add_model()
        outputs = set()
        for isa in ("scalar", "sse4", "avx2", "avx512"):
            done = self.run_with({"SARDONYX_MAX_ISA": isa}, "run", model, "--random", "--log-level", "info")
            self.assertRegex(done.stderr, r"kernels for (scalar|sse4|avx2|avx512), ")
            outputs.add(done.stdout)
        self.assertEqual(len(outputs), 1)
        self.assertIn("kernels for scalar", self.run_with({"SARDONYX_MAX_ISA": "scalar"}, "run", model, "--random",
                                                          "--log-level", "info").stderr)
        for verb in (("run", model, "--random"), ("inspect", model), ("bench", model), ("verify", self.path("x"))):
            errors = self.run_with({"SARDONYX_MAX_ISA": "AVX9"}, *verb, code=2).stderr
            self.assertEqual(errors, "sardonyx: InvalidArgument: SARDONYX_MAX_ISA is 'AVX9'; expected one of scalar, "
                                     "sse4, avx2, avx512 (or unset it)\n")

    def test_log_level(self):
        model = self.add_model()
        info_line = r"^sardonyx: info: 1 nodes became 1 steps in [\d.]+ ms; kernels for \w+, \d+ threads?\n$"
        for variables, words, pattern in (
                ({}, (), r"^$"), ({"SARDONYX_LOG_LEVEL": ""}, (), r"^$"),
                ({"SARDONYX_LOG_LEVEL": "info"}, (), info_line), ({}, ("--log-level", "info"), info_line),
                ({"SARDONYX_LOG_LEVEL": "verbose"}, ("--log-level", "info"), info_line),
                ({"SARDONYX_LOG_LEVEL": "info"}, ("--log-level", "off"), r"^$"),
                ({}, ("--log-level", "verbose"), r"sardonyx: verbose: passes, canonical:\n(?s:.*)sardonyx: info: ")):
            with self.subTest(variables=variables, words=words):
                self.assertRegex(self.run_with(variables, "run", model, "--random", *words).stderr, pattern)
        errors = self.run_with({"SARDONYX_LOG_LEVEL": "loud"}, "run", model, "--random", code=2).stderr
        self.assertIn("expected one of verbose, info, warning, error, off", errors)
        self.run_with({}, "run", model, "--random", "--log-level", "loud", code=2)


class TestMistakes(TerminalTest):
    def error(self, *words, code):
        done = self.run_command(*words, code=code)
        return done.stderr

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def test_wrong_kind_of_file(self):
        for name, content, words in (
                ("model.pt", b"PK\x03\x04" + bytes(40), "zip archive"),
                ("lfs.onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
                ("model.tflite", b"\x1c\0\0\0TFL3" + bytes(40), "tf2onnx"),
                ("model.h5", b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5"),
                ("page.onnx", b"<!DOCTYPE html><html>", "download the file again"),
                ("model.gz", b"\x1f\x8b\x08" + bytes(40), "unpack"),
                ("a.npy", b"\x93NUMPY\x01\0" + bytes(40), "--input"), ("p.png", b"\x89PNG\r\n\x1a\n", "--input"),
                ("model.safetensors", b"\x40\0\0\0\0\0\0\0{\"__metadata__\":{}}", "safetensors"),
                ("nothing.onnx", b"", "empty")):
            with self.subTest(name=name):
                path = self.write(name, content)
                for verb in (("inspect", path), ("run", path, "--random")):
                    errors = self.error(*verb, code=3)
                    self.assertIn(words, errors)
                    self.assertIn(name, errors)

    def test_folders_and_missing_files(self):
        self.add_model()
        self.assertIn("did you mean " + self.path("add.onnx"), self.error("inspect", self.path("add"), code=3))
        self.assertIn("a folder", self.error("inspect", self.folder, code=3))
        os.rename(self.path("add.onnx"), self.path("model.onnx"))
        self.assertIn("did you mean " + self.path("model.onnx"), self.error("run", self.folder, "--random", code=3))
        done = self.run_command("verify", self.path("model.onnx"), code=1)
        self.assertIn("is a file; give the folder", done.stdout)
        for path in (self.folder, self.path("none.npy"), self.path("model.onnx")):
            errors = self.error("run", self.path("model.onnx"), "--input", "x=" + path, code=4)
            self.assertIn(path, errors)

    def test_a_full_disk_leaves_the_old_file(self):
        os.mkdir(self.path("out"))
        with open(self.path("small"), "wb") as file:
            file.write(b"old")
        os.rename(self.path("small"), self.path("out/y.npy"))
        limit = (100, resource.RLIM_INFINITY)  # bytes of a file; SIGXFSZ stays ignored, so writing fails
        done = subprocess.run([test_cli.COMMAND, "run", self.add_model(), "--random", "--output-dir", self.path("out")],
                              capture_output=True, text=True, check=False, timeout=60, restore_signals=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"cannot write '{self.path('out/y.npy')}'", done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(os.listdir(self.path("out")), ["y.npy"])
        with open(self.path("out/y.npy"), "rb") as file:
            self.assertEqual(file.read(), b"old")

    def test_words(self):
        model = self.add_model()
        self.assertIn("sardonyx inspect " + model, self.error(model, code=2))
        self.assertIn("Did you mean inspect?", self.error("inpsect", model, code=2))
        self.assertIn("Did you mean --threads?", self.error("run", model, "--thread", "1", code=2))
        self.assertIn("Did you mean --input?", self.error("run", model, "--inptu=x", code=2))
        self.assertNotIn("Did you mean", self.error("run", model, "--zzzzzzzzzzzz", code=2))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    test_cli.COMMAND = os.path.abspath(sys.argv.pop(1))
    unittest.main()
