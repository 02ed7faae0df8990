#!/usr/bin/env python3
"""Checks the length of source files: a warning over 400 lines, a failure over 800.

Usage: check_sizes.py [ROOT]
"""

import os
import sys

from source_files import source_files

WARN_LINES = 400
FAIL_LINES = 800
SUFFIXES = (".cc", ".h", ".py")


def check(root):
    """Returns (errors, warnings), lists of lines to print."""
    errors, warnings = [], []
    for path in source_files(root, SUFFIXES):
        with open(os.path.join(root, path), "rb") as file:
            lines = file.read().count(b"\n")
        if lines > FAIL_LINES:
            errors.append(f"{path}:{lines}: error: {lines} lines, at most {FAIL_LINES}: split it")
        elif lines > WARN_LINES:
            warnings.append(f"{path}:{lines}: warning: {lines} lines; over {WARN_LINES}, does it do one thing?")
    return errors, warnings


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    errors, warnings = check(root)
    for line in warnings + errors:
        print(line)
    print(f"file sizes: {len(errors)} errors, {len(warnings)} warnings")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
