"""Inputs of models that look at pictures."""

import numpy as np
from seeded import seeded


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
