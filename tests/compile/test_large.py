#!/usr/bin/env python3
"""Memory of sessions with half a gigabyte of weights: from the source, and compiled.

A compiled model's weights are mapped: a process has no copy of its own, and two processes share one.

Usage: test_large.py SARDONYX_COMMAND SDX_LOAD_FROM_MEMORY
"""

import os
import subprocess
import sys
import tempfile
import time

from chain_model import LAYER_BYTES, WIDTH, write_chain
from waiting_process import WaitingProcess

MIB = 2**20
LAYERS = 32
WEIGHTS = LAYERS * LAYER_BYTES
INPUT = ("--shape", f"x0=1x{WIDTH}")


def peak_of_start(command, model):
    """Peak resident bytes of a process that creates a session and runs twice."""
    line = [command, "bench", model, "--threads", "1", *INPUT]
    done = subprocess.run([*line, "--spawned-at", str(time.monotonic_ns())], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[4])


def bytes_beside_the_buffer(program, model):
    """What loading from memory and a run take beside the bytes of the model that the caller holds."""
    done = subprocess.run([program, model], capture_output=True, text=True, check=True)
    before, peak = map(int, done.stdout.split())
    return peak - before


def main():
    command, from_memory = map(os.path.abspath, sys.argv[1:])
    failures = []

    def expect(what, value, most):
        print(f"{what}: {value / MIB:.0f} MiB = {value / WEIGHTS:.2f}x the weights, at most {most:.2f}x")
        if value > most * WEIGHTS:
            failures.append(what)

    with tempfile.TemporaryDirectory() as folder:
        source = write_chain(folder, LAYERS)
        expect("peak from the source", peak_of_start(command, source), 2.2)
        subprocess.run([command, "compile", source], check=True, stdout=subprocess.DEVNULL)
        compiled, artifact = os.path.join(folder, "model_ctx.onnx"), "model_CPUExecutionProvider.bin"
        expect("compiled file", os.path.getsize(os.path.join(folder, artifact)), 1.3)
        expect("peak from the compiled model", peak_of_start(command, compiled), 1.2)
        first, second = (WaitingProcess(command, compiled, INPUT) for _ in range(2))
        pages = first.pages(artifact)
        expect("pages of the compiled file in memory", pages.get("Rss", 0), 1.15)
        expect("of them the process's own", pages.get("Private_Dirty", 0), 0)
        shared = pages.get("Shared_Clean", 0)
        print(f"shared with a second process: {shared / MIB:.0f} MiB")
        if shared < 0.95 * WEIGHTS:
            failures.append("shared pages")
        first.close()
        second.close()
        one_file = write_chain(folder, LAYERS, "one", in_one_file=True)
        expect("from the bytes of the source, beside them", bytes_beside_the_buffer(from_memory, one_file), 1.03)
        expect("peak from the source in one file", peak_of_start(command, one_file), 2.2)
        subprocess.run([command, "compile", one_file, "--embed"], check=True, stdout=subprocess.DEVNULL)
        embedded = os.path.join(folder, "one_ctx.onnx")
        expect("peak from the embedded model", peak_of_start(command, embedded), 1.2)
        expect("from the bytes of the embedded model, beside them", bytes_beside_the_buffer(from_memory, embedded), 1.03)
    print(f"test_large: {len(failures)} failures: {', '.join(failures)}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
