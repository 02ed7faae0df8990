#!/usr/bin/env python3
"""Compares Sardonyx with the PyPI package onnxruntime on the real models: first equal outputs, then time.

Hot: both stay loaded, Sardonyx in a child process (`sardonyx bench --serve`), onnxruntime in this one. They take turns
of a few runs, so that whatever else the machine does meets both; on two threads they leave 60 ms between turns, in
which the other's waiting threads go to sleep. Both are pinned to the same cores. Ratios are of percentiles, never of
means. Cold: fresh processes that take turns, medians.

Usage: compare_ort.py SARDONYX_COMMAND [--threads 1 2] [--rounds N] [--write FILE] [MODEL...]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "models"))

import model_cases  # noqa: E402
from cold_starts import ort_start, sardonyx_start, take_turns  # noqa: E402
from comparison import difference  # noqa: E402
from page import cpu_name, write_between_markers  # noqa: E402
from ort_cold import ort_session, timed_ms  # noqa: E402
from sardonyx_command import run_many  # noqa: E402

CASE = "standard"
TURN_SECONDS = 0.2
PAUSE_SECONDS = 0.06
COLD_PROCESSES = 5


class Peer:
    """`sardonyx bench --serve` on one model."""

    def __init__(self, command, path, threads, input_words):
        self.process = subprocess.Popen(
            [command, "bench", path, "--serve", "--threads", str(threads), *input_words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"compare_ort: {command} does not answer (its message is above)")

    def run(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def check_equal(command, model, path, inputs, session, folder):
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, inputs)))
    actual = run_many(command, path, [inputs], names, folder)[0]
    for name in names:
        problem, _ = difference(actual[name], expected[name], model.atol)
        if problem:
            sys.exit(f"compare_ort: {model.name}, output {name}: {problem}")


def measure_hot(peer, session, inputs, threads, rounds):
    """Milliseconds of all runs of Sardonyx and of onnxruntime."""

    def ours(count):
        return peer.run(count)

    def theirs(count):
        return [timed_ms(lambda: session.run(None, inputs)) for _ in range(count)]

    slowest = max(min(turn(3)) for turn in (ours, theirs))
    count = max(3, min(200, int(TURN_SECONDS * 1000 / slowest)))
    times = {ours: [], theirs: []}
    for i in range(rounds):
        for turn in (ours, theirs) if i % 2 == 0 else (theirs, ours):
            if threads > 1:
                time.sleep(PAUSE_SECONDS)
            times[turn] += turn(count)
    return times[ours], times[theirs]


def measure_cold(command, path, threads, input_words, files):
    """Medians over fresh processes: (Sardonyx, onnxruntime), each a dictionary."""
    return take_turns(COLD_PROCESSES, lambda: sardonyx_start(command, path, threads, input_words),
                      lambda: ort_start(path, threads, files))


def compare(command, model, threads, rounds, folder):
    """One row of the tables."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    inputs = model.cases()[CASE]
    files = {}
    for i, (name, array) in enumerate(inputs.items()):
        files[name] = os.path.join(folder, f"{model.name}-{i}.npy")
        np.save(files[name], array)
    input_words = [word for name, path in files.items() for word in ("--input", f"{name}={path}")]
    path = model.file_in(folder)
    session = ort_session(path, threads)
    check_equal(command, model, path, inputs, session, folder)
    peer = Peer(command, path, threads, input_words)
    ours, theirs = measure_hot(peer, session, inputs, threads, rounds)
    peer.close()
    cold = measure_cold(command, path, threads, input_words, files)
    shape = ", ".join("x".join(map(str, array.shape)) for array in list(inputs.values())[:1])
    return {"model": model.name, "shape": shape, "threads": threads,
            "hot": {p: (np.percentile(ours, p), np.percentile(theirs, p)) for p in (10, 50)}, "cold": cold}


def tables(rows):
    import onnxruntime
    lines = [f"{cpu_name()}; onnxruntime {onnxruntime.__version__}. Ratios are Sardonyx / onnxruntime: below 1 Sardonyx takes "
             "less.", "",
             "| model | input | threads | p50, ms | ratio p10 | ratio p50 |", "|---|---|---|---|---|---|"]
    for row in rows:
        (ours10, theirs10), (ours50, theirs50) = row["hot"][10], row["hot"][50]
        lines.append(f"| {row['model']} | {row['shape']} | {row['threads']} | {ours50:.2f} : {theirs50:.2f} "
                     f"| {ours10 / theirs10:.2f} | **{ours50 / theirs50:.2f}** |")
    lines += ["", f"Cold, medians of {COLD_PROCESSES} fresh processes, Sardonyx : onnxruntime. Load is the start of the "
              "process up to main() against `import onnxruntime`; peak memory is that of the process against what "
              "onnxruntime adds to a Python with NumPy.", "",
              "| model | threads | load, ms | create, ms | first run, ms | second run, ms | peak memory, MiB |",
              "|---|---|---|---|---|---|---|"]
    for row in rows:
        ours, theirs = row["cold"]
        cells = [f"{ours[key]:.1f} : {theirs[key]:.1f}" for key in ("load", "create", "first", "second")]
        cells.append(f"{ours['rss'] / 2**20:.0f} : {theirs['rss'] / 2**20:.0f}")
        lines.append(f"| {row['model']} | {row['threads']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Compares Sardonyx with onnxruntime on real models.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names of tests/models/model_cases.py; default: all")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=12, help="turns of each in a hot comparison")
    parser.add_argument("--write", metavar="FILE", help="put the tables between the markers of this page")
    args = parser.parse_args()
    unknown = set(args.models) - {model.name for model in model_cases.MODELS}
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    cores = os.sched_getaffinity(0)
    rows = []
    for model in model_cases.MODELS:
        if args.models and model.name not in args.models:
            continue
        if model.is_missing():
            sys.exit(f"compare_ort: {model.name} is missing in {model_cases.FOLDER}: run 'make models'")
        with tempfile.TemporaryDirectory() as folder:  # of one model at a time: written ones are large
            for threads in args.threads:
                if threads > len(cores):
                    print(f"{model.name}: {threads} threads left out, this process may use {len(cores)} cores")
                    continue
                os.sched_setaffinity(0, cores)
                row = compare(os.path.abspath(args.command), model, threads, args.rounds, folder)
                rows.append(row)
                ours, theirs = row["hot"][50]
                print(f"{model.name}, {threads} threads: p50 {ours:.2f} : {theirs:.2f} ms, ratio {ours / theirs:.2f}",
                      flush=True)
    text = tables(rows)
    print("\n" + text)
    if args.write:
        write_between_markers(args.write, "benchmarks/compare_ort.py", text)


if __name__ == "__main__":
    main()
