#!/usr/bin/env bash
# Builds and runs every microbenchmark on the GPU of this machine and leaves one CSV per topic in OUTDIR.
#   run_all.sh OUTDIR [--bin DIR] [--only "a b c"] [--reps N] [--counters]
# --bin: where programs are (built there if missing); --counters: also read hardware counters with ncu.
# Nothing is changed on the device (no clocks, no power limits). An interrupted program leaves no CSV behind. A folder that
# holds a run of another GPU is refused; what a run is of (origin.json, nvidia_smi.csv) is replaced when a program has succeeded.
# What an earlier run left of a program that fails then is kept as X.csv.before, which is not read.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n '2,7p' "$0"; exit 2; }
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
command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null || { echo "run_all.sh: no NVIDIA GPU answers" >&2; exit 1; }
gpu=$(nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader | head -1)
case ${gpu##*, } in
  9.*) ;;
  *) echo "run_all.sh: the programs are written for compute capability 9.0 (Hopper); the GPU is $gpu" >&2; exit 1 ;;
esac
name=${gpu%, *}
if [ -e "$out/origin.json" ]; then
  was=$(sed -n 's/.*"gpu": *"\([^"]*\)".*/\1/p' "$out/origin.json" | head -1)
  [ "$was" = "$name" ] || { echo "run_all.sh: $out holds a run of '$was'; this GPU is '$name': choose another folder" >&2; exit 2; }
fi
busy=$(nvidia-smi --query-compute-apps=pid --format=csv,noheader | wc -l)
[ "$busy" -eq 0 ] || { echo "run_all.sh: $busy other process(es) use the GPU; timings would be wrong" >&2; exit 1; }

programs=$(cd "$here" && ls ./*.cu | sed 's/\.cu$//; s/^\.\///' | grep -vx origin)
[ -n "$only" ] && programs=$only
missing=""
for p in origin $programs; do
  "$bin/$p" --help >/dev/null 2>&1 || missing="$missing $p"
done
if [ -n "$missing" ]; then
  nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
  command -v "$nvcc" >/dev/null || { echo "run_all.sh: no nvcc; install the CUDA Toolkit or set NVCC" >&2; exit 1; }
  for p in $missing; do
    [ -f "$here/$p.cu" ] || { echo "run_all.sh: there is no program '$p'; --only takes names of *.cu" >&2; exit 2; }
  done
  mkdir -p "$bin" || exit 1
  echo "building:$missing"
  printf '%s\n' $missing | xargs -P "$(nproc)" -I{} "$nvcc" -std=c++20 -O3 \
    -gencode=arch=compute_90a,code=sm_90a -o "$bin/{}" "$here/{}.cu" || exit 1
fi

# Whatever ends this early leaves nothing half-written, and no folder that it made for nothing.
made=""
[ -d "$out" ] || made=$out
tidy() {
  rm -f "$out"/*.part
  [ -z "$made" ] || rmdir "$made" 2>/dev/null
}
. "$here/watched.sh"
end_on_signal tidy
mkdir -p "$out" || exit 1
if ! "$bin/origin" --out "$out/origin.json.part"; then
  echo "run_all.sh: origin failed: nothing was measured" >&2
  tidy
  exit 1
fi
nvidia-smi --query-gpu=name,driver_version,vbios_version,clocks.max.sm,clocks.max.mem,clocks.sm,clocks.mem,power.limit,temperature.gpu,power.draw \
  --format=csv > "$out/nvidia_smi.csv.part"
# Results of this GPU lie in the folder from the first program that succeeds on, so what they are of has to as well.
keep_facts() {
  [ -e "$out/origin.json.part" ] || return 0
  mv "$out/nvidia_smi.csv.part" "$out/nvidia_smi.csv" && mv "$out/origin.json.part" "$out/origin.json"
}
failed=""
for p in $programs; do
  [ "$p" = origin ] && continue
  start=$(date +%s%N)
  if watched timeout --foreground 60 "$bin/$p" --out "$out/$p.csv.part" --reps "$reps"; then
    keep_facts && mv "$out/$p.csv.part" "$out/$p.csv"
  else
    echo "run_all.sh: $p failed with $?" >&2
    failed="$failed $p"
    mv "$out/$p.csv.part" "$out/$p.failed" 2>/dev/null
  fi
  ms=$((($(date +%s%N) - start) / 1000000))
  printf '%-16s %4d.%03d s\n' "$p" $((ms / 1000)) $((ms % 1000))
done
if [ -e "$out/origin.json.part" ]; then  # still here: no program succeeded
  tidy
  echo "run_all.sh: no program succeeded:$failed" >&2
  exit 1
fi
# What an earlier run left of a program that failed now is not of this origin.json.
for p in $failed; do
  [ ! -e "$out/$p.csv" ] || mv "$out/$p.csv" "$out/$p.csv.before"
done
nvidia-smi --query-gpu=clocks.sm,temperature.gpu,power.draw --format=csv >> "$out/nvidia_smi.csv"
status=0
if [ "$counters" = 1 ]; then
  watched "$here/run_counters.sh" "$out" "$bin" || status=1
fi
[ -z "$failed" ] || { echo "failed:$failed" >&2; status=1; }
exit "$status"
