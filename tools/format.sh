#!/usr/bin/env bash
# Formats every C++ file in place, or with --check lists what clang-format would change and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
  '') mode=(-i) ;;
  --check) mode=(--dry-run --Werror) ;;
  *) echo "usage: $0 [--check]" >&2; exit 2 ;;
esac
folders=()
for folder in include src apps bindings tests benchmarks; do
  [ -d $folder ] && folders+=($folder)
done
find "${folders[@]}" -type d -name node_modules -prune -o -type f \( -name '*.cc' -o -name '*.h' \) -print0 |
  xargs -0 -r -n 16 -P "$(nproc)" clang-format-14 "${mode[@]}"
