#!/usr/bin/env python3
"""Runs library kernels through PyTorch, to be timed or to be profiled by ncu.

  launches.py --list [--set SET]
  launches.py --time OUT.csv [--set SET] [--only WORD]   medians with flushed L2: case,op,dtype,shape,event_median_us,split
  launches.py --profile [--set SET] [--only WORD]        every case once, in an NVTX range of its name, between cudaProfilerStart and Stop

SET is validation (the default), calibration (other shapes, many of them small or ragged), grid (squares, the layers of
language models at many batch sizes and all row operators on the same matrices, less what the H100's table holds), drawn
(shapes drawn at random, operators that no other set has) or functors (elementwise operators on one matrix). The rows of
calibration, grid and functors are there to study the kernels on: their column `split` says calibration.
A case's name is the label that `strata predict --from ncu` reads (docs/guide/profiles.md).
"""
import argparse
import csv
import random as chance
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32, "tf32": torch.float32}
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "math": SDPBackend.MATH}
FLUSH_BYTES = 256 << 20  # four times the L2


def random(dtype, *shape):
    return torch.randn(*shape, device="cuda", dtype=TYPES[dtype])


def gemm(dtype, m, n, k, layout):
    """Layout letters as cuBLAS prints them: T first is a weight of N x K, T second an activation of K x M."""
    if dtype == "int8":
        a = torch.randint(-64, 64, (m, k), device="cuda", dtype=torch.int8)
        b = torch.randint(-64, 64, (n, k), device="cuda", dtype=torch.int8)
        return lambda: torch._int_mm(a, b.t())
    if dtype == "fp8":
        a, b = (torch.randn(r, k, device="cuda").to(torch.float8_e4m3fn) for r in (m, n))
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16)
    a = random(dtype, k, m).t() if layout[1] == "T" else random(dtype, m, k)
    b = random(dtype, n, k).t() if layout[0] == "T" else random(dtype, k, n)
    def run():
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        return torch.mm(a, b)
    return run


def attention(dtype, backend, b, h, kv_heads, q, kv, d, causal):
    query, key, value = random(dtype, b, h, q, d), random(dtype, b, kv_heads, kv, d), random(dtype, b, kv_heads, kv, d)
    def run():
        with sdpa_kernel(BACKENDS[backend]):
            return F.scaled_dot_product_attention(query, key, value, is_causal=causal, enable_gqa=kv_heads != h)
    return run


def rowwise(op, dtype, rows, cols):
    x = random(dtype, rows, cols)
    y, weight, bias = random(dtype, rows, cols), random(dtype, cols), random(dtype, cols)
    def positive():
        return y
    if op in ("log", "sqrt", "rsqrt", "pow"):
        y = y.abs() + 0.1
    return {
        "add": lambda: x + y,
        "relu": lambda: F.relu(x),
        "sigmoid": lambda: torch.sigmoid(x),
        "exp": lambda: torch.exp(x),
        "cast": lambda: x.float() if dtype == "bf16" else x.bfloat16(),
        "sub": lambda: x - y,
        "bias": lambda: x + bias,
        "tanh": lambda: torch.tanh(x),
        "gelu_tanh": lambda: F.gelu(x, approximate="tanh"),
        "log": lambda: torch.log(positive()),
        "sqrt": lambda: torch.sqrt(positive()),
        "rsqrt": lambda: torch.rsqrt(positive()),
        "reciprocal": lambda: torch.reciprocal(x),
        "div": lambda: x / y,
        "div_scalar": lambda: x / 3,
        "mul_scalar": lambda: x * 3,
        "add_scalar": lambda: x + 3,
        "square": lambda: x ** 2,
        "cube": lambda: x ** 3,
        "pow": lambda: positive() ** 1.7,
        "abs": lambda: x.abs(),
        "neg": lambda: -x,
        "maximum": lambda: torch.maximum(x, y),
        "clamp": lambda: x.clamp(-1, 1),
        "eq": lambda: x == y,
        "gt_scalar": lambda: x > 0,
        "where": lambda: torch.where(x > 0, x, y),
        "leaky_relu": lambda: F.leaky_relu(x),
        "elu": lambda: F.elu(x),
        "softplus": lambda: F.softplus(x),
        "mish": lambda: F.mish(x),
        "hardswish": lambda: F.hardswish(x),
        "sin": lambda: torch.sin(x),
        "cos": lambda: torch.cos(x),
        "erf": lambda: torch.erf(x),
        "floor": lambda: torch.floor(x),
        "addcmul": lambda: torch.addcmul(x, y, y),
        "lerp": lambda: torch.lerp(x, y, 0.3),
        "masked_fill": lambda: x.masked_fill(x > 0, 0),
        "dropout": lambda: F.dropout(x, 0.1),
        "zero": lambda: x.zero_(),
        "to_half": lambda: x.half(),
        "triu": lambda: x.triu(),
        "sum": lambda: x.sum(-1),
        "mean": lambda: x.mean(-1),
        "amax": lambda: x.amax(-1),
        "mul": lambda: x * y,
        "gelu": lambda: F.gelu(x),
        "silu": lambda: F.silu(x),
        "transpose": lambda: x.t().contiguous(),
        "softmax": lambda: F.softmax(x, -1),
        "layernorm": lambda: F.layer_norm(x, (cols,), weight, bias),
        "rmsnorm": lambda: F.rms_norm(x, (cols,), weight),
    }[op]


