"""Puts measured tables into a page of documentation."""

import sys


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown processor")


def write_between_markers(path, script, text):
    """Replaces what stands between the lines <!-- begin: script --> and <!-- end: script -->."""
    begin, end = f"<!-- begin: {script} -->", f"<!-- end: {script} -->"
    with open(path, encoding="utf-8") as file:
        page = file.read()
    if begin not in page or end not in page:
        sys.exit(f"{script}: {path} has no lines {begin} and {end}")
    page = page[:page.index(begin) + len(begin)] + f"\n{text}\n" + page[page.index(end):]
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
