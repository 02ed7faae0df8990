#!/usr/bin/env python3
"""The `sardonyx` command: help, exit codes, messages, files in and out. Models are made here.

Usage: test_cli.py SARDONYX_COMMAND [unittest arguments]
"""

import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

COMMAND = ""
VERBS = ("inspect", "run", "bench", "compile", "check", "verify", "ops", "doctor")


def save_model(path, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9,
                              producer_name="test", producer_version="1")
    helper.set_model_props(model, {"author": "nobody"})
    onnx.checker.check_model(model)
    onnx.save(model, path)


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_command(self, *words, code=0, cwd=None, env=None):
        done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, timeout=120, cwd=cwd,
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        if code != 0:
            self.assertRegex(done.stderr, r"^sardonyx: [A-Za-z]+: |^$")
        return done

    def add_model(self):
        """y = x + b with x, y float [n, 3]."""
        path = self.path("add.onnx")
        save_model(path, [helper.make_node("Add", ["x", "b"], ["y"])], [info("x", ["n", 3])], [info("y", ["n", 3])],
                   [numpy_helper.from_array(np.array([1, 2, 3], np.float32), "b")])
        return path

    def identity_model(self, kind, rank):
        path = self.path("identity.onnx")
        shape = [f"d{i}" for i in range(rank)]
        save_model(path, [helper.make_node("Identity", ["x"], ["y"])], [info("x", shape, kind)],
                   [info("y", shape, kind)])
        return path


