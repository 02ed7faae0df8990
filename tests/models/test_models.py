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

import model_cases
from comparison import ATOL, RTOL, difference, references, report, run_everywhere, runner, same_bits


def tells_inputs_apart(results, atol):
    """Whether two results of one shape differ by far more than what passes for equal."""
    return any(a.shape == b.shape and difference(a, b, 10 * atol, 10 * RTOL)[0] is not None
               for a, b in itertools.combinations(results, 2))


def test_model(command, model, folder):
    """Prints one line for each way of running; returns what failed."""
    failures = []
    cases = model.cases()
    path = model.file_in(folder)
    names, expected = references(path, cases.values())
    for name in names:
        if not tells_inputs_apart([one[name] for one in expected], min(model.atol, ATOL)):
            failures.append(f"{model.name}, output {name}: the same for all inputs, which tests nothing")
    # All cases twice, in one session: shapes change between the runs of a case.
    run = runner(command, path, list(cases.values()) * 2, names, folder, model.name)
    for where, results in run_everywhere(run, model.name, failures):
        largest = 0.0
        for label, wanted, one, two in zip(cases, expected, results[:len(cases)], results[len(cases):]):
            for name in names:
                problem, error = difference(one[name], wanted[name], model.atol)
                largest = max(largest, error)
                if problem:
                    failures.append(f"{where}, {label}, output {name}: {problem}")
            if not same_bits(one, two):
                failures.append(f"{where}, {label}: the second run gives other bits than the first")
        print(f"{where}: {len(cases)} inputs, largest error {largest:.2g}", flush=True)
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
    missing = [model.name for model in chosen if model.is_missing()]
    if missing:
        sys.exit(f"test_models: {', '.join(missing)} missing in {model_cases.FOLDER}: run 'make models'")
    failures = []
    for model in chosen:
        with tempfile.TemporaryDirectory() as folder:  # of one model at a time: written ones are large
            failures += test_model(os.path.abspath(args.command), model, folder)
    sys.exit(report("test_models", failures))


if __name__ == "__main__":
    main()