CUBES = {"bf16": (256, 512, 768, 1024, 1280, 1536, 1792, 2560, 255, 511, 1023, 2047, 3001, 1001, 1100),
         "fp16": (512, 1024, 1536, 3072, 1023, 1540), "tf32": (512, 1024, 1536, 3072), "fp32": (256, 1024, 1536, 1023), "int8": (1024, 2048), "fp8": (1024, 3072)}
OBLONGS = ((32, 4096, 4096), (64, 4096, 4096), (128, 4096, 4096), (192, 4096, 4096), (256, 4096, 4096), (512, 4096, 4096), (768, 4096, 4096),
           (1024, 4096, 4096), (4, 14336, 4096), (24, 14336, 4096), (128, 14336, 4096), (256, 4096, 14336), (512, 14336, 4096), (2048, 6144, 4096),
           (3072, 4096, 4096), (4096, 1024, 4096), (4096, 4096, 1024), (4096, 4096, 512), (512, 512, 16384), (1024, 1024, 8192), (256, 256, 4096),
           (2048, 2048, 512), (8192, 512, 512), (777, 1555, 333), (129, 4097, 513), (500, 2000, 3000))
TRANSPOSES = {"bf16": ((512, 512), (1024, 1024), (1024, 4096), (4096, 4096), (4096, 1000), (333, 7777), (16384, 2048), (64, 65536)),
              "fp32": ((1024, 1024), (2048, 2048), (8192, 1024), (3000, 3000))}
ROWS = {"softmax": {"bf16": ((4096, 128), (8192, 512), (16384, 1024), (2048, 2048), (1024, 8192), (256, 32768), (512, 100000)), "fp32": ((8192, 1024), (4096, 4096), (1000, 1000))},
        "layernorm": {"bf16": ((512, 1024), (8192, 1024), (1024, 8192), (300, 768), (32768, 512)), "fp32": ((2048, 4096),)},
        "rmsnorm": {"bf16": ((512, 4096), (8192, 5120), (2048, 8192))},
        "add": {"bf16": ((256, 256), (2048, 2048), (8192, 8192), (3333, 1111)), "fp32": ((1024, 1024), (4096, 8192))},
        "gelu": {"bf16": ((1024, 4096),)}, "silu": {"bf16": ((4096, 14336),)}, "mul": {"fp32": ((512, 8192),)}}
ATTENTIONS = (("math", 4, 8, 8, 1024, 1024, 64, True), ("math", 2, 16, 16, 2048, 2048, 128, True), ("math", 1, 8, 8, 300, 300, 64, False),
              ("math", 16, 8, 8, 256, 256, 64, True), ("flash", 4, 16, 16, 1024, 1024, 64, True), ("flash", 4, 16, 16, 1024, 1024, 128, True),
              ("flash", 1, 12, 12, 3000, 3000, 64, False), ("flash", 64, 8, 8, 256, 256, 64, False), ("flash", 8, 32, 8, 1, 4096, 128, False),
              ("flash", 2, 32, 32, 1, 1000, 64, False), ("cudnn", 4, 16, 16, 1024, 1024, 64, True), ("cudnn", 4, 16, 16, 1024, 1024, 128, True),
              ("cudnn", 2, 16, 16, 4096, 4096, 64, True), ("cudnn", 1, 12, 12, 3000, 3000, 64, False), ("cudnn", 64, 8, 8, 256, 256, 64, False),
              ("cudnn", 8, 32, 8, 1, 4096, 128, False), ("cudnn", 2, 32, 32, 1, 1000, 64, False))

