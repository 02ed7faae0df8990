#!/usr/bin/env python3
"""The example compile_once: it compiles at its first start, and later only when it must.

Usage: test_compile_once.py COMPILE_ONCE
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import onnx
from onnx import TensorProto, helper


def write_model(path):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "m.onnx"
        write_model(model)
        part = model.with_name("m_CPUExecutionProvider.bin")

        def touch():
            later = time.time() + 5
            os.utime(model, (later, later))
            return "the source is newer"

        def settle():
            now = time.time() - 60
            os.utime(model, (now, now))

        def remove():
            settle()
            part.unlink()
            return part.name

        def cut():
            part.write_bytes(part.read_bytes()[:5000])
            return part.name

        # What is done before a start, which gives what the reason to compile says; None: it must not compile.
        steps = [lambda: "not compiled yet", lambda: None, touch, remove, lambda: None, cut, lambda: None]
        for number, step in enumerate(steps):
            reason = step()
            done = subprocess.run([program, str(model)], capture_output=True, text=True, check=False)
            lines = done.stdout.splitlines()
            compiled = [line for line in lines if line.startswith("compile")]
            good = done.returncode == 0 and "output    y: 3 elements" in lines and len(compiled) == (reason is not None)
            if not good or (reason is not None and reason not in compiled[0]):
                print(f"step {number}: expected the reason {reason!r}, got {done.returncode} {done.stdout}{done.stderr}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
