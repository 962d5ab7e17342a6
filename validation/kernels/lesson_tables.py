#!/usr/bin/env python3
"""Fills the tables of docs/lessons/ladder.md: recorded launches beside their predictions.

  lesson_tables.py PAGE MEASURED.csv PREDICTED.csv [MEASURED.csv PREDICTED.csv ...]

PREDICTED.csv is what `strata predict --in MEASURED.csv` writes. In PAGE, everything between a line `<!-- table: NAME -->`
and the next `<!-- end -->` is replaced.
"""
import collections
import csv
import re
import statistics
import sys

STEM = "strata_"
SECTOR, WAVEFRONT = 32, 128  # bytes


class Launch:
    """One launch: what was measured and what was predicted."""

    def __init__(self, row, prediction):
        self.kernel = row["kernel"].removeprefix(STEM)
        self.case, self.shape, self.op, self.row = row["case"], row["shape"], row["op"], row
        self.prediction = prediction

    def measured(self, column):
        return float(self.row[column] or 0)

    def predicted(self, column):
        return float(self.prediction[column] or 0)

    @property
    def times(self):
        """Microseconds, measured and simulated."""
        return self.measured("ncu_duration_ns") / 1e3, self.predicted("duration_us")

    def both(self, column, scale):
        return self.measured(column) * scale, self.predicted(column) * scale

    @property
    def flops(self):
        cells = self.shape.split(",")
        if self.op.startswith("gemm"):
            m, n, k = (int(c) for c in cells[:3])
            return 2.0 * m * n * k
        batch, heads, _, q, kv, d, causal = (int(c) for c in cells[:7])
        pairs = sum(kv - q + 1 + i for i in range(q)) if causal else q * kv
        return 4.0 * batch * heads * pairs * d


def load(paths):
    launches = []
    for measured, predicted in zip(paths[::2], paths[1::2]):
        with open(predicted, newline="") as file:
            predictions = {(p["case"], p["seq"]): p for p in csv.DictReader(file)}
        with open(measured, newline="") as file:
            for row in csv.DictReader(file):
                prediction = predictions.get((row["case"], row["seq"]))
                if prediction and prediction["status"] == "ok":
                    launches.append(Launch(row, prediction))
    return launches


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def pair(values):
    """Measured / simulated."""
    return " / ".join(number(v) for v in values)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


# ---- rungs ------------------------------------------------------------------------------------------------------------


def traffic(launches):
    """Bytes at every level, in MB, of launches that run one after the other."""
    def total(column, unit):
        return tuple(sum(v) for v in zip(*(l.both(column, unit / 1e6) for l in launches)))
    read, written = total("dram_read_bytes", 1), total("dram_write_bytes", 1)
    return [pair(total("smem_wavefronts", WAVEFRONT)), pair(total("xbar2l1_read_sectors", SECTOR)),
            pair(total("lts_from_sm_sectors", SECTOR)), pair(tuple(a + b for a, b in zip(read, written)))]


def rung(label, shape, launches, flops):
    times = tuple(sum(v) for v in zip(*(l.times for l in launches)))
    rates = pair(tuple(flops / t / 1e6 for t in times)) if flops else "-"
    longest = max(launches, key=lambda l: l.times[1])
    return [label, shape, pair(times), rates] + traffic(launches) + [longest.prediction["bottleneck"].replace("_", " ")]


RUNG_HEAD = ["rung", "shape", "us", "TFLOP/s", "shared memory MB", "delivered to L1 MB", "L2 from SMs MB", "HBM MB",
             "limit (simulated)"]


def find(launches, kernel, shape):
    return [l for l in launches if l.kernel == kernel and l.shape == shape]


def rungs(launches, wanted):
    rows = []
    for label, kernel, shape in wanted:
        for launch in find(launches, kernel, shape)[:1]:
            with_flops = launch.op.startswith(("gemm", "attention"))
            rows.append(rung(label, shape.replace(",", ", "), [launch], launch.flops if with_flops else 0))
    return table(RUNG_HEAD, rows)


def cube(side, layout):
    return f"{side},{side},{side},{layout}"


