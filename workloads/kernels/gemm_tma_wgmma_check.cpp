#include <fmt/format.h>

#include <algorithm>

#include "sim/base/counted.hpp"
#include "workloads/kernels/gemm_tma_wgmma_plan.hpp"

namespace strata {

namespace {

/// Barriers and alignment beside the ring and the staging; the recorded launches carry 148 to 230 bytes and 16 a stage.
constexpr std::uint64_t kBarrierBytes = 148;
constexpr std::uint64_t kBarrierBytesPerStage = 16;
/// setmaxnreg gives consumers 240 registers; addressing and loop state need the rest.
constexpr std::uint32_t kMaxAccumulatorRegisters = 208;

class Problems {
 public:
  void add(const char* key, std::string message) { list.push_back({{}, 0, 0, key, std::move(message)}); }
  std::vector<Diagnostic> list;
};

void check_types(const GemmTmaConfig& c, Problems& problems) {
  const GemmProblem& p = c.problem;
  switch (p.input) {
    case DataType::kFp16:
    case DataType::kBf16:
      break;
    case DataType::kTf32:
    case DataType::kFp8:
    case DataType::kInt8:
      if (!p.a_k_contiguous || !p.b_k_contiguous) {
        problems.add("layout", fmt::format("{} with {}: wgmma reads {} operands with K contiguous only; expected TN",
                                           p.layout(), to_string(p.input), to_string(p.input)));
      }
      break;
    default:
      problems.add("dtype", fmt::format("{} has no wgmma; expected fp16, bf16, tf32, fp8 or int8", to_string(p.input)));
  }
}

void check_tile(const GemmTmaConfig& c, Problems& problems) {
  const auto limits = [&](const char* key, std::uint32_t value, std::uint32_t lowest, std::uint32_t highest) {
    if (value < lowest || value > highest) {
      problems.add(key, fmt::format("{} is out of range; expected {} to {}", value, lowest, highest));
    }
  };
  limits("tile-m", c.tile_m, 8, 512);
  limits("tile-n", c.tile_n, 8, 512);
  limits("tile-k", c.tile_k, 8, 512);
  limits("stages", c.stages, 2, kMaxStages);
  limits("cluster-m", c.cluster_m, 1, kMaxClusterSize);
  limits("cluster-n", c.cluster_n, 1, kMaxClusterSize);
  limits("raster-group", c.raster_group, 1, 1U << 20);
  if (!problems.list.empty()) {
    return;
  }
  if (c.cluster_size() > kMaxClusterSize) {
    problems.add("cluster-m", fmt::format("cluster {}x{} has {} CTAs; expected at most {}", c.cluster_m, c.cluster_n,
                                          c.cluster_size(), kMaxClusterSize));
  }
  if (c.multicast && (c.tile_m < c.cluster_n || c.tile_n < c.cluster_m)) {
    problems.add("multicast", "a tile has fewer rows than CTAs that share it; expected off or a smaller cluster");
  }
  const WgmmaShape shape = gemm_tma_wgmma_shape(c);
  const char* row_key = c.wgmma_m_along_n ? "tile-n" : "tile-m";
  const char* col_key = c.wgmma_m_along_n ? "tile-m" : "tile-n";
  const std::uint32_t rows = c.wgmma_m_along_n ? c.tile_n : c.tile_m;
  const std::uint32_t cols = c.wgmma_m_along_n ? c.tile_m : c.tile_n;
  const std::uint32_t share_rows = c.consumers == ConsumerMode::kCooperativeM ? 2 : 1;
  const std::uint32_t share_cols = c.consumers == ConsumerMode::kCooperativeN ? 2 : 1;
  if (rows % (64 * share_rows) != 0) {
    problems.add(row_key, fmt::format("each consumer warpgroup would compute {:g} rows; expected a multiple of 64 "
                                      "(ping-pong: the tile, cooperative: half of it)",
                                      static_cast<double>(rows) / share_rows));
  }
  if (cols % share_cols != 0 || shape.n == 0 || shape.n % 8 != 0 || shape.cols % shape.n != 0) {
    problems.add(col_key,
                 fmt::format("each consumer warpgroup would compute {:g} columns; expected a multiple of 8{}",
                             static_cast<double>(cols) / share_cols, shape.cols > 256 ? ", and above 256 of 16" : ""));
  }
  if (c.tile_k % shape.k != 0) {
    problems.add("tile-k", fmt::format("{} is not a multiple of wgmma's K, {} elements of {}", c.tile_k, shape.k,
                                       to_string(c.problem.input)));
  }
}

void check_alignment(const GemmTmaConfig& c, Problems& problems) {
  const GemmProblem& p = c.problem;
  const std::int64_t bits = bits_of(p.input);
  const auto check = [&](const char* key, std::int64_t elements) {
    if (elements * bits % 128 != 0) {
      problems.add(key,
                   fmt::format("rows of {} {} elements are not a multiple of 16 B, which the TMA needs; expected a "
                               "multiple of {}, or the kernel gemm_mma_sync",
                               elements, to_string(p.input), 128 / bits));
    }
  };
  if (p.a_k_contiguous || p.b_k_contiguous) {
    check("k", p.k);
  }
  if (!p.a_k_contiguous) {
    check("m", p.m);
  }
  if (!p.b_k_contiguous) {
    check("n", p.n);
  }
}

}  // namespace

std::uint64_t gemm_tma_smem_bytes(const GemmTmaConfig& c) {
  if (c.smem_dynamic_bytes != 0) {
    return c.smem_dynamic_bytes;
  }
  const std::uint64_t stage = std::uint64_t{c.tile_m + c.tile_n} * c.tile_k * bits_of(c.problem.input) / 8;
  return c.stages * (stage + kBarrierBytesPerStage) + 2 * GemmTmaCosts::kStagingBytes + kBarrierBytes;
}

std::uint32_t gemm_tma_accumulator_registers(const GemmTmaConfig& c) {
  const WgmmaShape shape = gemm_tma_wgmma_shape(c);
  return shape.rows * shape.cols / 128;
}

std::vector<Diagnostic> check_gemm_tma(const GemmTmaConfig& c, const TargetFacts& target) {
  Problems problems;
  check_types(c, problems);
  check_tile(c, problems);
  const std::vector<Diagnostic> shape = check_gemm_problem(c.problem, target, c.split_k > 1 ? c.split_k : 0);
  problems.list.insert(problems.list.end(), shape.begin(), shape.end());
  if (!problems.list.empty()) {
    return problems.list;
  }
  check_alignment(c, problems);
  const std::uint64_t k_tiles = ceil_div(static_cast<std::uint64_t>(c.problem.k), c.tile_k);
  if (c.split_k < 1 || c.split_k > k_tiles) {
    problems.add("split-k", fmt::format("{} slices; expected 1 to {} (the K tiles)", c.split_k, k_tiles));
  }
  const std::uint64_t smem = gemm_tma_smem_bytes(c);
  if (smem > static_cast<std::uint64_t>(target.smem_per_cta_bytes)) {
    problems.add("stages", fmt::format("{} stages of tile {}x{}x{} need {} B of shared memory; a CTA may have {} B",
                                       c.stages, c.tile_m, c.tile_n, c.tile_k, smem, target.smem_per_cta_bytes));
  }
  const std::uint32_t registers = gemm_tma_accumulator_registers(c);
  if (registers > kMaxAccumulatorRegisters) {
    const char* help =
        c.consumers == ConsumerMode::kPingPong ? "; cooperative consumers halve the need" : "; expected a smaller tile";
    problems.add("tile-m",
                 fmt::format("tile {}x{} needs {} accumulator registers per consumer thread; at most {} fit{}",
                             c.tile_m, c.tile_n, registers, kMaxAccumulatorRegisters, help));
  }
  const double units = static_cast<double>(c.problem.m) / c.tile_m * (static_cast<double>(c.problem.n) / c.tile_n) *
                       static_cast<double>(c.problem.batch);
  if (units * static_cast<double>(k_tiles) > 4e9 * 1024) {
    problems.add("tile-m", fmt::format("tile {}x{} cuts the problem into {:.3g} tiles; expected a larger tile",
                                       c.tile_m, c.tile_n, units));
  }
  return problems.list;
}

std::string describe_gemm_tma(const GemmTmaConfig& c) {
  std::string mode = "ping-pong";
  if (c.consumers == ConsumerMode::kCooperativeM) {
    mode = c.wgmma_m_along_n ? "cooperative along N" : "cooperative along M";
  } else if (c.consumers == ConsumerMode::kCooperativeN) {
    mode = c.wgmma_m_along_n ? "cooperative along M" : "cooperative along N";
  }
  std::string text =
      fmt::format("tile {}x{}x{} (MxNxK), {}, {}, cluster {}x{}{}, raster along {} by {}{}", c.tile_m, c.tile_n,
                  c.tile_k, counted(c.stages, "stage"), mode, c.cluster_m, c.cluster_n,
                  c.cluster_size() > 1 ? (c.multicast ? " multicast" : " without multicast") : "",
                  c.raster == RasterDirection::kAlongM ? "M" : "N", c.raster_group, c.serpentine ? " and back" : "");
  if (c.split_k > 1) {
    text += fmt::format(", split-K {}", c.split_k);
  }
  return text;
}

}  // namespace strata
