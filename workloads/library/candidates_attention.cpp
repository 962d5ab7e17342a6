/// Candidates for attention: FlashAttention-2's tiles (its launch template) and cuDNN's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/options.hpp"
#include "workloads/library/candidate_families.hpp"
#include "workloads/library/shape.hpp"

namespace strata {

namespace {

/// What mma.sync and the softmax reach on an SM with `warps` that share the `rows` of a tile. Each warp reads all of K
/// and V from shared memory, a wavefront for 64 x rows / warps multiply-adds, and half of these wavefronts are not
/// hidden: 32 rows a warp are worth a fifth more than 16.
double mma_macs_per_cycle(std::int64_t rows, std::int64_t warps) {
  constexpr double kMmaMacsPerCycle = 1060;
  constexpr double kExposedWavefronts = 0.5;
  constexpr double kMacsPerWavefrontAndRow = 64;
  const double wavefronts = static_cast<double>(warps) / (kMacsPerWavefrontAndRow * static_cast<double>(rows));
  return 1 / (1 / kMmaMacsPerCycle + kExposedWavefronts * wavefronts);
}

struct Problem {
  const LaunchRow& row;
  const TargetFacts& target;
  AttentionCells cells;
  bool half = false;
};

/// What tells kernels apart before they are simulated.
struct Kernel {
  std::string name;
  std::string tile;
  std::int64_t rows = 0;      ///< of queries that a tile has, used or not
  double macs_per_cycle = 0;  ///< of an SM, softmax included
  bool persistent = false;    ///< the grid is the GPU, not the tiles
  std::uint32_t parts = 1;    ///< CTAs that share the keys of a tile
  std::string sum;            ///< the launch that adds split keys up; empty = none
};

/// A tile of queries takes its keys and values one after the other, whole tiles of rows, unused ones included. Where
/// few CTAs have a tile, what one of them has to load is the time: the rest of a persistent grid has nothing to do.
double estimate(const Problem& p, const Kernel& kernel, const Launch& launch, double& fill_bytes) {
  constexpr double kElementBytes = 2;
  const AttentionCells& c = p.cells;
  const auto heads = static_cast<double>(c.batch * c.heads);
  const double key_elements = static_cast<double>(c.kv_len) * static_cast<double>(c.head_dim);
  const double seen = launch.work.tensor_flops / (4 * heads * static_cast<double>(c.q_len) * key_elements);  // causal
  const double part = seen * key_elements / kernel.parts;  // of the keys, and of the values
  Launch tiles = launch;
  if (kernel.persistent) {
    const auto of_head = ceil_div(static_cast<std::uint64_t>(c.q_len), static_cast<std::uint64_t>(kernel.rows));
    tiles.grid = Dim3{static_cast<std::uint32_t>(of_head), static_cast<std::uint32_t>(c.batch * c.heads), 1};
  }
  const double macs = 2 * static_cast<double>(kernel.rows) * part;
  fill_bytes = static_cast<double>(tiles.num_ctas()) * 2 * kElementBytes * part;
  return estimate_cta_cycles(tiles, {macs / kernel.macs_per_cycle, 2 * kElementBytes * part}, p.target);
}

void try_kernel(const Problem& p, const Kernel& kernel, CandidateList& out) {
  constexpr double kSumCycles = 8000;  // a cold launch and little work
  KernelCandidate candidate;
  candidate.tile = kernel.tile;
  try {
    LaunchRow launch = candidate_row(p.row, kernel.name);
    const BuiltKernel built = resolve_launch(launch, p.target);
    const Launch& whole = built.source->launch();
    candidate.estimated_cycles = estimate(p, kernel, whole, candidate.fill_bytes);
    if (!kernel.sum.empty()) {
      launch.grid = whole.grid;
      LaunchRow sum = candidate_row(p.row, kernel.sum);
      sum.producer_kernel = launch.kernel;
      sum.producer_grid = launch.grid;
      (void)resolve_launch(sum, p.target);
      candidate.estimated_cycles += kSumCycles;
      candidate.launches = {std::move(launch), std::move(sum)};
    } else {
      candidate.launches = {std::move(launch)};
    }
  } catch (const UnsupportedError& error) {  // another head dim, a tile that does not fit, no TMA
    out.refuse(error.what());
    return;
  }
  out.add(std::move(candidate));
}

std::string traits(const Problem& p, std::uint32_t m, std::uint32_t n, std::uint32_t warps) {
  const char* element = p.half ? "cutlass::half_t" : "cutlass::bfloat16_t";
  return fmt::format(
      "Flash_fwd_kernel_traits<{0}, {1}, {2}, {3}, 0, 0, {4}, Flash_kernel_traits<{0}, {1}, {2}, {3}, {4}>>",
      p.cells.head_dim, m, n, warps, element);
}

/// Tiles of the library's launch templates for head dims of 32 to 256.
void add_flash(const Problem& p, CandidateList& out) {
  const AttentionCells& c = p.cells;
  for (const std::uint32_t m : {64U, 128U}) {
    for (const std::uint32_t n : {32U, 64U, 128U}) {
      const bool even = c.q_len % m == 0 && c.kv_len % n == 0;
      for (const std::uint32_t warps : {4U, 8U}) {
        // Dropout, causal, local, ALiBi, even lengths, even head dim, softcap, returns the softmax.
        const std::string name = fmt::format("void pytorch_flash::flash_fwd_kernel<{}, 0, {}, 0, 0, {}, 1, 0, 0>()",
                                             traits(p, m, n, warps), c.causal ? 1 : 0, even ? 1 : 0);
        try_kernel(p, {name, fmt::format("FA2 {}x{}", m, n), m, mma_macs_per_cycle(m, warps), false, 1, {}}, out);
      }
    }
  }
}

/// CTAs that share the keys of one tile of queries, as the family chooses them; 0 when the kernel cannot run.
std::uint32_t parts_of(const Problem& p, const std::string& kernel, std::uint32_t Dim3::*dimension) {
  try {
    return resolve_launch(candidate_row(p.row, kernel), p.target).source->launch().grid.*dimension;
  } catch (const UnsupportedError&) {
    return 0;
  }
}

/// Split keys where tiles of queries do not fill the GPU: parts as FlashAttention-2 chooses them, then their sum.
void add_flash_split(const Problem& p, CandidateList& out) {
  constexpr std::uint32_t kRows = 64;  // the library's split kernels have 64 rows
  constexpr std::uint32_t kWarps = 4;
  const std::int64_t d = p.cells.head_dim;
  const std::uint32_t n = d <= 64 ? 256 : (d <= 128 ? 128 : 64);
  const std::string name = traits(p, kRows, n, kWarps);
  const std::string kernel = fmt::format("void pytorch_flash::flash_fwd_splitkv_kernel<{}, {}, 0, 0, 0, 1, 0, 1, 0>()",
                                         name, p.cells.causal ? 1 : 0);
  const std::uint32_t splits = parts_of(p, kernel, &Dim3::y);
  if (splits < 2) {
    return;
  }
  const auto log2 = static_cast<std::uint32_t>(std::bit_width(splits - 1));
  const std::uint32_t rows_of_cta = d % 128 == 0 ? 4 : (d % 64 == 0 ? 8 : 16);
  const std::string sum =
      fmt::format("void pytorch_flash::flash_fwd_splitkv_combine_kernel<{}, {}, {}, 1>()", name, rows_of_cta, log2);
  try_kernel(p, {kernel, "FA2 split", kRows, mma_macs_per_cycle(kRows, kWarps), false, splits, sum}, out);
}

std::string cudnn_name(const char* generation, const std::string& tile, std::int64_t head_dim, const char* warps) {
  return fmt::format("cudnn_generated_fort_native_sdpa_{}_{}x{}_{}_cga1x1x1_kernel0_0", generation, tile, head_dim,
                     warps);
}

void add_cudnn(const Problem& p, CandidateList& out) {
  constexpr double kWgmmaMacsPerCycle = 1400;
  constexpr std::int64_t kWgmmaRows = 128;  // two consumer warpgroups of 64
  constexpr std::int64_t kMmaWarps = 4;
  constexpr std::int64_t kDecodeRows = 16;
  constexpr double kDecodeMacsPerCycle = 700;  // its warps share the keys, not the rows
  const std::int64_t d = p.cells.head_dim;
  for (const char* n : {"64", "128"}) {
    if (p.target.has_tma && p.target.has_wgmma) {
      const std::string tile = std::string("64x") + n;
      try_kernel(p,
                 {cudnn_name("sm90_flash_fprop_wgmma_f16_knob_7", tile, d, "4x1x1"),
                  "cuDNN sm90 " + tile,
                  kWgmmaRows,
                  kWgmmaMacsPerCycle,
                  true,
                  1,
                  {}},
                 out);
    }
    for (const std::int64_t m : {64, 128}) {
      const std::string tile = fmt::format("{}x{}", m, n);
      try_kernel(p,
                 {cudnn_name("sm80_flash_fprop_wmma_f16_knob_7", tile, d, "4x1x1"),
                  "cuDNN sm80 " + tile,
                  m,
                  mma_macs_per_cycle(m, kMmaWarps),
                  false,
                  1,
                  {}},
                 out);
    }
  }
  if (p.cells.q_len <= kDecodeRows) {  // its splits, and the sum of them, are known of one tile of queries
    const std::string decode = cudnn_name("sm80_flash_fprop_wmma_f16_knob_35", "16x128", d, "1x4x1");
    const std::uint32_t parts = std::max(1U, parts_of(p, decode, &Dim3::x));
    try_kernel(p,
               {decode, "cuDNN sm80 16x128", kDecodeRows, kDecodeMacsPerCycle, false, parts,
                parts > 1 ? "void cudnn::lean_reduction_kernel<0, 0, 0>()" : ""},
               out);
  }
}

}  // namespace

void add_attention_candidates(const LaunchRow& row, const TargetFacts& target, CandidateList& out) {
  Problem p{row, target, parse_attention_shape(row.shape), false};
  const DataType type = parse_data_type(row.dtype);
  if (type != DataType::kBf16 && type != DataType::kFp16) {
    out.refuse(fmt::format("the libraries' attention kernels known here take bf16 and fp16, not {}", to_string(type)));
    return;
  }
  p.half = type == DataType::kFp16;
  const std::string& backend = p.cells.backend;
  static const std::array<std::string, 3> kBackends{"flash", "cudnn", "auto"};
  if (backend == "math") {
    out.refuse("backend 'math' is a sequence of kernels, none of them an attention; give each of them a row");
    return;
  }
  if (!backend.empty() && std::find(kBackends.begin(), kBackends.end(), backend) == kBackends.end()) {
    out.refuse(fmt::format("backend '{}' is not known{}; expected flash or cudnn, or none for either", backend,
                           nearest_hint(backend, kBackends)));
    return;
  }
  const bool any = backend.empty() || backend == "auto";
  if (any || backend == "flash") {
    add_flash(p, out);
    add_flash_split(p, out);
  }
  if (any || backend == "cudnn") {
    add_cudnn(p, out);
  }
}

}  // namespace strata
