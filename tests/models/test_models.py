#!/usr/bin/env python3
"""Real models give what onnxruntime gives, at every level, and the same bits on one thread, on two, and again.

Every model of model_cases.py runs with all its inputs at level none and all, on one and two threads. References are
computed here and now.

Usage: test_models.py SARDONYX_COMMAND (--quick | --rest | MODEL...)
"""

import argparse
import itertools
import os
import sys
import tempfile

import numpy as np
import onnxruntime

import model_cases
from sardonyx_command import CommandError, run_many

RTOL = 1e-3
ATOL = 1e-4
LEVELS = ("none", "all")
THREADS = (1, 2)


def references(model, cases):
    """The outputs' names, and a dictionary of them for each case."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return names, [dict(zip(names, session.run(names, arrays))) for arrays in cases.values()]


def difference(actual, expected):
    """What is wrong with a result, or None; and its largest absolute error."""
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"is {actual.dtype}{list(actual.shape)}, expected {expected.dtype}{list(expected.shape)}", 0.0
    error = np.abs(actual.astype(np.float64) - expected)
    wrong = ~(error <= ATOL + RTOL * np.abs(expected))
    largest = float(error.max(initial=0.0))
    if not wrong.any():
        return None, largest
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (f"{int(wrong.sum())} of {wrong.size} elements differ, first {list(at)}: {actual[at]}, "
            f"expected {expected[at]}, largest error {largest:.3g}"), largest


def same_bits(a, b):
    return all(a[name].tobytes() == b[name].tobytes() for name in a)


def test_model(command, model, folder):
    """Prints one line for each way of running; returns what failed."""
    failures = []
    cases = model.cases()
    names, expected = references(model, cases)
    for level in LEVELS:
        of_threads = {}
        for threads in THREADS:
            where = f"{model.name}, level {level}, {threads} thread{'s' if threads > 1 else ''}"
            try:
                # All cases twice, in one session: shapes change between the runs of a case.
                results = run_many(command, model.path, list(cases.values()) * 2, names,
                                   os.path.join(folder, f"{model.name}-{level}-{threads}"),
                                   ["--level", level, "--threads", str(threads)])
            except CommandError as error:
                failures.append(f"{where}: {error}")
                continue
            first, second = results[:len(cases)], results[len(cases):]
            of_threads[threads] = first
            largest = 0.0
            for label, wanted, one, two in zip(cases, expected, first, second):
                for name in names:
                    problem, error = difference(one[name], wanted[name])
                    largest = max(largest, error)
                    if problem:
                        failures.append(f"{where}, {label}, output {name}: {problem}")
                if not same_bits(one, two):
                    failures.append(f"{where}, {label}: the second run gives other bits than the first")
            print(f"{where}: {len(cases)} inputs, largest error {largest:.2g}", flush=True)
        if len(of_threads) == len(THREADS):
            for label, one, two in zip(cases, *of_threads.values()):
                if not same_bits(one, two):
                    failures.append(f"{model.name}, level {level}, {label}: 1 and 2 threads give different bits")
    return failures


def main():
    parser = argparse.ArgumentParser(description="Compares real models with onnxruntime.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names of model_cases.py")
    parser.add_argument("--quick", action="store_true", help="one model of each kind")
    parser.add_argument("--rest", action="store_true", help="the models that --quick leaves out")
    args = parser.parse_args()
    chosen = [model for model in model_cases.MODELS
              if model.name in args.models or (args.quick and model.is_quick) or (args.rest and not model.is_quick)]
    unknown = set(args.models) - {model.name for model in chosen}
    if unknown or not chosen:
        parser.error(f"no such model: {', '.join(sorted(unknown)) or 'none chosen'}")
    missing = [model.path for model in chosen if not os.path.exists(model.path)]
    if missing:
        sys.exit(f"test_models: {', '.join(missing)} is missing: run 'make models'")
    with tempfile.TemporaryDirectory() as folder:
        failures = list(itertools.chain.from_iterable(
            test_model(os.path.abspath(args.command), model, folder) for model in chosen))
    for failure in failures:
        print("FAIL", failure)
    print(f"test_models: {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
