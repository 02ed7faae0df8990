#!/usr/bin/env python3
"""Runs the cases of the hostile suite: each model in a process of its own, at level none and at level all.

Usage: test_hostile.py PROBE [PATTERN...]
    PROBE     the program hostile_probe
    PATTERN   only cases whose name contains one of these; their outcomes are printed
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import hostile_case
import file_cases  # noqa: F401
import graph_cases  # noqa: F401

LEVELS = ("none", "all")
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
    return f"{level}\t{case.limit}\t{base}\t{path}"


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


def main():
    probe, patterns = sys.argv[1], sys.argv[2:]
    cases = [case for case in hostile_case.CASES if not patterns or any(each in case.name for each in patterns)]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        lines = []
        for i, case in enumerate(cases):
            folder = pathlib.Path(scratch) / str(i)
            folder.mkdir()
            path = write(case, folder)
            lines += [(case, level, task_line(case, level, folder, path)) for level in LEVELS if "\n" not in str(path)]
        done = subprocess.run([os.path.abspath(probe)], input="".join(line + "\n" for _, _, line in lines),
                              stdout=subprocess.PIPE, text=True, errors="replace", check=False, cwd=scratch)
        reports = done.stdout.split("\n")[:-1]
        if done.returncode != 0 or len(reports) != len(lines):
            sys.exit(f"the probe ended with {done.returncode} after {len(reports)} of {len(lines)} cases")
        for (case, level, _), report in zip(lines, reports):
            outcome, peak, time, message = report.split("\t", 3)
            message = message.replace(scratch, "")
            wrong = list(faults(case, outcome, int(peak), int(time), message))
            if wrong or patterns:
                print(f"{'FAIL' if wrong else 'ok'} {case.name} ({level}): {'; '.join(wrong)}\n"
                      f"    {outcome} {int(peak) // 1024} MiB {time} ms: {message[:400]}")
            failures += bool(wrong)
    print(f"{len(lines) - failures} passed, {failures} failed")
    sys.exit(1 if failures or not lines else 0)


if __name__ == "__main__":
    main()
