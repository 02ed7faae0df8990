#!/usr/bin/env python3
"""Compiled models give the bits of their source, in fresh processes, on one thread and on two, embedded and not.

Usage: test_compiled.py SARDONYX_COMMAND (--quick | --rest | MODEL...)
"""

import argparse
import os
import subprocess
import sys
import tempfile

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
