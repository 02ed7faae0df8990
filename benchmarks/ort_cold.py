#!/usr/bin/env python3
"""One cold start of onnxruntime, in a process of its own; compare_ort.py runs it.

Prints JSON: milliseconds of load (import), create, first and second run; rss, the bytes of memory beyond NumPy's.

Usage: ort_cold.py MODEL THREADS {"input": "file.npy", ...}
"""

import json
import sys
import time

import numpy as np


def peak_rss_bytes():
    # Not getrusage: its figure survives exec and starts with the parent's.
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))


def ort_session(path, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def timed_ms(work):
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def main():
    model, threads, files = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    inputs = {name: np.load(path) for name, path in files.items()}
    before = peak_rss_bytes()
    numbers = {}

    def load():
        import onnxruntime  # noqa: F401

    sessions = []
    numbers["load"] = timed_ms(load)
    numbers["create"] = timed_ms(lambda: sessions.append(ort_session(model, threads)))
    numbers["first"] = timed_ms(lambda: sessions[0].run(None, inputs))
    numbers["second"] = timed_ms(lambda: sessions[0].run(None, inputs))
    numbers["rss"] = peak_rss_bytes() - before
    print(json.dumps(numbers))


if __name__ == "__main__":
    main()
