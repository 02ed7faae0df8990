#!/usr/bin/env bash
# Formats every C++ file in place, or with --check names the files that clang-format would change and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

list_files() {
  local folders=() folder
  for folder in include src apps bindings examples tests benchmarks third_party; do
    [ -d "$folder" ] && folders+=("$folder")
  done
  find "${folders[@]}" -type d -name node_modules -prune -o -type f \( -name '*.cc' -o -name '*.h' \) -print0
}
each() { list_files | xargs -0 -r -n 16 -P "$(nproc)" "$@"; }

case ${1:-} in
  '')
    each clang-format-14 -i
    ;;
  --check)
    if ! findings=$(each clang-format-14 --dry-run --Werror 2>&1); then
      grep -oE '^[^ :]+:[0-9]+:[0-9]+: error' <<<"$findings" | sort -t: -k1,1 -k2,2n | sort -u -t: -k1,1 |
        sed -E 's/:[0-9]+: error$/: error: not formatted/' || echo "$findings"
      echo "format: run 'make format'"
      exit 1
    fi
    echo "format: 0 errors"
    ;;
  *)
    echo "usage: $0 [--check]" >&2
    exit 2
    ;;
esac
