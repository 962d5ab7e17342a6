#!/usr/bin/env bash
# Builds strata-gpu with nvcc alone, one object per source, all cores.
#   build.sh [OUTDIR]      default: build/kernels at the root of the repository
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../build/kernels}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
mkdir -p "$out" && cd "$here" || exit 1
flags="-std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a"
sources=$(find . \( -name '*.cu' -o -name '*.cpp' \) -printf '%P\n' | sort)
# shellcheck disable=SC2016,SC2086
printf '%s\n' $sources | xargs -P "$(nproc)" -I{} sh -c \
  'o=$2/$(echo "$3" | tr / _).o; [ "$o" -nt "$3" ] && exit 0; "$0" $1 -c -o "$o" "$3" || { rm -f "$o"; exit 1; }' \
  "$nvcc" "$flags" "$out" {} || exit 1
# shellcheck disable=SC2046,SC2086
"$nvcc" $flags -o "$out/strata-gpu" $(printf "$out/%s.o " $(printf '%s\n' $sources | tr / _)) -lcublas
