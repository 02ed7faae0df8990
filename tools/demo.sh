#!/usr/bin/env bash
# The demo of `make demo`: fetches one model and reads the line of text in assets/demo_line.png.
# Usage: demo.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
build/venv/bin/python tools/fetch_models.py --quiet ppocr-rec
exec build/venv/bin/python tools/demo.py "$build/apps/cli/sardonyx" .cache/models/ppocr-rec.onnx assets/demo_line.png
