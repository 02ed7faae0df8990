#!/usr/bin/env python3
"""Compiled models give the bits of their source, in fresh processes, on one thread and on two, embedded and not.

They describe themselves as their source does, and refuse bad inputs with the same words.

Usage: test_compiled.py SARDONYX_COMMAND (--quick | --rest | MODEL...)
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx

import model_cases
from comparison import THREADS, report, same_bits
from sardonyx_command import CommandError, run_many


def compile_model(command, source, output, *options):
    done = subprocess.run([command, "compile", source, "-o", output, *options], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise CommandError(f"compile: exit code {done.returncode}: {done.stderr.strip()}")
    verdict = subprocess.run([command, "check", output], capture_output=True, text=True, check=False)
    if verdict.stdout.strip() != "optimal":
        raise CommandError(f"check: {verdict.stdout.strip()} {verdict.stderr.strip()}")


def interface(model):
    for each in model.graph.input:
        for dim in each.type.tensor_type.shape.dim:
            if dim.dim_value < 0:  # how some exporters write that they do not know it
                dim.ClearField("dim_value")
    return ([(each.name, str(each.type)) for each in model.graph.input], [each.name for each in model.graph.output],
            sorted((each.key, each.value) for each in model.metadata_props
                   if not each.key.startswith("ep_compatibility_info.")))


def described(command, path):
    """What a session says of itself."""
    done = subprocess.run([command, "inspect", path, "--json"], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    return {key: told[key] for key in ("metadata", "inputs", "outputs", "warnings")}


def bad_runs(told, folder):
    """Options of runs most of which must fail: inputs that are missing, unknown, of a wrong type, rank or size, and sizes
    that are allowed one by one and may not fit together."""
    def file(array):
        path = os.path.join(folder, f"{len(files)}.npy")
        np.save(path, array)
        files.append(path)
        return path

    files, runs = [], [[]]
    tensors = [each for each in told["inputs"] if "element_type" in each and "shape" in each]
    runs.append(["--random", "--input", "no such input=" + file(np.zeros(1, np.float32))])
    for each in tensors[:3]:
        shape = [dim if isinstance(dim, int) and dim >= 0 else 1 for dim in each["shape"]]
        own = {"float": np.float32, "int64": np.int64, "int32": np.int32, "bool": bool, "double": np.float64,
               "float16": np.float16}.get(each["element_type"], np.uint8)
        others = [np.zeros(shape, np.int8), np.zeros([*shape, 1], own), np.zeros(shape[1:], own)]
        fixed = [i for i, dim in enumerate(each["shape"]) if isinstance(dim, int)]
        others += [np.zeros([dim + (i == k) for i, dim in enumerate(shape)], own) for k in fixed]
        runs += [["--random", "--input", f"{each['name']}={file(array)}"] for array in others]
    for size in (0, 1, 2, 33):
        shapes = []
        for each in tensors:
            shape = "x".join(str(dim if isinstance(dim, int) and dim >= 0 else size) for dim in each["shape"])
            shapes += ["--shape", f"{each['name']}={shape or 'scalar'}"]
        runs.append(["--random", *shapes])
    return runs


def unlike_refusals(command, source, compiled, told, folder):
    """Runs that end otherwise than those of the source; and how many of the source's failed."""
    unlike, refused = [], 0
    for options in bad_runs(told, folder):
        ends = []
        for path in (source, compiled):
            done = subprocess.run([command, "run", path, "--threads", "1", *options], capture_output=True, text=True, check=False)
            ends.append((done.returncode, done.stdout, done.stderr.replace(path, "MODEL")))
        refused += ends[0][0] != 0
        if ends[0] != ends[1]:
            unlike.append(f"{' '.join(options)}: {ends[1]}, the source gives {ends[0]}")
    return unlike, refused


def test_model(command, model, folder):
    """What failed, as a list of lines."""
    failures = []
    cases = list(model.cases().values())
    path_of_source = model.file_in(folder)
    source = onnx.load(path_of_source, load_external_data=False)
    names = [output.name for output in source.graph.output]
    beside = os.path.join(folder, "beside_ctx.onnx")
    inside = os.path.join(folder, "inside_ctx.onnx")
    try:
        compile_model(command, path_of_source, beside)
        compile_model(command, path_of_source, inside, "--embed")
        onnx.checker.check_model(beside)
        if interface(onnx.load(beside)) != interface(source):
            failures.append(f"{model.name}: the compiled model has other inputs, outputs or metadata than its source")
        told = described(command, path_of_source)
        for path in (beside, inside):
            if described(command, path) != told:
                failures.append(f"{model.name}, {os.path.basename(path)}: describes itself otherwise than its source")
        unlike, refused = unlike_refusals(command, path_of_source, beside, told, folder)
        failures += [f"{model.name}: {each}" for each in unlike]
        if refused < 4:
            failures.append(f"{model.name}: only {refused} bad runs were refused")
        for threads in THREADS:
            options = ["--threads", str(threads)]
            expected = run_many(command, path_of_source, cases, names, os.path.join(folder, "source"), options)
            for path in (beside, inside):
                actual = run_many(command, path, cases, names, os.path.join(folder, "compiled"), options)
                for i, (one, other) in enumerate(zip(expected, actual)):
                    alike = all(one[name].dtype == other[name].dtype and one[name].shape == other[name].shape
                                for name in names)
                    if not alike or not same_bits(one, other):
                        failures.append(f"{model.name}, {os.path.basename(path)}, {threads} threads, case {i}: other "
                                        "bits than the source model gives")
    except CommandError as error:
        failures.append(f"{model.name}: {error}")
    sizes = [os.path.getsize(path) for path in
             (path_of_source, os.path.join(folder, "beside_CPUExecutionProvider.bin")) if os.path.exists(path)]
    if len(sizes) == 2:
        print(f"{model.name}: {len(cases)} inputs; source {sizes[0]} bytes, compiled {sizes[1]} bytes "
              f"({sizes[1] / sizes[0]:.2f}x)", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(description="Compares compiled models with their sources, bit for bit.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names of model_cases.py")
    parser.add_argument("--quick", action="store_true", help="one model of each kind")
    parser.add_argument("--rest", action="store_true", help="the models that --quick leaves out")
    args = parser.parse_args()
    chosen = [model for model in model_cases.MODELS
              if model.name in args.models or (args.quick and model.is_quick) or (args.rest and not model.is_quick)]
    if set(args.models) - {model.name for model in chosen} or not chosen:
        parser.error("no such model")
    missing = [model.name for model in chosen if model.is_missing()]
    if missing:
        sys.exit(f"test_compiled: {', '.join(missing)} is missing: run 'make models'")
    failures = []
    for model in chosen:
        with tempfile.TemporaryDirectory() as folder:
            failures += test_model(os.path.abspath(args.command), model, folder)
    sys.exit(report("test_compiled", failures))


if __name__ == "__main__":
    main()
