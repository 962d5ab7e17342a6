#!/usr/bin/env python3
"""Reads from the launch parameters of cuBLAS's nvjet kernels in which order their clusters take the tiles.

  nvjet_parameters.py OUT.csv     needs PyTorch 2.8 or newer and a GPU with these kernels

A product is captured into a CUDA graph and its kernel node asked for the parameter block. Offsets, as the kernels' SASS
uses them (constant bank 0, parameters from 0x210 on):
  0x218 whole bands, 0x228 minus the width of a band, 0x234 minus the width of the last one, 0x34c steps of a band less one,
  0x240 a byte for each cluster: the place of its first tile in the raster's order
Columns: dtype, m, n, k, kernel, cluster CTAs, clusters, bands, width, last_width, steps, first_tiles (separated by blanks).
"""
import csv
import ctypes
import re
import struct
import sys

import torch

PARAMETERS = 0x210
ROWS = (16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192)
WEIGHTS = ((4096, 4096), (11008, 4096), (4096, 11008), (1024, 1024), (8192, 8192), (6144, 2048), (2048, 512))
CUBES = (256, 512, 640, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2560, 2816, 3072, 3584, 4096, 5120, 6144, 7168, 8192)
OTHERS = ((512, 512, 16384), (256, 256, 4096), (500, 2000, 3000), (128, 128, 65536), (300, 5000, 704), (16384, 4096, 1024))


class NodeParameters(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2."""
    _fields_ = [("function", ctypes.c_void_p)] + [(n, ctypes.c_uint) for n in ("gx", "gy", "gz", "bx", "by", "bz", "shared")] + [
        ("parameters", ctypes.POINTER(ctypes.c_void_p)), ("extra", ctypes.POINTER(ctypes.c_void_p)),
        ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p)]


def check(status, call):
    if status != 0:
        raise SystemExit(f"nvjet_parameters.py: {call} failed with CUDA error {status}")


def block_of(node):
    """The buffer of a node that was launched with one (CU_LAUNCH_PARAM_BUFFER_POINTER 1, _SIZE 2)."""
    found = {}
    i = 0
    while node.extra and node.extra[i]:
        found[node.extra[i]] = node.extra[i + 1]
        i += 2
    if 1 not in found or 2 not in found:
        return None
    return ctypes.string_at(found[1], ctypes.cast(found[2], ctypes.POINTER(ctypes.c_size_t))[0])


def kernels_of(driver, work):
    """(name, grid, parameter block) of every kernel that `work` launches."""
    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        work()
    handle, count = ctypes.c_void_p(graph.raw_cuda_graph()), ctypes.c_size_t(0)
    check(driver.cuGraphGetNodes(handle, None, ctypes.byref(count)), "cuGraphGetNodes")
    nodes = (ctypes.c_void_p * count.value)()
    check(driver.cuGraphGetNodes(handle, nodes, ctypes.byref(count)), "cuGraphGetNodes")
    for pointer in nodes:
        kind, node, name = ctypes.c_int(), NodeParameters(), ctypes.c_char_p()
        check(driver.cuGraphNodeGetType(ctypes.c_void_p(pointer), ctypes.byref(kind)), "cuGraphNodeGetType")
        if kind.value != 0:
            continue
        check(driver.cuGraphKernelNodeGetParams_v2(ctypes.c_void_p(pointer), ctypes.byref(node)), "cuGraphKernelNodeGetParams")
        if node.function:
            check(driver.cuFuncGetName(ctypes.byref(name), ctypes.c_void_p(node.function)), "cuFuncGetName")
        else:
            check(driver.cuKernelGetName(ctypes.byref(name), ctypes.c_void_p(node.kernel)), "cuKernelGetName")
        yield name.value.decode(), (node.gx, node.gy, node.gz), block_of(node)


def row_of(name, grid, block):
    word = lambda address: struct.unpack_from("<I", block, address - PARAMETERS)[0]
    minus = lambda address: 2**32 - word(address)
    cluster_n, cluster_m = re.search(r"_\d+x\d+_\d+x\d+_(\d)x(\d)_", name).groups()
    size = int(cluster_n) * int(cluster_m)
    clusters = grid[0] * grid[1] * grid[2] // size
    table = block[0x240 - PARAMETERS:0x240 - PARAMETERS + clusters]
    return [name, size, clusters, word(0x218), minus(0x228), minus(0x234), word(0x34c) + 1, " ".join(map(str, table))]


def main(path):
    driver = ctypes.CDLL("libcuda.so.1")
    shapes = [(m, n, k) for m in ROWS for n, k in WEIGHTS] + [(s, s, s) for s in CUBES] + list(OTHERS)
    rows = []
    for label, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        for m, n, k in shapes if label == "bf16" else shapes[::4]:
            a, b = (torch.randn(r, k, device="cuda", dtype=dtype) for r in (m, n))
            c = torch.empty(m, n, device="cuda", dtype=dtype)
            for name, grid, block in kernels_of(driver, lambda: torch.mm(a, b.t(), out=c)):
                if name.startswith("nvjet_sm90_") and block:
                    rows.append([label, m, n, k] + row_of(name, grid, block))
    with open(path, "w", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(["dtype", "m", "n", "k", "kernel", "cluster", "clusters", "bands", "width", "last_width", "steps", "first_tiles"])
        writer.writerows(rows)
    print(f"{path}: {len(rows)} launches")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else (print(__doc__) or 2))
