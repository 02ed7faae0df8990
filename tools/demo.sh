#!/usr/bin/env bash
# The demo of `make demo`: fetches one model and reads the line of text in assets/demo_line.png, which
# tools/render_text_line.py made.
# Usage: demo.sh [BUILD_FOLDER [PICTURE]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
picture=${2:-assets/demo_line.png}
program=$build/examples/read_text_line
[ -x "$program" ] || { echo "demo: $program is not built" >&2; exit 1; }
build/venv/bin/python tools/fetch_models.py --quiet ppocr-rec
exec "$program" .cache/models/ppocr-rec.onnx "$picture" --started "${EPOCHREALTIME/,/.}"
