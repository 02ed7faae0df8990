#!/usr/bin/env bash
# Installs the Debian packages this project builds with. Only what is missing is installed; with nothing missing the
# call takes a fraction of a second and needs neither network nor root.
# Usage: install_packages.sh [GROUP...]      (default: build)
set -euo pipefail

build_packages="g++ cmake ninja-build ccache git python3 python3-venv clang-format-14
  libhwy-dev libfmt-dev libxxhash-dev nlohmann-json3-dev libcli11-dev
  libpng-dev libjpeg62-turbo-dev libgtest-dev libbenchmark-dev"
emulate_packages="g++-aarch64-linux-gnu qemu-user googletest"  # cross build and tests under an emulator
maven_packages="maven"  # only for models that are published as Maven artifacts

usage() { echo "usage: $0 [build|emulate|maven]..." >&2; exit 2; }

# A tool that is on the PATH counts as installed, whoever installed it; libraries are asked of dpkg.
is_installed() {
  case $1 in
    g++ | cmake | ccache | git | python3 | clang-format-14) command -v "$1" >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    maven) command -v mvn >/dev/null ;;
    python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    *) [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
  esac
}

[ $# -gt 0 ] || set -- build
wanted=
for group in "$@"; do
  case $group in
    build) wanted="$wanted $build_packages" ;;
    emulate) wanted="$wanted $emulate_packages" ;;
    maven) wanted="$wanted $maven_packages" ;;
    *) usage ;;
  esac
done

missing=()
for package in $wanted; do
  is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "Installing Debian packages: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "$0: not root and no sudo. As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"; }
install_missing() { apt install -y --no-install-recommends "${missing[@]}"; }

# Package lists are refreshed when there are none, or when the ones here lead to an error.
if ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
  apt update
  install_missing
elif ! install_missing; then
  apt update
  install_missing
fi
