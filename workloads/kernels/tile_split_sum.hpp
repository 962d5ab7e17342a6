/// The sum of split-K's partial tiles as cuBLAS's xmma kernels do it: CTAs of the GEMM's shape for every tile of C, a
/// part of its rows each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/spec/trace_source.hpp"

namespace strata {

struct TileSplitSumConfig {
  std::uint64_t m = 0;  ///< of the result
  std::uint64_t n = 0;
  std::uint32_t batch = 1;
  std::uint32_t splits = 2;
  std::uint32_t tile_m = 32;  ///< tiles along M are the grid's x, along N its y
  std::uint32_t tile_n = 32;
  std::uint32_t warps = 2;
  std::uint32_t parts = 1;            ///< CTAs along z that share a tile, a divisor of its rows
  DataType output = DataType::kFp32;  ///< partials are fp32
  std::uint32_t registers = 72;
  std::uint32_t smem_bytes = 0;
  std::string name = "tile_split_sum";
};

/// Throws ModelBug for configurations without work.
[[nodiscard]] std::unique_ptr<TraceSource> make_tile_split_sum(const TileSplitSumConfig& config);

}  // namespace strata