class TestUsage(CommandTest):
    def test_help_has_examples_and_exit_codes(self):
        text = self.run_command("--help").stdout
        for word in (*VERBS, "Exit codes", "Examples", "130"):
            self.assertIn(word, text)
        for verb in VERBS:
            self.assertIn("sardonyx " + verb, self.run_command(verb, "--help").stdout)

    def test_version(self):
        self.assertRegex(self.run_command("--version").stdout, r"^sardonyx \d+\.\d+\.\d+\n$")

    def test_wrong_usage(self):
        model = self.add_model()
        for words in ((), ("fly",), ("run",), ("run", model, "--no-such-option"), ("run", model, "--level", "best"),
                      ("run", model, "--threads", "-1"), ("run", model, "--threads", "many"),
                      ("run", model, "--random", "--shape", "x"), ("run", model, "--random", "--shape", "x=1xy"),
                      ("run", model, "--random", "--dim", "n=-1"), ("bench", model, "--repeat", "-1"),
                      ("verify",), ("inspect", model, "--graph", "baked")):
            done = self.run_command(*words, code=2)
            self.assertIn("InvalidArgument", done.stderr)
        self.assertIn("'fly' is none of them: inspect, run, ", self.run_command("fly", code=2).stderr)

    def test_model_errors(self):
        self.assertIn("NoSuchFile", self.run_command("run", self.path("none.onnx"), "--random", code=3).stderr)
        broken = self.path("broken.onnx")
        for content in (b"", b"no model", b"\xff" * 100):
            with open(broken, "wb") as file:
                file.write(content)
            for verb in (("run", broken, "--random"), ("inspect", broken), ("bench", broken)):
                done = self.run_command(*verb, code=3)
                self.assertIn("broken.onnx", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_unknown_operator(self):
        path = self.path("unknown.onnx")
        graph = helper.make_graph([helper.make_node("Teleport", ["x"], ["y"], domain="far\naway")], "g",
                                  [info("x", [1])], [info("y", [1])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17),
                                                          helper.make_opsetid("far\naway", 1)], ir_version=9), path)
        done = self.run_command("run", path, "--random", code=3)
        self.assertIn("Teleport", done.stderr)
        self.assertIn("nor is any other of that domain", done.stderr)
        self.assertIn("`sardonyx ops` lists", done.stderr)
        self.assertIn(r"far\x0aaway", done.stderr)  # a message is one line, whatever a model's names hold
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_disabled_passes(self):
        model = self.add_model()
        self.run_command("run", model, "--random", "--disable", "layout,cse,hard_swish")
        self.assertIn("'swosh'", self.run_command("run", model, "--random", "--disable", "swosh", code=2).stderr)
        self.assertIn("'m'", self.run_command("run", model, "--random", "--dim", "m=2", code=2).stderr)

    def test_unwritable_folder(self):
        model = self.add_model()
        self.run_command("run", model, "--random", "--output-dir", model + "/inside", code=1)


    def test_environment(self):
        model = self.add_model()
        for words in (("inspect", model), ("run", model, "--random"), ("bench", model), ("compile", model),
                      ("check", model), ("verify", self.folder), ("ops",)):
            for name in ("SARDONYX_MAX_ISA", "SARDONYX_LOG_LEVEL"):
                done = self.run_command(*words, code=2, env={name: "loud"})
                self.assertIn(f"{name} is 'loud'; expected one of", done.stderr)

    def test_compile_codes(self):
        model = self.add_model()
        out = self.path("out_ctx.onnx")
        for words, code, text in (
                (("--target", "vax"), 2, "the target 'vax' is not known"),
                (("--shape", "z=1x3"), 2, "no input 'z'"),
                (("--shape", "x=1x4"), 2, "input 'x' is float[n,3], the shape to prepare is [1,4]"),
                (("--shape", "x=1x3x1"), 2, "input 'x' is float[n,3], the shape to prepare is [1,3,1]"),
                (("--shape", "x=9999999999999999x3"), 2, "input 'x' would have more bytes than any memory holds"),
                (("--shape", "x=99999999999999999999x3"), 2, "--shape: '99999999999999999999' is no size"),
                (("-o", self.path("none/m_ctx.onnx")), 2, "no folder"),
                (("-o", "/proc/self/m_ctx.onnx"), 1, "cannot create")):
            done = self.run_command("compile", model, *(("-o", out) if "-o" not in words else ()), *words, code=code)
            self.assertIn(text, done.stderr)
            self.assertFalse(os.path.exists(out))
        self.run_command("compile", model, "-o", out)
        self.run_command("compile", model, "-o", out, code=2)
        self.assertIn("compiled already", self.run_command("compile", out, code=3).stderr)
        self.run_command("compile", self.path("none.onnx"), code=3)
        self.run_command("compile", self.folder, "-o", self.path("d_ctx.onnx"), code=3)

    def test_compile_on_a_full_disk(self):
        limit = (1000, resource.RLIM_INFINITY)  # bytes of a file; SIGXFSZ stays ignored, so writing fails
        for words in ((), ("--embed",)):
            done = subprocess.run([COMMAND, "compile", self.add_model(), *words], capture_output=True, text=True,
                                  check=False, timeout=60, restore_signals=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("cannot write", done.stderr)
            self.assertEqual(os.listdir(self.folder), ["add.onnx"])

    def test_shapes_that_no_run_can_have(self):
        path = self.path("sum.onnx")
        save_model(path, [helper.make_node("Add", ["x", "y"], ["z"], "the_sum")],
                   [info("x", ["n", 3]), info("y", ["n", 3])], [info("z", ["n", 3])])
        out = self.path("sum_ctx.onnx")
        words = ("compile", path, "-o", out, "--overwrite", "--shape", "x=2x3", "--shape")
        done = self.run_command(*words, "y=4x3", code=2)
        for text in ("'x' [2,3], 'y' [4,3]", "the_sum"):
            self.assertIn(text, done.stderr)
        for good in ("y=2x3", "y=1x3"):  # names of dimensions promise nothing, a model may broadcast
            self.run_command(*words, good)
            self.assertEqual("", self.run_command("run", out, "--random").stderr)
        self.assertIn("no shape to prepare is given",
                      self.run_command("compile", path, "-o", out, "--overwrite", "--shape", "x=2x3", code=2).stderr)


    def test_inputs_that_do_not_fit_inside(self):
        """A convolution with one bias that only another row of it would need: found by the second node."""
        path = self.path("inside.onnx")
        save_model(path, [helper.make_node("Conv", ["x", "w"], ["c"], "the_conv"), helper.make_node("Relu", ["c"], ["r"]),
                          helper.make_node("MatMul", ["y", "b"], ["m"], "the_product"),
                          helper.make_node("Add", ["m", "y"], ["z"])],
                   [info("x", ["n", "c", "h", "w"]), info("y", ["k", "l"])],
                   [info("r", ["n", 32, "p", "q"]), info("z", ["k", "l"])],
                   [numpy_helper.from_array(np.ones((32, 32, 3, 3), np.float32), "w"),
                    numpy_helper.from_array(np.ones((64, 64), np.float32), "b")])
        for verb in (("run", path, "--random"), ("bench", path, "--repeat", "0", "--runs", "2"), ("inspect", path, "--plan")):
            for shapes, node, guess in ((("x=1x8x9x9", "y=4x64"), "Conv 'the_conv'", None),
                                        (("x=1x32x9x9",), " 'the_product'", " --shape y=1x16"),
                                        ((), "'the_", " --shape x=1x16x16x16 --shape y=1x16")):
                options = [word for shape in shapes for word in ("--shape", shape)]
                error = self.run_command(*verb, *options, code=4).stderr
                self.assertTrue(error.startswith("sardonyx: InvalidArgument: "), error)
                self.assertIn(node, error)
                self.assertIn("do not fit the model", error)
                self.assertNotRegex(error, "sardonyx,|Packed|Blocked|Fused")
                if guess:
                    self.assertTrue(error.rstrip().endswith("sizes were guessed: give others than" + guess), error)
                else:
                    self.assertNotIn("guessed", error)
            self.run_command(*verb, "--shape", "x=1x32x9x9", "--shape", "y=4x64")


    def test_names_reach_no_terminal(self):
        """Names, texts and metadata with escape sequences, as a model for every verb that prints them."""
        evil = "a\x1b]0;t\x07\r\n\x9b31m\u202eb\x7f"
        path = self.path("evil.onnx")
        graph = helper.make_graph([helper.make_node("Neg", [evil], [evil + "1"], evil),
                                   helper.make_node("MatMul", [evil + "1", evil + "w"], [evil + "2"], evil + "n")], evil,
                                  [info(evil, [evil + "d", 3])], [info(evil + "2", [evil + "e", 4])],
                                  [numpy_helper.from_array(np.ones((3, 4), np.float32), evil + "w")], doc_string=evil)
        model = helper.make_model(graph, ir_version=9, producer_name=evil, doc_string=evil,
                                  opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(evil, 1)])
        helper.set_model_props(model, {evil: evil, "k": evil})
        onnx.save(model, path)
        compiled = self.path("evil_ctx.onnx")
        bad = ("--shape", evil + "=2x5")
        for code, words in (
                (0, ("inspect", path)), (0, ("inspect", path, "--json")), (0, ("inspect", path, "--graph")),
                (0, ("inspect", path, "--plan")), (0, ("inspect", path, "--plan", "--json")),
                (0, ("run", path, "--random", "--log-level", "verbose")), (4, ("run", path, "--random", *bad)),
                (4, ("run", path)), (0, ("bench", path, "--repeat", "0", "--runs", "2")), (2, ("compile", path, *bad)),
                (0, ("compile", path)), (0, ("check", compiled)), (0, ("inspect", compiled)),
                (0, ("run", compiled, "--random")), (2, ("run", path, "--random", "--dim", "x=1"))):
            done = subprocess.run([COMMAND, *words], capture_output=True, check=False, timeout=60)
            self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
            text = (done.stdout + done.stderr).decode("utf-8")
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", words)


