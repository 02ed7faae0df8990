#!/usr/bin/env python3
"""Checks that nothing of the runtime is destroyed when the process ends.

A session may live in a detached thread or in static storage, so it may still be in use then. A static object with a
destructor would be gone under its feet; make it a reference to one that is never deleted. The same holds for
thread_local objects: those of the main thread go before the statics do.

Object files tell: the compiler registers such destructors by a call of __cxa_atexit or __cxa_thread_atexit.

Usage: check_exit.py ARCHIVE...
"""

import subprocess
import sys

REGISTERS = ("__cxa_atexit", "__cxa_thread_atexit")


def offenders(archive):
    listed = subprocess.run(["nm", "--print-file-name", "--undefined-only", archive], capture_output=True, text=True,
                            check=True).stdout
    for line in listed.splitlines():
        place, _, symbol = line.rpartition(" U ")
        if symbol in REGISTERS:
            yield f"{place.rstrip(': ')}: calls {symbol}"


def main(archives):
    found = [each for archive in archives for each in offenders(archive)]
    for each in found:
        print(f"{each}; make the static object a reference to one that is never deleted")
    return 1 if found or not archives else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
