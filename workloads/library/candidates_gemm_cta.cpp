/// Candidates for products by kernels of a plain grid. Their names' grammars: cutlass_gemm.hpp, ampere_gemm.hpp,
/// xmma_name.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/arithmetic.hpp"
#include "workloads/library/candidate_families.hpp"
#include "workloads/library/shape.hpp"

namespace strata {

namespace {

constexpr std::array<std::uint32_t, 4> kSides{32, 64, 128, 256};
constexpr std::uint32_t kLargestTile = 256 * 128;

struct Problem {
  const LaunchRow& row;
  const TargetFacts& target;
  GemmCells cells;
  DataType type;
  std::string layout;         ///< in lower case, as these names have it
  std::uint32_t align = 1;    ///< elements that every row of A and B is a multiple of
  double macs_per_cycle = 0;  ///< of an SM
  double loads = 1;           ///< that kernels make in place of one of 16 bytes
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The widest access, up to 16 bytes, at which every row of A and of B begins aligned.
std::uint32_t alignment_of(const GemmCells& cells, const std::string& layout, DataType type) {
  std::uint32_t align = 128 / bits_of(type);
  const std::int64_t b_row = layout[0] == 't' ? cells.k : cells.n;
  const std::int64_t a_row = layout[1] == 'n' ? cells.k : cells.m;
  while (align > 1 && (a_row % align != 0 || b_row % align != 0)) {
    align /= 2;
  }
  return align;
}

/// Multiply-adds a cycle and SM: mma.sync as an A100 issues it; FMA lanes.
double rate_of(DataType type, const TargetFacts& target) {
  constexpr double kTensorBits = 1024 * 16;
  if (type != DataType::kFp32) {
    return kTensorBits / bits_of(type);
  }
  return target.architecture == "hopper" ? 128 : 64;
}

std::uint64_t tiles_of(const Problem& p, std::uint32_t tile_n, std::uint32_t tile_m) {
  return ceil_div(static_cast<std::uint64_t>(p.cells.m), tile_m) *
         ceil_div(static_cast<std::uint64_t>(p.cells.n), tile_n) * static_cast<std::uint64_t>(p.cells.batch);
}

/// The results' type as the sum of parts is instantiated.
const char* output_of(DataType type) {
  return type == DataType::kBf16 ? "__nv_bfloat16" : (type == DataType::kFp16 ? "__half" : "float");
}

/// @param slices  of K; more than one: the kernel leaves accumulators, which a launch after it adds up
void try_kernel(const Problem& p, std::uint32_t tile_n, std::uint32_t tile_m, const std::string& kernel,
                std::uint32_t slices, CandidateList& out) {
  KernelCandidate candidate;
  candidate.tile = fmt::format("{}x{}{}", tile_n, tile_m, slices > 1 ? "_splitK" : "");
  LaunchRow launch = candidate_row(p.row, kernel);
  try {
    BuiltKernel built = resolve_launch(launch, p.target);
    if (slices > 1) {
      launch.grid = built.source->launch().grid;
      launch.grid->z *= slices;
      built = resolve_launch(launch, p.target);
    }
    const Launch& whole = built.source->launch();
    // Where SMs have several CTAs one's loads hide behind another's products.
    constexpr std::uint64_t kFewCtasOfSm = 2;
    const bool alone = whole.num_ctas() <= kFewCtasOfSm * p.target.num_sms;
    candidate.ring_bytes = alone ? whole.smem_dynamic_bytes + whole.smem_static_bytes : 0;
    const std::uint64_t tiles = tiles_of(p, tile_n, tile_m);
    const std::uint64_t parts = std::max<std::uint64_t>(1, whole.num_ctas() / std::max<std::uint64_t>(1, tiles));
    const double k = static_cast<double>(p.cells.k) / static_cast<double>(parts);
    const double bytes = bits_of(p.type) / 8.0;
    const CtaWork work{tile_m * tile_n * k / p.macs_per_cycle, (tile_m + tile_n) * k * bytes * p.loads};
    candidate.estimated_cycles = estimate_cta_cycles(whole, work, p.target);
    candidate.fill_bytes = static_cast<double>(whole.num_ctas()) * work.fill_bytes;
    candidate.launches = {launch};
    if (slices > 1) {
      const char* output = output_of(p.type);
      candidate.launches.push_back(split_sum_row(launch, output, output));
      (void)resolve_launch(candidate.launches.back(), p.target);
      candidate.estimated_cycles +=
          estimate_split_sum_cycles(static_cast<double>(p.cells.m) * static_cast<double>(p.cells.n), slices);
    }
    out.add(std::move(candidate));
  } catch (const UnsupportedError& error) {  // a tile, warp layout or ring that does not fit
    out.refuse(error.what());
  }
}

std::string cutlass(const std::string& words) {
  return fmt::format("void cutlass::Kernel2<cutlass_{}>(T1::Params)", words);
}

/// Slices that leave no SM more than two CTAs, and powers of two below.
std::vector<std::uint32_t> slices_of(const Problem& p, std::uint32_t n, std::uint32_t m, std::uint32_t tile_k) {
  constexpr std::uint64_t kCtasOfSm = 2;
  constexpr std::uint64_t kFewestKTiles = 4;  // of a slice
  std::vector<std::uint32_t> out;
  if (p.cells.batch > 1) {
    return out;  // the sum of parts knows one product
  }
  const std::uint64_t room = kCtasOfSm * std::max(1U, p.target.num_sms) / tiles_of(p, n, m);
  const std::uint64_t most = std::min(room, static_cast<std::uint64_t>(p.cells.k) / tile_k / kFewestKTiles);
  for (std::uint64_t slices = 2; slices <= most; slices *= 2) {
    out.push_back(static_cast<std::uint32_t>(slices));
  }
  if (most > 2 && out.back() != most) {
    out.push_back(static_cast<std::uint32_t>(most));
  }
  return out;
}

/// cp.async kernels of Ampere: rows of 64 or 128 bytes of K, three to five stages.
void add_tensor(const Problem& p, std::uint32_t n, std::uint32_t m, CandidateList& out) {
  const std::uint32_t bits = bits_of(p.type);
  for (const std::uint32_t k_bytes : {64U, 128U}) {
    for (const std::uint32_t stages : {3U, 4U, 5U}) {
      const std::string tile = fmt::format("{}x{}_{}x{}", n, m, k_bytes * 8 / bits, stages);
      switch (p.type) {
        case DataType::kBf16:
        case DataType::kFp16: {
          const bool bf16 = p.type == DataType::kBf16;
          const char* word = bf16 ? "bf16" : "f16";
          try_kernel(p, n, m,
                     cutlass(fmt::format("80_tensorop_{0}_s16816gemm_{0}_{1}_{2}_align8", word, tile, p.layout)), 1,
                     out);
          for (const std::uint32_t slices : slices_of(p, n, m, k_bytes * 8 / bits)) {
            try_kernel(p, n, m, cutlass(fmt::format("80_tensorop_s16816gemm_{}_{}_{}_align8", word, tile, p.layout)),
                       slices, out);
          }
          try_kernel(p, n, m,
                     fmt::format("ampere_{0}_s16816gemm_{0}_{1}x{2}_ldg8_f2f_stages_{3}x{4}_{5}",
                                 bf16 ? "bf16" : "fp16", n, m, k_bytes * 8 / bits, stages, p.layout),
                     1, out);
          break;
        }
        case DataType::kTf32: {
          const std::string kernel = cutlass(fmt::format("80_tensorop_s1688gemm_{}_{}_align4", tile, p.layout));
          try_kernel(p, n, m, kernel, 1, out);
          for (const std::uint32_t slices : slices_of(p, n, m, k_bytes * 8 / bits)) {
            try_kernel(p, n, m, kernel, slices, out);
          }
          break;
        }
        case DataType::kInt8:
          try_kernel(p, n, m, cutlass(fmt::format("80_tensorop_i16832gemm_s8_{}_{}_align16", tile, p.layout)), 1, out);
          break;
        default:
          out.refuse(fmt::format("the libraries' kernels known here take no {}", to_string(p.type)));
          return;
      }
    }
  }
}

/// Rows that are not 16-byte aligned: kernels that load by element through registers.
void add_unaligned(const Problem& p, std::uint32_t n, std::uint32_t m, CandidateList& out) {
  if (p.type != DataType::kBf16 && p.type != DataType::kFp16) {
    out.refuse(
        fmt::format("rows that are no multiple of 16 bytes: kernels that load them are known for bf16 and fp16, "
                    "not for {}",
                    to_string(p.type)));
    return;
  }
  const char* word = p.type == DataType::kBf16 ? "bf16" : "f16";
  const auto kernel = [&](const std::string& operation) {
    return cutlass(fmt::format("75_tensorop_{}_{}_{}x{}_{}_align{}", operation, word, n, m, p.layout, p.align));
  };
  try_kernel(p, n, m, kernel(fmt::format("{}_s1688gemm", word)), 1, out);
  for (const std::uint32_t slices : slices_of(p, n, m, 32)) {
    try_kernel(p, n, m, kernel("s1688gemm"), slices, out);
  }
}

void add_simt(const Problem& p, std::uint32_t n, std::uint32_t m, CandidateList& out) {
  if (p.target.architecture == "hopper") {
    for (const char* warps : {"2x2x1", "4x2x1", "2x4x1"}) {
      try_kernel(
          p, n, m,
          fmt::format("sm80_xmma_gemm_f32f32_f32f32_f32_{}_n_tilesize{}x{}x8_stage3_warpsize{}_ffma_aligna{}_alignc{}_"
                      "execute_kernel__5x_cublas",
                      p.layout, m, n, warps, p.align, p.align),
          1, out);
    }
  } else {
    try_kernel(p, n, m, fmt::format("ampere_sgemm_{}x{}_{}", n, m, p.layout), 1, out);
    if (n == 32 && m == 32) {
      try_kernel(p, n, m, fmt::format("ampere_sgemm_32x32_sliced1x4_{}", p.layout), 1, out);
    }
  }
  for (const std::uint32_t stages : {3U, 4U, 5U}) {
    try_kernel(p, n, m, cutlass(fmt::format("80_simt_sgemm_{}x{}_8x{}_{}_align1", n, m, stages, p.layout)), 1, out);
  }
}

}  // namespace

void add_cta_gemm_candidates(const LaunchRow& row, const TargetFacts& target, CandidateList& out) {
  Problem p{row, target, parse_gemm_shape(row.shape), parse_data_type(row.dtype), {}, 1, 0, 1};
  p.layout = lower(p.cells.layout);
  if (p.layout.size() != 2) {
    throw UnsupportedError(fmt::format("layout '{}' is not known; expected NN, NT, TN or TT", p.cells.layout));
  }
  p.align = alignment_of(p.cells, p.layout, p.type);
  p.macs_per_cycle = rate_of(p.type, target);
  const bool aligned = p.align * bits_of(p.type) == 128;
  if (p.type != DataType::kFp32) {  // on FMA pipes all kernels load by element
    p.loads = 128.0 / (p.align * bits_of(p.type));
  }
  for (const std::uint32_t n : kSides) {
    for (const std::uint32_t m : kSides) {
      if (n * m > kLargestTile) {
        continue;
      }
      if (p.type == DataType::kFp32) {
        add_simt(p, n, m, out);
      } else if (aligned) {
        add_tensor(p, n, m, out);
      } else {
        add_unaligned(p, n, m, out);
      }
    }
  }
}

}  // namespace strata