class TestRun(CommandTest):
    def run_npy(self, model, array, *options):
        np.save(self.path("in.npy"), array)
        self.run_command("run", model, "--input", "x=" + self.path("in.npy"), "--output-dir", self.path("out"),
                         *options)
        return np.load(self.path("out/y.npy"))

    def test_npy_in_and_out(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        y = self.run_npy(self.add_model(), x)
        np.testing.assert_array_equal(y, x + np.array([1, 2, 3], np.float32))

    def test_summary(self):
        np.save(self.path("in.npy"), np.zeros((1, 3), np.float32))
        done = self.run_command("run", self.add_model(), "--input", self.path("in.npy"))
        self.assertEqual(done.stdout, "y: float[1,3]  min 1  max 3  mean 2\n")

    def test_types_through_npy(self):
        for kind in (np.float32, np.float64, np.float16, np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8,
                     np.uint16, np.uint32, np.uint64):
            with self.subTest(kind=kind.__name__):
                x = np.array([[0, 1, 5], [2, 0, 1]]).astype(kind)
                model = self.identity_model(helper.np_dtype_to_tensor_dtype(x.dtype), 2)
                y = self.run_npy(model, x)
                self.assertEqual(y.dtype, x.dtype)
                np.testing.assert_array_equal(y, x)

    def test_text_through_npy(self):
        x = np.array(["", "plain", "\u00e9\u6f22\U0001f600"])
        np.testing.assert_array_equal(self.run_npy(self.identity_model(TensorProto.STRING, 1), x), x)

    def test_fortran_order_scalars_and_empty_tensors(self):
        model = self.identity_model(TensorProto.FLOAT, 3)
        x = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
        np.testing.assert_array_equal(self.run_npy(model, x), x)
        self.assertEqual(self.run_npy(model, np.zeros((2, 0, 3), np.float32)).shape, (2, 0, 3))
        scalar = self.identity_model(TensorProto.FLOAT, 0)
        self.assertEqual(self.run_npy(scalar, np.array(7, np.float32)), 7)

    def test_npy_version_2(self):
        model = self.add_model()
        x = np.ones((1, 3), np.float32)
        with open(self.path("v2.npy"), "wb") as file:
            np.lib.format.write_array(file, x, version=(2, 0))
        self.run_command("run", model, "--input", "x=" + self.path("v2.npy"))

    def test_tensor_proto(self):
        with open(self.path("x.pb"), "wb") as file:
            file.write(numpy_helper.from_array(np.zeros((1, 3), np.float32)).SerializeToString())
        done = self.run_command("run", self.add_model(), "--input", "x=" + self.path("x.pb"))
        self.assertIn("mean 2", done.stdout)

    def test_bad_inputs(self):
        model = self.add_model()

        def npy(array):
            buffer = io.BytesIO()
            np.save(buffer, array)
            return buffer.getvalue()

        good = npy(np.zeros((1, 3), np.float32))
        huge = good.replace(b"(1, 3), }", b"(1, 999999999999999999), }")
        for name, content, words in (
                ("empty.npy", b"", "empty.npy: the .npy file ends too early"),
                ("cut.npy", good[:-1], "announces shape (1, 3) of '<f4', 3 elements; it has 11 bytes"),
                ("text.npy", b"hello" * 20, "not a .npy file"), ("big.npy", huge, "999999999999999999 elements; it has"),
                ("endian.npy", npy(np.zeros((1, 3), ">f4")), "save it as little-endian"),
                ("rank.npy", npy(np.zeros(3, np.float32)), "got float[3], expected float[n,3]"),
                ("dim.npy", npy(np.zeros((1, 4), np.float32)), "got float[1,4], expected float[n,3]"),
                ("type.npy", npy(np.zeros((1, 3))), "got double[1,3], expected float[n,3]"),
                ("broken.pb", b"\xff\xff", "TensorProto at byte 0"),
                ("broken.png", b"\x89PNG\r\n\x1a\nxx", "a picture needs an input of rank 4"),
                ("x.txt", b"1", "a tensor comes from .npy or .pb, not '.txt'")):
            with self.subTest(name=name):
                with open(self.path(name), "wb") as file:
                    file.write(content)
                done = self.run_command("run", model, "--input", "x=" + self.path(name), code=4)
                self.assertIn("input 'x': ", done.stderr)
                self.assertIn(words, done.stderr)
        os.mkdir(self.path("folder.npy"))
        os.mkdir(self.path("folder.pb"))
        for name, words in (("none.npy", "there is no file"), ("none.pb", "there is no file"),
                            ("folder.npy", "is a folder, expected a regular file"), ("folder.pb", "is a folder")):
            done = self.run_command("run", model, "--input", "x=" + self.path(name), code=4)
            self.assertIn("NoSuchFile: input 'x'", done.stderr)
            self.assertIn(words, done.stderr)
            self.assertIn(name, done.stderr)
        self.assertIn("input 'x' (float[n,3]): --input 'x=' names no file",
                      self.run_command("run", model, "--input", "x=", code=4).stderr)
        done = self.run_command("run", model, "--input-list", self.path("none.json"), code=4)
        self.assertRegex(done.stderr, "there is no file '.*none.json'")
        # The message names the inputs that there are.
        self.assertIn("x: float[n,3]", self.run_command("run", model, "--input", "z=none.npy", code=4).stderr)
        self.assertIn("'x'", self.run_command("run", model, code=4).stderr)
        self.assertIn("'z'", self.run_command("run", model, "--random", "--shape", "z=1x3", code=4).stderr)

    def test_random_depends_on_the_seed_alone(self):
        model = self.add_model()
        outputs = []
        for i, seed in enumerate(("1", "1", "2")):
            folder = self.path(f"out{i}")
            self.run_command("run", model, "--random", "--seed", seed, "--shape", "x=4x3", "--output-dir", folder)
            outputs.append(np.load(os.path.join(folder, "y.npy")))
        self.assertEqual(outputs[0].shape, (4, 3))
        np.testing.assert_array_equal(outputs[0], outputs[1])
        self.assertFalse(np.array_equal(outputs[0], outputs[2]))

    def test_fixed_dimension(self):
        done = self.run_command("run", self.add_model(), "--random", "--dim", "n=7")
        self.assertIn("float[7,3]", done.stdout)

    def test_input_list(self):
        model = self.add_model()
        os.mkdir(self.path("in"))
        np.save(self.path("in/a.npy"), np.zeros((1, 3), np.float32))
        np.save(self.path("in/b.npy"), np.ones((2, 3), np.float32))
        with open(self.path("list.json"), "w", encoding="utf-8") as file:
            json.dump({"runs": [{"inputs": {"x": f"in/{n}.npy"}, "output_dir": f"out/{n}"} for n in "ab"]}, file)
        self.run_command("run", model, "--input-list", self.path("list.json"))
        np.testing.assert_array_equal(np.load(self.path("out/a/y.npy")), [[1, 2, 3]])
        np.testing.assert_array_equal(np.load(self.path("out/b/y.npy")), [[2, 3, 4], [2, 3, 4]])
        for text in ("{", "{}", '{"runs": [{}]}', '{"runs": [{"inputs": {"x": 1}}]}', '{"runs": 3}'):
            with open(self.path("bad.json"), "w", encoding="utf-8") as file:
                file.write(text)
            done = self.run_command("run", model, "--input-list", self.path("bad.json"), code=4)
            self.assertIn('expected {"runs": [{"inputs": {"x": "a.npy"}, "output_dir": "out"}, ...]}', done.stderr)
            self.assertNotIn("json.exception", done.stderr)


class TestSequences(CommandTest):
    def setUp(self):
        super().setUp()
        tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        sequence = helper.make_sequence_type_proto(tensor)
        self.kinds = {"t": helper.make_tensor_type_proto(TensorProto.FLOAT, ["n"]), "s": sequence, "o": helper.make_optional_type_proto(tensor),
                      "os": helper.make_optional_type_proto(sequence)}
        self.items = [np.float32([1, 2]), np.array(3, np.float32), np.zeros((0, 2), np.float32)]
        self.files = [self.path(f"in{i}.npy") for i in range(len(self.items))]
        for file, item in zip(self.files, self.items):
            np.save(file, item)

    def copy_model(self, kind):
        path = self.path(f"{kind}.onnx")
        save_model(path, [helper.make_node("Identity", ["x"], ["y"])], [helper.make_value_info("x", self.kinds[kind])],
                   [helper.make_value_info("y", self.kinds[kind])])
        return path

    def copy(self, kind, text, *words, code=0):
        """The standard output, and what lies at y in the output folder: arrays of a folder, an array, or None."""
        out = self.path("out")
        done = self.run_command("run", self.copy_model(kind), "--input", text, "--output-dir", out, *words, code=code)
        folder, file = os.path.join(out, "y"), os.path.join(out, "y.npy")
        if os.path.isdir(folder):
            names = sorted(os.listdir(folder))
            self.assertEqual(names, [f"{i}.npy" for i in range(len(names))])
            return done, [np.load(os.path.join(folder, name)) for name in names]
        return done, np.load(file) if os.path.exists(file) else None

    def assert_equal(self, actual, expected):
        self.assertEqual(len(actual), len(expected))
        for a, e in zip(actual, expected):
            np.testing.assert_array_equal(a, e)

    def test_list_of_files(self):
        done, values = self.copy("s", "x=" + ",".join(self.files))
        self.assert_equal(values, self.items)
        self.assertIn("y: sequence of 3\ny[0]: float[2]  min 1  max 2  mean 1.5\ny[1]: float[]", done.stdout)
        # Shorter: what the longer one left is gone.
        self.assert_equal(self.copy("s", self.files[1])[1], self.items[1:2])
        self.assert_equal(self.copy("s", "x=")[1], [])

    def test_folder(self):
        os.mkdir(self.path("f"))
        for i in range(12):
            np.save(self.path(f"f/{i}.npy"), np.float32([i]))
        os.remove(self.path("f/4.npy"))
        with open(self.path("f/4.pb"), "wb") as out:
            out.write(numpy_helper.from_array(np.float32([4])).SerializeToString())
        self.run_command("run", self.copy_model("s"), "--input", "x=" + self.path("f"), "--output-dir", self.path("o"))
        for i in range(12):
            np.testing.assert_array_equal(np.load(self.path(f"o/y/{i}.npy")), [i])
        os.remove(self.path("f/4.pb"))
        done = self.copy("s", "x=" + self.path("f"), code=4)[0]
        self.assertIn("holds 11 files, but neither 4.npy nor 4.pb", done.stderr)

    def test_optionals(self):
        done, value = self.copy("o", "x=")
        self.assertIsNone(value)
        self.assertEqual(done.stdout, "y: optional that holds nothing\n")
        self.assert_equal(self.copy("os", "x=" + ",".join(self.files))[1], self.items)
        done, value = self.copy("t", "x=" + self.files[0])
        done = self.run_command("run", self.copy_model("o"), "--input", self.files[0], "--output-dir", self.path("q"))
        self.assertEqual(done.stdout, "y: optional\ny: float[2]  min 1  max 2  mean 1.5\n")
        np.testing.assert_array_equal(np.load(self.path("q/y.npy")), self.items[0])

    def test_protos(self):
        for kind, proto, expected in (("s", numpy_helper.from_list(self.items), self.items),
                                      ("os", numpy_helper.from_optional(self.items), self.items)):
            with open(self.path("v.pb"), "wb") as out:
                out.write(proto.SerializeToString())
            self.assert_equal(self.copy(kind, self.path("v.pb"))[1], expected)

    def test_input_list(self):
        runs = [{"inputs": {"x": value}, "output_dir": f"out{i}"}
                for i, value in enumerate((["in1.npy", "in0.npy"], None, "in0.npy"))]
        with open(self.path("list.json"), "w") as out:
            json.dump({"runs": runs}, out)
        self.run_command("run", self.copy_model("s"), "--input-list", self.path("list.json"))
        for i, count in enumerate((2, 0, 1)):
            self.assertEqual(len(os.listdir(self.path(f"out{i}/y"))), count)
        np.testing.assert_array_equal(np.load(self.path("out0/y/1.npy")), self.items[0])

    def test_random(self):
        text = self.run_command("run", self.copy_model("s"), "--random", "--shape", "x=2x3").stdout
        self.assertRegex(text, r"^y: sequence of 2\ny\[0\]: float\[2,3\] .*\ny\[1\]: float\[2,3\]")
        self.assertEqual(len(set(line.split(": ")[1] for line in text.splitlines())), 3)
        self.run_command("run", self.copy_model("s"), "--random", code=4)

    def test_wrong_kinds(self):
        np.save(self.path("int.npy"), np.int64([1]))
        done = self.copy("s", "x=" + self.files[0] + "," + self.path("int.npy"), code=4)[0]
        self.assertIn("input 'x': Value::sequence: item 1 is int64[1], expected float as item 0", done.stderr)
        done = self.copy("s", "x=" + self.path("int.npy"), code=4)[0]
        self.assertIn("input 'x': got seq(int64) of 1, expected seq(float)", done.stderr)
        self.copy("t", "x=" + ",".join(self.files), code=4)
        self.copy("s", "x=/none.npy", code=4)


class TestPictures(CommandTest):
    def picture_model(self, shape, kind=TensorProto.FLOAT):
        path = self.path("picture.onnx")
        save_model(path, [helper.make_node("Identity", ["x"], ["y"])], [info("x", shape, kind)],
                   [info("y", shape, kind)])
        return path

    def read(self, model, picture, *options):
        self.run_command("run", model, "--input", "x=" + picture, "--output-dir", self.path("out"), *options)
        return np.load(self.path("out/y.npy"))

    def noise(self, mode, size=(19, 13)):
        channels = len(Image.new(mode, (1, 1)).getbands())
        data = np.random.default_rng(1).integers(0, 256, (size[1], size[0], channels), np.uint8)
        return Image.fromarray(data if channels > 1 else data[:, :, 0], mode) if mode != "P" else \
            Image.fromarray(data[:, :, 0]).convert("P")

    def test_decodes_as_pillow_does(self):
        model = self.picture_model([1, "h", "w", 3], TensorProto.UINT8)
        pictures = {"rgb.png": (self.noise("RGB"), {}), "rgba.png": (self.noise("RGBA"), {}),
                    "grey.png": (self.noise("L"), {}), "grey_alpha.png": (self.noise("LA"), {}),
                    "palette.png": (self.noise("RGB").quantize(16), {}),
                    "bit.png": (self.noise("L").convert("1"), {}),
                    "best.jpg": (self.noise("RGB"), {"quality": 95}),
                    "progressive.jpg": (self.noise("RGB"), {"progressive": True}),
                    "grey.jpg": (self.noise("L"), {}), "full.jpeg": (self.noise("RGB"), {"subsampling": 0}),
                    "cmyk.jpg": (self.noise("CMYK"), {})}
        for name, (picture, options) in pictures.items():
            with self.subTest(name=name):
                picture.save(self.path(name), **options)
                expected = np.asarray(Image.open(self.path(name)).convert("RGB")).astype(int)
                actual = self.read(model, self.path(name))[0].astype(int)
                # Pillow may bring another version of the JPEG library, and rounds CMYK otherwise.
                self.assertLessEqual(np.abs(actual - expected).max(), 2 if ".j" in name else 0)

    def test_preprocessing(self):
        picture = self.noise("RGB")
        picture.save(self.path("p.png"))
        rgb = np.asarray(picture).astype(np.float32)
        model = self.picture_model([1, 3, "h", "w"])
        np.testing.assert_allclose(self.read(model, self.path("p.png"))[0], rgb.transpose(2, 0, 1) / 255, rtol=1e-6)
        mean, std = np.array([0.5, 0.4, 0.3], np.float32), np.array([0.2, 0.3, 0.4], np.float32)
        actual = self.read(model, self.path("p.png"), "--bgr", "--mean", "0.5,0.4,0.3", "--std", "0.2,0.3,0.4")
        expected = ((rgb[:, :, ::-1] / 255 - mean) / std).transpose(2, 0, 1)
        np.testing.assert_allclose(actual[0], expected, rtol=1e-5, atol=1e-6)
        actual = self.read(model, self.path("p.png"), "--scale", "1", "--mean", "128")
        np.testing.assert_allclose(actual[0], (rgb - 128).transpose(2, 0, 1), rtol=1e-6)

    def test_resizes_to_the_input(self):
        Image.new("RGB", (50, 40), (10, 20, 30)).save(self.path("p.png"))
        nhwc = self.read(self.picture_model([1, 24, 32, 3]), self.path("p.png"), "--scale", "1")
        np.testing.assert_allclose(nhwc, np.broadcast_to(np.float32([10, 20, 30]), (1, 24, 32, 3)), rtol=1e-6)
        grey = self.read(self.picture_model([1, 1, 8, 8]), self.path("p.png"), "--scale", "1")
        np.testing.assert_allclose(grey, np.full((1, 1, 8, 8), 18.15), rtol=1e-4)
        open_size = self.read(self.picture_model(["n", 3, "h", "w"]), self.path("p.png"), "--shape", "x=1x3x6x7")
        self.assertEqual(open_size.shape, (1, 3, 6, 7))

    def test_without_the_codecs(self):
        Image.new("RGB", (5, 4)).save(self.path("p.png"))
        done = subprocess.run([COMMAND, "run", self.picture_model([1, 3, 4, 4]), "--input", "x=" + self.path("p.png")],
                              env={**os.environ, "SARDONYX_EXTRAS": "/none"}, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"^sardonyx: NotFound: .*libsardonyx_extras.so is needed.*/none.*\n$")

    def test_refusals(self):
        Image.new("RGB", (5, 4)).save(self.path("p.png"))
        for shape in ([1, 2, 4, 4], [2, 3, 4, 4], [3, 4]):
            self.run_command("run", self.picture_model(shape), "--input", "x=" + self.path("p.png"), code=4)
        model = self.picture_model([1, 3, 4, 4])
        self.run_command("run", model, "--input", "x=" + self.path("p.png"), "--mean", "1,2", code=4)


class TestVerify(CommandTest):
    def data_set(self, number=0, wrong=0.0):
        model = self.add_model()
        folder = self.path("case")
        os.makedirs(os.path.join(folder, f"test_data_set_{number}"), exist_ok=True)
        os.replace(model, os.path.join(folder, "model.onnx"))
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        for name, array in (("input_0", x), ("output_0", x + np.array([1, 2, 3], np.float32) + wrong)):
            with open(os.path.join(folder, f"test_data_set_{number}", name + ".pb"), "wb") as file:
                file.write(numpy_helper.from_array(array.astype(np.float32)).SerializeToString())
        return folder

    def test_equal(self):
        folder = self.data_set()
        self.assertIn("1 of 1 equal", self.run_command("verify", folder).stdout)
        self.assertIn("2 of 2 equal", self.run_command("verify", folder, folder + "/").stdout)
        self.assertIn("1 of 1 equal", self.run_command("verify", ".", cwd=folder).stdout)

    def test_different(self):
        folder = self.data_set(wrong=0.01)
        done = self.run_command("verify", folder, code=1)
        self.assertIn("FAIL  case/test_data_set_0 y: 6 of 6 elements differ, first [0,0]", done.stdout)
        self.run_command("verify", folder, "--atol", "0.011")

    def test_missing_parts(self):
        folder = self.data_set()
        self.run_command("verify", self.path("none"), code=1)
        os.remove(os.path.join(folder, "test_data_set_0", "output_0.pb"))
        self.assertIn("missing", self.run_command("verify", folder, code=1).stdout)
        os.remove(os.path.join(folder, "test_data_set_0", "input_0.pb"))
        self.run_command("verify", folder, code=1)


class TestInspectAndOps(CommandTest):
    def test_inspect(self):
        text = self.run_command("inspect", self.add_model()).stdout
        for word in ("x: float[n,3]", "y: float[n,3]", "opset", "ai.onnx 17", "producer   test 1", "author = nobody",
                     "Add", "passes"):
            self.assertIn(word, text)

    def test_inspect_json(self):
        result = json.loads(self.run_command("inspect", self.add_model(), "--json").stdout)
        self.assertEqual(result["inputs"], [{"name": "x", "type": "float[n,3]", "element_type": "float",
                                             "shape": ["n", 3], "optional": False}])
        self.assertEqual(result["metadata"]["opsets"], {"": 17})
        self.assertEqual(result["metadata"]["custom"], {"author": "nobody"})
        self.assertEqual(result["operators"]["imported"], {"Add": 1})

    def function_model(self):
        """y = x + x in a function that is called twice."""
        path = self.path("function.onnx")
        call = [helper.make_node("Twice", [a], [b], domain="local") for a, b in (("x", "t"), ("t", "y"))]
        function = helper.make_function("local", "Twice", ["v"], ["w"], [helper.make_node("Add", ["v", "v"], ["w"])],
                                        [helper.make_opsetid("", 17)])
        graph = helper.make_graph(call, "g", [info("x", [2])], [info("y", [2])])
        onnx.save(helper.make_model(graph, functions=[function], ir_version=9, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]), path)
        return path

    def test_functions_are_inlined_by_a_pass_that_counts(self):
        model = self.function_model()
        for level in ("all", "none"):
            result = json.loads(self.run_command("inspect", model, "--json", "--level", level, "--max-edits", "0").stdout)
            self.assertEqual(result["operators"]["imported"], {"local.Twice": 2})
            self.assertEqual(result["operators"]["canonical"], {"Add": 2})
            rows = {row["name"]: row for row in result["passes"] if row["stage"] == "imported"}
            self.assertEqual(rows["inline_functions"]["applied"], 2)
            self.assertGreater(rows["resolve"]["ms"], 0)
        self.assertIn("local.Twice", self.run_command("inspect", model, "--graph", "imported").stdout)
        self.run_command("inspect", model, "--disable", "inline_functions", code=2)  # nothing runs without it

    def test_last_edit(self):
        path = self.path("identities.onnx")
        save_model(path, [helper.make_node("Identity", ["x"], ["a"], "first"), helper.make_node("Neg", ["a"], ["b"]),
                          helper.make_node("Identity", ["b"], ["c"], "second"), helper.make_node("Exp", ["c"], ["y"])],
                   [info("x", [2])], [info("y", [2])])
        self.assertNotIn("last edit", self.run_command("inspect", path).stdout)
        for edits, name in ((1, "first"), (2, "second")):
            text = self.run_command("inspect", path, "--max-edits", str(edits)).stdout
            self.assertRegex(text, f"(?m)^last edit: identity at Identity '{name}'")

    def test_graph_text(self):
        model = self.add_model()
        self.assertIn("Add", self.run_command("inspect", model, "--graph", "imported").stdout)
        self.assertIn("Add", self.run_command("inspect", model, "--graph").stdout)

    def test_ops(self):
        self.assertRegex(self.run_command("ops", "Add").stdout, r"(?m)^Add +1 6 7 13 14$|^Add +7 13 14$")
        listed = json.loads(self.run_command("ops", "--json").stdout)
        self.assertIn("Conv", {op["name"] for op in listed})
        self.assertEqual({op["domain"] for op in listed} - {"", "ai.onnx.ml"}, set())


