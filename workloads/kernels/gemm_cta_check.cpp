#include <fmt/format.h>

#include <utility>

#include "sim/base/counted.hpp"
#include "workloads/kernels/gemm_cta.hpp"

namespace strata {

namespace {

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

void check_tile(const GemmCtaConfig& c, std::uint32_t warp_rows, Problems& problems) {
  problems.limits("tile-m", c.tile_m, 8, 512);
  problems.limits("tile-n", c.tile_n, 8, 512);
  problems.limits("tile-k", c.tile_k, 4, 512);
  problems.limits("warp-m", c.warp_m, 8, 512);
  problems.limits("warp-n", c.warp_n, 8, 512);
  problems.limits("warp-slices", c.warp_slices, 1, 32);
  problems.limits("stages", c.stages, 1, 16);
  problems.limits("raster-group", c.raster_group, 1, 1U << 20);
  if (!problems.list.empty()) {
    return;
  }
  if (c.warp_m % warp_rows != 0 || c.tile_m % c.warp_m != 0) {
    problems.add("warp-m",
                 fmt::format("{} must be a multiple of {} that divides tile-m = {}", c.warp_m, warp_rows, c.tile_m));
  }
  if (c.warp_n % 8 != 0 || c.tile_n % c.warp_n != 0) {
    problems.add("warp-n", fmt::format("{} must be a multiple of 8 that divides tile-n = {}", c.warp_n, c.tile_n));
  }
  if (problems.list.empty() && c.warps() > 32) {
    problems.add("warp-m", fmt::format("tile {}x{} in warp tiles {}x{} makes {} warps; expected at most 32", c.tile_m,
                                       c.tile_n, c.warp_m, c.warp_n, c.warps()));
  }
}

void check_split(const GemmCtaConfig& c, Problems& problems) {
  // A slice that is given its length need not be a whole K tile.
  const std::uint32_t least = c.slice_k > 0 ? std::min(c.slice_k, c.tile_k) : c.tile_k;
  const std::uint64_t most = ceil_div(static_cast<std::uint64_t>(c.problem.k), least);
  if (c.split_k < 1 || c.split_k > most) {
    problems.add("split-k", fmt::format("{} slices; expected 1 to {} ({})", c.split_k, most,
                                        c.slice_k > 0 ? fmt::format("K of {}", least) : "the K tiles"));
  }
  const double ctas = static_cast<double>(ceil_div(static_cast<std::uint64_t>(c.problem.m), c.tile_m)) *
                      static_cast<double>(ceil_div(static_cast<std::uint64_t>(c.problem.n), c.tile_n)) * c.split_k *
                      static_cast<double>(c.problem.batch);
  if (ctas > 0x7fffffff) {
    problems.add("tile-m",
                 fmt::format("tile {}x{} makes {:.0f} CTAs; expected at most 2147483647", c.tile_m, c.tile_n, ctas));
  }
}

void check_resources(const GemmCtaConfig& c, std::uint32_t registers, const TargetFacts& target, Problems& problems) {
  const std::uint64_t smem = gemm_cta_smem_bytes(c);
  if (smem > static_cast<std::uint64_t>(target.smem_per_cta_bytes)) {
    problems.add("stages", fmt::format("{} stages of tile {}x{}x{} need {} B of shared memory; a CTA may have {} B",
                                       c.stages, c.tile_m, c.tile_n, c.tile_k, smem, target.smem_per_cta_bytes));
  }
  if (registers * c.warps() * 32 > target.registers_per_sm) {
    problems.add("warp-m", fmt::format("{} warps of {} registers a thread need {} registers; an SM has {}", c.warps(),
                                       registers, registers * c.warps() * 32, target.registers_per_sm));
  }
}

}  // namespace

void check_accumulators(const GemmCtaConfig& c, std::uint32_t limit, std::vector<Diagnostic>& problems) {
  if (c.accumulators() > limit) {
    problems.push_back({{},
                        0,
                        0,
                        "warp-m",
                        fmt::format("warp tile {}x{} needs {} accumulator registers per thread; at most {} fit",
                                    c.warp_m, c.warp_n, c.accumulators(), limit)});
  }
}

std::vector<Diagnostic> check_gemm_cta(const GemmCtaConfig& c, std::uint32_t registers, const TargetFacts& target,
                                       std::uint32_t warp_rows) {
  Problems problems;
  check_tile(c, warp_rows, problems);
  const std::vector<Diagnostic> shape =
      check_gemm_problem(c.problem, target, c.partials() > 1 ? std::int64_t{c.split_k} : 0);
  problems.list.insert(problems.list.end(), shape.begin(), shape.end());
  if (problems.list.empty()) {
    check_split(c, problems);
    check_resources(c, registers, target, problems);
  }
  return problems.list;
}

std::string describe_gemm_cta(const GemmCtaConfig& c) {
  std::string text =
      fmt::format("tile {}x{}x{} (MxNxK), warps of {}x{}", c.tile_m, c.tile_n, c.tile_k, c.warp_m, c.warp_n);
  if (c.warp_slices > 1) {
    text += fmt::format(" in {} slices", c.warp_slices);
  }
  text += c.copy == GemmCopy::kRegisters ? ", through registers" : ", " + counted(c.stages, "stage");
  text += fmt::format(", raster along {} by {}", c.raster == RasterDirection::kAlongM ? "M" : "N", c.raster_group);
  if (c.problem.batch > 1) {
    text += fmt::format(", batch of {}", c.problem.batch);
  }
  if (c.split_k > 1) {
    text += fmt::format(", split-K {}{}", c.split_k, c.partials() > 1 ? "" : " in place");
  }
  return text;
}

}  // namespace strata
