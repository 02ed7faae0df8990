"""Starts of fresh processes, timed from inside: the `sardonyx` command and onnxruntime in turn."""

import json
import os
import subprocess
import sys
import time

import numpy as np


def sardonyx_start(command, model, threads, input_words):
    """Milliseconds of load, create, first and second run; rss: the peak, bytes. `model`: source or compiled."""
    line = [command, "bench", model, "--threads", str(threads), *input_words]
    done = subprocess.run([*line, "--spawned-at", str(time.monotonic_ns())], capture_output=True, text=True, check=True)
    return dict(zip(("load", "create", "first", "second", "rss"), map(float, done.stdout.split())))


def ort_start(model, threads, files):
    """The same of onnxruntime; load is its import, rss what it adds to NumPy. `files`: input name -> .npy."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ort_cold.py")
    child = [sys.executable, script, model, str(threads), json.dumps(files)]
    return json.loads(subprocess.run(child, capture_output=True, text=True, check=True).stdout)


def medians(starts):
    return {key: float(np.median([one[key] for one in starts])) for key in starts[0]}


def take_turns(count, *ways):
    """Calls each of `ways` in turn, `count` times; the medians of each."""
    results = [[] for _ in ways]
    for _ in range(count):
        for way, result in zip(ways, results):
            result.append(way())
    return [medians(result) for result in results]
