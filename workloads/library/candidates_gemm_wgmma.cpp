/// Candidates for products on Hopper's wgmma. nvjet's and sm90_xmma's names are the grammars of nvjet.hpp,
/// xmma_name.hpp.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/kernels/cluster_places.hpp"
#include "workloads/kernels/gemm_tma_wgmma_spec.hpp"
#include "workloads/library/candidate_families.hpp"
#include "workloads/library/nvjet.hpp"
#include "workloads/library/shape.hpp"

namespace strata {

namespace {

constexpr std::uint32_t kKBytes = 128;      ///< of a K tile: one swizzle atom of the TMA
constexpr std::uint32_t kMostStages = 16;   ///< of recorded names, where a 10 KiB stage would allow 20
constexpr std::uint32_t kWidestSide = 256;  ///< of wgmma's N

/// wgmma's 64 rows: tiles of as many as the accumulators of two warpgroups allow.
constexpr std::array<std::uint32_t, 5> kRows{64, 128, 192, 256, 320};

struct Cluster {
  std::uint32_t along_n, along_m;
};
constexpr std::array kClusters{Cluster{1, 1}, Cluster{2, 1}, Cluster{1, 2}, Cluster{4, 1},
                               Cluster{1, 4}, Cluster{2, 2}, Cluster{4, 2}, Cluster{2, 4}};

constexpr std::array<const char*, 3> kConsumers{"", "_coopA", "_coopB"};

struct NvjetTypes {
  const char* letters;
  std::uint32_t bytes;
  const char* output;  ///< as the sum of parts is instantiated
};

std::optional<NvjetTypes> types_of(const std::string& dtype) {
  switch (parse_data_type(dtype)) {
    case DataType::kBf16:
      return NvjetTypes{"tst", 2, "__nv_bfloat16"};
    case DataType::kFp16:
      return NvjetTypes{"hsh", 2, "__half"};
    case DataType::kFp8:
      return NvjetTypes{"qqtst", 1, "__nv_bfloat16"};
    default:
      return std::nullopt;
  }
}

struct NvjetTile {
  std::uint32_t n, m;
  bool rows_along_n;
  Cluster cluster;
  const char* consumers;
};

std::string nvjet_name(const NvjetTypes& types, const NvjetTile& t, std::uint32_t stages, bool split_k,
                       const std::string& layout) {
  const char* raster = t.cluster.along_n > t.cluster.along_m ? "v" : "h";
  return fmt::format("nvjet_sm90_{}_{}x{}_{}x{}_{}x{}_{}_bz{}{}_{}{}", types.letters, t.n, t.m, kKBytes / types.bytes,
                     stages, t.cluster.along_n, t.cluster.along_m, raster, t.consumers, split_k ? "_splitK" : "",
                     layout, t.rows_along_n ? "T" : "N");
}

/// As many stages as fit, as every recorded name has; 0 when not even two do.
std::uint32_t stages_that_fit(GemmTmaConfig config, const TargetFacts& target) {
  for (std::uint32_t stages = kMostStages; stages >= 2; --stages) {
    config.stages = stages;
    if (gemm_tma_smem_bytes(config) <= static_cast<std::uint64_t>(target.smem_per_cta_bytes)) {
      return stages;
    }
  }
  return 0;
}

class NvjetCandidates {
 public:
  NvjetCandidates(const LaunchRow& row, const TargetFacts& target, const NvjetTypes& types, CandidateList& out)
      : row_(row), target_(target), types_(types), layout_(parse_gemm_shape(row.shape).layout), out_(out) {}

  void add(const NvjetTile& tile) {
    GemmTmaConfig config = nvjet_config(candidate_row(row_, nvjet_name(types_, tile, 2, false, layout_)), target_);
    config.stages = stages_that_fit(config, target_);
    if (config.stages == 0) {
      out_.refuse("two stages do not fit in shared memory");
      return;
    }
    if (const auto problems = check_gemm_tma(config, target_); !problems.empty()) {
      out_.refuse(to_string(problems.front()));
      return;
    }
    const std::string words = fmt::format("{}x{}", tile.n, tile.m);
    KernelCandidate whole;
    whole.launches = {candidate_row(row_, nvjet_name(types_, tile, config.stages, false, layout_))};
    whole.estimated_cycles = estimate(config);
    whole.fill_bytes = fills(config);
    whole.tile = words;
    out_.add(std::move(whole));
    add_splits(tile, config, words);
  }

 private:
  [[nodiscard]] double fills(const GemmTmaConfig& c) const {
    const GemmProblem& p = c.problem;
    const auto tiles = [](std::int64_t n, std::uint32_t tile) {
      return static_cast<double>(ceil_div(static_cast<std::uint64_t>(n), tile));
    };
    return tiles(p.m, c.tile_m) * tiles(p.n, c.tile_n) * static_cast<double>(p.batch) * tiles(p.k, c.tile_k) *
           c.tile_k * (c.tile_m + c.tile_n) * types_.bytes;
  }

  [[nodiscard]] double estimate(const GemmTmaConfig& config) const {
    const WorkTotals work = gemm_work(config.problem, config.split_k);
    TargetFacts usable = target_;
    usable.num_sms = resident_clusters(target_, config.cluster_size()) * config.cluster_size();
    return estimate_with_memory(estimate_gemm_tma_cycles(config, usable),
                                work.compulsory_read_bytes + work.compulsory_write_bytes, target_);
  }

