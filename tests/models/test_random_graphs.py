"""Compares random small models (random_graphs.py) with onnxruntime, with every optimisation and with none.

    test_random_graphs.py COMMAND [--first SEED] [--count N] [--seconds S]

Stops after S seconds, so that a slow machine tests fewer. A failure names its seed: --first SEED --count 1 repeats it.
"""

import argparse
import os
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import random_graphs
import sardonyx_command

TOLERANCE = 2e-4
SETTINGS = (("none", 1), ("all", 1), ("all", 2))


def reference(graph):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(graph.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip(graph.outputs, session.run(graph.outputs, graph.feeds)))


def difference(name, actual, expected):
    """What is wrong with an output, or None."""
    if actual.shape != expected.shape:
        return f"{name}: shape {actual.shape}, expected {expected.shape}"
    scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
    off = float(np.max(np.abs(actual - expected), initial=0)) if np.all(np.isfinite(actual)) else np.inf
    return f"{name}: off by {off:g}, scale {scale:g}" if off > TOLERANCE * scale else None


def check(command, seed, folder):
    """The faults of one model, as text."""
    graph = random_graphs.make(seed)
    expected = reference(graph)
    model = os.path.join(folder, "model.onnx")
    with open(model, "wb") as file:
        file.write(graph.model.SerializeToString())
    faults, first = [], {}
    for level, threads in SETTINGS:
        try:
            actual, = sardonyx_command.run_many(command, model, [graph.feeds], graph.outputs, folder,
                                                ["--level", level, "--threads", str(threads)])
        except sardonyx_command.CommandError as error:
            faults.append(f"level {level}, {threads} threads: {error}")
            continue
        for name in graph.outputs:
            fault = difference(name, actual[name], expected[name])
            if fault is None and actual[name].tobytes() != first.setdefault((level, name), actual[name].tobytes()):
                fault = f"{name}: other bits than with one thread"
            if fault is not None:
                faults.append(f"level {level}, {threads} threads: {fault}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    failed = done = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.count):
            if time.monotonic() > end:
                break
            done += 1
            faults = check(options.command, seed, folder)
            failed += bool(faults)
            for fault in faults:
                print(f"seed {seed}: {fault}")
    print(f"{done} models, {failed} with faults")
    return 1 if failed or done == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
