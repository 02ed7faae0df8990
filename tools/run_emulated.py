#!/usr/bin/env python3
"""Runs the C++ tests of a build folder under an emulator of another processor.

Usage: run_emulated.py [--jobs N] BUILD_FOLDER EMULATOR [ARGUMENT...]
       run_emulated.py build/release qemu-x86_64 -cpu Nehalem
       run_emulated.py build/aarch64 qemu-aarch64 -L /usr/aarch64-linux-gnu

Some tests are left out for what the emulator does (LEFT_OUT says why).
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time

# Why qemu-user 7.2 cannot run them, by pattern.
LEFT_OUT = {
    "*Fork*:*Process*:*.AChild*": "it aborts in the child of a fork() when threads exist",
    "Exit/*": "each starts the program anew, which the kernel refuses for another processor",
    "Memory.SessionsComeAndGo": "it keeps 25 KB (x86-64) or 280 KB (aarch64) of every thread that has ended, for ever",
}


def cpp_tests(build):
    """(name, command, folder) of every ctest entry that is a program of the build folder."""
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True)
    for test in json.loads(listing.stdout)["tests"]:
        command = test.get("command", [])
        if not command or not command[0].startswith(os.path.abspath(build) + os.sep):
            continue
        properties = {item["name"]: item["value"] for item in test["properties"]}
        yield test["name"], command, properties.get("WORKING_DIRECTORY", build)


def run(emulator, test):
    name, command, folder = test
    start = time.monotonic()
    result = subprocess.run([*emulator, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="replace",
                            env={**os.environ, "GTEST_FILTER": "-" + ":".join(LEFT_OUT), "GTEST_BRIEF": "1"})
    print(f"{'passed' if result.returncode == 0 else 'FAILED'}  {name}  {time.monotonic() - start:.1f} s", flush=True)
    if result.returncode != 0:
        print(result.stdout[-4000:], flush=True)
    return result.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("emulator", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    tests = list(cpp_tests(arguments.build))
    if not tests or not arguments.emulator:
        sys.exit(f"run_emulated.py: {len(tests)} tests in {arguments.build}, emulator {arguments.emulator}; need both")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as workers:
        passed = list(workers.map(lambda test: run(arguments.emulator, test), tests))
    print(f"{sum(passed)} of {len(passed)} test programs passed under {' '.join(arguments.emulator)}")
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
