#!/usr/bin/env python3
"""Runs the test cases of the installed `onnx` package through `sardonyx verify`, at level all and at level none.

Two sections: the node cases, and the small models that the package holds as files. A case runs when the runtime has all
its operators; the operators that it lacks are listed. Every difference is a failure, also a model that does not load,
unless EXPECTED_DIFFERENCES has it; a case of that table that passes is a failure too.

Usage: run_node_cases.py SARDONYX_COMMAND FOLDER
    FOLDER   where the node cases are written; later calls use them again
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys

import onnx

import node_cases

LEVELS = ("none", "all")
BATCH = 100
TIMEOUT_S = 120
MODEL_SECTIONS = ("simple", "pytorch-converted", "pytorch-operator")

# Name pattern -> why the runtime's answer differs.
NO_SEQUENCES = "values that are not tensors do not exist in the runtime yet"
EXPECTED_DIFFERENCES = {
    "test_identity_opt": NO_SEQUENCES,
    "test_identity_sequence": NO_SEQUENCES,
}

Case = collections.namedtuple("Case", "name folder tolerance operators")


def node_section(folder):
    node_cases.write_cases(folder)
    for line in (folder / "index.tsv").read_text().splitlines():
        name, rtol, atol, operators = line.split("\t")
        yield Case(name, folder, (rtol, atol), set(operators.split(",")))


def model_section():
    data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    for section in MODEL_SECTIONS:
        for model in sorted((data / section).glob("*/model.onnx")):
            operators = node_cases.operators_of(onnx.load(model, load_external_data=False))
            yield Case(model.parent.name, model.parent.parent, ("1e-3", "1e-7"), operators)


def known_operators(command):
    listing = subprocess.run([command, "ops", "--json"], check=True, capture_output=True, text=True).stdout
    return {f"{op['domain'] or 'ai.onnx'}.{op['name']}" for op in json.loads(listing)}


def verify(command, level, cases):
    """{case name: what differs, "" when nothing does}, of cases with one folder and one tolerance."""
    rtol, atol = cases[0].tolerance
    line = [command, "verify", "--level", level, "--threads", "1", "--rtol", rtol, "--atol", atol]
    try:
        done = subprocess.run(line + [case.name for case in cases], cwd=cases[0].folder, capture_output=True, text=True,
                              timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode not in (0, 1):
        if len(cases) > 1:  # find out which one it was
            return {name: text for case in cases for name, text in verify(command, level, [case]).items()}
        problem = "takes too long" if done is None else f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"
        return {cases[0].name: problem}
    result = {}
    for text in done.stdout.splitlines():
        verdict, _, what = text.partition(" ")
        if verdict in ("ok", "FAIL"):
            where, _, detail = what.strip().partition(": ")
            name = where.split("/")[0]
            result[name] = result.get(name) or (detail if verdict == "FAIL" else "")
    return {case.name: result.get(case.name, "no result") for case in cases}


def verify_all(command, cases):
    """{level: {case name: what differs}}"""
    groups = collections.defaultdict(list)
    for case in cases:
        groups[case.folder, case.tolerance].append(case)
    batches = [group[i:i + BATCH] for group in groups.values() for i in range(0, len(group), BATCH)]
    results = {level: {} for level in LEVELS}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(level, pool.submit(verify, command, level, batch)) for level in LEVELS for batch in batches]
        for level, job in jobs:
            results[level].update(job.result())
    return results


def reason(name):
    return next((why for pattern, why in EXPECTED_DIFFERENCES.items() if fnmatch.fnmatchcase(name, pattern)), None)


def run_section(title, command, cases, known):
    """Prints the report; returns how many failures there are."""
    cases = list(cases)
    runnable = [case for case in cases if case.operators <= known]
    results = verify_all(command, runnable)
    failures, expected = [], collections.Counter()
    for case in runnable:
        why = reason(case.name)
        differences = {level: results[level][case.name] for level in LEVELS if results[level][case.name]}
        if why and len(differences) == len(LEVELS):
            expected[why] += 1
        elif why:
            failures.append(f"{case.name}: passes, but EXPECTED_DIFFERENCES has it ({why})")
        elif differences:
            text = "; ".join(f"level {level}: {difference}" for level, difference in differences.items())
            failures.append(f"{case.name}: {text}")
    lacking = collections.Counter(name for case in cases for name in case.operators - known)
    for failure in failures:
        print("FAIL", failure)
    for why, count in expected.items():
        print(f"{count} expected to differ: {why}")
    if lacking:
        print(f"{len(lacking)} operators missing (and in how many cases): "
              + ", ".join(f"{name.removeprefix('ai.onnx.')} {lacking[name]}" for name in sorted(lacking)))
    passed = len(runnable) - len(failures) - expected.total()
    print(f"{title}: {len(runnable)} of {len(cases)} cases run at levels {' and '.join(LEVELS)}, {passed} passed, "
          f"{len(failures)} failed, {expected.total()} expected to differ", flush=True)
    return len(failures)


def main():
    parser = argparse.ArgumentParser(description="Runs the cases of the onnx package.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("folder", type=pathlib.Path, help="where the node cases are written")
    args = parser.parse_args()
    command = os.path.abspath(args.command)
    known = known_operators(command)
    failures = run_section("node cases", command, node_section(args.folder.resolve()), known)
    failures += run_section("models", command, model_section(), known)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
