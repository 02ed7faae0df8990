#!/usr/bin/env python3
"""Runs the cases of fault_cases.py through `sardonyx verify`, at level all and at level none, each in three forms:

    inputs      every array is an input of the model
    constants   every array is an initializer: the whole model folds
    mixed       the first array is an input whose shape the model does not tell, the others are initializers

First asks the reference evaluator of the onnx package whether it agrees.

Usage: run_fault_cases.py SARDONYX_COMMAND FOLDER
    FOLDER   where the cases are written, made anew
"""

import argparse
import os
import pathlib
import shutil
import sys
import warnings

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import fault_cases
import node_cases
import verify_cases

FORMS = ("inputs", "constants", "mixed")


def tensor_info(name, array, with_shape=True):
    shape = list(array.shape) if with_shape else [None] * array.ndim
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape)


def make_model(case, form):
    """The model, and the names of its inputs."""
    arrays = {name: np.asarray(array) for name, array in case.inputs.items()}
    outputs = {name: np.asarray(array) for name, array in case.outputs.items()}
    inputs = {"inputs": list(arrays), "constants": [], "mixed": list(arrays)[:1]}[form]
    graph = helper.make_graph(
        case.nodes, case.name,
        [tensor_info(name, arrays[name], form == "inputs") for name in inputs],
        [tensor_info(name, array, False) for name, array in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in arrays.items() if name not in inputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8), inputs


def write(folder, values):
    for i, (kind, array) in enumerate(values):
        (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())


def write_case(folder, case, form):
    name = f"{case.name}_{form}"
    model, inputs = make_model(case, form)
    data = folder / name / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / name / "model.onnx").write_bytes(model.SerializeToString())
    write(data, [("input", case.inputs[name]) for name in inputs])
    write(data, [("output", array) for array in case.outputs.values()])
    return verify_cases.Case(name, folder, case.tolerance, node_cases.operators_of(model))


def disagreement(case):
    """What the reference evaluator says instead, or None."""
    model, inputs = make_model(case, "inputs")
    onnx.checker.check_model(model, full_check=True)
    if not case.judged:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            results = ReferenceEvaluator(model).run(None, {name: np.asarray(case.inputs[name]) for name in inputs})
        except Exception as error:  # it raises whatever its operators meet
            return f"there is no answer: {error!r}"
    rtol, atol = map(float, case.tolerance)
    for result, (name, expected) in zip(results, case.outputs.items()):
        expected = np.asarray(expected)
        if result.shape != expected.shape or result.dtype != expected.dtype:
            return f"{name} is {result.dtype}{list(result.shape)}, not {expected.dtype}{list(expected.shape)}"
        if not np.allclose(result, expected, rtol, atol, equal_nan=True):
            return f"{name} is {result.tolist()}, not {expected.tolist()}"
    return None


def main():
    parser = argparse.ArgumentParser(description="Runs reduced faults of runtimes.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("folder", type=pathlib.Path, help="where the cases are written")
    args = parser.parse_args()
    command = os.path.abspath(args.command)
    folder = args.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    failures = 0
    for case in fault_cases.CASES:
        if (text := disagreement(case)) is not None:
            print(f"FAIL {case.name}: by the reference evaluator {text}")
            failures += 1
    cases = [write_case(folder, case, form) for case in fault_cases.CASES for form in FORMS]
    failures += verify_cases.run_section("faults", command, cases, verify_cases.known_operators(command), {})
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
