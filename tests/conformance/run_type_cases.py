#!/usr/bin/env python3
"""Runs every operator of the table in type_cases.py with every element type that the standard allows, at level all and
at level none, against the reference evaluator of the onnx package.

Usage: run_type_cases.py SARDONYX_COMMAND FOLDER
    FOLDER   where the cases are written, made anew
"""

import argparse
import os
import pathlib
import shutil
import sys
import warnings

import numpy as np
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

import type_cases
import verify_cases

WIDENS = "numpy's sum of small integers is wider than the type that the standard gives the output"
EXPECTED_DIFFERENCES = {
    "Pad_float8e8m0": "the type has no zero; numpy takes NaN, the runtime the smallest number, as Cast does",
    "ReduceSumSquare_int32": WIDENS,
    "ReduceSumSquare_uint32": WIDENS,
}


def write(folder, kind, arrays):
    for i, array in enumerate(arrays):
        (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def main():
    parser = argparse.ArgumentParser(description="Runs every operator with every element type.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("folder", type=pathlib.Path, help="where the cases are written")
    args = parser.parse_args()
    command = os.path.abspath(args.command)
    folder = args.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    known = verify_cases.known_operators(command)
    cases, unjudged = [], []
    for name, type_name, model, feeds in type_cases.type_cases(known):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                outputs = [np.asarray(output) for output in ReferenceEvaluator(model).run(None, feeds)]
                texts = [each for output in outputs if output.dtype == object for each in output.flat]
                if not all(isinstance(each, str) for each in texts):
                    raise TypeError("objects that are not text")
            except Exception:  # it raises whatever its operators meet
                unjudged.append(name)
                continue
        data = folder / name / "test_data_set_0"
        data.mkdir(parents=True)
        (folder / name / "model.onnx").write_bytes(model.SerializeToString())
        write(data, "input", feeds.values())
        write(data, "output", outputs)
        tolerance = type_cases.TOLERANCES.get(type_name, ("1e-5", "1e-5"))
        cases.append(verify_cases.Case(name, folder, tolerance, set()))
    print(f"{len(unjudged)} without an answer of the reference evaluator: {', '.join(unjudged)}")
    without_row = sorted(name for name in known - {f"ai.onnx.{op}" for op in type_cases.SIGNATURES})
    print(f"{len(without_row)} operators without a row in the table: {', '.join(without_row)}")
    table = {name: why for name, why in EXPECTED_DIFFERENCES.items() if name in {case.name for case in cases}}
    sys.exit(1 if verify_cases.run_section("types", command, cases, known, table) else 0)


if __name__ == "__main__":
    main()
