#!/usr/bin/env bash
# Installs what is missing, builds a release with its tests and runs all of them. Ends with ctest's summary.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  sed -n '2s/^# //p' "scripts/${0##*/}"
  echo "usage: scripts/test.sh [options of ctest, such as -R NAME or -L fast]"
  exit 0
fi
source scripts/lib/build.sh

scripts/lib/install_deps.sh
mkdir -p build
build_preset release -DSTRATA_BUILD_TESTS=ON -DSTRATA_BUILD_BENCHMARKS=ON
ctest --test-dir build/release --output-on-failure -j "$(nproc)" "$@"
