#!/usr/bin/env python3
"""Times PyTorch's attention beside the ladder's: every attention case of a suite, by cuDNN and by FlashAttention.

  attention_times.py SUITE STRATA_GPU_TIMES.csv     what `strata-gpu suite SUITE --out` measured in the same hour

Prints a table: case, median of the ladder's kernel, of cuDNN and of FlashAttention in microseconds, share of cuDNN's speed.
"""
import csv
import re
import sys

import torch
from launches import FLUSH_BYTES, attention, median_us


def cases(suite):
    """(kernel, dtype, b, h, kv_heads, q, kv, d, causal) of the attention lines of a suite."""
    with open(suite) as f:
        for line in f:
            words = line.split("#")[0].split()
            if len(words) < 2 or "_attention_" not in words[1]:
                continue
            key = {k[2:]: int(v) for k, v in zip(words[2::2], words[3::2])}
            d = int(re.search(r"_d(\d+)_", words[1]).group(1))
            heads, q = key["heads"], key["q"]
            dtype = {"bf16": "bf16", "f16": "fp16"}.get(words[1].split("_")[-1])
            yield words[1], dtype, key.get("batch", 1), heads, key.get("kv-heads", heads), q, key.get("kv", q), d, "_causal" in words[1]


def main(suite, times):
    with open(times, newline="") as f:
        ours = {(r["kernel"], r["shape"].rsplit(",", 1)[0]): float(r["event_median_us"]) for r in csv.DictReader(f) if r["op"] == "attention"}
    flush = torch.empty(FLUSH_BYTES, device="cuda", dtype=torch.uint8)
    print(f"{'kernel':60} {'shape':34} {'us':>9} {'cuDNN':>9} {'flash':>9} {'of cuDNN':>9}")
    for kernel, dtype, *shape in cases(suite):
        label = ",".join(str(int(v)) for v in shape)
        if dtype is None or (kernel, label) not in ours:
            continue
        cudnn, flash = (median_us(attention(dtype, backend, *shape), flush) for backend in ("cudnn", "flash"))
        us = ours[kernel, label]
        print(f"{kernel:60} {label:34} {us:9.2f} {cudnn:9.2f} {flash:9.2f} {100 * cudnn / us:8.1f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else (print(__doc__) or 2))
