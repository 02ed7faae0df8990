#!/usr/bin/env python3
"""Runs the cases of the hostile suite.

Usage: test_hostile.py PROBE TABLES [PATTERN...]
    PROBE     the program hostile_probe
    TABLES    file, graph, node, size, declared, memory: those of the modules *_cases.py, with commas between
    PATTERN   only cases whose name contains one of these; their outcomes are printed
"""

import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import hostile_case

SANITIZED = os.environ.get("SARDONYX_SANITIZED") == "1"  # slower, and the memory is not that of the program
ENDS = re.compile(r"ran|loaded|(load|run):[A-Z][A-Za-z]+")  # what any model may come to


def write(case, folder):
    """The path of the model."""
    for path, content in case.files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            target.symlink_to(content)
        elif content is not None:
            target.write_bytes(content)
    path = folder / case.path
    if case.model or case.path == "model.onnx":
        place = folder / (case.move or case.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(case.model)
    return path


def task_line(case, level, folder, path):
    base = ""
    if case.folder is not None:
        base = "-" if case.folder == "-" else str(folder / case.folder)
    return "\t".join((level, str(case.limit), base, str(path).replace("\n", "\x01")))


def faults(case, outcome, peak_kib, milliseconds, message):
    allowed = case.outcome if isinstance(case.outcome, tuple) else (case.outcome,)
    if not ENDS.fullmatch(outcome) or (case.outcome is not None and outcome not in allowed):
        yield f"{outcome}, expected {' or '.join(allowed) if case.outcome else 'a result or an Error'}"
    for word in case.words:
        if not any(each in message for each in word.split("|")):
            yield f"the message does not say '{word}'"
    if outcome not in ("ran", "loaded") and not message:
        yield "no message"
    if not SANITIZED and peak_kib > case.peak_mib * 1024:
        yield f"took {peak_kib // 1024} MiB, allowed are {case.peak_mib}"
    if milliseconds > case.seconds * (1000 if not SANITIZED else 20000):
        yield f"took {milliseconds} ms, allowed are {case.seconds} s"


def environment_faults(probe, scratch):
    """SARDONYX_MAX_ISA is read once per process: a probe for each value."""
    model = pathlib.Path(scratch) / "environment.onnx"
    relu = hostile_case.model(hostile_case.node("Relu", "x", "y"))
    model.write_bytes(relu.SerializeToString())
    for value, expected in (("avx9", "load:InvalidArgument"), ("AVX2", "load:InvalidArgument"),
                            (" avx2", "load:InvalidArgument"), ("-1", "load:InvalidArgument"), ("", "ran"),
                            ("scalar", "ran"), ("avx512", "ran")):
        done = subprocess.run([os.path.abspath(probe)], input=f"all\t0\t\t{model}\n", stdout=subprocess.PIPE, text=True,
                              check=False, env={**os.environ, "SARDONYX_MAX_ISA": value})
        outcome, _, _, message = done.stdout.rstrip("\n").split("\t", 3)
        if outcome != expected or (outcome != "ran" and f"SARDONYX_MAX_ISA is '{value}'" not in message):
            yield f"FAIL SARDONYX_MAX_ISA='{value}': {outcome}, expected {expected}: {message}"


def main():
    probe, tables, patterns = sys.argv[1], sys.argv[2], sys.argv[3:]
    for table in tables.split(","):
        importlib.import_module(f"{table}_cases")
    cases = [case for case in hostile_case.CASES if not patterns or any(each in case.name for each in patterns)]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        for line in environment_faults(probe, scratch):
            print(line)
            failures += 1
        lines = []
        for i, case in enumerate(cases):
            folder = pathlib.Path(scratch) / str(i)
            folder.mkdir()
            path = write(case, folder)
            lines += [(case, level, task_line(case, level, folder, path)) for level in case.levels]
        listing = pathlib.Path(scratch) / "listing"
        listing.write_text("".join(line + "\n" for _, _, line in lines), encoding="utf-8")
        with open(listing, encoding="utf-8") as file:
            running = subprocess.Popen([os.path.abspath(probe)], stdin=file, stdout=subprocess.PIPE, text=True,
                                       errors="replace", cwd=scratch)
        reported = 0
        for (case, level, _), report in zip(lines, running.stdout):
            reported += 1
            outcome, peak, time, message = report.rstrip("\n").split("\t", 3)
            message = message.replace(scratch, "")
            wrong = list(faults(case, outcome, int(peak), int(time), message))
            if wrong or patterns:
                print(f"{'FAIL' if wrong else 'ok'} {case.name} ({level}): {'; '.join(wrong)}\n"
                      f"    {outcome} {int(peak) // 1024} MiB {time} ms: {message[:400]}", flush=True)
            failures += bool(wrong)
        if running.wait() != 0 or reported != len(lines):
            print(f"the probe ended with {running.returncode} after {reported} of {len(lines)} cases")
            failures += 1
    print(f"{len(lines) - failures} passed, {failures} failed")
    sys.exit(1 if failures or not lines else 0)


if __name__ == "__main__":
    main()
