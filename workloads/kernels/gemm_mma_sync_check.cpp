#include <fmt/format.h>

#include <algorithm>

#include "workloads/kernels/gemm_mma_sync_plan.hpp"

namespace strata {

namespace {

constexpr std::uint32_t kMaxAccumulatorRegisters = 192;  ///< fragments and addresses need the rest of 255
constexpr std::uint32_t kOtherRegisters = 72;            ///< fragments of one K step, addresses, loop state

std::uint32_t accumulators(const GemmMmaSyncConfig& c) { return c.warp_m * c.warp_n / 32; }

class Problems {
 public:
  void add(const char* key, std::string message) { list.push_back({{}, 0, 0, key, std::move(message)}); }
  void limits(const char* key, std::uint32_t value, std::uint32_t lowest, std::uint32_t highest) {
    if (value < lowest || value > highest) {
      add(key, fmt::format("{} is out of range; expected {} to {}", value, lowest, highest));
    }
  }
  std::vector<Diagnostic> list;
};

void check_tile(const GemmMmaSyncConfig& c, Problems& problems) {
  problems.limits("tile-m", c.tile_m, 16, 512);
  problems.limits("tile-n", c.tile_n, 8, 512);
  problems.limits("tile-k", c.tile_k, 8, 512);
  problems.limits("warp-m", c.warp_m, 16, 512);
  problems.limits("warp-n", c.warp_n, 8, 512);
  problems.limits("stages", c.stages, 2, 16);
  problems.limits("raster-group", c.raster_group, 1, 1U << 20);
  if (!problems.list.empty()) {
    return;
  }
  if (c.warp_m % 16 != 0 || c.tile_m % c.warp_m != 0) {
    problems.add("warp-m", fmt::format("{} must be a multiple of 16 that divides tile-m = {}", c.warp_m, c.tile_m));
  }
  if (c.warp_n % 8 != 0 || c.tile_n % c.warp_n != 0) {
    problems.add("warp-n", fmt::format("{} must be a multiple of 8 that divides tile-n = {}", c.warp_n, c.tile_n));
  }
  if (!problems.list.empty()) {
    return;
  }
  if (c.warps() > 32) {
    problems.add("warp-m", fmt::format("tile {}x{} in warp tiles {}x{} makes {} warps; expected at most 32", c.tile_m,
                                       c.tile_n, c.warp_m, c.warp_n, c.warps()));
  }
  if (c.tile_k % mma_sync_k(c.problem.input) != 0) {
    problems.add("tile-k", fmt::format("{} is not a multiple of mma.sync's K, {} elements of {}", c.tile_k,
                                       mma_sync_k(c.problem.input), to_string(c.problem.input)));
  }
}

void check_type(const GemmMmaSyncConfig& c, const TargetFacts& target, Problems& problems) {
  const DataType type = c.problem.input;
  const bool known = type == DataType::kFp16 || type == DataType::kBf16 || type == DataType::kTf32 ||
                     type == DataType::kInt8 || type == DataType::kFp8;
  if (!known || (type == DataType::kFp8 && !target.has_wgmma)) {
    problems.add("dtype", fmt::format("{} has no mma.sync on {}; expected fp16, bf16, tf32, int8{}", to_string(type),
                                      target.architecture, target.has_wgmma ? " or fp8" : ""));
  }
}

}  // namespace

std::uint64_t gemm_mma_sync_smem_bytes(const GemmMmaSyncConfig& c) {
  if (c.smem_dynamic_bytes != 0) {
    return c.smem_dynamic_bytes;
  }
  const std::uint64_t ring =
      std::uint64_t{c.stages} * (c.tile_m + c.tile_n) * c.tile_k * std::max(8U, bits_of(c.problem.input)) / 8;
  const std::uint64_t staging = ceil_div(c.tile_m, GemmMmaSyncCosts::kEpilogueParts) * c.tile_n * 4;
  return std::max(ring, staging);
}

std::uint32_t gemm_mma_sync_registers(const GemmMmaSyncConfig& c) {
  if (c.registers_per_thread != 0) {
    return c.registers_per_thread;
  }
  return std::min(255U, (accumulators(c) + kOtherRegisters + 7) / 8 * 8);
}

std::vector<Diagnostic> check_gemm_mma_sync(const GemmMmaSyncConfig& c, const TargetFacts& target) {
  Problems problems;
  check_type(c, target, problems);
  if (problems.list.empty()) {
    check_tile(c, problems);
  }
  const std::vector<Diagnostic> shape = check_gemm_problem(c.problem, target, c.split_k > 1 ? c.split_k : 0);
  problems.list.insert(problems.list.end(), shape.begin(), shape.end());
  if (!problems.list.empty()) {
    return problems.list;
  }
  const std::uint64_t k_tiles = ceil_div(static_cast<std::uint64_t>(c.problem.k), c.tile_k);
  if (c.split_k < 1 || c.split_k > k_tiles) {
    problems.add("split-k", fmt::format("{} slices; expected 1 to {} (the K tiles)", c.split_k, k_tiles));
  }
  const std::uint64_t smem = gemm_mma_sync_smem_bytes(c);
  if (smem > static_cast<std::uint64_t>(target.smem_per_cta_bytes)) {
    problems.add("stages", fmt::format("{} stages of tile {}x{}x{} need {} B of shared memory; a CTA may have {} B",
                                       c.stages, c.tile_m, c.tile_n, c.tile_k, smem, target.smem_per_cta_bytes));
  }
  if (accumulators(c) > kMaxAccumulatorRegisters) {
    problems.add("warp-m", fmt::format("warp tile {}x{} needs {} accumulator registers per thread; at most {} fit",
                                       c.warp_m, c.warp_n, accumulators(c), kMaxAccumulatorRegisters));
  }
  const std::uint32_t registers = gemm_mma_sync_registers(c) * c.warps() * 32;
  if (registers > target.registers_per_sm) {
    problems.add("warp-m", fmt::format("{} warps of {} registers a thread need {} registers; an SM has {}", c.warps(),
                                       gemm_mma_sync_registers(c), registers, target.registers_per_sm));
  }
  const std::uint64_t tiles = ceil_div(static_cast<std::uint64_t>(c.problem.m), c.tile_m) *
                              ceil_div(static_cast<std::uint64_t>(c.problem.n), c.tile_n);
  if (tiles > 0x7fffffffU) {
    problems.add("tile-m",
                 fmt::format("tile {}x{} makes {} CTAs; expected at most 2147483647", c.tile_m, c.tile_n, tiles));
  }
  return problems.list;
}

std::string describe_gemm_mma_sync(const GemmMmaSyncConfig& c) {
  std::string text = fmt::format("tile {}x{}x{} (MxNxK), warps of {}x{}, {} stages{}, raster along {} by {}", c.tile_m,
                                 c.tile_n, c.tile_k, c.warp_m, c.warp_n, c.stages, c.swizzle ? "" : ", no swizzle",
                                 c.raster == RasterDirection::kAlongM ? "M" : "N", c.raster_group);
  if (c.split_k > 1) {
    text += fmt::format(", split-K {}", c.split_k);
  }
  return text;
}

}  // namespace strata
