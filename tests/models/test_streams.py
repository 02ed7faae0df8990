#!/usr/bin/env python3
"""Silero VAD on a stream: states carried over 200 windows stay with onnxruntime, and the exports with each other.

Both carry their own state, so that errors add up if they can. The exports at 16 kHz hold one set of weights (all but
silero-vad-half): their probabilities must agree.

Usage: test_streams.py SARDONYX_COMMAND [--quick]
"""

import argparse
import dataclasses
import os
import sys
import tempfile

import numpy as np

from comparison import difference, ort_session, report, run_everywhere, runner
from model_cases import FOLDER
from sardonyx_command import output_of
from sound_cases import silero_windows

WINDOWS = 200
AGREEMENT = 1e-5  # between exports, in probability


@dataclasses.dataclass(frozen=True)
class Stream:
    name: str
    rate: int
    is_quick: bool
    has_rate: bool = False  # an input `sr`
    of_family: bool = True  # the weights that most exports at 16 kHz share
    chunk: int = 1  # windows in one run
    states: dict = dataclasses.field(default_factory=lambda: {"state": "stateN"})  # input -> output that follows it
    state_shape: tuple = (2, 1, 128)
    probability: str = "output"


STREAMS = (
    Stream("silero-vad", 16000, True, has_rate=True),
    Stream("silero-vad", 8000, True, has_rate=True, of_family=False),
    Stream("silero-vad-16k-op15", 16000, False, has_rate=True),
    Stream("silero-vad-16k-sequence", 16000, True, chunk=20, states={"h": "hn", "c": "cn"}, state_shape=(1, 1, 128),
           probability="speech_probs"),
    Stream("silero-vad-half", 16000, False, of_family=False),
    Stream("silero-vad-op18-ifless", 16000, True, has_rate=True),
    Stream("silero-vad-op18-ifless", 8000, False, has_rate=True, of_family=False),
    Stream("silero-vad-openvino-16k", 16000, False),
)


def inputs_of(stream):
    """What each run gets beside the state."""
    windows = silero_windows("stream", WINDOWS, stream.rate)
    chunks = [np.concatenate(windows[i:i + stream.chunk]) for i in range(0, WINDOWS, stream.chunk)]
    return [{"input": chunk} | ({"sr": np.array(stream.rate, np.int64)} if stream.has_rate else {}) for chunk in chunks]


def reference(stream, path):
    session = ort_session(path)
    names = [output.name for output in session.get_outputs()]
    state = {name: np.zeros(stream.state_shape, np.float32) for name in stream.states}
    results = []
    for inputs in inputs_of(stream):
        results.append(dict(zip(names, session.run(names, inputs | state))))
        state = {name: results[-1][after] for name, after in stream.states.items()}
    return names, results


def carried(stream):
    """The runs, each with the state that the run before it gave."""
    first = {name: np.zeros(stream.state_shape, np.float32) for name in stream.states}
    return [inputs | (first if i == 0 else {name: output_of(i - 1, after) for name, after in stream.states.items()})
            for i, inputs in enumerate(inputs_of(stream))]


def probabilities(stream, results):
    return np.concatenate([result[stream.probability].ravel() for result in results])


def test_stream(command, stream, folder, failures):
    """Returns the probabilities of each way of running."""
    path = os.path.join(FOLDER, stream.name + ".onnx")
    what = f"{stream.name} at {stream.rate} Hz"
    names, expected = reference(stream, path)
    wanted = probabilities(stream, expected)
    if not (wanted.min() < 0.1 and wanted.max() > 0.9):
        failures.append(f"{what}: onnxruntime hears {wanted.min()}..{wanted.max()}: the stream tests nothing")
    heard = {}
    run = runner(command, path, carried(stream), names, folder, f"{stream.name}-{stream.rate}")
    for where, results in run_everywhere(run, what, failures):
        largest = 0.0
        for i, (actual, one) in enumerate(zip(results, expected)):
            for name in names:
                problem, error = difference(actual[name], one[name])
                largest = max(largest, error)
                if problem:
                    failures.append(f"{where}, run {i}, output {name}: {problem}")
                    break
        heard[where.removeprefix(what)] = probabilities(stream, results)
        print(f"{where}: {len(results)} runs, largest error {largest:.2g}", flush=True)
    return heard


def main():
    parser = argparse.ArgumentParser(description="Compares streams of Silero VAD with onnxruntime.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("--quick", action="store_true", help="the exports that differ most; default: all")
    args = parser.parse_args()
    failures = []
    family = {}
    for stream in STREAMS:
        if stream.is_quick or not args.quick:
            with tempfile.TemporaryDirectory() as folder:
                heard = test_stream(os.path.abspath(args.command), stream, folder, failures)
            if stream.of_family:
                family[stream.name] = heard
    first = next(iter(family))
    for name, heard in list(family.items())[1:]:
        for way in heard.keys() & family[first].keys():
            apart = float(np.abs(heard[way] - family[first][way]).max())
            print(f"{name} and {first}{way}: {apart:.2g} apart")
            if not apart <= AGREEMENT:
                failures.append(f"{name} and {first}{way}: probabilities {apart:.3g} apart, allowed {AGREEMENT}")
    sys.exit(report("test_streams", failures))


if __name__ == "__main__":
    main()