GRID_SQUARES = {"bf16": (512, 1024, 2048, 2560, 3072, 3584, 5120, 7168, 10240, 12288), "fp16": (2048 + 512, 4096, 8192), "tf32": (1536, 3072, 8192),
                "int8": (1024, 3072, 6144), "fp8": (1024, 3072, 8192), "fp32": (512, 2048, 4096)}
GRID_LAYERS = (((4096, 4096), (1, 2, 24, 32, 48, 64, 96, 192, 256, 384, 768, 1024, 3072, 8192)),
               ((11008, 4096), (2, 4, 8, 32, 64, 384, 2048, 4096)), ((4096, 11008), (1, 4, 16, 32, 128, 512, 2048, 4096)),
               ((10240, 8192), (1, 16, 1024)), ((8192, 8192), (1, 16, 128, 1024)), ((28672, 8192), (1, 128, 512)), ((8192, 28672), (16, 128, 1024)),
               ((32000, 4096), (1, 128, 1024)), ((6144, 4096), (1, 64, 512, 4096)), ((14336, 4096), (1, 16, 1024)), ((4096, 14336), (1, 16, 1024)))
GRID_GEMMS = ((4096, 4096, 4095), (4096, 4097, 4096), (1000, 2000, 3000), (257, 511, 1023), (777, 333, 1111), (64, 64, 65536), (256, 256, 32768),
              (65536, 64, 64), (65536, 256, 256), (8192, 8192, 32), (8192, 8192, 256), (4096, 4096, 64), (1024, 50257, 768), (128, 50304, 768))
GRID_MATRICES = ((128, 4096), (512, 512), (1024, 1024), (2048, 4096), (8192, 4096), (16384, 8192), (65536, 1024), (32768, 512), (4096, 16384))
GRID_ROWS = ("softmax", "layernorm", "rmsnorm", "gelu", "silu", "add", "transpose")
GRID_RECORDED_ROWS = {"softmax": ((1024, 1024), (16384, 8192), (65536, 1024)), "layernorm": ((128, 4096), (1024, 1024), (2048, 4096), (16384, 8192)),
                      "rmsnorm": ((2048, 4096), (65536, 1024), (4096, 16384)), "gelu": ((2048, 4096),), "silu": ((65536, 1024), (32768, 512)),
                      "add": ((1024, 1024), (2048, 4096), (8192, 4096), (16384, 8192), (65536, 1024), (4096, 16384)), "transpose": ((128, 4096), (16384, 8192))}
GRID_RECORDED_ATTENTIONS = (("flash", 64, 512, False), ("flash", 64, 512, True), ("flash", 64, 1024, False), ("flash", 128, 8192, False),
                            ("cudnn", 64, 1024, True), ("cudnn", 64, 2048, False), ("cudnn", 128, 512, True), ("cudnn", 128, 1024, False),
                            ("cudnn", 128, 1024, True), ("cudnn", 128, 2048, False))
