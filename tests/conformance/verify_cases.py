"""Runs folders of test cases through `sardonyx verify`, at level none and at level all, and reports on them.

A case runs when the runtime has all its operators. Every difference is a failure, also a model that does not load.
"""

import collections
import concurrent.futures
import fnmatch
import json
import os
import subprocess

LEVELS = ("none", "all")
BATCH = 100
TIMEOUT_S = 120
# A reason to differ of cases that may also happen to pass.
RANDOM = "the standard fixes no generator of random numbers"

# Folder `folder`/`name`; (rtol, atol) as text; "domain.name" of every operator.
Case = collections.namedtuple("Case", "name folder tolerance operators")


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


def reason(name, table):
    return next((why for pattern, why in table.items() if fnmatch.fnmatchcase(name, pattern)), None)


def run_section(title, command, cases, known, expected_differences):
    """Prints the report; returns how many failures there are. The table maps a name pattern to why the runtime's answer
    differs; a case of the table that passes is a failure too, unless the reason is RANDOM."""
    cases = list(cases)
    runnable = [case for case in cases if case.operators <= known]
    results = verify_all(command, runnable)
    failures, expected = [], collections.Counter()
    for case in runnable:
        why = reason(case.name, expected_differences)
        differences = {level: results[level][case.name] for level in LEVELS if results[level][case.name]}
        if why and (len(differences) == len(LEVELS) or why == RANDOM):
            expected[why] += 1
        elif why:
            failures.append(f"{case.name}: passes, but is expected to differ ({why})")
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
