#!/usr/bin/env python3
"""`sardonyx inspect --plan`: steps, lifetimes, the arena and its picture.

Usage: test_plan.py SARDONYX_COMMAND [unittest arguments]
"""

import json
import os
import stat
import sys
import unittest
import xml.etree.ElementTree

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import test_cli
from test_cli import CommandTest, info, save_model

SVG = "{http://www.w3.org/2000/svg}"


def lives(plan):
    """(first, last, offset, bytes) of each piece of the arena; buffers that share memory are one."""
    roots = {}
    for index in sorted(range(len(plan["buffers"])), key=lambda i: plan["buffers"][i]["first_step"]):
        buffer = plan["buffers"][index]
        if buffer["place"] != "arena":
            continue
        if "alias_of" in buffer:
            root = roots[buffer["alias_of"]]
            root[1] = max(root[1], buffer["last_step"])
        else:
            root = [buffer["first_step"], buffer["last_step"], buffer["offset"], buffer["size_bytes"]]
        roots[index] = root
    unique = {id(root): root for root in roots.values()}
    scratch = [[s["step"], s["step"], s["offset"], s["size_bytes"]] for s in plan["scratch"]]
    return [*unique.values(), *scratch]


class TestPlan(CommandTest):
    def plan(self, model, *options):
        plan = json.loads(self.run_command("inspect", model, "--plan", "--json", *options).stdout)
        self.check(plan)
        return plan

    def check(self, plan):
        """What holds for every plan."""
        self.assertEqual(max(plan["live_bytes"], default=0), plan["lower_bound_bytes"])
        self.assertGreaterEqual(plan["arena_bytes"], plan["lower_bound_bytes"])
        pieces = lives(plan)
        for first, last, offset, size in pieces:
            self.assertLessEqual(first, last)
            self.assertLessEqual(offset + size, plan["arena_bytes"])
            self.assertEqual(offset % 64, 0)
        for i, (first, last, offset, size) in enumerate(pieces):
            for other_first, other_last, other_offset, other_size in pieces[:i]:
                together = first <= other_last and other_first <= last
                overlap = offset < other_offset + other_size and other_offset < offset + size
                self.assertFalse(together and overlap, (pieces[i], "overlaps another piece"))
        for step in plan["steps"]:
            for buffer in step["inputs"] + step["outputs"]:
                self.assertLess(buffer, len(plan["buffers"]))
            for inner in step.get("subgraphs", {}).values():
                if "unknown" not in inner:
                    self.check(inner)

    def doubling_model(self):
        """Transposes and doublings: nothing is in place, nothing needs scratch memory."""
        path = self.path("doubling.onnx")
        save_model(path, [helper.make_node("Transpose", ["x"], ["a"], perm=[1, 0]),
                          helper.make_node("Concat", ["a", "a"], ["b"], axis=0),
                          helper.make_node("Transpose", ["b"], ["c"], perm=[1, 0]),
                          helper.make_node("Concat", ["c", "c"], ["y"], axis=0)],
                   [info("x", ["n", 64])], [info("y", ["m", "k"])])
        return path

    def test_lifetimes_and_bounds(self):
        plan = self.plan(self.doubling_model(), "--level", "none", "--shape", "x=64x64")
        one = 64 * 64 * 4
        self.assertEqual([step["op"] for step in plan["steps"]], ["Transpose", "Concat", "Transpose", "Concat"])
        self.assertEqual(plan["live_bytes"], [one, 3 * one, 4 * one, 2 * one])
        self.assertEqual(plan["lower_bound_bytes"], 4 * one)
        self.assertEqual(plan["output_bytes"], 4 * one)
        by_name = {buffer["name"]: buffer for buffer in plan["buffers"]}
        self.assertEqual({name: (b["place"], b["first_step"], b["last_step"]) for name, b in by_name.items()},
                         {"x": ("input", -1, 0), "a": ("arena", 0, 1), "b": ("arena", 1, 2), "c": ("arena", 2, 3),
                          "y": ("output", 3, 3)})
        self.assertEqual(by_name["b"]["type"], "float[128,64]")
        self.assertEqual((plan["steps"][1]["read_bytes"], plan["steps"][1]["written_bytes"]), (one, 2 * one))
        self.assertTrue(all(step["kernel"] for step in plan["steps"]))

    def test_shapes_count(self):
        small, large = (self.plan(self.doubling_model(), "--level", "none", "--shape", f"x={n}x64") for n in (8, 64))
        self.assertEqual(8 * small["arena_bytes"], large["arena_bytes"])
        # Without --shape: the defaults of `run`.
        self.assertEqual(self.plan(self.doubling_model())["buffers"][0]["type"], "float[1,64]")

    def test_results_in_place_and_views_share(self):
        path = self.path("chain.onnx")
        save_model(path, [helper.make_node("Transpose", ["x"], ["t"]), helper.make_node("Exp", ["t"], ["e"]),
                          helper.make_node("Reshape", ["e", "shape"], ["r"]),
                          helper.make_node("Transpose", ["r"], ["y"])],
                   [info("x", [8, 32])], [info("y", [64, 4])],
                   [numpy_helper.from_array(np.array([4, 64], np.int64), "shape")])
        plan = self.plan(path, "--level", "none")
        names = [buffer["name"] for buffer in plan["buffers"]]
        shared = {names[i]: names[b["alias_of"]] for i, b in enumerate(plan["buffers"]) if "alias_of" in b}
        self.assertEqual(shared, {"e": "t", "r": "e"})
        self.assertEqual(plan["arena_bytes"], 8 * 32 * 4)

    def test_steps_that_follow_from_shapes(self):
        path = self.path("shape.onnx")
        save_model(path, [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Reshape", ["x", "s"], ["r"]),
                          helper.make_node("Exp", ["r"], ["y"])], [info("x", ["n", 3])], [info("y", ["n", 3])])
        plan = self.plan(path, "--level", "none")
        self.assertEqual(plan["steps_ahead"], 1)
        self.assertEqual([buffer["place"] for buffer in plan["buffers"] if buffer["name"] == "s"], ["known"])

    def test_subgraphs(self):
        path = self.path("if.onnx")
        branches = [helper.make_graph([helper.make_node("Transpose", ["x"], ["t"]), helper.make_node(op, ["t"], ["o"])],
                                      name, [], [info("o", ["b", "c"])])
                    for name, op in (("then", "Exp"), ("else", "Neg"))]
        # A condition that follows from data: the branch is only known while running.
        save_model(path, [helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
                          helper.make_node("Cast", ["m"], ["c"], to=TensorProto.BOOL),
                          helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])],
                   [info("x", [4, 32])], [info("y", ["b", "c"])])
        plan = self.plan(path)
        step = next(step for step in plan["steps"] if step["op"] == "If")
        self.assertTrue(step["dynamic"])
        subgraphs = step["subgraphs"]
        self.assertEqual([step["op"] for step in subgraphs["then_branch"]["steps"]], ["Transpose", "Exp"])
        self.assertEqual([step["op"] for step in subgraphs["else_branch"]["steps"]], ["Transpose", "Neg"])
        self.assertIn("else_branch", self.run_command("inspect", path, "--plan").stdout)

    def test_subgraph_of_unknown_shape(self):
        path = self.path("loop.onnx")
        body = helper.make_graph([helper.make_node("Identity", ["cond"], ["go"]),
                                  helper.make_node("Concat", ["v", "v"], ["w"], axis=0)], "body",
                                 [info("i", [], TensorProto.INT64), info("cond", [], TensorProto.BOOL),
                                  info("v", ["n"])], [info("go", [], TensorProto.BOOL), info("w", ["m"])])
        save_model(path, [helper.make_node("NonZero", ["x"], ["z"]),
                          helper.make_node("Cast", ["z"], ["f"], to=TensorProto.FLOAT),
                          helper.make_node("Squeeze", ["f", "first"], ["s"]),
                          helper.make_node("Loop", ["trips", "", "s"], ["y"], body=body)],
                   [info("x", [4])], [info("y", ["k"])],
                   [numpy_helper.from_array(np.array([0], np.int64), "first"),
                    numpy_helper.from_array(np.array(2, np.int64), "trips")])
        plan = self.plan(path)
        self.assertIn("depend on the run", plan["steps"][-1]["subgraphs"]["body"]["unknown"])
        self.assertIn("not known before the run", self.run_command("inspect", path, "--plan").stdout)

    def test_text(self):
        text = self.run_command("inspect", self.doubling_model(), "--plan", "--level", "none", "--shape",
                                "x=64x64").stdout
        self.assertRegex(text, r"(?m)^arena [\d.]+ KiB, lower bound 64\.0 KiB \(")
        self.assertRegex(text, r"(?m)^ +2  Transpose .*float\[128,64\] -> float\[64,128\]$")
        self.assertRegex(text, r"(?m)^ +\d+ +32\.0 KiB +1\.\.2  arena \+\d+ +float\[128,64\] +b$")

    def test_picture(self):
        self.assertEqual(self.run_command("inspect", self.doubling_model(), "--svg", self.path("plan.svg"), "--level",
                                          "none", "--shape", "x=64x64").stdout, "")
        root = xml.etree.ElementTree.parse(self.path("plan.svg")).getroot()
        titles = [title.text for title in root.iter(SVG + "title")]
        for name in "abc":
            self.assertEqual(sum(f" {name} float[" in title for title in titles), 1, titles)
        self.assertEqual(sum(title.startswith("step ") for title in titles), 4)
        self.assertTrue(any("doubling.onnx: x 64x64" in (text.text or "") for text in root.iter(SVG + "text")))

    def test_picture_of_hostile_names_and_of_nothing(self):
        path = self.path("names.onnx")
        name = "<&\">\x01\x1b[2J"
        save_model(path, [helper.make_node("Transpose", ["x"], [name]), helper.make_node("Exp", [name], ["e"]),
                          helper.make_node("Transpose", ["e"], ["y"])], [info("x", [4, 4])], [info("y", [4, 4])])
        done = self.run_command("inspect", path, "--plan", "--svg", self.path("names.svg"), "--level", "none")
        self.assertNotIn("\x1b", done.stdout)
        root = xml.etree.ElementTree.parse(self.path("names.svg")).getroot()
        self.assertTrue(any(r'<&">\x01\x1b[2J' in title.text for title in root.iter(SVG + "title")))
        empty = self.path("empty.onnx")
        save_model(empty, [], [info("x", [2])], [info("x", [2])])
        for _ in range(2):  # a picture may be replaced
            self.run_command("inspect", empty, "--svg", self.path("empty.svg"))
        xml.etree.ElementTree.parse(self.path("empty.svg"))

    def test_refusals(self):
        model = self.doubling_model()
        self.run_command("inspect", model, "--plan", "--graph", code=2)
        self.run_command("inspect", model, "--plan", "--shape", "z=1", code=4)
        self.run_command("inspect", model, "--plan", "--shape", "x=1x3", code=4)
        self.run_command("inspect", model, "--svg", self.path("none/plan.svg"), code=1)
        self.assertFalse(os.path.exists(self.path("none")))
        with open(model, "rb") as file:
            before = file.read()
        self.run_command("inspect", model, "--svg", model, code=2)
        with open(model, "rb") as file:
            self.assertEqual(file.read(), before)
        os.mkfifo(self.path("fifo.svg"))
        self.run_command("inspect", model, "--svg", self.path("fifo.svg"), code=1)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("fifo.svg")).st_mode))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    test_cli.COMMAND = os.path.abspath(sys.argv.pop(1))
    unittest.main()
