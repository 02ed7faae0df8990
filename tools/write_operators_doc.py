#!/usr/bin/env python3
"""Writes docs/operators.md from what the built command says it has, or checks that the file is up to date.

Usage: write_operators_doc.py SARDONYX_COMMAND [--check]
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "operators.md"
SPEC = ROOT / "tests" / "conformance" / "spec" / "operators.tsv"
INTERNAL = "ai.sardonyx"


def standard_operators():
    """(domain, name) of every operator of the recorded onnx release."""
    found = set()
    for line in SPEC.read_text().splitlines():
        if line.startswith("#") or line.startswith("domain\t"):
            continue
        domain, name = line.split("\t")[:2]
        found.add(("" if domain == "ai.onnx" else domain, name))
    return found


def render(operators):
    standard = standard_operators()
    have = [op for op in operators if op["domain"] != INTERNAL]
    names = {(op["domain"], op["name"]) for op in have}
    lines = [
        "# Operators",
        "",
        "Made by `tools/write_operators_doc.py` from `sardonyx ops --json`; do not edit. A node binds to the newest version that is",
        "not above the model's opset. Types are those of the newest version.",
        "",
        f"{len(names & standard)} of the {len(standard)} operators of the standard are implemented.",
        "",
        "| domain | operator | versions | types |",
        "|---|---|---|---|",
    ]
    for op in sorted(have, key=lambda op: (op["domain"], op["name"])):
        types = "; ".join(f"{variable}: {' '.join(allowed)}" for variable, allowed in op["types"].items())
        versions = ", ".join(str(version) for version in op["versions"])
        lines.append(f"| {op['domain'] or 'ai.onnx'} | {op['name']} | {versions} | {types} |")
    missing = sorted(f"{domain + '.' if domain else ''}{name}" for domain, name in standard - names)
    lines += ["", "Not yet implemented: " + ", ".join(missing) + "."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Writes or checks docs/operators.md.")
    parser.add_argument("command", help="the sardonyx command")
    parser.add_argument("--check", action="store_true", help="fail when the file differs")
    args = parser.parse_args()
    done = subprocess.run([args.command, "ops", "--json"], check=True, capture_output=True, text=True)
    text = render(json.loads(done.stdout))
    if args.check:
        if DOCUMENT.read_text() != text:
            sys.exit(f"{DOCUMENT} is out of date: run tools/write_operators_doc.py {args.command}")
    else:
        DOCUMENT.write_text(text)


if __name__ == "__main__":
    main()
