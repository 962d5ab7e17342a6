#include "workloads/kernels/gemm_mma_sync_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "workloads/kernels/gemm_mma_sync.hpp"
#include "workloads/kernels/gemm_tma_wgmma_spec.hpp"
#include "workloads/kernels/options.hpp"

namespace strata {

namespace {

/// Tiles that Ampere's libraries ship: CTA tile, warp tile, bytes of K per stage, stages.
struct Candidate {
  std::uint32_t tile_m, tile_n, warp_m, warp_n, k_bytes, stages;
};
constexpr std::array kCandidates{
    Candidate{256, 128, 64, 64, 64, 3}, Candidate{128, 256, 64, 64, 64, 3}, Candidate{128, 128, 64, 64, 64, 4},
    Candidate{128, 128, 64, 32, 64, 4}, Candidate{128, 64, 64, 32, 64, 4},  Candidate{64, 128, 32, 64, 64, 4},
    Candidate{64, 64, 32, 32, 128, 4},  Candidate{32, 128, 32, 32, 128, 4}, Candidate{16, 128, 16, 32, 128, 5},
    Candidate{16, 64, 16, 16, 128, 6},
};

std::vector<OptionSpec> all_options() {
  std::vector<OptionSpec> specs = gemm_problem_options();
  const std::vector<OptionSpec> more{
      {"tile-m", OptionType::kInt, "", true, "rows of a CTA's tile, 16 to 512"},
      {"tile-n", OptionType::kInt, "", true, "columns of a CTA's tile, 8 to 512"},
      {"tile-k", OptionType::kInt, "", true, "elements of K per stage, 8 to 512"},
      {"warp-m", OptionType::kInt, "", true, "rows of a warp's tile, a multiple of 16 from 16 to 512"},
      {"warp-n", OptionType::kInt, "", true, "columns of a warp's tile, a multiple of 8 from 8 to 512"},
      {"stages", OptionType::kInt, "", true, "cp.async stages, 2 to 16"},
      {"swizzle", OptionType::kFlag, "on", false, "permute shared-memory rows against bank conflicts: on or off"},
      {"raster", OptionType::kText, "m", false, "m or n: the dimension along which tiles are swept"},
      {"raster-group", OptionType::kInt, "8", false, "tiles across the sweep before it advances, 1 to 1048576"},
      {"split-k", OptionType::kInt, "1", false, "slices of K, each writing an fp32 partial of C, 1 to 1024"},
      {"batch", OptionType::kInt, "1", false, "independent products, their matrices one after the other, 1 to 65536"},
  };
  specs.insert(specs.end(), more.begin(), more.end());
  return specs;
}

/// For comparing tiles only: rounds of resident CTAs times the slower of mma.sync time and fill time.
double estimate_cycles(const GemmMmaSyncConfig& c, const TargetFacts& target) {
  constexpr double kMacBytesPerCycle = 2048;  // 1024 16-bit multiply-adds per cycle and SM
  constexpr double kFillBytesPerCycle = 40;
  constexpr double kTileLatency = 2500;
  const double bytes = bits_of(c.problem.input) / 8.0;
  const double k = static_cast<double>(c.problem.k) / c.split_k;
  const double mma = static_cast<double>(c.tile_m) * c.tile_n * k * bytes / kMacBytesPerCycle;
  const double fill = (static_cast<double>(c.tile_m) + c.tile_n) * k * bytes / kFillBytesPerCycle;
  const auto by_smem = static_cast<std::uint64_t>(target.smem_per_sm_bytes) / gemm_cta_smem_bytes(c);
  const std::uint64_t by_registers = target.registers_per_sm / (gemm_mma_sync_registers(c) * 32 * c.warps());
  const std::uint64_t resident = std::max<std::uint64_t>(1, std::min(by_smem, by_registers));
  const std::uint64_t ctas = ceil_div(static_cast<std::uint64_t>(c.problem.m), c.tile_m) *
                             ceil_div(static_cast<std::uint64_t>(c.problem.n), c.tile_n) * c.split_k *
                             static_cast<std::uint64_t>(c.problem.batch);
  const std::uint64_t sms = std::max(1U, target.num_sms);
  const double per_sm = static_cast<double>(ceil_div(ctas, sms));
  const double rounds = static_cast<double>(ceil_div(ctas, sms * resident));
  return per_sm * std::max(mma, fill) + rounds * kTileLatency;
}

struct Fixed {
  std::optional<std::uint32_t> tile_m, tile_n, tile_k, warp_m, warp_n, stages;
};

Fixed read_fixed(OptionReader& reader) {
  const auto get = [&](const char* name, std::int64_t lowest, std::int64_t highest) -> std::optional<std::uint32_t> {
    if (!reader.given(name)) {
      return std::nullopt;
    }
    return static_cast<std::uint32_t>(reader.integer(name, lowest, highest, lowest));
  };
  return {get("tile-m", 16, 512), get("tile-n", 8, 512), get("tile-k", 8, 512),
          get("warp-m", 16, 512), get("warp-n", 8, 512), get("stages", 2, 16)};
}

GemmMmaSyncConfig complete(const GemmMmaSyncConfig& base, const Fixed& fixed, const Candidate& candidate) {
  GemmMmaSyncConfig c = base;
  c.tile_m = fixed.tile_m.value_or(candidate.tile_m);
  c.tile_n = fixed.tile_n.value_or(candidate.tile_n);
  c.tile_k = fixed.tile_k.value_or(candidate.k_bytes * 8 / bits_of(c.problem.input));
  c.warp_m = fixed.warp_m.value_or(std::min(candidate.warp_m, c.tile_m));
  c.warp_n = fixed.warp_n.value_or(std::min(candidate.warp_n, c.tile_n));
  c.stages = fixed.stages.value_or(candidate.stages);
  return c;
}

BuiltKernel make(const KernelOptions& options, const TargetFacts& target) {
  const std::vector<OptionSpec> specs = all_options();
  OptionReader reader(options, specs);
  GemmMmaSyncConfig base;
  base.problem = read_gemm_problem(reader);
  const Fixed fixed = read_fixed(reader);
  base.swizzle = reader.flag("swizzle");
  base.raster = reader.choice("raster", {"m", "n"}) == "m" ? RasterDirection::kAlongM : RasterDirection::kAlongN;
  base.raster_group = static_cast<std::uint32_t>(reader.integer("raster-group", 1, 1 << 20, 8));
  base.split_k = static_cast<std::uint32_t>(reader.integer("split-k", 1, 1024, 1));
  base.problem.batch = reader.integer("batch", 1, 1 << 16, 1);
  reader.finish();

  std::optional<GemmMmaSyncConfig> best;
  double best_cycles = std::numeric_limits<double>::infinity();
  std::vector<Diagnostic> first_problems;
  for (const Candidate& candidate : kCandidates) {
    const GemmMmaSyncConfig c = complete(base, fixed, candidate);
    const std::vector<Diagnostic> problems = check_gemm_mma_sync(c, target);
    if (!problems.empty()) {
      first_problems = first_problems.empty() ? problems : first_problems;
      continue;
    }
    const double cycles = estimate_cycles(c, target);
    if (cycles < best_cycles) {
      best_cycles = cycles;
      best = c;
    }
  }
  if (!best) {
    throw InputError(first_problems);
  }
  BuiltKernel built;
  built.source = make_gemm_mma_sync(*best, target);
  built.description = describe_gemm_mma_sync(*best);
  if (!(fixed.tile_m && fixed.tile_n && fixed.tile_k && fixed.warp_m && fixed.warp_n && fixed.stages)) {
    built.notes.emplace_back(
        "a rule of thumb chose what is not given of tile and options, not the library; see --kernel auto");
  }
  if (best->split_k > 1) {
    built.notes.push_back("split-K writes fp32 partials of C; the launch that adds them up is not part of this kernel");
  }
  return built;
}

}  // namespace

KernelSpec gemm_mma_sync_spec() {
  return {"gemm_mma_sync", "GEMM with cp.async stages, ldmatrix and mma.sync: a plain grid (Ampere and later)",
          all_options(), make};
}

}  // namespace strata
