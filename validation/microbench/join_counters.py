#!/usr/bin/env python3
"""Joins the counters that run_counters.sh read with the rows of the program that made the launches.

  join_counters.py OUTDIR

Writes OUTDIR/X_counters.csv (bench,series,x,x_unit,metric,value,unit) from OUTDIR/ncu/X_ncu.csv (ncu's raw page) and the
rows that the program printed meanwhile, one by one: the n-th profiled launch made the n-th row. Ends with 1 where the
two do not fit.
"""
import csv
import os
import sys

LABELS = {"lrc": "lrc_under_ncu", "lrc_units": "lrc_units_under_ncu", "lrc_cold": "lrc_cold_under_ncu", "lrc_lines": "lrc_lines_under_ncu",
          "lrc_lines_cold": "lrc_lines_under_ncu", "tma_edges": "tma_edges_under_ncu", "empty": "empty_under_ncu",
          "cta_ends": "cta_ends_under_ncu", "first_touch": "first_touch_under_ncu",
          "first_touch_warm": "first_touch_under_ncu", "hbm_traffic": "hbm_traffic_under_ncu",
          "hbm_traffic_hits": "hbm_traffic_under_ncu", "clocks": "hbm_traffic_under_ncu",
          "partial_stores": "partial_stores_under_ncu", "partial_stores_hits": "partial_stores_under_ncu"}
SKIP = ("device__", "launch__", "nvlink__", "numa__", "profiler__", "c2clink__")


def launches(path):
    with open(path, newline="") as f:
        rows = list(csv.reader(line for line in f if line.startswith('"')))
    if len(rows) < 3:
        return []
    head, units = rows[0], rows[1]
    return [{h: (v, u) for h, u, v in zip(head, units, row)} for row in rows[2:]]


def keep(name):
    return "__" in name and not name.startswith(SKIP) and (name.endswith((".sum", ".max", ".avg.per_second")) or "." not in name)


def wanted(all_names):
    """Of the .sum/.max/.avg variants that ncu prints, the requested one: .sum where there is one."""
    chosen = {}
    for name in all_names:
        if not keep(name) or "maximum_warps" in name:
            continue
        base, _, kind = name.partition(".")
        best = chosen.get(base)
        prefer = {"sum": 2, "max": 1, "avg.per_second": 3}.get(kind, 0)
        if base == "sm__cycles_elapsed" and kind == "max":
            prefer = 4
        if best is None or prefer > best[0]:
            chosen[base] = (prefer, name)
    return [name for _, name in chosen.values()]


def main(out):
    status = 0
    for name, labels in LABELS.items():
        raw, rows = os.path.join(out, "ncu", name + "_ncu.csv"), os.path.join(out, "ncu", labels + ".csv")
        if not os.path.exists(raw):
            continue
        if not os.path.exists(rows):
            print(f"join_counters.py: {name}: {rows} is missing; left out", file=sys.stderr)
            status = 1
            continue
        with open(rows, newline="") as f:
            labelled = list(csv.DictReader(f))
        counted = launches(raw)
        if len(counted) != len(labelled):
            print(f"join_counters.py: {name}: {len(counted)} launches, {len(labelled)} rows; left out", file=sys.stderr)
            status = 1
            continue
        joined = os.path.join(out, name + "_counters.csv")
        with open(joined + ".part", "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(["bench", "series", "x", "x_unit", "metric", "value", "unit"])
            for label, launch in zip(labelled, counted):
                for metric in wanted(launch):
                    value, unit = launch[metric]
                    w.writerow([label["bench"], label["series"], label["x"], label["x_unit"], metric, value.replace(",", ""), unit])
        os.replace(joined + ".part", joined)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else (print(__doc__) or 2))
