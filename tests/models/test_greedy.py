#!/usr/bin/env python3
"""Flan-T5 small, dynamically quantised, writes the tokens that onnxruntime writes, greedily, 32 of them.

The decoder takes all tokens so far, so one session runs on every prefix of what onnxruntime wrote: where the largest
logit after each prefix is the next token, a loop of its own gives the same text. The logits themselves are chaotic, as
those of all quantised models are; test_quantized.py compares the pieces.

Usage: test_greedy.py SARDONYX_COMMAND
"""

import argparse
import os
import sys
import tempfile

import numpy as np

from comparison import ort_session, references, report, rounds_alike, run_everywhere, runner
from model_cases import FOLDER
from text_cases import t5_prompts

TOKENS = 32
START, END = 0, 1
MARGIN = 0.5  # least distance between the two largest logits of the reference
ENCODER, DECODER = (os.path.join(FOLDER, f"flan-t5-small-{part}.onnx") for part in ("encoder", "decoder"))


def write_text(prompt, hidden):
    """The tokens and the logits after each of them, by onnxruntime."""
    session = ort_session(DECODER)
    tokens, logits = [START], []
    for _ in range(TOKENS):
        logits.append(session.run(["logits"], decoder_inputs(tokens, prompt, hidden))[0])
        tokens.append(int(logits[-1][0, -1].argmax()))
    return tokens, logits


def decoder_inputs(tokens, prompt, hidden):
    return {"input_ids": np.array([tokens], np.int64), "encoder_hidden_states": hidden,
            "encoder_attention_mask": prompt["attention_mask"]}


def test_prompt(command, label, prompt, folder, failures):
    _, (expected,) = references(ENCODER, [prompt])
    tokens, logits = write_text(prompt, expected["last_hidden_state"])
    second, first = np.sort([step[0, -1] for step in logits])[:, -2:].T
    if (first - second).min() < MARGIN:
        failures.append(f"{label}: two tokens are equally likely, which tests nothing")
    encode = runner(command, ENCODER, [prompt], ["last_hidden_state"], folder, label + "-encoder")

    def write(level, threads):
        hidden = encode(level, threads)[0]["last_hidden_state"]
        prefixes = [decoder_inputs(tokens[:n], prompt, hidden) for n in range(1, TOKENS + 1)]
        return runner(command, DECODER, prefixes, ["logits"], folder, label + "-decoder")(level, threads)

    for where, results in run_everywhere(write, label, failures):
        written = [int(actual["logits"][0, -1].argmax()) for actual in results]
        # Behind its end a text is noise, which every rounding moves.
        count = TOKENS if rounds_alike() or END not in tokens else tokens.index(END)
        if written[:count] != tokens[1:count + 1]:
            failures.append(f"{where}: writes {written}, expected {tokens[1:]}")
        print(f"{where}: {TOKENS} tokens", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Compares greedy text of Flan-T5 with onnxruntime.")
    parser.add_argument("command", help="the sardonyx command")
    command = os.path.abspath(parser.parse_args().command)
    missing = [path for path in (ENCODER, DECODER) if not os.path.exists(path)]
    if missing:
        sys.exit(f"test_greedy: {', '.join(missing)} missing: run 'make models'")
    failures = []
    for label, prompt in t5_prompts().items():
        with tempfile.TemporaryDirectory() as folder:
            test_prompt(command, label, prompt, folder, failures)
    sys.exit(report("test_greedy", failures))


if __name__ == "__main__":
    main()
