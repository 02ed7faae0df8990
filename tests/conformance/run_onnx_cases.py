#!/usr/bin/env python3
"""Runs the test cases of the installed `onnx` package through `sardonyx verify`, at level all and at level none.

Three sections: the node cases, the small models that the package holds with data, and its image networks, whose weights
are constants made by the model and whose input counts up from 0 to 1, as the package's own runner has it. A case runs
when the runtime has all its operators; the operators that it lacks are listed. Every difference is a failure, also a
model that does not load, unless EXPECTED_DIFFERENCES has it; a case of that table that passes is a failure too.

Usage: run_onnx_cases.py SARDONYX_COMMAND FOLDER
    FOLDER   where cases are written; later calls use the node cases again
"""

import argparse
import os
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import numpy_helper

import node_cases
import verify_cases

DATA = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
MODEL_SECTIONS = ("simple", "pytorch-converted", "pytorch-operator")

# Name pattern -> why the runtime's answer differs.
# Shown with onnx.reference: its Softmax computing in float and rounding once gives our numbers to the last bit.
NARROW_SOFTMAX = ("the reference rounds a 16-bit Softmax after every elementary step; the runtime computes in float "
                  "and rounds once, which is nearer to the exact value")
EXPECTED_DIFFERENCES = {
    "test_attention_3d_causal_bf16_expanded": NARROW_SOFTMAX,
    "test_attention_4d_attn_mask_causal_bf16_expanded": NARROW_SOFTMAX,
    "test_attention_4d_causal_bf16_expanded": NARROW_SOFTMAX,
    "test_attention_4d_causal_fp16_expanded": NARROW_SOFTMAX,
    "test_attention_4d_causal_padded_kv_bf16_expanded": NARROW_SOFTMAX,
    "test_attention_4d_padded_kv_bf16_expanded": NARROW_SOFTMAX,
    "test_bernoulli*_expanded": verify_cases.RANDOM,
}


def node_section(folder):
    node_cases.write_cases(folder)
    for line in (folder / "index.tsv").read_text().splitlines():
        name, rtol, atol, operators = line.split("\t")
        yield verify_cases.Case(name, folder, (rtol, atol), set(operators.split(",")))


def model_section():
    for section in MODEL_SECTIONS:
        for model in sorted((DATA / section).glob("*/model.onnx")):
            operators = node_cases.operators_of(onnx.load(model, load_external_data=False))
            yield verify_cases.Case(model.parent.name, model.parent.parent, ("1e-3", "1e-7"), operators)


def network_section(folder):
    shutil.rmtree(folder, ignore_errors=True)
    for path in sorted((DATA / "light").glob("*.onnx")):
        model = onnx.load(path)
        data = folder / path.stem / "test_data_set_0"
        data.mkdir(parents=True)
        shutil.copy(path, data.parent / "model.onnx")
        shutil.copy(path.with_name(f"{path.stem}_output_0.pb"), data / "output_0.pb")
        initialized = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in initialized]
        for i, value in enumerate(inputs):
            shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            array = (np.arange(count).reshape(shape) / count).astype(np.float32)
            (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
        yield verify_cases.Case(path.stem, folder, ("1e-3", "1e-7"), node_cases.operators_of(model))


def main():
    parser = argparse.ArgumentParser(description="Runs the cases of the onnx package.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("folder", type=pathlib.Path, help="where cases are written")
    args = parser.parse_args()
    command = os.path.abspath(args.command)
    known = verify_cases.known_operators(command)
    folder = args.folder.resolve()
    sections = (("node cases", node_section(folder / "node")), ("models", model_section()),
                ("networks", network_section(folder / "networks")))
    failures = sum(verify_cases.run_section(title, command, cases, known, EXPECTED_DIFFERENCES)
                   for title, cases in sections)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
