#!/usr/bin/env python3
"""Measures how a model starts: from its source, compiled, and in onnxruntime from source and from its saved model.

Fresh processes that take turns, the files in the page cache, medians of nine. Also the memory of a process that runs a
compiled model, and what two processes share (from /proc/PID/smaps).

Usage: compare_start.py SARDONYX_COMMAND [--write FILE] [MODEL...]      (MODEL: of tests/models/model_cases.py, or
       synthetic-SIZE with SIZE in MiB of weights, as synthetic-1024)
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
sys.path[:0] = [os.path.join(ROOT, "tests", suite) for suite in ("models", "compile")]

import model_cases  # noqa: E402
from chain_model import LAYER_BYTES, WIDTH, write_chain  # noqa: E402
from cold_starts import ort_start, sardonyx_start, take_turns  # noqa: E402
from page import cpu_name, write_between_markers  # noqa: E402
from waiting_process import WaitingProcess  # noqa: E402

PROCESSES = 9
THREADS = 1
SECONDS_TO_CHECK_WEIGHTS = 0.5  # in the background, after the first run
MODELS = ("ppocr-cls", "ppocr-rec", "silero-vad", "magika", "open-nsfw", "minilm", "synthetic-1024")


def save_with_onnxruntime(source, target):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.log_severity_level = 3
    options.optimized_model_filepath = target
    if os.path.getsize(source) > 2**20 or os.path.exists(os.path.join(os.path.dirname(source), "model.data")):
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name",
                                         os.path.basename(target) + ".data")
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def size_of(*paths):
    return sum(os.path.getsize(path) for path in paths if os.path.exists(path))


def measure_memory(command, compiled, artifact, empty, input_words):
    """Bytes, by what they are for; what a process with a tiny model has, too, is left out.

    heap: anonymous memory without the arena and the inputs and outputs that the process holds; code: pages of the
    program and its libraries, which are in the page cache once for all processes; mapped, dirty, shared: pages of the
    artifact, those that the process made its own, those shared with a second process."""
    plan = json.loads(subprocess.run([command, "inspect", compiled, "--plan", "--json", *input_words], capture_output=True,
                                     text=True, check=True).stdout)
    values = plan["output_bytes"] + sum(each["size_bytes"] for each in plan["buffers"] if each["place"] == "input")
    first, second = (WaitingProcess(command, compiled, input_words) for _ in range(2))
    tiny = WaitingProcess(command, empty, ["--shape", "x=1"])
    time.sleep(SECONDS_TO_CHECK_WEIGHTS)
    ours, all_pages, tiny_pages = first.pages(os.path.basename(artifact)), first.pages(), tiny.pages()
    anonymous = all_pages["Anonymous"] - tiny_pages["Anonymous"]
    mapped = ours.get("Rss", 0)
    result = {"heap": anonymous - plan["arena_bytes"] - values, "arena": plan["arena_bytes"], "values": values,
              "code": all_pages["Rss"] - tiny_pages["Rss"] - anonymous - mapped, "mapped": mapped,
              "dirty": ours.get("Private_Dirty", 0), "shared": ours.get("Shared_Clean", 0)}
    for process in (first, second, tiny):
        process.close()
    return result


def measure(command, name, folder):
    if name.startswith("synthetic-"):
        source = write_chain(folder, int(name.split("-")[1]) * 2**20 // LAYER_BYTES)
        inputs = {"x0": np.random.default_rng(2).random((1, WIDTH), np.float32)}
        source_bytes = size_of(source, os.path.join(folder, "model.data"))
    else:
        case = next(model for model in model_cases.MODELS if model.name == name)
        source, inputs = case.file_in(folder), case.cases()["standard"]
        source_bytes = size_of(source)
    files = {}
    for i, (key, array) in enumerate(inputs.items()):
        files[key] = os.path.join(folder, f"{i}.npy")
        np.save(files[key], array)
    words = [word for key, path in files.items() for word in ("--input", f"{key}={path}")]
    compiled = os.path.join(folder, "compiled_ctx.onnx")
    subprocess.run([command, "compile", source, "-o", compiled, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
    artifact = os.path.join(folder, "compiled_CPUExecutionProvider.bin")
    saved = os.path.join(folder, "saved.onnx")
    save_with_onnxruntime(source, saved)
    cold, hot, ort, ort_saved = take_turns(
        PROCESSES, lambda: sardonyx_start(command, source, THREADS, words),
        lambda: sardonyx_start(command, compiled, THREADS, words), lambda: ort_start(source, THREADS, files),
        lambda: ort_start(saved, THREADS, files))
    return {"name": name, "source_bytes": source_bytes, "artifact_bytes": size_of(artifact), "cold": cold, "hot": hot,
            "ort": ort, "ort_saved": ort_saved,
            "memory": measure_memory(command, compiled, artifact, tiny_model(folder), words)}


def tiny_model(folder):
    from onnx import TensorProto, helper, save
    path = os.path.join(folder, "tiny.onnx")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N"]) for name in "xy"]
    save(helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "tiny", ends[:1], ends[1:]),
                           ir_version=10, opset_imports=[helper.make_opsetid("", 21)]), path)
    return path


def tables(rows):
    import onnxruntime
    mib = 2**20
    lines = [f"{cpu_name()}; onnxruntime {onnxruntime.__version__}; {THREADS} thread; medians of {PROCESSES} fresh "
             "processes, milliseconds to create the session. Saved: onnxruntime's own optimised model.", "",
             "| model | source, MiB | compiled, MiB | Sardonyx, source | Sardonyx, compiled | first run | onnxruntime, "
             "source | onnxruntime, saved | compiled against onnxruntime |", "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row['name']} | {row['source_bytes'] / mib:.1f} | {row['artifact_bytes'] / mib:.1f} "
                     f"({row['artifact_bytes'] / row['source_bytes']:.2f}x) | {row['cold']['create']:.1f} "
                     f"| **{row['hot']['create']:.2f}** | {row['hot']['first']:.2f} | {row['ort']['create']:.1f} "
                     f"| {row['ort_saved']['create']:.1f} | {row['ort']['create'] / row['hot']['create']:.0f}x sooner |")
    lines += ["", "Memory of a process after its first run of the compiled model beyond that of a process with a one-node "
              "model, MiB. Of the model: resident pages of the compiled file, and the heap (steps, tables, names). Of the run: "
              "the arena, and the inputs and outputs that the caller holds. Code: pages of the program that the tiny model "
              "does not touch; all processes share them. Of the file's pages: those that the process made its own, and those "
              "that a second process shares.", "",
              "| model | compiled file | the model | heap in it | arena | inputs, outputs | code | own pages of the file "
              "| shared pages of the file |", "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        memory = row["memory"]
        model = memory["mapped"] + memory["heap"]
        columns = [memory[key] for key in ("heap", "arena", "values", "code", "dirty", "shared")]
        lines.append(f"| {row['name']} | {row['artifact_bytes'] / mib:.1f} | {model / mib:.1f} "
                     f"({model / row['artifact_bytes']:.2f}x) | {' | '.join(f'{each / mib:.1f}' for each in columns)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Measures starts of compiled models.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"default: {', '.join(MODELS)}")
    parser.add_argument("--write", metavar="FILE", help="put the tables between the markers of this page")
    args = parser.parse_args()
    command, rows = os.path.abspath(args.command), []
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    for name in args.models or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            row = measure(command, name, folder)
        rows.append(row)
        print(f"{name}: create {row['cold']['create']:.1f} from source, {row['hot']['create']:.2f} compiled, onnxruntime "
              f"{row['ort']['create']:.1f} ms", flush=True)
    text = tables(rows)
    print("\n" + text)
    if args.write:
        write_between_markers(args.write, "benchmarks/compare_start.py", text)


if __name__ == "__main__":
    main()
