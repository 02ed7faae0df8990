"""The real models of the tests, and the inputs each of them is tried with.

Every case is seeded by its name: adding one does not change another. Models come from tools/fetch_models.py.
"""

import dataclasses
import os
import zlib
from typing import Callable

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, ".cache", "models")


def seeded(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def image_cases(name, low, high, standard, other, small, layout="nchw"):
    """Five inputs in low..high, the range of the model's own preprocessing. Shapes as in the model's layout."""

    def uniform(label, shape, a=low, b=high):
        return {name: seeded(label).uniform(a, b, shape).astype(np.float32)}

    def edges(label, shape):
        return {name: seeded(label).choice(np.array([low, high], np.float32), shape)}

    def smooth(label, shape):
        # What pictures look like to a network: neighbouring pixels are alike.
        batch, *rest = shape
        rows, columns = rest[1:] if layout == "nchw" else rest[:2]
        phase = seeded(label).uniform(0, 6.28, (batch, 3, 1, 1))
        y = np.linspace(0, 9, rows).reshape(1, 1, rows, 1)
        x = np.linspace(0, 13, columns).reshape(1, 1, 1, columns)
        wave = (np.sin(x + phase) * np.cos(y - phase) + 1) / 2 * (high - low) + low
        wave = wave.astype(np.float32)
        return {name: np.ascontiguousarray(wave if layout == "nchw" else wave.transpose(0, 2, 3, 1))}

    return {
        "standard": uniform("standard", standard),
        "other size": uniform("other size", other),
        "zeros": {name: np.zeros(small, np.float32)},
        "negatives": uniform("negatives", small, low, 0.0),
        "edges": edges("edges", small),
        "smooth": smooth("smooth", standard),
    }


def text_cases():
    """Token ids of the vocabulary with masks: [CLS] ... [SEP], then padding."""
    vocabulary = 30522

    def batch(label, lengths, width, ids=None):
        rng = seeded(label)
        tokens = np.zeros((len(lengths), width), np.int64)
        mask = np.zeros_like(tokens)
        for row, length in enumerate(lengths):
            tokens[row, :length] = rng.integers(999, vocabulary, length) if ids is None else rng.choice(ids, length)
            tokens[row, 0] = 101
            tokens[row, length - 1] = 102
            mask[row, :length] = 1
        return {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}

    pair = batch("pair", [24], 24)
    pair["token_type_ids"][:, 12:] = 1
    zeros = batch("zeros", [16], 16)
    zeros["input_ids"][:] = 0
    return {
        "standard": batch("standard", [16], 16),
        "padded batch": batch("padded batch", [31, 7, 2, 19], 32),
        "zeros": zeros,
        "edges of the vocabulary": batch("edges", [20, 20], 20, ids=[0, 1, vocabulary - 1]),
        "one token": {name: np.full((1, 1), value, np.int64)
                      for name, value in (("input_ids", 101), ("attention_mask", 1), ("token_type_ids", 0))},
        "sentence pair": pair,
        "long": batch("long", [256], 256),
    }


@dataclasses.dataclass(frozen=True)
class RealModel:
    name: str  # in tools/fetch_models.py
    cases: Callable  # -> {label: {input: array}}
    is_quick: bool  # in `make test`; the others in `make test-full`

    @property
    def path(self):
        return os.path.join(FOLDER, self.name + ".onnx")


# Ranges: PP-OCR detection normalises with the mean and deviation of ImageNet, recognition and classification to -1..1;
# Open NSFW subtracts 104, 117, 123 from 0..255.
MODELS = (
    RealModel("ppocr-rec", lambda: image_cases("x", -1, 1, (1, 3, 48, 320), (3, 3, 48, 136), (1, 3, 48, 64)), True),
    RealModel("minilm", text_cases, True),
    RealModel("open-nsfw", lambda: image_cases("input:0", -123, 151, (1, 224, 224, 3), (2, 224, 224, 3),
                                               (1, 224, 224, 3), layout="nhwc"), True),
    RealModel("ppocr-det", lambda: image_cases("x", -2.12, 2.64, (1, 3, 320, 320), (2, 3, 160, 224),
                                               (1, 3, 96, 64)), False),
    RealModel("ppocr-cls", lambda: image_cases("x", -1, 1, (1, 3, 48, 192), (5, 3, 48, 192), (1, 3, 48, 192)), False),
)
