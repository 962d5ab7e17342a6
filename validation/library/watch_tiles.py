#!/usr/bin/env python3
"""When does each tile of an attention kernel's output appear? Needs PyTorch, nvcc and a Hopper GPU.

  watch_tiles.py OUT.csv     columns: shape (batch,heads,kv heads,q,kv,d,causal), head (batch x heads), row (first of 64), clk

The output is filled with a NaN that no product gives, a kernel on one SM watches the last row of every 64 rows, and cuDNN's
attention runs beside it. clk counts from the first tile seen; a watched SM looks at each place about once per 1,000 clk.
"""
import csv
import ctypes
import os
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

UNTOUCHED = 0x7FC1
ROWS = 64
LIMIT_CLK = 60_000_000
SHAPES = ((4, 16, 16, 1024, 128, True), (2, 16, 16, 4096, 64, True), (1, 12, 12, 3000, 64, False))


def build(folder):
    library = os.path.join(folder, "libwatch_tiles.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "watch_tiles.cu")
    subprocess.run([os.environ.get("NVCC", "nvcc"), "-arch=sm_90a", "-shared", "-Xcompiler", "-fPIC", "-o", library, source], check=True)
    loaded = ctypes.CDLL(library)
    pointer = ctypes.c_void_p
    loaded.watchTiles.argtypes = [pointer, pointer, ctypes.c_int, ctypes.c_int, pointer, ctypes.c_longlong, pointer]
    return loaded


def watch(library, batch, heads, kv_heads, length, dim, causal):
    query = torch.randn(batch, heads, length, dim, device="cuda", dtype=torch.bfloat16)
    key, value = (torch.randn(batch, kv_heads, length, dim, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    def attend():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return F.scaled_dot_product_attention(query, key, value, is_causal=causal, enable_gqa=kv_heads != heads)
    output = attend()
    stride = output.stride()
    tiles = -(-length // ROWS)
    places = [b * stride[0] + h * stride[1] + min(t * ROWS + ROWS - 1, length - 1) * stride[2] for b in range(batch) for h in range(heads) for t in range(tiles)]
    offsets = torch.tensor(places, device="cuda", dtype=torch.int64)
    clocks = torch.zeros_like(offsets)
    stream = torch.cuda.Stream()
    output.copy_(torch.full(output.shape, UNTOUCHED, device="cuda", dtype=torch.int16).view(torch.bfloat16))
    torch.cuda.synchronize()
    address = output.data_ptr()
    if library.watchTiles(address, offsets.data_ptr(), len(places), UNTOUCHED, clocks.data_ptr(), LIMIT_CLK, stream.cuda_stream) != 0:
        raise SystemExit("watch_tiles.py: the watching kernel was not launched")
    time.sleep(0.002)
    del output  # its memory is handed to the next product of that size
    output = attend()
    if output.data_ptr() != address:
        raise SystemExit("watch_tiles.py: the output moved; nothing was watched")
    torch.cuda.synchronize()
    seen = clocks.cpu().tolist()
    first = min(seen)
    return [(i // tiles, i % tiles * ROWS, clk - first) for i, clk in enumerate(seen)]


def main(path):
    with tempfile.TemporaryDirectory() as folder, open(path, "w", newline="") as f:
        library = build(folder)
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(["shape", "head", "row", "clk"])
        for shape in SHAPES:
            batch, heads, kv_heads, length, dim, causal = shape
            label = f"{batch},{heads},{kv_heads},{length},{length},{dim},{int(causal)}"
            writer.writerows([label, *row] for row in watch(library, *shape))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else (print(__doc__) or 2))
