#!/usr/bin/env bash
# Reads hardware counters of single launches with ncu (no clock control, caches left alone).
#   run_counters.sh OUTDIR BINDIR [NAME...]
# NAME: only these profiles (lrc, lrc_units, lrc_cold, empty, cta_ends, first_touch, first_touch_warm, tma_edges, hbm_traffic, partial_stores, ...).
# Leaves ncu's raw pages in X_ncu.csv, and X_counters.csv: the same with the names of the program's own rows.
set -u
out=$1 bin=$2; shift 2
only=" $* "
command -v ncu >/dev/null || { echo "run_counters.sh: ncu not found" >&2; exit 1; }
timeout 60 ncu --query-metrics > "$out/ncu_metrics.txt" 2>&1
# Metrics that exist only on some chips are asked for only where they are listed.
# Few enough for one pass each, so that no replay disturbs the caches.
available() { for m in "$@"; do grep -q "^${m%%.*}[ ]" "$out/ncu_metrics.txt" && printf '%s,' "$m"; done | sed 's/,$//'; }
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
profile() {  # name, kernel regex, cache control, metrics, command...
  local name=$1 kernel=$2 cache=$3 metrics=$4; shift 4
  [ "$only" = "  " ] || [[ "$only" == *" $name "* ]] || return 0
  timeout 100 ncu --clock-control none --cache-control "$cache" --csv --page raw --kernel-name "regex:$kernel" \
    --metrics "$metrics" "$@" > "$out/${name}_ncu.csv" 2> "$out/${name}_ncu.log" \
    || echo "run_counters.sh: $name failed" >&2
}
profile lrc 'lrc.*' none "$base" "$bin/lrc" --pairs --out "$out/lrc_under_ncu.csv" --reps 1
profile lrc_units 'lrc.*' none "$lrc" "$bin/lrc" --out "$out/lrc_units_under_ncu.csv" --reps 1
profile lrc_cold 'lrc.*' all "$base" "$bin/lrc" --out "$out/lrc_cold_under_ncu.csv" --reps 1
profile lrc_lines 'lrcLines' none "$lines" "$bin/lrc_lines" --out "$out/lrc_lines_under_ncu.csv" --reps 1
profile lrc_lines_cold 'lrcLines' all "$lines" "$bin/lrc_lines" --out /dev/null --reps 1
profile tma_edges 'edges' none "$lines" "$bin/tma_edges" --out "$out/tma_edges_under_ncu.csv" --reps 1
profile empty empty none "$base" "$bin/launch" --empties --out "$out/empty_under_ncu.csv"
profile cta_ends 'waits|elementwise' all "$base" "$bin/cta_ends" --out "$out/cta_ends_under_ncu.csv"
profile first_touch 'touch.*' all "$base" "$bin/first_touch" --out "$out/first_touch_under_ncu.csv"
profile first_touch_warm 'touch.*' none "$base" "$bin/first_touch" --out /dev/null
profile hbm_traffic 'traffic.*' none "$memory" "$bin/hbm_traffic" --out "$out/hbm_traffic_under_ncu.csv"
profile hbm_traffic_hits 'traffic.*' none "$hits" "$bin/hbm_traffic" --out /dev/null
profile partial_stores 'store.*' none "$memory" "$bin/partial_stores" --single --out "$out/partial_stores_under_ncu.csv"
profile partial_stores_hits 'store.*' none "$hits" "$bin/partial_stores" --single --out /dev/null
profile clocks 'traffic.*' none "$clocks" "$bin/hbm_traffic" --out /dev/null
command -v python3 >/dev/null && python3 "$(dirname "$0")/join_counters.py" "$out"
exit 0
