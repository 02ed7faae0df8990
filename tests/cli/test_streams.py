#!/usr/bin/env python3
"""What the `sardonyx` command does with files that are none (pipes, devices, sockets), with standard streams that are
full or closed, and with options that do nothing.

Usage: test_streams.py SARDONYX_COMMAND [unittest arguments]
"""

import os
import socket
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

COMMAND = ""


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


class StreamsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.save("add.onnx", [helper.make_node("Add", ["x", "b"], ["y"])], info("x", ["n", 3]), info("y", ["n", 3]))
        np.save(self.path("x.npy"), np.zeros((1, 3), np.float32))

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self, name, nodes, x, y):
        b = numpy_helper.from_array(np.ones(3, np.float32), "b")
        graph = helper.make_graph(nodes, "g", [x], [y], [b])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), self.path(name))

    def run_command(self, *words, code=0, **options):
        """Never waits: what is no file is refused at once."""
        options = {"stdout": subprocess.PIPE, **options}
        done = subprocess.run([COMMAND, *words], stderr=subprocess.PIPE, text=True, check=False, timeout=30,
                              cwd=self.folder, **options)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        if code != 0:
            self.assertRegex(done.stderr, r"^sardonyx: [A-Za-z]+: [^\n]*\n")
        return done

    def make_specials(self, name):
        """Paths of a pipe, a link to a device and a socket whose names end in `name`."""
        os.mkfifo(self.path("pipe" + name))
        os.symlink("/dev/zero", self.path("device" + name))
        with socket.socket(socket.AF_UNIX) as each:
            each.bind(self.path("socket" + name))
        return ["pipe" + name, "device" + name, "socket" + name]

    def test_what_is_read_is_a_file(self):
        self.save("picture.onnx", [helper.make_node("Identity", ["x"], ["y"])], info("x", [1, 3, 2, 2]),
                  info("y", [1, 3, 2, 2]))
        self.save("sequence.onnx", [helper.make_node("SequenceLength", ["x"], ["y"])],
                  helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, None), info("y", [], TensorProto.INT64))
        for suffix, code, words in (
                (".npy", 4, ("run", "add.onnx", "--input", "x=FILE")), (".pb", 4, ("run", "add.onnx", "--input", "x=FILE")),
                (".jpg", 4, ("run", "picture.onnx", "--input", "FILE")),
                (".s.pb", 4, ("run", "sequence.onnx", "--input", "x=FILE")),
                (".s.npy", 4, ("run", "sequence.onnx", "--input", "x=FILE,FILE")),
                (".json", 4, ("run", "add.onnx", "--input-list", "FILE")),
                (".p.npy", 4, ("inspect", "add.onnx", "--plan", "--input", "x=FILE")),
                (".b.npy", 4, ("bench", "add.onnx", "--repeat", "0", "--runs", "1", "--input", "x=FILE")),
                (".onnx", 3, ("run", "FILE", "--random")), (".i.onnx", 3, ("inspect", "FILE")),
                (".c.onnx", 3, ("compile", "FILE")), (".k.onnx", 3, ("check", "FILE"))):
            for file in self.make_specials(suffix):
                with self.subTest(words=words, file=file):
                    done = self.run_command(*[word.replace("FILE", file) for word in words], code=code)
                    self.assertIn("a device, pipe or socket", done.stderr)
                    self.assertIn(file, done.stderr)

    def test_recorded_data_is_read_from_files(self):
        os.makedirs(self.path("case/test_data_set_0"))
        os.rename(self.path("add.onnx"), self.path("case/model.onnx"))
        os.mkfifo(self.path("case/test_data_set_0/input_0.pb"))
        done = subprocess.run([COMMAND, "verify", "case"], capture_output=True, text=True, check=False, timeout=30,
                              cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a device, pipe or socket", done.stdout)

    def test_what_is_written_is_a_file(self):
        for name in self.make_specials(".npy"):
            with self.subTest(name=name):
                os.makedirs(self.path("out"), exist_ok=True)
                os.rename(self.path(name), self.path("out/y.npy"))
                done = self.run_command("run", "add.onnx", "--random", "--output-dir", "out", code=1)
                self.assertIn("'out/y.npy' is a ", done.stderr)
                self.assertIn("expected the path of a file", done.stderr)
                self.assertFalse(os.path.isfile(self.path("out/y.npy")))
                os.unlink(self.path("out/y.npy"))

    def test_the_library_for_pictures_is_a_file(self):
        self.save("picture.onnx", [helper.make_node("Identity", ["x"], ["y"])], info("x", [1, 3, 2, 2]),
                  info("y", [1, 3, 2, 2]))
        os.mkfifo(self.path("extras.so"))
        with open(self.path("x.png"), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n")
        environment = {**os.environ, "SARDONYX_EXTRAS": self.path("extras.so")}
        done = self.run_command("run", "picture.onnx", "--input", "x.png", code=4, env=environment)
        self.assertIn("no regular file", done.stderr)

    VERBS = (("run", "add.onnx", "--input", "x.npy"), ("inspect", "add.onnx"), ("inspect", "add.onnx", "--json"),
             ("inspect", "add.onnx", "--graph"), ("inspect", "add.onnx", "--plan"),
             ("bench", "add.onnx", "--repeat", "0", "--runs", "1"), ("compile", "add.onnx", "--overwrite"),
             ("compile", "add.onnx", "--overwrite", "--json"), ("check", "add_ctx.onnx"), ("check", "add.onnx"),
             ("verify", "none"), ("ops",), ("ops", "--json"), ("ops", "Relu"), ("doctor",), ("doctor", "--json"),
             ("--help",), ("--version",), ("run", "--help"))

    def test_a_full_output_is_said(self):
        self.run_command("compile", "add.onnx")
        for words in self.VERBS:
            with self.subTest(words=words), open("/dev/full", "wb") as full:
                done = self.run_command(*words, code=1, stdout=full)
                self.assertEqual(done.stderr, "sardonyx: Fail: cannot write to standard output: No space left on device\n")

    def test_a_closed_output_is_said_and_ruins_no_file(self):
        for words in (("compile", "add.onnx", "--overwrite"), ("run", "add.onnx", "--random", "--output-dir", "out")):
            done = subprocess.run(f"exec {COMMAND} {' '.join(words)} >&- <&-", shell=True, stderr=subprocess.PIPE, text=True,
                                  check=False, timeout=30, cwd=self.folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot write to standard output: Bad file descriptor", done.stderr)
        self.run_command("run", "add_ctx.onnx", "--random")
        self.assertEqual(np.load(self.path("out/y.npy")).shape, (1, 3))

    def test_a_closed_pipe_is_quiet(self):
        for disposition in ("", "trap '' PIPE; "):
            for words in self.VERBS:
                if words[0] == "compile":
                    continue
                reader, writer = os.pipe()
                os.close(reader)
                done = subprocess.run(["sh", "-c", disposition + 'exec "$@"', "sh", COMMAND, *words], stdout=writer,
                                      stderr=subprocess.PIPE, text=True, check=False, timeout=30, cwd=self.folder)
                os.close(writer)
                if words[0] != "check":
                    self.assertEqual(done.stderr, "", words)
                self.assertNotEqual(done.returncode, 0)

    def test_full_errors_do_not_crash(self):
        for words, code in ((("run", "none.onnx"), 3), (("run", "add.onnx", "--bad"), 2), (("check", "none.onnx"), 3),
                            (("run", "add.onnx", "--random", "--progress", "--log-level", "verbose"), 0)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([COMMAND, *words], stdout=subprocess.PIPE, stderr=full, check=False, timeout=30,
                                      cwd=self.folder)
            self.assertEqual(done.returncode, code, words)

    def test_options_that_contradict_or_do_nothing(self):
        done = self.run_command("run", "add.onnx", "--random", "--dim", "n=2", "--dim", "n=3", code=2)
        self.assertIn("--dim fixes 'n' to 2 and to 3", done.stderr)
        self.assertIn("float[2,3]", self.run_command("run", "add.onnx", "--random", "--dim", "n=2", "--dim", "n=2").stdout)
        self.run_command("compile", "add.onnx")
        for words in (("--level", "none"), ("--disable", "cse"), ("--max-edits", "0")):
            for verb in (("run", "add_ctx.onnx", "--random"), ("inspect", "add_ctx.onnx", "--plan"),
                         ("run", "add_CPUExecutionProvider.bin", "--random")):
                done = self.run_command(*verb, *words)
                self.assertIn("warning: the model is compiled, so the level, disabled passes", done.stderr)
        self.assertEqual(self.run_command("run", "add_ctx.onnx", "--random", "--level", "all").stderr, "")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    COMMAND = os.path.abspath(sys.argv.pop(1))
    unittest.main()
