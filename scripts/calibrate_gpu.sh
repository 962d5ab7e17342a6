#!/usr/bin/env bash
# From "I have another NVIDIA GPU" to a description of it with an accuracy card. Run it on the machine with the GPU:
#   scripts/calibrate_gpu.sh NAME OUTDIR [--base GPU] [--kernels MEASURED.csv]
# It measures every microbenchmark (CUDA Toolkit; Nsight Compute for counters where it is installed), reads the
# parameters off them and writes OUTDIR/NAME.yaml. Parameters that cannot be measured there are listed, not invented:
# they keep the base description's values and origins.
set -euo pipefail
called_from=$PWD
from_there() { [[ $1 == /* ]] && echo "$1" || echo "$called_from/$1"; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/build.sh

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  sed -n '2,6s/^# //p' "scripts/${0##*/}"
  exit 0
fi
[[ $# -ge 2 ]] || { sed -n '2,6p' "scripts/${0##*/}" >&2; exit 2; }
name=$1
out=$(from_there "$2")
shift 2
base=h100-sxm5-80gb
extra=()
[[ $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]] || {
  echo "calibrate_gpu.sh: NAME '$name' becomes a file's name; expected letters, digits, '-', '_' and '.'" >&2
  exit 2
}
while [[ $# -gt 0 ]]; do
  [[ $1 != --base && $1 != --kernels ]] || [[ $# -ge 2 ]] || { echo "calibrate_gpu.sh: $1 needs a value" >&2; exit 2; }
  case $1 in
    --base) base=$2; shift 2 ;;
    --kernels)
      kernels=$(from_there "$2")
      [[ -f $kernels ]] || { echo "calibrate_gpu.sh: --kernels: $2 is no file" >&2; exit 2; }
      extra+=(--kernels "$kernels"); shift 2 ;;
    *) echo "calibrate_gpu.sh: unknown option $1" >&2; exit 2 ;;
  esac
done

if [[ ! -f configs/gpus/$base.yaml ]]; then
  file=$(from_there "$base")
  [[ -f $file ]] || { echo "calibrate_gpu.sh: --base: '$base' is neither in configs/gpus nor a file" >&2; exit 2; }
  base=$file
fi

validation/microbench/run_all.sh "$out/run"
if ! command -v ncu >/dev/null; then
  echo "calibrate_gpu.sh: no ncu: what needs hardware counters is not measured" >&2
elif ! validation/microbench/run_counters.sh "$out/run" build/microbench; then
  # As without ncu: the description lists what it was not measured for.
  echo "calibrate_gpu.sh: counters could not all be read: what needs them is not measured" >&2
fi
mkdir -p build
build_preset release -DSTRATA_BUILD_TESTS=OFF -DSTRATA_BUILD_BENCHMARKS=OFF -- --target strata
build/release/bin/strata calibrate --gpu "$base" --name "$name" --data "$out/run" --out "$out/$name.yaml" "${extra[@]}"
echo "wrote $out/$name.yaml; use it with --gpu $out/$name.yaml"
