"""Lists the project's own source files for the checks."""

import os

FOLDERS = ("include", "src", "apps", "bindings", "examples", "tests", "benchmarks", "tools")
SKIPPED = {"build", "node_modules", "__pycache__", ".git", ".cache"}


def source_files(root, suffixes):
    """Yields paths relative to root, sorted, of files below FOLDERS that end in one of suffixes."""
    for folder in FOLDERS:
        for path, folders, files in os.walk(os.path.join(root, folder)):
            folders[:] = sorted(name for name in folders if name not in SKIPPED)
            for name in sorted(files):
                if name.endswith(tuple(suffixes)):
                    yield os.path.relpath(os.path.join(path, name), root)
