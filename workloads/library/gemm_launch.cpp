#include "workloads/library/gemm_launch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/library/shape.hpp"

namespace strata {

namespace {

constexpr const char* kAttention = "attention";

GemmProblem attention_product(const LaunchRow& row, const std::string& layout) {
  const AttentionCells cells = parse_attention_shape(row.shape);
  GemmProblem p;
  if (!parse_gemm_layout(layout, p) || !p.a_k_contiguous) {
    throw UnsupportedError(fmt::format(
        "a GEMM of layout '{}' in an attention is neither Q K^T (TN) nor P V (NN); give its M,N,K", layout));
  }
  p.batch = cells.batch * cells.heads;
  constexpr std::int64_t kMostProducts = 0x7fffffff;
  if (p.batch > kMostProducts) {
    throw UnsupportedError(
        fmt::format("{} sequences of {} heads; at most 2^31 - 1 products are simulated", cells.batch, cells.heads));
  }
  p.m = cells.q_len;
  p.n = p.b_k_contiguous ? cells.kv_len : cells.head_dim;
  p.k = p.b_k_contiguous ? cells.head_dim : cells.kv_len;
  return p;
}

GemmProblem gemm_product(const LaunchRow& row, const std::string& layout) {
  const GemmCells cells = parse_gemm_shape(row.shape);
  GemmProblem p;
  p.batch = cells.batch;
  p.m = cells.m;
  p.n = cells.n;
  p.k = cells.k;
  const std::string& letters = layout.empty() ? cells.layout : layout;
  if (!row.asked.layout.empty() && row.asked.layout != letters) {
    throw UnsupportedError(
        fmt::format("the name says layout {}, --layout says {}; leave out one of the two", letters, row.asked.layout));
  }
  if (!parse_gemm_layout(letters, p)) {
    throw UnsupportedError(fmt::format("layout '{}' is not known; expected NN, NT, TN or TT", letters));
  }
  return p;
}

}  // namespace

GemmProblem gemm_problem_of(const LaunchRow& row, const std::string& layout, DataType input, DataType output) {
  GemmProblem p = row.op == kAttention ? attention_product(row, layout) : gemm_product(row, layout);
  expect_asked_type(row, input);
  p.input = input;
  p.output = output;
  return p;
}

std::uint32_t split_k_of(const LaunchRow& row, const GemmProblem& problem) {
  if (!row.grid) {
    return 1;
  }
  const std::int64_t z = row.grid->z;
  if (z % problem.batch != 0) {
    throw UnsupportedError(
        fmt::format("grid z = {} is not a multiple of the {} products of the shape", z, problem.batch));
  }
  return static_cast<std::uint32_t>(z / problem.batch);
}

SplitKReduction split_reduction_of(const GemmCtaConfig& config) {
  constexpr std::uint64_t kWorkspaceBytes = std::uint64_t{32} << 20;
  const GemmProblem& p = config.problem;
  const std::uint64_t elements = static_cast<std::uint64_t>(p.m * p.n * p.batch) * config.split_k;
  return elements * config.partial_bytes <= kWorkspaceBytes ? SplitKReduction::kPartials : SplitKReduction::kInPlace;
}

bool cut_warps(GemmCtaConfig& config, std::uint32_t warps, std::uint32_t least_m, std::uint32_t least_n) {
  std::uint32_t best = 0;
  for (std::uint32_t along_n = 1; along_n <= warps; ++along_n) {
    const std::uint32_t along_m = warps / along_n;
    if (along_m * along_n != warps || config.tile_m % (along_m * least_m) != 0 ||
        config.tile_n % (along_n * least_n) != 0) {
      continue;
    }
    const std::uint32_t m = config.tile_m / along_m;
    const std::uint32_t n = config.tile_n / along_n;
    if (best == 0 || m + n < best) {
      best = m + n;
      config.warp_m = m;
      config.warp_n = n;
    }
  }
  return best != 0;
}

std::uint32_t warps_of(const LaunchRow& row, std::uint32_t otherwise) {
  return row.block ? std::max(1U, static_cast<std::uint32_t>(row.block->count() / 32)) : otherwise;
}

std::uint64_t ring_bytes(std::uint32_t tile_m, std::uint32_t tile_n, std::uint32_t tile_k, std::uint32_t stages,
                         DataType type) {
  return (std::uint64_t{tile_m} + tile_n) * tile_k * stages * bits_of(type) / 8;
}

LeastResources least_resources(const LaunchRow& row, const TileSizes& sizes, DataType type, std::uint32_t slices) {
  constexpr std::uint64_t kSumsOfRegister = 2;  // of fp16, the narrowest
  const std::uint64_t threads = row.block ? row.block->count() : 0;
  return {ring_bytes(sizes.tile_m, sizes.tile_n, sizes.tile_k, sizes.stages, type),
          threads == 0 ? 0 : std::uint64_t{sizes.tile_m} * sizes.tile_n * slices / threads / kSumsOfRegister};
}

LaunchRow fitting_row(const LaunchRow& row, const LeastResources& least, std::string& warning) {
  LaunchRow out = row;
  const std::uint64_t smem = std::uint64_t{row.smem_dynamic.value_or(0)} + row.smem_static.value_or(0);
  if (row.smem_dynamic && smem < least.smem_bytes) {
    warning = fmt::format("{} B of shared memory; the stages of the kernel's name take {} B, which are simulated", smem,
                          least.smem_bytes);
    out.smem_dynamic.reset();
    out.smem_static.reset();
  }
  if (row.registers && *row.registers < least.registers) {
    warning = fmt::format(
        "{} registers a thread; the accumulators of the kernel's name take {}, and its own number is "
        "simulated",
        *row.registers, least.registers);
    out.registers.reset();
  }
  return out;
}

void take_resources(const LaunchRow& row, GemmCtaConfig& config) {
  config.registers_per_thread = row.registers.value_or(0);
  config.smem_dynamic_bytes = row.smem_dynamic.value_or(0) + row.smem_static.value_or(0);
}

void expect_ctas(const LaunchRow& row, const Launch& launch) {
  if (row.grid && row.grid->count() != launch.num_ctas()) {
    throw UnsupportedError(fmt::format("a grid of {} CTAs does not fit the shape, which needs {}x{}x{}",
                                       row.grid->count(), launch.grid.x, launch.grid.y, launch.grid.z));
  }
}

void spread_lanes(GemmSimtConfig& config) {
  const bool wide = config.warp_n >= config.warp_m;
  config.thread_m = std::max(1U, config.warp_m / (wide ? 4 : 8));
  config.thread_n = std::max(1U, config.warp_n / (wide ? 8 : 4));
}

BuiltKernel build_gemm(const GemmSimtConfig& config, const TargetFacts& target) {
  BuiltKernel built;
  built.source = make_gemm_simt(config, target);
  built.description = describe_gemm_simt(config);
  built.parts = config.split_k;
  return built;
}

BuiltKernel build_gemm(const GemmMmaSyncConfig& config, const TargetFacts& target) {
  BuiltKernel built;
  built.source = make_gemm_mma_sync(config, target);
  built.description = describe_gemm_mma_sync(config);
  built.parts = config.split_k;
  return built;
}

void note_overruled_cells(const LaunchRow& row, const std::string& layout, DataType input, BuiltKernel& built) {
  if (row.op == kAttention) {
    return;  // an attention's cells are not those of its products, which may run in fp32
  }
  GemmProblem named;
  GemmProblem given;
  const GemmCells cells = parse_gemm_shape(row.shape);
  if (cells.names_layout && parse_gemm_layout(layout, named) && parse_gemm_layout(cells.layout, given) &&
      named.layout() != given.layout()) {
    built.warning =
        fmt::format("a shape of layout {}; the {} of the kernel's name is simulated", given.layout(), named.layout());
    return;
  }
  built.warning = overruled_operator(row, "gemm");
  if (built.warning.empty()) {
    built.warning = overruled_type(row, input);
  }
}

void note_unknown_words(const std::vector<std::string>& words, BuiltKernel& built) {
  for (const std::string& word : words) {
    built.notes.push_back(fmt::format("'{}' of the kernel's name has no effect in the model", word));
  }
  built.ignored_words = fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace strata
