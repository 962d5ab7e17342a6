#!/usr/bin/env bash
# Checks, times and counts a suite on this machine's GPU.
#   record.sh SUITE OUTDIR [--bin STRATA_GPU] [--sanitize SMALL_SUITE]
# Leaves ladder_kernels.csv, and what it was made from, in OUTDIR. Nothing is changed on the device.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,4p' "$0"; exit 2; }
suite=$1 out=$2; shift 2
bin=$here/../../build/kernels/strata-gpu small=""
while [ $# -gt 0 ]; do
  case $1 in --bin | --sanitize) [ $# -ge 2 ] || { echo "record.sh: $1 needs a value" >&2; exit 2; } ;; esac
  case $1 in
    --bin) bin=$2; shift 2 ;;
    --sanitize) small=$2; shift 2 ;;
    *) echo "record.sh: unknown option $1" >&2; exit 2 ;;
  esac
done
[ -f "$suite" ] || { echo "record.sh: $suite is no file; expected a suite, as in $here/suites" >&2; exit 2; }
[ -x "$bin" ] || { echo "record.sh: $bin is missing; build it with $here/build.sh" >&2; exit 1; }
for tool in nvidia-smi ncu python3; do
  command -v $tool >/dev/null || { echo "record.sh: no $tool" >&2; exit 1; }
done
nvidia-smi >/dev/null || { echo "record.sh: no NVIDIA GPU answers" >&2; exit 1; }
. "$here/../lib/metrics.sh"
mkdir -p "$out" || exit 1
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,temperature.gpu --format=csv > "$out/nvidia_smi.csv"
"$bin" suite "$suite" --out "$out/timed.csv" > "$out/check.log" 2>&1 || echo "record.sh: the check failed, see check.log" >&2
metrics=$(available_metrics "$(python3 "$here/join_profile.py" --metrics)" "$out")
timeout 420 ncu --clock-control none --profile-from-start off --csv --page raw --print-units base \
  --metrics "$metrics" \
  "$bin" suite "$suite" --profile --out "$out/profiled.csv" > "$out/ncu.csv" 2> "$out/ncu.log"
python3 "$here/join_profile.py" "$out/timed.csv" "$out/profiled.csv" "$out/ncu.csv" "$out/ladder_kernels.csv"
[ -n "$small" ] || exit 0
for tool in memcheck racecheck synccheck; do
  timeout 200 compute-sanitizer --tool "$tool" "$bin" suite "$small" --no-time --no-check > "$out/$tool.log" 2>&1
  echo "$tool: exit $?, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$out/$tool.log" | tail -1)"
done
