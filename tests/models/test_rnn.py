#!/usr/bin/env python3
"""LSTM, GRU and RNN in every direction, with and without states, lengths and the like, give what onnxruntime gives.

Each model holds one operator in all variants side by side, so that few runs cover them, and strings all their results
together in one output; a failure names the variant. onnxruntime has no layout 1: its references come from layout 0,
transposed.

Usage: test_rnn.py SARDONYX_COMMAND
"""

import argparse
import itertools
import os
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from comparison import difference, references, report, run_everywhere, runner
from seeded import seeded

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
DIRECTIONS = ("forward", "reverse", "bidirectional")
OPSETS = (7, 14, 22)
IR_VERSION = 8
RESULT = "all"
# (batch, length of the sequences, their lengths): runs of one session.
RUNS = ((1, 1, (1,)), (1, 7, (7,)), (3, 5, (5, 2, 4)), (4, 12, (1, 12, 3, 12)), (2, 33, (33, 20)))
SIZES = ((5, 3), (24, 16), (9, 33))  # input, hidden
EXTRAS = {  # attributes beside the plain operator
    # By the standard, clip also bounds what the last activation gets, the cell state; onnxruntime leaves it as it is.
    # With input_forget no cell state exceeds what tanh gives, and both are the same.
    "LSTM": {"": {}, "input_forget": {"input_forget": 1}, "clip": {"clip": 0.4, "input_forget": 1},
             "activations": {"activations": ["HardSigmoid", "Affine", "LeakyRelu"],
                             "activation_alpha": [0.3, 0.8, 0.05], "activation_beta": [0.4, 0.1]}},
    "GRU": {"": {}, "linear_before_reset": {"linear_before_reset": 1}, "clip": {"clip": 0.4},
            "clip_linear": {"clip": 0.4, "linear_before_reset": 1},
            "activations": {"activations": ["Sigmoid", "Softsign"], "linear_before_reset": 1}},
    "RNN": {"": {}, "clip": {"clip": 0.4}, "activations": {"activations": ["Relu"]}},
}