GRID_ATTENTIONS = tuple((backend, 16384 // length, 2048 // d, 2048 // d, length, length, d, causal)
                        for backend in ("flash", "cudnn") for d in (64, 128) for length in (512, 1024, 2048, 8192) for causal in (False, True)
                        if (backend, d, length, causal) not in GRID_RECORDED_ATTENTIONS)
GRID_DECODES = tuple((backend, b, 32, 32, 1, length, 128, False) for backend in ("flash", "cudnn") for b in (1, 4, 16) for length in (1024, 4096, 16384))
GRID_MATH = (("math", 8, 16, 16, 512, 512, 128, True), ("math", 4, 16, 16, 1024, 1024, 128, False), ("math", 2, 16, 16, 2048, 2048, 64, True))

DRAWN_OPERATORS = ("add", "mul", "sub", "gelu", "silu", "relu", "sigmoid", "exp", "cast", "bias", "triu", "transpose", "sum", "mean", "amax",
                   "softmax", "layernorm", "rmsnorm")

FUNCTORS = ("tanh", "gelu_tanh", "log", "sqrt", "rsqrt", "reciprocal", "div", "div_scalar", "mul_scalar", "add_scalar", "square", "cube", "pow", "abs",
            "neg", "maximum", "clamp", "relu", "eq", "gt_scalar", "where", "leaky_relu", "elu", "softplus", "mish", "hardswish", "sin", "cos", "erf",
            "floor", "addcmul", "lerp", "masked_fill", "dropout", "zero", "to_half", "exp", "sigmoid", "silu", "gelu", "add", "mul", "cast")


def drawn():
    """GEMMs (dtype, m, n, k, layout), attentions and row operators (op, dtype, rows, columns), the same at each call."""
    pick = chance.Random(2026)
    size = lambda low, high, step: max(step, round(low * (high / low) ** pick.random() / step) * step)
    gemms = [(pick.choice(("bf16", "bf16", "fp16", "fp8", "int8", "tf32")), size(16, 8192, 16), size(256, 16384, 64), size(256, 12288, 64), "TN")
             for _ in range(40)]
    gemms += [("bf16", size(64, 4096, 8), size(64, 4096, 8), size(64, 4096, 8), pick.choice(("NN", "NT", "TT"))) for _ in range(6)]
    gemms += [("bf16", size(50, 3000, 1), size(50, 3000, 1), size(50, 3000, 1), "TN") for _ in range(6)]
    gemms += [("fp32", size(64, 3000, 4), size(64, 3000, 4), size(64, 3000, 4), "TN") for _ in range(4)]
    attentions = []
    for backend in ("flash", "cudnn"):
        for _ in range(8):
            d, length = pick.choice((64, 128)), size(256, 6144, 8)
            attentions.append((backend, max(1, 12288 // length), pick.choice((8, 16)), 8, length, length, d, pick.random() < 0.5))
        for _ in range(3):
            attentions.append((backend, pick.choice((1, 2, 8, 24)), 32, 8, 1, size(500, 20000, 100), 128, False))
    rows = [(op, pick.choice(("bf16", "bf16", "fp32")), size(100, 30000, 4), size(128, 16384, 8)) for op in DRAWN_OPERATORS for _ in range(3)]
    return gemms, attentions, [r for r in rows if r[2] * r[3] <= 1 << 27]


def cases(chosen):
    """(name, op, dtype, shape, maker) of every case of a set, in the order in which they run."""
    out = []
    def add_gemm(dtype, m, n, k, layout="TN"):
        out.append((f"gemm_{dtype}_{layout}_{m}x{n}x{k}", "gemm", dtype, f"{m},{n},{k},{layout}", lambda: gemm(dtype, m, n, k, layout)))
    def add_attention(backend, b, h, kv_heads, q, kv, d, causal):
        name = f"attn_{backend}_b{b}_h{h}_{kv_heads}_q{q}_k{kv}_d{d}_{'c' if causal else 'f'}"
        shape = f"{b},{h},{kv_heads},{q},{kv},{d},{int(causal)},{backend}"
        out.append((name, "attention", "bf16", shape, lambda: attention("bf16", backend, b, h, kv_heads, q, kv, d, causal)))
    def add_rows(op, dtype, rows, cols):
        out.append((f"{op}_{dtype}_{rows}x{cols}", op, dtype, f"{rows},{cols}", lambda: rowwise(op, dtype, rows, cols)))

    if chosen == "functors":
        for op in FUNCTORS:
            for dtype in ("bf16", "fp32"):
                add_rows(op, dtype, 4096, 4096)
        return out

    if chosen == "drawn":
        gemms, attentions, rows_of = drawn()
        for case in gemms:
            add_gemm(*case)
        for case in attentions:
            add_attention(*case)
        for case in rows_of:
            add_rows(*case)
        return out

    if chosen == "calibration":
        for dtype, sizes in CUBES.items():
            for size in sizes:
                add_gemm(dtype, size, size, size)
        for shape in OBLONGS:
            add_gemm("bf16", *shape)
        for layout in ("NN", "NT", "TT"):
            add_gemm("bf16", 1024, 1024, 1024, layout)
            add_gemm("bf16", 2048, 4096, 1024, layout)
        for attention_case in ATTENTIONS:
            add_attention(*attention_case)
        for op, by_type in {"transpose": TRANSPOSES, **ROWS}.items():
            for dtype, shapes in by_type.items():
                for rows, cols in shapes:
                    add_rows(op, dtype, rows, cols)
        return out

    if chosen == "grid":
        for dtype, sizes in GRID_SQUARES.items():
            for size in sizes:
                add_gemm(dtype, size, size, size)
        for (n, k), rows_of in GRID_LAYERS:
            for m in rows_of:
                add_gemm("bf16", m, n, k)
        for shape in GRID_GEMMS:
            add_gemm("bf16", *shape)
        for attention_case in GRID_ATTENTIONS + GRID_DECODES + GRID_MATH:
            add_attention(*attention_case)
        for op in GRID_ROWS:
            for matrix in GRID_MATRICES:
                if matrix not in GRID_RECORDED_ROWS[op]:
                    add_rows(op, "bf16", *matrix)
        return out

    for size in (1024, 2048, 3072, 4096, 8192):
        add_gemm("bf16", size, size, size)
    for m, n, k in ((1, 4096, 4096), (16, 6144, 4096), (64, 4096, 14336), (256, 8192, 8192), (2048, 14336, 4096), (4096, 4096, 14336),
                    (16384, 4096, 1024), (2048, 2048, 32768), (1000, 1000, 1000), (4095, 4095, 4095), (300, 5000, 700)):
        add_gemm("bf16", m, n, k)
    add_gemm("bf16", 4096, 4096, 4096, "NN")
    add_gemm("bf16", 4096, 4096, 4096, "NT")
    for size in (2048, 4096):
        for dtype in ("fp16", "tf32", "fp32", "int8", "fp8"):
            add_gemm(dtype, size, size, size)
    for backend in ("flash", "cudnn"):
        for d, h in ((64, 32), (128, 16)):
            for causal in (False, True):
                add_attention(backend, 8, h, h, 2048, 2048, d, causal)
        add_attention(backend, 1, 16, 16, 8192, 8192, 128, True)
    add_attention("cudnn", 2, 32, 8, 4096, 4096, 128, True)
    add_attention("flash", 16, 32, 32, 1, 8192, 128, False)
    for op, dtype, rows, cols in (("add", "bf16", 4096, 4096), ("add", "bf16", 16384, 16384), ("add", "fp32", 8192, 8192), ("mul", "bf16", 1024, 2048),
                                  ("gelu", "bf16", 8192, 14336), ("silu", "fp32", 8192, 4096), ("transpose", "bf16", 2048, 2048),
                                  ("transpose", "bf16", 8192, 8192), ("transpose", "fp32", 4096, 4096), ("transpose", "bf16", 1024, 50000),
                                  ("softmax", "bf16", 8192, 4096), ("softmax", "bf16", 32768, 1024), ("softmax", "fp32", 4096, 16384),
                                  ("layernorm", "bf16", 4096, 4096), ("layernorm", "bf16", 16384, 5120), ("layernorm", "fp32", 8192, 2048),
                                  ("rmsnorm", "bf16", 4096, 4096), ("rmsnorm", "bf16", 32768, 2048)):
        add_rows(op, dtype, rows, cols)
    return out


def median_us(work, flush):
    times = []
    for repetition in range(13):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flush.fill_(repetition)
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end))
    times = sorted(times[2:])
    return times[len(times) // 2]


def profile(name, work):
    work()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    torch.cuda.nvtx.range_push(name)
    work()
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
    torch.cuda.profiler.stop()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--time")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--set", choices=("validation", "calibration", "grid", "drawn", "functors"), default="validation")
    options = parser.parse_args()
    chosen = [c for c in cases(options.set) if options.only in c[0]]
    if options.list:
        print("\n".join(c[0] for c in chosen))
        return 0
    if options.profile == bool(options.time):
        parser.error("give either --time FILE or --profile")
    rows = []
    split = "validation" if options.set in ("validation", "drawn") else "calibration"
    flush = torch.empty(FLUSH_BYTES, device="cuda", dtype=torch.uint8) if options.time else None
    for name, op, dtype, shape, make in chosen:
        torch.cuda.empty_cache()
        try:
            work = make()
            if options.profile:
                profile(name, work)
            else:
                rows.append([name, op, dtype, shape, f"{median_us(work, flush):.3f}", split])
        except RuntimeError as error:
            print(f"launches.py: {name} left out: {str(error).splitlines()[0]}", file=sys.stderr)
    if options.time:
        with open(options.time, "w", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(["case", "op", "dtype", "shape", "event_median_us", "split"])
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
