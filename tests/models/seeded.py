"""Random numbers of the tests' inputs: each input is seeded by its name, so that adding one does not change another."""

import zlib

import numpy as np


def seeded(name):
    return np.random.default_rng(zlib.crc32(name.encode()))
