#!/usr/bin/env bash
# Reads hardware counters of single launches with ncu (no clock control, caches left alone).
#   run_counters.sh OUTDIR BINDIR [NAME...]
# NAME: only these profiles (lrc, lrc_units, lrc_cold, empty, cta_ends, first_touch, first_touch_warm, tma_edges, hbm_traffic, partial_stores, ...).
# Leaves X_counters.csv, with the names of the program's own rows, and in OUTDIR/ncu what they are made of: ncu's raw
# pages and the rows that the program printed meanwhile. Ends with 1, and ncu's reason, where a profile failed.
set -u
[ $# -ge 2 ] || { sed -n '2,6p' "$0"; exit 2; }
out=$1 bin=$2; shift 2
known="lrc lrc_units lrc_cold lrc_lines lrc_lines_cold tma_edges empty cta_ends first_touch first_touch_warm hbm_traffic
  hbm_traffic_hits partial_stores partial_stores_hits clocks"
known=$(echo $known)
for name in "$@"; do
  [[ " $known " == *" $name "* ]] || { echo "run_counters.sh: there is no profile '$name'; expected some of $known" >&2; exit 2; }
done
only=" $* "
[ -d "$out" ] || { echo "run_counters.sh: $out is no folder; run_all.sh makes it" >&2; exit 2; }
command -v ncu >/dev/null || { echo "run_counters.sh: ncu not found" >&2; exit 1; }
command -v python3 >/dev/null || { echo "run_counters.sh: python3 not found, which joins counters and rows" >&2; exit 1; }
raw=$out/ncu
mkdir -p "$raw" || exit 1
tidy() { rm -f "$raw"/*.part "$out"/*_counters.csv.part; }
. "$(dirname "$0")/watched.sh"
end_on_signal tidy
reason() { grep -h -m1 -E '==ERROR==|rror' "$@" 2>/dev/null | sed 's/^==ERROR== *//' | head -1; }
watched timeout --foreground 60 ncu --query-metrics > "$raw/metrics.txt" 2>&1 ||
  { echo "run_counters.sh: ncu lists no metrics: $(reason "$raw/metrics.txt")" >&2; exit 1; }
# Metrics that exist only on some chips are asked for only where they are listed.
# Few enough for one pass each, so that no replay disturbs the caches.
available() { for m in "$@"; do grep -q "^${m%%.*}[ ]" "$raw/metrics.txt" && printf '%s,' "$m"; done | sed 's/,$//'; }
base=$(available sm__cycles_elapsed.max gpu__time_duration.sum lts__t_sectors.sum lts__t_sectors_srcunit_tex.sum \
  lts__t_sectors_srcunit_ltcfabric.sum l1tex__m_xbar2l1tex_read_sectors.sum)
lrc=$(available lrc__xbar2lrc_requests_op_read.sum lrc__lts2lrc_sectors_op_read.sum lrc__lrc2xbar_sectors_op_read.sum \
  lrc__xbar2gpc_sectors_op_read.sum)
lines=$(available lts__t_requests_srcunit_tex.sum lts__t_sectors_srcunit_tex.sum l1tex__m_xbar2l1tex_read_sectors.sum \
  sm__cycles_elapsed.max)
clocks=$(available lts__cycles_elapsed.avg.per_second lrc__cycles_elapsed.avg.per_second sm__cycles_elapsed.avg.per_second \
  gpc__cycles_elapsed.avg.per_second dram__cycles_elapsed.avg.per_second)
memory=$(available dram__bytes_read.sum dram__bytes_write.sum lts__t_sectors_srcunit_ltcfabric.sum gpu__time_duration.sum)
hits=$(available lts__t_sectors.sum lts__t_sectors_srcunit_tex.sum lts__t_sectors_srcunit_tex_lookup_hit.sum lts__t_sectors_op_write.sum)
failed=""
asked_for() { [ "$only" = "  " ] || [[ "$only" == *" $1 "* ]]; }
# Counters of an earlier run are not of this origin.json.
set_aside() { [ ! -e "$out/$1_counters.csv" ] || mv "$out/$1_counters.csv" "$out/$1_counters.csv.before"; }
profile() {  # name, kernel regex, cache control, metrics, command...
  local name=$1 kernel=$2 cache=$3 metrics=$4; shift 4
  asked_for "$name" || return 0
  [ -n "$metrics" ] || { echo "run_counters.sh: $name: this GPU has none of its counters" >&2; return 0; }
  if watched timeout --foreground 100 ncu --clock-control none --cache-control "$cache" --csv --page raw \
    --kernel-name "regex:$kernel" --metrics "$metrics" "$@" > "$raw/${name}_ncu.csv.part" 2> "$raw/${name}_ncu.log"; then
    mv "$raw/${name}_ncu.csv.part" "$raw/${name}_ncu.csv"
    return
  fi
  echo "run_counters.sh: $name failed: $(reason "$raw/${name}_ncu.log" "$raw/${name}_ncu.csv.part")" >&2
  cat "$raw/${name}_ncu.csv.part" >> "$raw/${name}_ncu.log"
  rm -f "$raw/${name}_ncu.csv.part" "$raw/${name}_ncu.csv"
  set_aside "$name"
  failed="$failed $name"
  # The others would be refused as well.
  if grep -q ERR_NVGPUCTRPERM "$raw/${name}_ncu.log"; then
    echo "run_counters.sh: this user may not read counters; see https://developer.nvidia.com/ERR_NVGPUCTRPERM" >&2
    for name in $known; do
      if asked_for "$name"; then set_aside "$name"; fi
    done
    exit 1
  fi
}
profile lrc 'lrc.*' none "$base" "$bin/lrc" --pairs --out "$raw/lrc_under_ncu.csv" --reps 1
profile lrc_units 'lrc.*' none "$lrc" "$bin/lrc" --out "$raw/lrc_units_under_ncu.csv" --reps 1
profile lrc_cold 'lrc.*' all "$base" "$bin/lrc" --out "$raw/lrc_cold_under_ncu.csv" --reps 1
profile lrc_lines 'lrcLines' none "$lines" "$bin/lrc_lines" --out "$raw/lrc_lines_under_ncu.csv" --reps 1
profile lrc_lines_cold 'lrcLines' all "$lines" "$bin/lrc_lines" --out /dev/null --reps 1
profile tma_edges 'edges' none "$lines" "$bin/tma_edges" --out "$raw/tma_edges_under_ncu.csv" --reps 1
profile empty empty none "$base" "$bin/launch" --empties --out "$raw/empty_under_ncu.csv"
profile cta_ends 'waits|elementwise' all "$base" "$bin/cta_ends" --out "$raw/cta_ends_under_ncu.csv"
profile first_touch 'touch.*' all "$base" "$bin/first_touch" --out "$raw/first_touch_under_ncu.csv"
profile first_touch_warm 'touch.*' none "$base" "$bin/first_touch" --out /dev/null
profile hbm_traffic 'traffic.*' none "$memory" "$bin/hbm_traffic" --out "$raw/hbm_traffic_under_ncu.csv"
profile hbm_traffic_hits 'traffic.*' none "$hits" "$bin/hbm_traffic" --out /dev/null
profile partial_stores 'store.*' none "$memory" "$bin/partial_stores" --single --out "$raw/partial_stores_under_ncu.csv"
profile partial_stores_hits 'store.*' none "$hits" "$bin/partial_stores" --single --out /dev/null
profile clocks 'traffic.*' none "$clocks" "$bin/hbm_traffic" --out /dev/null
python3 "$(dirname "$0")/join_counters.py" "$out" || failed="$failed join_counters.py"
[ -z "$failed" ] || { echo "run_counters.sh: failed:$failed" >&2; exit 1; }
