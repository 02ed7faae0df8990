"""Runs the `sardonyx` command on NumPy arrays: many inputs in one session."""

import json
import os
import re
import subprocess

import numpy as np


class CommandError(Exception):
    """The command failed; the text is what it wrote to stderr."""


def file_of_output(name):
    """The file that `sardonyx run` writes an output to (docs/cli.md)."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return ("_" + plain if plain == "" or plain[0] == "." else plain) + ".npy"


def output_of(run, name):
    """An input of a later run in run_many: what an output was in run number `run`."""
    return f"{run}/{file_of_output(name)}"


def run_many(command, model, inputs, outputs, folder, options=()):
    """Runs a model once for each of `inputs` (dictionaries name -> array), in order and in one session.

    In place of an array, output_of(i, name) feeds a run what run i gave. Returns one dictionary name -> array for each,
    with the outputs named in `outputs`.
    """
    os.makedirs(folder, exist_ok=True)
    runs = []
    for i, arrays in enumerate(inputs):
        files = {}
        for j, (name, array) in enumerate(arrays.items()):
            if isinstance(array, str):
                files[name] = array
                continue
            files[name] = f"{i}-{j}.npy"
            np.save(os.path.join(folder, files[name]), array)
        runs.append({"inputs": files, "output_dir": f"{i}"})
    listing = os.path.join(folder, "runs.json")
    with open(listing, "w", encoding="utf-8") as file:
        json.dump({"runs": runs}, file)
    done = subprocess.run([command, "run", model, "--input-list", listing, *options],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise CommandError(f"exit code {done.returncode}: {done.stderr.strip()}")
    return [{name: np.load(os.path.join(folder, str(i), file_of_output(name))) for name in outputs}
            for i in range(len(inputs))]
