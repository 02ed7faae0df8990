#!/usr/bin/env python3
"""Reads a line of text from a picture with PP-OCRv4: once cold (the model is compiled), once hot (it is mapped).

Usage: demo.py SARDONYX_COMMAND MODEL.onnx PICTURE.png
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from PIL import Image


def picture_tensor(path):
    """A picture of height 48 as float32 [1, 3, 48, width] in -1..1, blue first."""
    rgb = np.asarray(Image.open(path).convert("RGB"), np.float32)
    return np.ascontiguousarray(((rgb[:, :, ::-1] / 255 - 0.5) / 0.5).transpose(2, 0, 1)[None])


def recogniser_facts(path):
    """The names of input and output, and the characters: class 0 is the gap between letters."""
    model = onnx.load(path)
    listed = {entry.key: entry.value for entry in model.metadata_props}["character"].splitlines()
    return model.graph.input[0].name, model.graph.output[0].name, ["", *listed, " "]


def decode(scores, characters):
    """CTC: the best class of each column, repetitions and gaps removed. scores: [1, columns, classes]."""
    best = scores[0].argmax(axis=1)
    return "".join(characters[c] for i, c in enumerate(best) if c and (i == 0 or best[i - 1] != c))


def run_model(command, model, inputs, outputs, cache):
    """Runs the model in a process of its own, as an application would. inputs, outputs: name -> .npy file."""
    line = [command, "run", model, "--cache", cache]
    for name, path in inputs.items():
        line += ["--input", f"{name}={path}"]
    for name, path in outputs.items():
        line += ["--output", f"{name}={path}"]
    start = time.perf_counter()
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    command, model, picture = sys.argv[1:]
    if not os.access(command, os.X_OK):
        sys.exit(f"demo: {command} is not built")
    input_name, output_name, characters = recogniser_facts(model)
    with tempfile.TemporaryDirectory() as folder:
        source, result, cache = (os.path.join(folder, name) for name in ("x.npy", "y.npy", "cache"))
        np.save(source, picture_tensor(picture))
        print(f"{picture}:")
        texts = []
        for label in ("cold, compiles", "hot, from the cache"):
            seconds = run_model(command, model, {input_name: source}, {output_name: result}, cache)
            texts.append(decode(np.load(result), characters))
            print(f"  {seconds * 1000:7.1f} ms  {label:20}  {texts[-1]}")
            os.remove(result)
        shutil.rmtree(cache, ignore_errors=True)
    if texts[0] != texts[1]:
        sys.exit("demo: the two answers differ")


if __name__ == "__main__":
    main()
