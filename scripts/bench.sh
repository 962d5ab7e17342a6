#!/usr/bin/env bash
# Builds a release and prints how fast the simulator is: host seconds, simulated cycles/s, instructions/s, peak memory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/build.sh

scripts/lib/install_deps.sh
mkdir -p build
build_preset release -DSTRATA_BUILD_BENCHMARKS=ON
build/release/bin/strata_bench "$@"
