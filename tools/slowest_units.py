#!/usr/bin/env python3
"""Prints the slowest translation units of a build folder, read from Ninja's log.

Usage: slowest_units.py BUILD/.ninja_log [COUNT]
"""

import sys

LIMIT_S = 10.0


def read_units(path):
    """Returns (seconds, object file) pairs, slowest first. The newest line of an output wins."""
    times = {}
    with open(path, encoding="utf-8") as log:
        for line in log:
            fields = line.rstrip("\n").split("\t")
            if line.startswith("#") or len(fields) < 4 or not fields[3].endswith(".o"):
                continue
            times[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return sorted(((seconds, name) for name, seconds in times.items()), reverse=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    try:
        units = read_units(sys.argv[1])
    except FileNotFoundError:
        sys.exit(f"{sys.argv[1]}: no such file; build first")
    print(f"Slowest translation units ({len(units)} in the log; the limit is {LIMIT_S:.0f} s each):")
    for seconds, name in units[:count]:
        mark = "  over the limit" if seconds > LIMIT_S else ""
        print(f"{seconds:8.2f} s  {name}{mark}")


if __name__ == "__main__":
    main()
