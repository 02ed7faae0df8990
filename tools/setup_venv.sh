#!/usr/bin/env bash
# Makes build/venv with the Python packages of tools/requirements.txt. A stamp that holds the list makes the next call
# return at once; a changed list makes a new environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=build/venv
stamp=$venv/.requirements
up_to_date() { [ -x $venv/bin/python ] && cmp -s tools/requirements.txt $stamp; }

up_to_date && exit 0
mkdir -p build
exec 9>build/.venv.lock
flock 9
up_to_date && exit 0

echo "Making $venv (tools/requirements.txt)"
rm -rf $venv
python3 -m venv $venv
$venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input -r tools/requirements.txt
cp tools/requirements.txt $stamp
