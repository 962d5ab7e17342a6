#!/usr/bin/env bash
# From a fresh clone to the first study: installs what is missing, builds a release, runs the study and prints it.
# The first build takes 8 to 15 minutes on two cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/build.sh

scripts/lib/install_deps.sh
mkdir -p build
build_preset release -DSTRATA_BUILD_TESTS=OFF -DSTRATA_BUILD_BENCHMARKS=OFF -- --target strata
build/release/bin/strata study first-light
echo "The program is $PWD/build/release/bin/strata. Try next: build/release/bin/strata run gemm --m 4096 --n 4096 --k 4096"
