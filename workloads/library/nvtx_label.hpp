/// From the label of an NVTX range around a launch to cells of launches.csv.
#pragma once

#include <optional>
#include <string_view>

#include "workloads/library/operator_cells.hpp"

namespace strata {

/// Understands
///   "gemm bf16 4096,4096,4096,TN"                         op, dtype and shape as in launches.csv
///   "gemm_bf16_TN_4096x4096x4096", "softmax_bf16_64x128"  op, dtype, [layout,] sizes
///   "attn_flash_b1_h32_8_q512_k512_d128_c"                backend, batch, heads[_kv_heads], lengths, c(ausal) or
///   f(ull) "aten::mm, op_id = 7, sizes = [[16, 64], [64, 32]]"   as
///   torch.autograd.profiler.emit_nvtx(record_shapes=True)
/// Nothing for any other label. Throws UnsupportedError where the label is one of these but the shape cannot be known.
[[nodiscard]] std::optional<OperatorCells> parse_nvtx_label(std::string_view label);

}  // namespace strata
