#!/usr/bin/env python3
"""Makes a table of library kernels from medians and ncu's raw page.

  join_launches.py TIMED.csv NCU.csv OUT.csv     TIMED.csv: launches.py --time; NCU.csv: launches.py --profile under ncu --nvtx
  join_launches.py --metrics                     what ncu must count

A launch belongs to the case whose name its NVTX range has. Nothing may be fitted to rows of the set `validation`.
"""
import csv
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernels"))
from join_profile import COLUMNS, launches, number  # noqa: E402

LAUNCH = ["launch__cluster_dim_x", "launch__cluster_dim_y", "launch__cluster_dim_z", "launch__registers_per_thread",
          "launch__shared_mem_per_block_dynamic", "launch__shared_mem_per_block_static"]
HEADER = (["case", "seq", "op", "dtype", "shape", "event_median_us", "kernel", "grid_dim", "block_dim", "cluster_dim", "sm_clock_mhz",
           "lts_clock_mhz"] + list(COLUMNS) + ["grid", "block", "cluster", "regs", "smem_dyn", "smem_static", "split"])


def case_of(launch):
    for name, (value, _) in launch.items():
        if "Push/Pop_Range" in name:
            found = re.search(r"<default domain>:([^:]+):", value)
            if found:
                return found.group(1)
    raise SystemExit(f"join_launches.py: launch {launch['ID'][0]} has no NVTX range; was ncu run with --nvtx?")


def count(values):
    product = 1
    for value in values:
        product *= int(value)
    return product


def row_of(launch, case, seq, timed):
    grid, block = (re.findall(r"\d+", launch[key][0]) for key in ("Grid Size", "Block Size"))
    cluster = [number(launch, m) or "0" for m in LAUNCH[:3]]
    row = {column: number(launch, metric) for column, metric in COLUMNS.items()}
    row.update(timed, case=case, seq=seq, kernel=launch["Kernel Name"][0], grid=count(grid), block=count(block),
               cluster=count(cluster), grid_dim="x".join(grid), block_dim="x".join(block), cluster_dim="x".join(cluster),
               regs=number(launch, LAUNCH[3]), smem_dyn=number(launch, LAUNCH[4]), smem_static=number(launch, LAUNCH[5]))
    for column, cycles in (("sm_clock_mhz", "sm_cycles"), ("lts_clock_mhz", "lts_cycles")):
        row[column] = f"{1e3 * float(row[cycles]) / float(row['ncu_duration_ns']):.1f}"
    return row


def main(timed_path, ncu_path, out_path):
    with open(timed_path, newline="") as f:
        timed = {r["case"]: r for r in csv.DictReader(f)}
    seen = {}
    with open(out_path, "w", newline="") as f:
        writer = csv.DictWriter(f, HEADER, lineterminator="\n")
        writer.writeheader()
        for launch in launches(ncu_path):
            case = case_of(launch)
            seen[case] = seen.get(case, 0) + 1
            if case not in timed:
                raise SystemExit(f"join_launches.py: {timed_path} has no case '{case}'")
            writer.writerow(row_of(launch, case, seen[case], timed[case]))
    for case in timed:
        if case not in seen:
            print(f"join_launches.py: {case}: no launch was profiled", file=sys.stderr)
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--metrics"]:
        print(",".join(list(COLUMNS.values()) + LAUNCH))
        sys.exit(0)
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 4 else (print(__doc__) or 2))