class TestBench(CommandTest):
    def test_json(self):
        done = self.run_command("bench", self.add_model(), "--json", "--repeat", "2", "--runs", "20", "--threads", "1")
        result = json.loads(done.stdout)
        self.assertEqual(result["threads"], 1)
        self.assertEqual(result["hot"]["runs"], 20)
        for key in ("start_ms", "create_ms", "first_run_ms", "second_run_ms", "peak_rss_bytes"):
            self.assertGreater(result["cold"][key], 0)
        hot = [result["hot"][f"p{p}_ms"] for p in (10, 50, 90, 95, 99)]
        self.assertEqual(hot, sorted(hot))

    def test_text(self):
        text = self.run_command("bench", self.add_model(), "--repeat", "1", "--runs", "5").stdout
        for word in ("session creation", "peak memory", "p95"):
            self.assertIn(word, text)

    def test_serve(self):
        done = subprocess.run([COMMAND, "bench", self.add_model(), "--serve"], input="3\n2\n", capture_output=True,
                              text=True, check=True, timeout=60)
        ready, three, two = done.stdout.splitlines()
        self.assertEqual((ready, len(json.loads(three)), len(json.loads(two))), ("ready", 3, 2))


class TestCompiled(CommandTest):
    def test_check_sees_whether_the_files_belong_together(self):
        model = self.add_model()
        compiled, part = self.path("add_ctx.onnx"), self.path("add_CPUExecutionProvider.bin")
        self.run_command("compile", model)
        self.assertEqual(self.run_command("check", compiled).stdout, "optimal\n")
        os.rename(part, self.path("kept.bin"))
        self.assertIn("unsupported: ", self.run_command("check", compiled, code=1).stdout)
        self.run_command("run", compiled, "--random", code=3)
        self.run_command("compile", model, "--overwrite", "--target", "baseline")
        baseline = self.path("baseline.bin")
        os.rename(part, baseline)
        os.rename(self.path("kept.bin"), part)
        verdict = json.loads(self.run_command("check", compiled, "--json", code=1).stdout)
        self.assertEqual((verdict["status"], verdict["facet"]), (3, "container"))
        for word in (compiled, part, "do not belong together", "--overwrite"):
            self.assertIn(word, verdict["reason"])
        self.assertIn("do not belong together", self.run_command("run", compiled, "--random", code=3).stderr)
        self.run_command("check", self.path("none_ctx.onnx"), code=3)

    def test_outputs(self):
        model = self.add_model()
        self.assertIn("--output", self.run_command("compile", model, "-o", "", code=2).stderr)
        self.run_command("compile", model)
        self.assertIn("--overwrite", self.run_command("compile", model, code=2).stderr)
        name = self.path("n" * 300 + ".onnx")
        self.assertIn("File name too long", self.run_command("compile", model, "-o", name, code=2).stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    COMMAND = os.path.abspath(sys.argv.pop(1))
    unittest.main()
