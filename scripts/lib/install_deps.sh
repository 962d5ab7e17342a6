#!/usr/bin/env bash
# Installs the Debian/Ubuntu packages that Strata is built with, and only those that are missing.
# Works as root or through sudo, without a terminal. With everything installed it needs neither.
set -euo pipefail

packages=(
  cmake ninja-build g++
  libboost-graph-dev libyaml-cpp-dev libcli11-dev catch2 nlohmann-json3-dev libfmt-dev libspdlog-dev
  libnlopt-cxx-dev libnlopt-dev libzstd-dev libbenchmark-dev librapidcheck-dev libtbb-dev
  zlib1g-dev
  ccache
)
if [[ "${STRATA_WITH_LINTERS:-0}" == 1 ]]; then
  packages+=(clang-format clang-tidy)
fi

missing=()
for package in "${packages[@]}"; do
  if [[ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" != "install ok installed" ]]; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

echo "installing: ${missing[*]}"
as_root=()
if [[ "$(id -u)" -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "error: these packages are missing and there is neither root nor sudo: ${missing[*]}" >&2
    exit 2
  fi
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq </dev/null
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
  </dev/null >/dev/null