def gemm_table(launches):
    return rungs(launches, [
        ("naive, strided", "gemm_naive_strided_16x16_f32_nn", cube(512, "NN")),
        ("naive", "gemm_naive_16x16_f32_nn", cube(512, "NN")),
        ("naive", "gemm_naive_16x16_f32_nn", cube(1024, "NN")),
        ("tiled 32x32, unpadded", "gemm_tiled_32x32x32_p0_f32_tn", cube(1024, "TN")),
        ("tiled 32x32, padded", "gemm_tiled_32x32x32_p1_f32_tn", cube(1024, "TN")),
        ("register-tiled, one buffer", "gemm_simt_128x128x32_8x8_sb_al4_f32_nn", cube(2048, "NN")),
        ("register-tiled, two buffers", "gemm_simt_128x128x32_8x8_db_al4_f32_nn", cube(2048, "NN")),
        ("register-tiled, two buffers", "gemm_simt_128x128x32_8x8_db_al4_f32_nn", cube(4096, "NN")),
        ("WMMA fp16", "gemm_wmma_128x128x32_f16_tn", cube(4096, "TN")),
        ("WMMA bf16", "gemm_wmma_128x128x32_bf16_tn", cube(4096, "TN")),
        ("cp.async + mma.sync", "gemm_mma_128x128x64_3s_bf16_tn", cube(4096, "TN")),
        ("TMA + wgmma", "gemm_wgmma_128x256x64_4s_1x1_bf16_tn", cube(4096, "TN")),
        ("TMA + wgmma, clusters of two", "gemm_wgmma_128x256x64_4s_2x1_bf16_tn", cube(4096, "TN")),
        ("TMA + wgmma, clusters of two", "gemm_wgmma_128x256x64_4s_2x1_bf16_tn", cube(8192, "TN")),
    ])


def attention_table(launches):
    def at(kind, kernel, shape, causal=0):
        return kind, "attention_" + kernel, f"{shape},{causal},{kernel.split('_')[0]}"
    small, medium, large = "1,8,8,1024,1024,64", "1,16,16,2048,2048,64", "8,16,16,2048,2048,128"
    rows = rungs(launches, [
        at("naive, strided", "naive_strided_d64_f32", small),
        at("naive, coalesced", "naive_coalesced_d64_f32", small),
        at("tiled, unpadded", "tiled_32x32_pad0_d64_f32", small),
        at("tiled, padded", "tiled_32x32_pad1_d64_f32", small),
        at("tiled, padded", "tiled_32x32_pad1_d64_f32", medium),
        at("flash, one buffer", "flash_64x64_sb_d64_full_f32", medium),
        at("flash, two buffers", "flash_64x64_db_d64_full_f32", medium),
        at("flash, two buffers, causal", "flash_64x64_db_d64_causal_f32", medium, 1),
        at("mma.sync 64x64", "mma_64x64_d128_full_bf16", large),
        at("mma.sync 128x32", "mma_128x32_d128_full_bf16", large),
        at("TMA + wgmma, serial", "wgmma_128x128_serial_d128_full_bf16", large),
        at("TMA + wgmma, overlapped", "wgmma_128x128_overlap_d128_full_bf16", large),
        at("TMA + wgmma, overlapped, causal", "wgmma_128x128_overlap_d128_causal_bf16", large, 1),
    ])
    unfused = [l for l in launches if "unfused" in l.kernel and l.shape == medium + ",0,unfused"]
    if unfused:
        cells = rung("unfused, three launches", f"{medium},0".replace(",", ", "), unfused, unfused[0].flops)
        rows.insert(7, "| " + " | ".join(cells) + " |")  # before flash
    return rows


def block_table(launches):
    shape = "8192,4096"
    names = ["softmax_3pass_v4_f32", "softmax_smem_v4_f32", "layernorm_smem_v8_bf16", "rmsnorm_smem_v8_bf16",
             "residual_v8_bf16", "residual_rmsnorm_smem_v8_bf16", "bias_v8_bf16", "gelu_v8_bf16", "bias_gelu_v8_bf16",
             "swiglu_v8_bf16"]
    wanted = [(name, name, shape) for name in names]
    wanted += [(f"transpose_{way}_f32", f"transpose_{way}_32x32_f32", "4096,4096")
               for way in ("copy", "naive", "tile", "padded", "swizzled")]
    return rungs(launches, wanted)


# ---- beside the vendor's libraries ------------------------------------------------------------------------------------


def vendor_table(launches):
    kinds = [("register-tiled fp32, two buffers", r"gemm_simt_.*_db_"), ("WMMA", r"gemm_wmma_.*16_"),
             ("cp.async + mma.sync", r"gemm_mma_128x128x64_3s_(bf|f)16"), ("TMA + wgmma 128x128", r"gemm_wgmma_128x128"),
             ("TMA + wgmma 128x256", r"gemm_wgmma_128x256")]
    rows = []
    for label, pattern in kinds:
        shares = []
        for l in launches:
            sizes = l.shape.split(",")[:3] if l.op == "gemm" else []
            vendor = l.measured("vendor_median_us")
            if sizes and min(int(s) for s in sizes) >= 2048 and vendor and re.match(pattern, l.kernel):
                shares.append(100 * vendor / l.measured("event_median_us"))
        if shares:
            rows.append([label, str(len(shares)), f"{min(shares):.0f} to {max(shares):.0f} %",
                         f"{statistics.median(shares):.0f} %"])
    return table(["rung", "launches of 2048 and more", "of cuBLAS's speed", "median"], rows)


