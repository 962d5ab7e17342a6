#!/usr/bin/env python3
"""Fills the counter columns of strata-gpu's table from ncu's raw page.

  join_profile.py TIMED.csv PROFILED.csv NCU.csv OUT.csv

TIMED.csv: strata-gpu suite FILE --out; PROFILED.csv: the same with --profile, run under ncu; NCU.csv: what ncu printed
(--csv --page raw). The n-th profiled launch made the n-th row of PROFILED.csv; times come from TIMED.csv by case and seq.
"""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "microbench"))
from join_counters import launches  # noqa: E402

COLUMNS = {
    "ncu_duration_ns": "gpu__time_duration.sum",
    "sm_cycles": "sm__cycles_elapsed.max",
    "sm_active_cycles_avg": "sm__cycles_active.avg",
    "lts_cycles": "lts__cycles_elapsed.max",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "lts_sectors": "lts__t_sectors.sum",
    "lts_read_sectors": "lts__t_sectors_op_read.sum",
    "lts_write_sectors": "lts__t_sectors_op_write.sum",
    "lts_from_sm_sectors": "lts__t_sectors_srcunit_tex.sum",
    "lts_from_sm_hit_sectors": "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "lts_fabric_sectors": "lts__t_sectors_srcunit_ltcfabric.sum",
    "xbar2l1_read_sectors": "l1tex__m_xbar2l1tex_read_sectors.sum",
    "l12xbar_write_sectors": "l1tex__m_l1tex2xbar_write_sectors.sum",
    "l1_global_ld_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_global_ld_hit_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "smem_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu.sum",
    "warp_insts": "sm__inst_executed.sum",
    "tensor_insts": "sm__inst_executed_pipe_tensor.sum",
    "tensor_active_pct": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
}
# Behind the library table's columns: requests, for conformance.
EXTRA = {
    "global_ld_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_st_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "smem_ld_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "smem_st_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
TIMES = ("event_median_us", "vendor_median_us", "max_error")


def rows_of(path):
    with open(path, newline="") as f:
        reader = csv.DictReader(f)
        return reader.fieldnames, list(reader)


def number(launch, metric):
    value, unit = launch.get(metric, ("", ""))
    value = value.replace(",", "")
    if metric == "gpu__time_duration.sum" and value:
        value = str(round(float(value) * {"ns": 1, "us": 1e3, "usecond": 1e3, "nsecond": 1, "ms": 1e6, "msecond": 1e6}[unit]))
    return value


def fill(row, launch, timed):
    if launch["Kernel Name"][0].split("(")[0] != row["kernel"]:
        raise SystemExit(f"join_profile.py: row {row['case']} is {row['kernel']}, ncu saw {launch['Kernel Name'][0]}")
    for column, metric in {**COLUMNS, **EXTRA}.items():
        row[column] = number(launch, metric)
    row["sm_clock_mhz"] = f"{1e3 * float(row['sm_cycles']) / float(row['ncu_duration_ns']):.1f}"
    row["lts_clock_mhz"] = f"{1e3 * float(row['lts_cycles']) / float(row['ncu_duration_ns']):.1f}"
    for column in TIMES:
        row[column] = timed.get(column, "")


def main(timed_path, profiled_path, ncu_path, out_path):
    timed = {(r["case"], r["seq"]): r for r in rows_of(timed_path)[1]}
    header, rows = rows_of(profiled_path)
    counted = launches(ncu_path)
    if len(counted) != len(rows):
        print(f"join_profile.py: {len(counted)} launches profiled, {len(rows)} rows; the rest is left out", file=sys.stderr)
    with open(out_path, "w", newline="") as f:
        writer = csv.DictWriter(f, header + list(EXTRA), lineterminator="\n")
        writer.writeheader()
        for row, launch in zip(rows, counted):
            fill(row, launch, timed.get((row["case"], row["seq"]), {}))
            writer.writerow(row)
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--metrics"]:
        print(",".join(list(COLUMNS.values()) + list(EXTRA.values())))
        sys.exit(0)
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 5 else (print(__doc__) or 2))
