#!/usr/bin/env bash
# From a fresh clone to the first study: installs what is missing, builds a release, runs the study and prints it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/build.sh

scripts/lib/install_deps.sh
mkdir -p build
build_preset release -DSTRATA_BUILD_TESTS=OFF -DSTRATA_BUILD_BENCHMARKS=OFF -- --target strata
build/release/bin/strata study first-light
