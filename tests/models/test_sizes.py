#!/usr/bin/env python3
"""Real models at random sizes, from one up, shrinking and growing in one session, give what onnxruntime gives.

A seed makes one list of input shapes for each model: ones, the largest size, then anything between in random order,
some of them again. Every size that onnxruntime accepts must run and agree; the rest is left out.

    test_sizes.py COMMAND [--first SEED] [--count N] [--seconds S] [--model NAME]

Stops before a new seed after S seconds, so that a slow machine tests fewer. A failure names its seed: --first SEED
--count 1 repeats it.
"""

import argparse
import os
import sys
import tempfile
import time

import numpy as np
import onnxruntime

import model_cases
from sardonyx_command import CommandError, run_many

SIZES_PER_SEED = 10
# Sizes that a network was not trained on amplify rounding: the bound is relative to the output's range.
TOLERANCE = 1e-3


def image(rng, shape):
    return {"x": rng.uniform(-1, 1, shape).astype(np.float32)}


def text(rng, shape):
    mask = np.ones(shape, np.int64)
    mask[0, 1 + int(rng.integers(shape[1])):] = 0
    return {"input_ids": rng.integers(999, 30522, shape), "attention_mask": mask,
            "token_type_ids": rng.integers(0, 2, shape)}


# Largest size of each axis; fixed axes are negative. Then what sizes are mostly multiples of: the detector adds
# feature maps that it has halved and doubled again, and onnxruntime refuses most others, too.
SHAPES = {
    "ppocr-det": (image, (3, -3, 200, 200), 32),
    "ppocr-rec": (image, (4, -3, -48, 400), 1),
    "ppocr-cls": (image, (6, -3, 100, 250), 1),
    "minilm": (text, (5, 160), 1),
}


def shapes_of(rng, limits, multiple):
    """Shapes to try in this order. Small sizes are as likely as large ones (uniform in the logarithm)."""
    def pick(limit):
        if limit < 0:
            return -limit
        size = int(np.exp(rng.uniform(0, np.log(limit + 1))))
        return -(-size // multiple) * multiple if limit > multiple and rng.random() < 0.8 else size

    shapes = [tuple(max(1, -limit) for limit in limits)]
    shapes += [tuple(pick(limit) for limit in limits) for _ in range(SIZES_PER_SEED - 4)]
    shapes.insert(1 + int(rng.integers(3)), tuple(abs(limit) if limit < 0 else max(1, limit // 2) for limit in limits))
    return shapes + [shapes[int(i)] for i in rng.integers(len(shapes), size=2)]


def reference(session, feeds):
    """The outputs, or None where onnxruntime refuses the size."""
    try:
        return session.run(None, feeds)
    except Exception:  # its exceptions share no base class of their own
        return None


def difference(actual, expected):
    """What is wrong with a result, or None."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"is {actual.dtype}{list(actual.shape)}, expected {expected.dtype}{list(expected.shape)}"
    scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
    error = np.abs(actual.astype(np.float64) - expected)
    largest = float(np.max(np.where(np.isfinite(error), error, np.inf), initial=0))
    return f"off by {largest:.3g}, scale {scale:.3g}" if largest > TOLERANCE * scale else None


def check(command, name, session, seed, folder):
    """The faults of one model with one seed, and how many sizes were compared."""
    make, limits, multiple = SHAPES[name]
    rng = np.random.default_rng([seed, sorted(SHAPES).index(name)])
    feeds = [make(rng, shape) for shape in shapes_of(rng, limits, multiple)]
    tried = [(arrays, result) for arrays in feeds if (result := reference(session, arrays)) is not None]
    outputs = [output.name for output in session.get_outputs()]
    path = os.path.join(model_cases.FOLDER, name + ".onnx")
    where = f"{name}, seed {seed}"
    try:
        results = run_many(command, path, [arrays for arrays, _ in tried], outputs, folder,
                           ["--threads", str(1 + seed % 2)])
    except CommandError as error:
        return [f"{where}: {error}"], 0
    faults = []
    for (arrays, expected), actual in zip(tried, results):
        shape = list(next(iter(arrays.values())).shape)
        for output, wanted in zip(outputs, expected):
            fault = difference(actual[output], wanted)
            if fault is not None:
                faults.append(f"{where}, input {shape}, output {output}: {fault}")
    return faults, len(tried)


def main():
    parser = argparse.ArgumentParser(description="Compares real models at random sizes with onnxruntime.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--count", type=int, default=1, metavar="N")
    parser.add_argument("--seconds", type=float, default=30, metavar="S")
    parser.add_argument("--model", choices=sorted(SHAPES), action="append", help="default: all")
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    sessions = {}
    for name in args.model or SHAPES:
        path = os.path.join(model_cases.FOLDER, name + ".onnx")
        if not os.path.exists(path):
            sys.exit(f"test_sizes: {path} is missing: run 'make models'")
        sessions[name] = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    faults, compared = [], dict.fromkeys(sessions, 0)
    for seed in range(args.first, args.first + args.count):
        if seed > args.first and time.monotonic() > end:
            break
        for name, session in sessions.items():
            with tempfile.TemporaryDirectory() as folder:
                found, count = check(os.path.abspath(args.command), name, session, seed, folder)
            faults += found
            compared[name] += count
    for fault in faults:
        print("FAIL", fault)
    print(f"test_sizes: {len(faults)} failures;", ", ".join(f"{name} {n} sizes" for name, n in compared.items()))
    sys.exit(1 if faults or not all(compared.values()) else 0)


if __name__ == "__main__":
    main()
