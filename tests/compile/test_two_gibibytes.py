#!/usr/bin/env python3
"""Compiled models around 2 GiB, the most that an ONNX file may have: embedded below it, refused above it, files beside it.

Usage: test_two_gibibytes.py SARDONYX_COMMAND
"""

import os
import subprocess
import sys
import tempfile

from chain_model import LAYER_BYTES, WIDTH, write_chain

MIB = 2**20
LIMIT = 2**31 - 1
INPUT = ("--random", "--shape", f"x0=1x{WIDTH}", "--threads", "1")


def measured(*words):
    """The finished process and its peak of resident bytes."""
    done = subprocess.run(["/usr/bin/env", "python3", "-c", MEASURE, *words], capture_output=True, text=True, check=False)
    done.stderr, _, peak = done.stderr.rpartition("peak ")
    return done, int(peak) * 1024


MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode)
"""


def main():
    command = os.path.abspath(sys.argv[1])
    failures = []

    def expect(what, truth):
        print(f"{'ok' if truth else 'FAIL'} {what}")
        if not truth:
            failures.append(what)

    def compile_it(source, *options):
        done, peak = measured(command, "compile", source, "--overwrite", *options)
        print(f"compile {os.path.basename(source)} {' '.join(options)}: exit code {done.returncode}, "
              f"peak {peak / MIB:.0f} MiB: {done.stdout} {done.stderr}")
        return done, peak

    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        for layers, fits in ((127, True), (128, False)):  # 2032 and 2048 MiB of weights
            source = write_chain(folder, layers)
            weights = layers * LAYER_BYTES
            compiled = os.path.join(folder, "model_ctx.onnx")
            done, peak = compile_it(source, "--embed")
            expect("peak at most 2.2 times the weights", peak < 2.2 * weights)
            if fits:
                expect("the embedded model is written", done.returncode == 0 and weights < os.path.getsize(compiled) <= LIMIT)
                expected = subprocess.run([command, "run", source, *INPUT], capture_output=True, text=True, check=True)
                actual = subprocess.run([command, "run", compiled, *INPUT], capture_output=True, text=True, check=True)
                expect("it gives the same", actual.stdout == expected.stdout)
                os.remove(compiled)
                continue
            expect("an embedded model is refused", done.returncode == 2)
            for word in ("InvalidArgument", str(LIMIT), "leave --embed out"):
                expect(f"the error says '{word}'", word in done.stderr)
            expect("nothing is left", sorted(os.listdir(folder)) == ["model.data", "model.onnx"])
            done, _ = compile_it(source)
            expect("two files are written", done.returncode == 0)
            expected = subprocess.run([command, "run", source, *INPUT], capture_output=True, text=True, check=True)
            actual = subprocess.run([command, "run", compiled, *INPUT], capture_output=True, text=True, check=True)
            expect("they give the same", actual.stdout == expected.stdout)
    print(f"test_two_gibibytes: {len(failures)} failures: {', '.join(failures)}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