class Models:
    """Two models with the same nodes, but for layout: the one to test, and the one that onnxruntime runs."""

    def __init__(self, op, opset, input_size, hidden):
        self.op, self.opset, self.input_size, self.hidden = op, opset, input_size, hidden
        self.nodes, self.reference_nodes, self.weights = [], [], []
        self.results = []  # (name, directions, whether it has a step for each of the sequence)
        self.has_layout = opset >= 14
        for direction, extra, state, lengths, layout in itertools.product(
                DIRECTIONS, EXTRAS[op], (False, True), (False, True), (0, 1) if self.has_layout else (0,)):
            self.add(direction, extra, state, lengths, layout)

    def add(self, direction, extra, has_state, has_lengths, layout):
        name = "_".join([direction, extra or "plain"] + ["state"] * has_state + ["lengths"] * has_lengths
                        + ["batchwise"] * layout)
        directions = 2 if direction == "bidirectional" else 1
        rng = seeded(f"{self.op} {name} {self.hidden}")
        gates = GATES[self.op]

        def weight(suffix, *shape, most=0.5):
            values = rng.uniform(-most, most, shape).astype(np.float32)
            self.weights.append(numpy_helper.from_array(values, name + suffix))
            return name + suffix

        w = weight("_W", directions, gates * self.hidden, self.input_size)
        # So that a step makes no difference of rounding larger, whatever the activation.
        r = weight("_R", directions, gates * self.hidden, self.hidden, most=self.hidden ** -0.5)
        is_whole = has_state and has_lengths  # with all there is: a bias, and peepholes
        b = weight("_B", directions, 2 * gates * self.hidden) if has_state or has_lengths else ""
        states = ["h", "c"] if self.op == "LSTM" else ["h"]
        operands = ["x", w, r, b, "lengths" if has_lengths else ""]
        operands += [f"{s}{directions}" if has_state else "" for s in states]
        if self.op == "LSTM":
            operands.append(weight("_P", directions, 3 * self.hidden) if is_whole else "")
        attributes = dict(EXTRAS[self.op][extra], direction=direction, hidden_size=self.hidden)
        if directions == 2:
            for key in ("activations", "activation_alpha", "activation_beta"):
                if key in attributes:
                    attributes[key] = attributes[key] * 2
        results = [f"{name}_{y}" for y in ["Y", "Y_h", "Y_c"][:1 + len(states)]]
        self.results += [(y, directions, y.endswith("_Y")) for y in results]

        def trimmed(values):
            while values[-1] == "":
                values = values[:-1]
            return values

        of_reference = [y + "_0" if layout else y for y in results]
        self.reference_nodes.append(helper.make_node(self.op, trimmed(operands), of_reference, name=name, **attributes))
        if not layout:
            self.nodes.append(self.reference_nodes[-1])
            return
        for y, order in zip(results, ([2, 0, 1, 3], [1, 0, 2], [1, 0, 2])):
            self.reference_nodes.append(helper.make_node("Transpose", [y + "_0"], [y], perm=order))
        swapped = [value + "_batchwise" if value in ("x", "h1", "h2", "c1", "c2") else value for value in operands]
        self.nodes.append(helper.make_node(self.op, trimmed(swapped), results, name=name, layout=1, **attributes))

    def arrays(self, batch, length, lengths):
        rng = seeded(f"rnn {batch} {length}")
        arrays = {"x": rng.uniform(-1, 1, (length, batch, self.input_size)), "lengths": np.array(lengths, np.int32)}
        for state in ("h", "c") if self.op == "LSTM" else ("h",):
            for directions in (1, 2):
                arrays[f"{state}{directions}"] = rng.uniform(-0.4, 0.4, (directions, batch, self.hidden))
        return {name: np.ascontiguousarray(array, np.int32 if name == "lengths" else np.float32)
                for name, array in arrays.items()}

    def feeds(self, *run):
        """Inputs of the model to test, and of the reference."""
        arrays = self.arrays(*run)
        batchwise = {name + "_batchwise": np.ascontiguousarray(array.swapaxes(0, 1)) for name, array in arrays.items()
                     if name != "lengths" and self.has_layout}
        return arrays | batchwise, arrays

    def save(self, nodes, feeds, path):
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                                [self.fixed(name, axis) for axis in range(array.ndim)])
                  for name, array in feeds.items()]
        names = [name for name, _, _ in self.results]
        nodes = nodes + [helper.make_node("Reshape", [name, "flat"], [name + "_flat"]) for name in names]
        nodes.append(helper.make_node("Concat", [name + "_flat" for name in names], [RESULT], axis=0))
        flat = numpy_helper.from_array(np.array([-1], np.int64), "flat")
        output = helper.make_tensor_value_info(RESULT, TensorProto.FLOAT, None)
        graph = helper.make_graph(nodes, self.op, inputs, [output], [flat, *self.weights])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=IR_VERSION)
        onnx.save(model, path)

    def split(self, result, batch, length):
        """The named parts of RESULT."""
        sizes = [directions * batch * self.hidden * (length if is_sequence else 1)
                 for _, directions, is_sequence in self.results]
        return zip((name for name, _, _ in self.results), np.split(result, np.cumsum(sizes)[:-1]))

    def fixed(self, name, axis):
        """The size of an axis that is the same in all runs, or None."""
        if name.startswith("x"):
            return self.input_size if axis == 2 else None
        if name == "lengths":
            return None
        return {2: self.hidden, (1 if name.endswith("_batchwise") else 0): int(name[1])}.get(axis)


def test(command, op, opset, sizes, folder, failures):
    models = Models(op, opset, *sizes)
    what = f"{op}, opset {opset}, {sizes[0]} to {sizes[1]}"
    pairs = [models.feeds(*run) for run in RUNS]
    path, reference = os.path.join(folder, "model.onnx"), os.path.join(folder, "reference.onnx")
    models.save(models.nodes, pairs[0][0], path)
    models.save(models.reference_nodes, pairs[0][1], reference)
    _, expected = references(reference, [pair[1] for pair in pairs])
    inputs = [pair[0] for pair in pairs]
    run = runner(command, path, inputs, [RESULT], folder, f"{op}-{opset}-{sizes[1]}")
    for where, results in run_everywhere(run, what, failures):
        largest = 0.0
        for (batch, length, _), actual, wanted in zip(RUNS, results, expected):
            of_run = f"{where}, batch {batch}, length {length}"
            if actual[RESULT].shape != wanted[RESULT].shape:
                failures.append(f"{of_run}: {difference(actual[RESULT], wanted[RESULT])[0]}")
                continue
            parts = [models.split(each[RESULT], batch, length) for each in (actual, wanted)]
            for (name, one), (_, other) in zip(*parts):
                problem, error = difference(one, other, atol=1e-5)
                largest = max(largest, error)
                if problem:
                    failures.append(f"{of_run}, {name}: {problem}")
        print(f"{where}: {len(models.nodes)} nodes, {len(RUNS)} runs, largest error {largest:.2g}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Compares recurrent operators with onnxruntime.")
    parser.add_argument("command", help="the sardonyx command")
    command = os.path.abspath(parser.parse_args().command)
    failures = []
    for op, (opset, sizes) in itertools.product(GATES, zip(OPSETS, SIZES)):
        with tempfile.TemporaryDirectory() as folder:
            test(command, op, opset, sizes, folder, failures)
    sys.exit(report("test_rnn", failures))


if __name__ == "__main__":
    main()
