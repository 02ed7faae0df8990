#!/usr/bin/env python3
"""Runs the test cases of the installed `onnx` package through `sardonyx verify`, at level all and at level none.

Two sections: the node cases, and the small models that the package holds as files. A case runs when the runtime has all
its operators; the operators that it lacks are listed. Every difference is a failure, also a model that does not load,
unless EXPECTED_DIFFERENCES has it; a case of that table that passes is a failure too.

Usage: run_node_cases.py SARDONYX_COMMAND FOLDER
    FOLDER   where the node cases are written; later calls use them again
"""

import argparse
import os
import pathlib
import sys

import onnx

import node_cases
import verify_cases

MODEL_SECTIONS = ("simple", "pytorch-converted", "pytorch-operator")

# Name pattern -> why the runtime's answer differs.
NO_SEQUENCES = "values that are not tensors do not exist in the runtime yet"
EXPECTED_DIFFERENCES = {
    "test_identity_opt": NO_SEQUENCES,
    "test_identity_sequence": NO_SEQUENCES,
}


def node_section(folder):
    node_cases.write_cases(folder)
    for line in (folder / "index.tsv").read_text().splitlines():
        name, rtol, atol, operators = line.split("\t")
        yield verify_cases.Case(name, folder, (rtol, atol), set(operators.split(",")))


def model_section():
    data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    for section in MODEL_SECTIONS:
        for model in sorted((data / section).glob("*/model.onnx")):
            operators = node_cases.operators_of(onnx.load(model, load_external_data=False))
            yield verify_cases.Case(model.parent.name, model.parent.parent, ("1e-3", "1e-7"), operators)


def main():
    parser = argparse.ArgumentParser(description="Runs the cases of the onnx package.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("folder", type=pathlib.Path, help="where the node cases are written")
    args = parser.parse_args()
    command = os.path.abspath(args.command)
    known = verify_cases.known_operators(command)
    failures = verify_cases.run_section("node cases", command, node_section(args.folder.resolve()), known,
                                        EXPECTED_DIFFERENCES)
    failures += verify_cases.run_section("models", command, model_section(), known, EXPECTED_DIFFERENCES)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
