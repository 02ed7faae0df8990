#!/usr/bin/env python3
"""The convolutional networks inside the onnx package, as shipped, give the outputs recorded with them.

With their constant weights the input does not matter; test_models.py runs copies with drawn weights.

Usage: test_light.py SARDONYX_COMMAND
"""

import argparse
import os
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

import light_models
from comparison import difference, report, run_everywhere, runner
from seeded import seeded


def test_network(command, name, folder, failures):
    path, recorded = light_models.shipped(name)
    with open(recorded, "rb") as file:
        expected = numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))
    graph = onnx.load(path).graph
    data = light_models.data_input(graph)
    shape = [dim.dim_value for dim in data.type.tensor_type.shape.dim]
    inputs = [{data.name: seeded(name).uniform(-1, 1, shape).astype(np.float32)}]
    output, = (value.name for value in graph.output)
    for where, results in run_everywhere(runner(command, path, inputs, [output], folder, name), name, failures):
        problem, error = difference(results[0][output], expected, atol=1e-7)
        if problem:
            failures.append(f"{where}: {problem}")
        print(f"{where}: largest error {error:.2g}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Runs the networks of the onnx package as shipped.")
    parser.add_argument("command", help="the sardonyx command")
    command = os.path.abspath(parser.parse_args().command)
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in light_models.NAMES:
            test_network(command, name, folder, failures)
    sys.exit(report("test_light", failures))


if __name__ == "__main__":
    main()