  /// Slices that leave no SM without a tile, and powers of two below.
  void add_splits(const NvjetTile& tile, const GemmTmaConfig& whole, const std::string& words) {
    constexpr std::uint64_t kFewestKTiles = 4;  // of a slice
    const GemmProblem& p = whole.problem;
    const std::uint64_t tiles =
        ceil_div(static_cast<std::uint64_t>(p.m), std::uint64_t{whole.tile_m} * whole.cluster_m) *
        ceil_div(static_cast<std::uint64_t>(p.n), std::uint64_t{whole.tile_n} * whole.cluster_n);
    const std::uint64_t k_tiles = ceil_div(static_cast<std::uint64_t>(p.k), whole.tile_k);
    const std::uint64_t room = resident_clusters(target_, whole.cluster_size());
    const std::uint64_t most = std::min(room / tiles, k_tiles / kFewestKTiles);
    for (std::uint64_t slices = 2; p.batch == 1 && slices <= most; slices *= 2) {
      add_split(tile, whole, tiles, slices, words);
      if (slices < most && 2 * slices > most) {
        add_split(tile, whole, tiles, most, words);
      }
    }
  }

  void add_split(const NvjetTile& tile, const GemmTmaConfig& whole, std::uint64_t tiles, std::uint64_t slices,
                 const std::string& words) {
    LaunchRow product = candidate_row(row_, nvjet_name(types_, tile, whole.stages, true, layout_));
    product.grid = Dim3{whole.cluster_size(), static_cast<std::uint32_t>(tiles * slices), 1};
    GemmTmaConfig config = whole;
    config.split_k = static_cast<std::uint32_t>(slices);
    if (!check_gemm_tma(config, target_).empty()) {
      return;
    }
    LaunchRow sum = split_sum_row(product, types_.output, "float");
    const double elements = static_cast<double>(whole.problem.m) * static_cast<double>(whole.problem.n);
    KernelCandidate split;
    split.estimated_cycles = estimate(config) + estimate_split_sum_cycles(elements, static_cast<double>(slices));
    split.fill_bytes = fills(whole);
    split.tile = words + "_splitK";
    split.launches = {std::move(product), std::move(sum)};
    out_.add(std::move(split));
  }

  const LaunchRow& row_;
  const TargetFacts& target_;
  NvjetTypes types_;
  std::string layout_;
  CandidateList& out_;
};

void add_nvjet(const LaunchRow& row, const TargetFacts& target, const NvjetTypes& types, CandidateList& out) {
  NvjetCandidates candidates(row, target, types, out);
  for (const std::uint32_t rows : kRows) {
    for (std::uint32_t columns = 8; columns <= kWidestSide; columns += 8) {
      for (const bool rows_along_n : {false, true}) {
        for (const Cluster& cluster : kClusters) {
          for (const char* consumers : kConsumers) {
            candidates.add(
                {rows_along_n ? rows : columns, rows_along_n ? columns : rows, rows_along_n, cluster, consumers});
          }
        }
      }
    }
  }
}

/// Tiles of whole wgmma instructions; one consumer warpgroup for 64 rows, two for more.
void add_xmma(const LaunchRow& row, const TargetFacts& target, CandidateList& out) {
  for (const std::uint32_t m : {64U, 128U, 192U, 256U}) {
    for (const std::uint32_t n : {64U, 128U, 192U, 256U}) {
      const LaunchRow launch = candidate_row(
          row,
          fmt::format("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize{}x{}x32_warpgroupsize{}x1x1_execute_segment_"
                      "k_off_kernel__5x_cublas",
                      m, n, m == 64 ? 1 : 2));
      try {
        const BuiltKernel built = resolve_launch(launch, target);
        const GemmCells cells = parse_gemm_shape(row.shape);
        const auto k = static_cast<double>(cells.k);
        // wgmma: 512 tf32 multiply-adds a cycle and SM on a full tile; smaller ones are limited by their fills.
        constexpr double kMacsPerCycle = 2048;
        constexpr double kElementBytes = 4;
        const double tiles = static_cast<double>(ceil_div(static_cast<std::uint64_t>(cells.m), m) *
                                                 ceil_div(static_cast<std::uint64_t>(cells.n), n));
        Launch whole = built.source->launch();
        whole.grid = Dim3{static_cast<std::uint32_t>(tiles), 1, 1};
        KernelCandidate candidate;
        candidate.launches = {launch};
        candidate.estimated_cycles =
            estimate_cta_cycles(whole, {m * n * k / kMacsPerCycle, (m + n) * k * kElementBytes}, target);
        candidate.tile = fmt::format("{}x{}", m, n);
        candidate.fill_bytes = tiles * (m + n) * k * kElementBytes;
        out.add(std::move(candidate));
      } catch (const UnsupportedError& error) {  // a tile that does not fit
        out.refuse(error.what());
      }
    }
  }
}

}  // namespace

void add_wgmma_gemm_candidates(const LaunchRow& row, const TargetFacts& target, CandidateList& out) {
  if (!target.has_tma || !target.has_wgmma) {
    return;
  }
  if (const auto types = types_of(row.dtype)) {
    add_nvjet(row, target, *types, out);
  } else if (parse_data_type(row.dtype) == DataType::kTf32 && parse_gemm_shape(row.shape).layout == "TN") {
    add_xmma(row, target, out);
  }
}

}  // namespace strata
