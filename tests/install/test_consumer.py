"""The README's first program compiles as printed against an installed Sardonyx and prints what it says.

Run by ctest with the build folder as argument: installs into a scratch prefix, takes the C++ and CMake
blocks out of README.md, builds them as a newcomer would (once with find_package, once with pkg-config)
and runs the program on a small model.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]


def block(language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    if not found:
        raise SystemExit(f"README.md has no {language} block")
    return found[0]


def expected_output() -> str:
    found = re.search(r"prints:\n\n```text\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    if not found:
        raise SystemExit("README.md does not say what its first program prints")
    return found.group(1)


def write_model(path: pathlib.Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])
    weights = helper.make_tensor("w", TensorProto.FLOAT, [3, 2], [1, 4, 2, 5, 3, 6])
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Relu", ["t"], ["y"])]
    graph = helper.make_graph(nodes, "linear", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)


def run(*command: str, cwd: pathlib.Path, env=None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed with {done.returncode}:\n{done.stdout}")
    return done.stdout


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = pathlib.Path(scratch_name)
        prefix = scratch / "prefix"
        run("cmake", "--install", str(build), "--prefix", str(prefix), cwd=scratch)
        app = scratch / "app"
        app.mkdir()
        (app / "main.cc").write_text(block("cpp"))
        (app / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(app CXX)\n"
            "add_executable(app main.cc)\n" + block("cmake"))
        write_model(app / "model.onnx")
        run("cmake", "-S", ".", "-B", "out", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=app)
        run("cmake", "--build", "out", cwd=app)
        printed = run(str(app / "out" / "app"), "model.onnx", cwd=app)
        assert printed == expected_output(), f"printed {printed!r}, README says {expected_output()!r}"

        library_folder = next(prefix.rglob("sardonyx.pc")).parent
        env = dict(os.environ, PKG_CONFIG_PATH=str(library_folder))
        flags = run("pkg-config", "--cflags", "--libs", "sardonyx", cwd=app, env=env).split()
        run("g++", "-std=c++20", "main.cc", "-o", "by_pkg_config", *flags, cwd=app)
        env = dict(os.environ, LD_LIBRARY_PATH=str(library_folder.parent))
        printed = run(str(app / "by_pkg_config"), "model.onnx", cwd=app, env=env)
        assert printed == expected_output(), f"printed {printed!r}"
    print("the README's program builds and runs, by find_package and by pkg-config")


if __name__ == "__main__":
    main()
