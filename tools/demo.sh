#!/usr/bin/env bash
# The demo of `make demo`: fetches one model, compiles it, and reads the line of text in assets/demo_line.png (made by
# tools/render_text_line.py): in a fresh process from the source model, and in another from the compiled model.
# Usage: demo.sh [BUILD_FOLDER [PICTURE]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
picture=${2:-assets/demo_line.png}
program=$build/examples/read_text_line
[ -x "$program" ] || { echo "demo: $program is not built" >&2; exit 1; }
build/venv/bin/python tools/fetch_models.py --quiet ppocr-rec
model=.cache/models/ppocr-rec.onnx
compiled=$build/demo/ppocr-rec_ctx.onnx

# start MODEL [OPTION...]: a fresh process.
start() { "$program" "$1" "$picture" "${@:2}" --started "${EPOCHREALTIME/,/.}"; }

mkdir -p "$build/demo"
"$build/apps/cli/sardonyx" compile "$model" -o "$compiled" --overwrite >/dev/null
start "$model" | sed 's/^this model /from source/'
start "$compiled" --row "compiled"
