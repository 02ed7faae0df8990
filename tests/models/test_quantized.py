#!/usr/bin/env python3
"""Quantised models, cut at their quantised activations, give what onnxruntime gives for the same integers.

End to end, quantised models are chaotic: where one sum is rounded otherwise in its last bit, an activation lands on
the next integer, and the difference grows from layer to layer. So what every QuantizeLinear and DynamicQuantizeLinear
gives becomes an output here, and what follows reads an input that onnxruntime, without optimisations, recorded at that
place. Integers may then be one apart, and few may.

Usage: test_quantized.py SARDONYX_COMMAND [MODEL...]
"""

import argparse
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper

from comparison import difference, report, run_everywhere, runner
from model_cases import FOLDER
from sound_cases import smart_turn_cases
from text_cases import bert_cases, t5_decoder_cases, t5_encoder_cases

CUT_AT = ("QuantizeLinear", "DynamicQuantizeLinear")
GIVEN = "__given"  # ends the names of the inputs at the cuts
SHARE = 1e-4  # of the integers of a run that may be one apart


def recorded(model, cuts, cases):
    """What onnxruntime computes at the cuts and at the end, in each case."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.extend(onnx.ValueInfoProto(name=name) for name in cuts)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(probe.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return names, [dict(zip(names, session.run(names, arrays))) for arrays in cases]


def cut(model, cuts, example):
    """The model in pieces; `example` has an array of the type and rank of each cut."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    for node in graph.node:
        for i, name in enumerate(node.input):
            if name in cuts:
                node.input[i] = name + GIVEN
    for name in cuts:
        kind = helper.np_dtype_to_tensor_dtype(example[name].dtype)
        shape = [None] * example[name].ndim
        graph.input.append(helper.make_tensor_value_info(name + GIVEN, kind, shape))
        graph.output.append(helper.make_tensor_value_info(name, kind, shape))
    return result


def test_case(where, label, cuts, actual, expected, failures):
    """Returns the share of integers that are one apart."""
    apart = total = 0
    for name, wanted in expected.items():
        if name not in cuts or wanted.dtype == np.float32 or actual[name].shape != wanted.shape:
            problem, _ = difference(actual[name], wanted)
            if problem:
                failures.append(f"{where}, {label}, {name}: {problem}")
            continue
        steps = np.abs(actual[name].astype(np.int32) - wanted.astype(np.int32))
        if actual[name].dtype != wanted.dtype or steps.max(initial=0) > 1:
            failures.append(f"{where}, {label}, {name}: {int((steps > 1).sum())} of {steps.size} integers are more than "
                            f"1 apart, at most {steps.max()}")
        apart += int((steps > 0).sum())
        total += steps.size
    if apart > SHARE * total:
        failures.append(f"{where}, {label}: {apart} of {total} integers are 1 apart, allowed {SHARE}")
    return apart / total


def test_model(command, path, cases, folder, failures):
    name = os.path.splitext(os.path.basename(path))[0]
    model = onnx.load(path)
    cuts = [output for node in model.graph.node if node.op_type in CUT_AT for output in node.output]
    names, expected = recorded(model, cuts, cases.values())
    inputs = [arrays | {cut_name + GIVEN: one[cut_name] for cut_name in cuts}
              for arrays, one in zip(cases.values(), expected)]
    pieces = os.path.join(folder, "pieces.onnx")
    onnx.save(cut(model, set(cuts), expected[0]), pieces)
    for where, results in run_everywhere(runner(command, pieces, inputs, names, folder, name), name, failures):
        shares = [test_case(where, label, set(cuts), actual, wanted, failures)
                  for label, actual, wanted in zip(cases, results, expected)]
        print(f"{where}: {len(cuts)} cuts, {len(cases)} inputs, share of integers 1 apart {max(shares):.2g}", flush=True)


MODELS = {
    "smart-turn": smart_turn_cases,
    "minilm-int8": bert_cases,
    "flan-t5-small-encoder": t5_encoder_cases,
    "flan-t5-small-decoder": t5_decoder_cases,
}


def main():
    parser = argparse.ArgumentParser(description="Compares quantised models with onnxruntime, piece by piece.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="default: all of " + ", ".join(MODELS))
    args = parser.parse_args()
    failures = []
    for name in args.models or MODELS:
        path = os.path.join(FOLDER, name + ".onnx")
        if not os.path.exists(path):
            sys.exit(f"test_quantized: {path} is missing: run 'make models'")
        with tempfile.TemporaryDirectory() as folder:
            test_model(os.path.abspath(args.command), path, MODELS[name](), folder, failures)
    sys.exit(report("test_quantized", failures))


if __name__ == "__main__":
    main()
