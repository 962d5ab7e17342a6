#!/usr/bin/env bash
# From "I have another NVIDIA GPU" to a description of it with an accuracy card. Run it on the machine with the GPU:
#   scripts/calibrate_gpu.sh NAME OUTDIR [--base GPU] [--kernels MEASURED.csv]
# It measures every microbenchmark (CUDA Toolkit; Nsight Compute for counters where it is installed), reads the
# parameters off them and writes OUTDIR/NAME.yaml. Parameters that cannot be measured there are listed, not invented:
# they keep the base description's values and origins.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/build.sh

[[ $# -ge 2 ]] || { sed -n '2,6p' "${BASH_SOURCE[0]}" >&2; exit 2; }
name=$1
out=$2
shift 2
base=h100-sxm5-80gb
extra=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --base) base=$2; shift 2 ;;
    --kernels) extra+=(--kernels "$2"); shift 2 ;;
    *) echo "calibrate_gpu.sh: unknown option $1" >&2; exit 2 ;;
  esac
done

counters=()
if command -v ncu >/dev/null; then
  counters=(--counters)
else
  echo "calibrate_gpu.sh: no ncu: what needs hardware counters is not measured" >&2
fi
validation/microbench/run_all.sh "$out/run" "${counters[@]}"
mkdir -p build
build_preset release -DSTRATA_BUILD_TESTS=OFF -DSTRATA_BUILD_BENCHMARKS=OFF -- --target strata
build/release/bin/strata calibrate --gpu "$base" --name "$name" --data "$out/run" --out "$out/$name.yaml" "${extra[@]}"
echo "wrote $out/$name.yaml; use it with --gpu $out/$name.yaml"
