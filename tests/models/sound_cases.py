"""Inputs of models that listen."""

import numpy as np
from seeded import seeded


def sound(label, count, rate):
    """`count` samples in -1..1: a voice's pitch and its overtones that come and go, over noise."""
    rng = seeded(label)
    t = np.arange(count) / rate
    pitch = 120 + 40 * np.sin(2 * np.pi * 0.7 * t + rng.uniform(0, 6))
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    voice = sum(np.sin(k * phase + rng.uniform(0, 6)) / k for k in range(1, 12))
    loudness = np.clip(np.sin(2 * np.pi * 1.3 * t + rng.uniform(0, 6)), 0, 1)
    return (0.25 * voice * loudness + 0.01 * rng.standard_normal(count)).astype(np.float32)


def basic_pitch_cases():
    """Windows of 43844 samples at 22050 Hz."""
    name, count, rate = "serving_default_input_2:0", 43844, 22050

    def windows(*of):
        return {name: np.stack(of).astype(np.float32).reshape(len(of), count, 1)}

    t = np.arange(count) / rate
    chord = sum(np.sin(2 * np.pi * f * t) for f in (220.0, 277.18, 329.63)) / 3
    return {
        "standard": windows(chord),
        "batch": windows(sound("pitch a", count, rate), chord * np.exp(-3 * t), sound("pitch b", count, rate)),
        "silence": windows(np.zeros(count)),
        "noise": windows(seeded("pitch noise").uniform(-1, 1, count)),
        "edges": windows(seeded("pitch edges").choice([-1.0, 1.0], count)),
    }


def smart_turn_cases():
    """Log-mel features of eight seconds as Whisper takes them: 80 bands, 100 frames a second."""

    def features(*of):
        return {"input_features": np.stack(of).astype(np.float32)}

    def speech(label):
        rng = seeded(label)
        frame, band = np.arange(800), np.arange(80)[:, None]
        loudness = np.clip(np.sin(frame / 31 + rng.uniform(0, 6)), 0, 1)
        formants = sum(np.exp(-((band - b - 4 * np.sin(frame / 23 + b)) / 5) ** 2) for b in (8, 24, 41))
        return np.clip(-0.6 + 1.4 * loudness * formants + 0.05 * rng.standard_normal((80, 800)), -1, 1.5)

    return {
        "standard": features(speech("turn")),
        "batch": features(speech("turn a"), speech("turn b"), speech("turn c")),
        "zeros": features(np.zeros((80, 800))),
        "silence": features(np.full((80, 800), -0.7)),
        "noise": features(seeded("turn noise").uniform(-1, 1.5, (80, 800))),
    }


def silero_windows(label, count, rate):
    """`count` windows of a stream as Silero VAD takes them: 32 ms each, after the last 4 ms of the one before."""
    size, context = rate * 32 // 1000, rate * 4 // 1000
    samples = np.concatenate([np.zeros(context, np.float32), sound(label, count * size, rate)])
    return [samples[None, i * size:(i + 1) * size + context] for i in range(count)]


def silero_cases(has_batch, rates):
    """Single windows; test_streams.py carries the state. `rates` is None where the export has no input `sr`."""

    def window(label, rate, batch=1):
        rng = seeded("silero " + label)
        inputs = {"input": np.concatenate([silero_windows(f"{label} {row}", 9, rate)[8] for row in range(batch)]),
                  "state": rng.uniform(-1, 1, (2, batch, 128)).astype(np.float32)}
        return inputs if rates is None else inputs | {"sr": np.array(rate, np.int64)}

    first = window("first", 16000)
    first["state"][:] = 0
    silence = window("silence", 16000)
    silence["input"][:] = 0
    edges = window("edges", 16000)
    edges["input"] = seeded("silero loud").choice(np.array([-1, 1], np.float32), edges["input"].shape)
    cases = {"standard": window("standard", 16000), "first": first, "silence": silence, "edges": edges,
             "other": window("other", 16000)}
    if has_batch:
        cases["batch"] = window("batch", 16000, 3)
    if rates and 8000 in rates:
        cases |= {"8 kHz": window("8 kHz", 8000), "8 kHz batch": window("8 kHz batch", 8000, 2)}
    return cases


def silero_sequence_cases():
    """Many windows in one run, with the state of the LSTM as h and c."""

    def windows(label, count):
        rng = seeded("silero sequence " + label)
        return {"input": np.concatenate(silero_windows(label, count, 16000)),
                "h": rng.uniform(-1, 1, (1, 1, 128)).astype(np.float32),
                "c": rng.uniform(-1, 1, (1, 1, 128)).astype(np.float32)}

    first = windows("first", 31)
    first["h"][:] = first["c"][:] = 0
    silence = windows("silence", 5)
    silence["input"][:] = 0
    return {"standard": windows("standard", 31), "one window": windows("one", 1), "first": first, "silence": silence,
            "long": windows("long", 200)}
