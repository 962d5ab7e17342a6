#!/usr/bin/env bash
# Builds and runs every microbenchmark on the GPU of this machine and leaves one CSV per topic in OUTDIR.
#   run_all.sh OUTDIR [--bin DIR] [--only "a b c"] [--reps N] [--counters]
# --bin: where programs are (built there if missing); --counters: also read hardware counters with ncu.
# Nothing is changed on the device (no clocks, no power limits). An interrupted program leaves no CSV behind.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n '2,5p' "$0"; exit 2; }
out=$1; shift
bin=$here/../../build/microbench only="" reps=7 counters=0
while [ $# -gt 0 ]; do
  case $1 in --bin | --only | --reps) [ $# -ge 2 ] || { echo "run_all.sh: $1 needs a value" >&2; exit 2; } ;; esac
  case $1 in
    --bin) bin=$2; shift 2 ;;
    --only) only=$2; shift 2 ;;
    --reps) reps=$2; shift 2 ;;
    --counters) counters=1; shift ;;
    *) echo "run_all.sh: unknown option $1" >&2; exit 2 ;;
  esac
done
mkdir -p "$out" "$bin" || exit 1
command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null || { echo "run_all.sh: no NVIDIA GPU answers" >&2; exit 1; }
gpu=$(nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader | head -1)
case ${gpu##*, } in
  9.*) ;;
  *) echo "run_all.sh: the programs are written for compute capability 9.0 (Hopper); the GPU is $gpu" >&2; exit 1 ;;
esac
busy=$(nvidia-smi --query-compute-apps=pid --format=csv,noheader | wc -l)
[ "$busy" -eq 0 ] || { echo "run_all.sh: $busy other process(es) use the GPU; timings would be wrong" >&2; exit 1; }

programs=$(cd "$here" && ls *.cu | sed 's/\.cu$//')
[ -n "$only" ] && programs=$only
missing=""
for p in $programs; do
  "$bin/$p" --help >/dev/null 2>&1 || missing="$missing $p"
done
if [ -n "$missing" ]; then
  nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
  command -v "$nvcc" >/dev/null || { echo "run_all.sh: no nvcc; install the CUDA Toolkit or set NVCC" >&2; exit 1; }
  for p in $missing; do
    [ -f "$here/$p.cu" ] || { echo "run_all.sh: there is no program '$p'; --only takes names of *.cu" >&2; exit 2; }
  done
  echo "building:$missing"
  printf '%s\n' $missing | xargs -P "$(nproc)" -I{} "$nvcc" -std=c++20 -O3 \
    -gencode=arch=compute_90a,code=sm_90a -o "$bin/{}" "$here/{}.cu" || exit 1
fi

"$bin/origin" --out "$out/origin.json" 2>/dev/null
nvidia-smi --query-gpu=name,driver_version,vbios_version,clocks.max.sm,clocks.max.mem,clocks.sm,clocks.mem,power.limit,temperature.gpu,power.draw \
  --format=csv > "$out/nvidia_smi.csv"
failed=""
for p in $programs; do
  [ "$p" = origin ] && continue
  start=$(date +%s%N)
  if timeout 60 "$bin/$p" --out "$out/$p.csv.part" --reps "$reps"; then
    mv "$out/$p.csv.part" "$out/$p.csv"
  else
    echo "run_all.sh: $p failed with $?" >&2
    failed="$failed $p"
    mv "$out/$p.csv.part" "$out/$p.failed" 2>/dev/null
  fi
  ms=$((($(date +%s%N) - start) / 1000000))
  printf '%-16s %4d.%03d s\n' "$p" $((ms / 1000)) $((ms % 1000))
done
nvidia-smi --query-gpu=clocks.sm,temperature.gpu,power.draw --format=csv >> "$out/nvidia_smi.csv"
[ "$counters" = 1 ] && "$here/run_counters.sh" "$out" "$bin"
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