# ---- ratios -----------------------------------------------------------------------------------------------------------


def partners(launches, slow, fast):
    """Launches that differ in one word of their names only; of attention shapes, mask and backend are left out."""
    by_name = {}
    for l in launches:
        by_name.setdefault((l.kernel, l.shape.rsplit(",", 2)[0] if l.op == "attention" else l.shape), l)
    for (kernel, shape), launch in by_name.items():
        other = by_name.get((re.sub(slow, fast, kernel), shape))
        if other and other is not launch:
            yield [launch], [other]


def fused_norms(launches):
    """A residual addition and a norm against the kernel that does both; bias and GELU likewise."""
    by_name = {(l.kernel, l.shape): l for l in launches}
    for (kernel, shape), both in by_name.items():
        match = re.fullmatch(r"(residual|bias)_(layernorm_smem|rmsnorm_smem|gelu)(_v\d+_\w+)", kernel)
        if match:
            parts = [by_name.get((match[i] + match[3], shape)) for i in (1, 2)]
            if all(parts):
                yield parts, [both]


def fused_attention(launches):
    """Scores, softmax and values against the kernel that keeps scores on chip."""
    cases = collections.defaultdict(list)
    for l in launches:
        cases[l.case].append(l)
    for parts in cases.values():
        if "attention_unfused" in parts[0].kernel:
            shape = parts[0].shape.rsplit(",", 1)[0]
            d = shape.split(",")[5]
            for l in launches:
                if l.kernel == f"attention_flash_64x64_sb_d{d}_full_f32" and l.shape.startswith(shape + ","):
                    yield parts, [l]


CHECKS = [
    ("GEMM tiles unpadded / padded", lambda all_: partners(all_, r"_p0_", "_p1_")),
    ("attention tiles unpadded / padded", lambda all_: partners(all_, r"_pad0_", "_pad1_")),
    ("transpose unpadded / padded", lambda all_: partners(all_, r"transpose_tile", "transpose_padded")),
    ("naive GEMM strided / coalesced", lambda all_: partners(all_, r"naive_strided_16", "naive_16")),
    ("naive attention strided / coalesced", lambda all_: partners(all_, r"naive_strided_d", "naive_coalesced_d")),
    ("transpose by columns / copy", lambda all_: partners(all_, r"transpose_naive", "transpose_copy")),
    ("GEMM one buffer / two", lambda all_: partners(all_, r"_sb_al", "_db_al")),
    ("flash attention one buffer / two", lambda all_: partners(all_, r"flash_64x64_sb", "flash_64x64_db")),
    ("wgmma attention serial / overlapped", lambda all_: partners(all_, r"128_serial", "128_overlap")),
    ("residual, norm; bias, GELU apart / fused", fused_norms),
    ("attention in three launches / flash", fused_attention),
    ("attention full / causal", lambda all_: partners(all_, r"_full_", "_causal_")),
]


def ratio_table(launches):
    rows = []
    for label, pairs in CHECKS:
        ratios = []
        for slow, fast in pairs(launches):
            times = [tuple(sum(v) for v in zip(*(l.times for l in side))) for side in (slow, fast)]
            ratios.append((times[0][0] / times[1][0], times[0][1] / times[1][1]))
        if ratios:
            off = [100 * (p / m - 1) for m, p in ratios]
            rows.append([label, str(len(ratios)), f"{statistics.geometric_mean(m for m, _ in ratios):.2f}",
                         f"{statistics.geometric_mean(p for _, p in ratios):.2f}",
                         f"{statistics.mean(off):+.0f} %", f"{statistics.mean(abs(o) for o in off):.0f} %"])
    return table(["ratio of times", "pairs", "measured", "predicted", "bias", "mean absolute difference"], rows)


TABLES = {"gemm": gemm_table, "attention": attention_table, "block": block_table, "vendor": vendor_table,
          "ratios": ratio_table}


def main():
    if len(sys.argv) < 4 or len(sys.argv) % 2 != 0:
        sys.exit(__doc__)
    launches = load(sys.argv[2:])
    with open(sys.argv[1]) as file:
        page = file.read()
    for name, make in TABLES.items():
        begin = f"<!-- table: {name} -->\n"
        if begin not in page:
            sys.exit(f"{sys.argv[1]}: no line '{begin.strip()}'")
        before, rest = page.split(begin, 1)
        after = rest.split("<!-- end -->", 1)[1]
        page = before + begin + "\n".join(make(launches)) + "\n<!-- end -->" + after
    with open(sys.argv[1], "w") as file:
        file.write(page)


if __name__ == "__main__":
    main()
