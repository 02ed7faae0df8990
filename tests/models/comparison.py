"""Equality with onnxruntime, for all tests with real models: tolerances, references, and the ways of running."""

import os

import numpy as np
import onnxruntime
from sardonyx_command import CommandError, run_many

RTOL = 1e-3
ATOL = 1e-4
LEVELS = ("none", "all")
THREADS = (1, 2)


def rounds_alike():
    """Whether products and sums round as onnxruntime's do here: with fused multiply-adds. Rows without them are as
    exact, but what amplifies differences of rounding cannot be compared as closely."""
    return os.environ.get("SARDONYX_MAX_ISA") not in ("scalar", "sse4")


def ort_session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def output_names(session):
    return [output.name for output in session.get_outputs()]


def references(path, inputs):
    """The outputs' names, and a dictionary of them for each of `inputs`."""
    session = ort_session(path)
    names = output_names(session)
    return names, [dict(zip(names, session.run(names, arrays))) for arrays in inputs]


def difference(actual, expected, atol=ATOL, rtol=RTOL):
    """What is wrong with a result, or None; and its largest absolute error."""
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"is {actual.dtype}{list(actual.shape)}, expected {expected.dtype}{list(expected.shape)}", 0.0
    error = np.abs(actual.astype(np.float64) - expected)
    wrong = ~(error <= atol + rtol * np.abs(expected))
    largest = float(error.max(initial=0.0))
    if not wrong.any():
        return None, largest
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (f"{int(wrong.sum())} of {wrong.size} elements differ, first {list(at)}: {actual[at]}, "
            f"expected {expected[at]}, largest error {largest:.3g}"), largest


def same_bits(a, b):
    return all(a[name].tobytes() == b[name].tobytes() for name in a)


def run_everywhere(run, what, failures):
    """Calls run(level, threads) -> list of results for every level and number of threads, and yields (where, results).

    Results of one level must be the same bits on any number of threads; what is not goes to `failures`.
    """
    for level in LEVELS:
        first = None
        for threads in THREADS:
            where = f"{what}, level {level}, {threads} thread{'s' if threads > 1 else ''}"
            try:
                results = run(level, threads)
            except CommandError as error:
                failures.append(f"{where}: {error}")
                continue
            yield where, results
            if first is None:
                first = results
            failures.extend(f"{where}, run {i}: other bits than on 1 thread"
                            for i, (one, two) in enumerate(zip(first, results)) if not same_bits(one, two))


def runner(command, path, inputs, names, folder, label):
    """run(level, threads) for run_everywhere: the command on `inputs`, in one session."""
    def run(level, threads):
        return run_many(command, path, inputs, names, os.path.join(folder, f"{label}-{level}-{threads}"),
                        ["--level", level, "--threads", str(threads)])

    return run


def report(name, failures):
    """Prints the failures; the exit code."""
    for failure in failures:
        print("FAIL", failure)
    print(f"{name}: {len(failures)} failures")
    return 1 if failures else 0
