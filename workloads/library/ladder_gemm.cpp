#include "workloads/library/ladder_gemm.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/kernels/gemm_mma_sync.hpp"
#include "workloads/kernels/gemm_simt.hpp"
#include "workloads/kernels/gemm_tma_wgmma.hpp"
#include "workloads/kernels/gemm_wmma.hpp"
#include "workloads/library/gemm_launch.hpp"
#include "workloads/library/ladder_name.hpp"
#include "workloads/library/name_words.hpp"

namespace strata {

namespace {

/// A number for each layout. Counts of warp instructions are those of the compiled code (CUDA 13.0, sm_90a): the
/// shortest way through one trip of the loop along K that copies a whole tile.
struct ByLayout {
  std::uint32_t nn, nt, tn, tt;
  [[nodiscard]] std::uint32_t of(const GemmProblem& p) const {
    if (p.b_k_contiguous) return p.a_k_contiguous ? tn : tt;
    return p.a_k_contiguous ? nn : nt;
  }
};

/// The words that a rung's kernels always have: a name without one is of none of them, and leaves its number open.
void expect_words(const LadderGemmName& name, bool has_stages) {
  if (name.tile_k == 0) {
    throw UnsupportedError(
        fmt::format("a tile of {}x{} without K; expected one such as 128x128x32", name.tile_m, name.tile_n));
  }
  if (has_stages && name.stages == 0) throw UnsupportedError("the name gives no stages; expected 3s, sb or db");
  if (name.rung == "simt" && name.align != 1 && name.align != 4) {
    throw UnsupportedError("the name gives copies of neither one element nor four; expected al1 or al4");
  }
}

/// What of a row and a name all rungs with a plain grid take: rows of tiles along N, one after the other.
void take_plain_grid(const LaunchRow& row, const LadderGemmName& name, DataType output, GemmCtaConfig& c) {
  expect_words(name, name.rung != "wmma");
  c.name = canonical_kernel_name(row.kernel);
  c.problem = gemm_problem_of(row, name.layout, name.type, output);
  c.tile_m = name.tile_m;
  c.tile_n = name.tile_n;
  c.tile_k = name.tile_k;
  c.raster = RasterDirection::kAlongN;
  c.raster_group = 1;
  c.reads_c = row.op == "gemm_beta";
  c.copies_first = true;
  take_resources(row, c);
}

/// The number behind a grouped product's M,N,K,layout.
std::int64_t groups_of(const LaunchRow& row) {
  std::array<std::uint32_t, 1> groups{};
  const std::size_t comma = row.shape.rfind(',');
  constexpr std::uint32_t kMostGroups = 64;
  if (comma == std::string::npos || !parse_dims(row.shape.substr(comma + 1), groups) || groups[0] == 0 ||
      groups[0] > kMostGroups) {
    throw UnsupportedError(
        fmt::format("shape '{}': expected tokens,N,K,layout,experts with 1 to {} experts", row.shape, kMostGroups));
  }
  return groups[0];
}

LaunchRow without_groups(LaunchRow row) {
  row.shape.resize(std::min(row.shape.size(), row.shape.rfind(',')));
  return row;
}

BuiltKernel built_from(std::unique_ptr<TraceSource> source, std::string description, const LaunchRow& row,
                       const LadderGemmName& name) {
  BuiltKernel built;
  built.source = std::move(source);
  built.description = std::move(description);
  expect_ctas(row, built.source->launch());
  note_overruled_cells(name.grouped ? without_groups(row) : row, name.layout, name.type, built);
  return built;
}

bool matches_simt(std::string_view canonical) {
  static constexpr std::array<std::string_view, 1> kStems{"gemm_simt_"};
  return is_ladder_name(canonical, kStems);
}

BuiltKernel make_simt(const LaunchRow& row, const TargetFacts& target) {
  constexpr ByLayout kNarrow{2327, 2318, 2323, 2334};  // 4-byte copies
  constexpr ByLayout kWide{2303, 2268, 2323, 2299};    // 16-byte copies where M or N is contiguous
  const LadderGemmName name = parse_ladder_gemm_name(canonical_kernel_name(row.kernel));
  GemmSimtConfig c;
  take_plain_grid(row, name, DataType::kFp32, c);
  c.warp_m = 32;
  c.warp_n = 64;
  c.stages = name.stages;
  c.copy = GemmCopy::kAsync;
  c.access_limit_bytes = name.align * 4;
  c.staged_bytes = 0;
  c.lds_wavefronts = 3;
  // Counted in the compiled loop, reuse flags considered: of 100 FFMA 25 read one of the two register banks twice.
  c.conflicts_per_hundred = 25;
  const std::uint32_t elements = c.problem.a_k_contiguous ? 1 : name.align;
  const std::uint32_t elements_b = c.problem.b_k_contiguous ? 1 : name.align;
  const std::uint32_t copies = 16 / elements + 16 / elements_b;  // of a thread and K tile
  constexpr std::uint32_t kMultiplies = 8 * 8 * 32, kReads = 4 * 32, kBarrier = 1;
  c.costs.per_k_tile = (name.align == 4 ? kWide : kNarrow).of(c.problem) - kMultiplies - kReads - copies - kBarrier;
  c.costs.per_k_step = 0;
  c.costs.per_load_tenths = 0;
  // 505 beside the K tiles in the calibration launch of 4096 x 4096 x 4096: a multiply and a quarter of a store for
  // each of 64 results, addresses and predicates; the rest before the loop.
  c.costs.prologue = 250;
  c.costs.per_element_tenths = 40;
  // Sectors of eight K elements fill eight rows: 644 wavefronts for 128 turning copies, beyond the four of its bytes.
  c.costs.turned_copy_tenths = 47;
  c.odd_rows_twice = true;  // rows of 132 words
  // Rows that are not aligned are stored word by word: four instructions touch a sector, which reaches the crossbar 3.2
  // to 3.8 times in the calibration launches: the L1 merges some of them.
  c.store_pass_tenths = c.problem.n % 4 == 0 ? 10 : 33;
  // Wide multiplies that the tensor-pipe counter includes: a handful, and one a K tile where A has M contiguous.
  const auto k_tiles = static_cast<std::uint32_t>(ceil_div(static_cast<std::uint64_t>(c.problem.k), c.tile_k));
  c.costs.uncounted_tensor = 5 + (c.problem.a_k_contiguous ? 0 : k_tiles);
  return built_from(make_gemm_simt(c, target), describe_gemm_simt(c), row, name);
}

bool matches_mma(std::string_view canonical) {
  static constexpr std::array<std::string_view, 1> kStems{"gemm_mma_"};
  return is_ladder_name(canonical, kStems);
}

/// Expert e of E has tokens in proportion to e + 1, as the harness deals them out; two CTAs an SM walk over the tiles.
void take_groups(const LaunchRow& row, const TargetFacts& target, GemmCtaConfig& c) {
  const std::int64_t groups = groups_of(row);
  c.problem.batch = groups;
  for (std::int64_t e = 0; e <= groups; ++e) {
    c.group_rows.push_back(static_cast<std::uint32_t>(c.problem.m * e * (e + 1) / (groups * (groups + 1))));
  }
  c.walking_ctas = row.grid ? static_cast<std::uint32_t>(row.grid->count()) : 2 * target.num_sms;
}

BuiltKernel make_mma(const LaunchRow& row, const TargetFacts& target) {
  // Recorded launches of two depths, whose difference is the loop's and whose rest is what else a tile takes.
  constexpr ByLayout kWhole{294, 311, 273, 318}, kPart{301, 308, 286, 317}, kWholeRest{587, 494, 537, 578};
  constexpr std::uint32_t kGrouped = 286, kPartRest = 447, kGroupedRest = 413, kReadC = 337;
  const LadderGemmName name = parse_ladder_gemm_name(canonical_kernel_name(row.kernel));
  GemmMmaSyncConfig c;
  take_plain_grid(name.grouped ? without_groups(row) : row, name, name.type, c);
  if (name.grouped) take_groups(row, target, c);
  c.warp_m = 64;
  c.warp_n = 32;
  c.stages = name.stages;
  c.copy = GemmCopy::kAsync;
  if (name.split_k) {
    c.split_k = split_k_of(row, c.problem);
    c.slice_k_tiles =
        static_cast<std::uint32_t>(ceil_div(ceil_div(static_cast<std::uint64_t>(c.problem.k), c.tile_k), c.split_k));
  }
  c.staged_bytes = name.split_k ? 0 : 2;
  constexpr std::uint32_t kMultiplies = 64, kReads = 24, kCopies = 8, kBarrier = 1;
  const std::uint32_t loop = name.grouped ? kGrouped : (name.split_k ? kPart : kWhole).of(c.problem);
  c.costs.per_k_tile = loop - kMultiplies - kReads - kCopies - kBarrier;
  c.costs.per_k_step = 0;
  c.costs.per_load_tenths = 0;
  // Per result a multiply, half a conversion and half a store; the rest before the loop: two K tiles' copies.
  c.costs.per_element_tenths = 49;
  constexpr std::uint32_t kResults = 64, kEpilogue = 49 * kResults / 10;
  const std::uint32_t rest = name.grouped ? kGroupedRest : (name.split_k ? kPartRest : kWholeRest.of(c.problem));
  c.costs.prologue = rest - kEpilogue + (c.reads_c ? kReadC : 0);
  c.exchanged_pieces = true;
  c.counts_zero_fills = true;
  BuiltKernel built = built_from(make_gemm_mma_sync(c, target), describe_gemm_mma_sync(c), row, name);
  return built;
}

bool matches_wmma(std::string_view canonical) {
  static constexpr std::array<std::string_view, 1> kStems{"gemm_wmma_"};
  return is_ladder_name(canonical, kStems);
}

/// What the compiler makes of fragment loads. fp16: ldmatrix, 48 wavefronts a warp and K tile. bf16: words, and a MOVM
/// (one wavefront) for each 8 x 8 that has to be turned. int8: ldmatrix along K, single bytes otherwise, whose 2.03
/// wavefronts were counted on the NN calibration launch. An int8 m16n8k16 takes the tensor core as long as m16n8k32:
/// the TN calibration launch takes 12.0 clk each, what m16n8k16 takes of fp16.
void take_fragments(GemmWmmaConfig& c) {
  constexpr std::uint32_t kAligned = 48;
  const bool fp16 = c.problem.input == DataType::kFp16;
  if (c.problem.input == DataType::kInt8) {
    c.timed_k = 32;
    c.insts_per_k_tile = ByLayout{406, 511, 154, 267}.of(c.problem);
    c.lead_insts = ByLayout{74, 84, 49, 72}.of(c.problem);
    c.fragment_wavefronts = ByLayout{276, 390, kAligned, 162}.of(c.problem);
    c.fragment_conflicts = ByLayout{132, 198, 0, 66}.of(c.problem);
    return;
  }
  c.insts_per_k_tile = (fp16 ? ByLayout{104, 117, 104, 115} : ByLayout{199, 218, 153, 185}).of(c.problem);
  c.lead_insts = (fp16 ? ByLayout{47, 60, 47, 58} : ByLayout{90, 101, 58, 83}).of(c.problem);
  c.generic_loads = fp16 ? 0 : 48;
  c.fragment_wavefronts = kAligned + (fp16 ? 0 : ByLayout{32, 48, 0, 16}.of(c.problem));
}

BuiltKernel make_wmma(const LaunchRow& row, const TargetFacts& target) {
  const LadderGemmName name = parse_ladder_gemm_name(canonical_kernel_name(row.kernel));
  GemmWmmaConfig c;
  take_plain_grid(row, name, name.type == DataType::kInt8 ? DataType::kInt32 : name.type, c);
  c.warp_m = 32;
  c.warp_n = 64;
  c.stages = 1;
  c.copy = GemmCopy::kRegisters;
  c.store_pass_tenths = name.type == DataType::kInt8 ? 20 : 10;  // eight words a lane, 16 B at a time
  c.k_contiguous_ways = 2;
  if (c.problem.output != DataType::kInt32) c.store_patch_bytes = 32;  // 16 results of a row
  take_fragments(c);
  // 620 to 670 beside the K tiles in recorded launches, 203 to 305 where sums of integers are stored as they are; a
  // patch of 16 x 16 results goes through shared memory.
  const bool integers = name.type == DataType::kInt8;
  c.costs.prologue = integers ? ByLayout{73, 43, 145, 116}.of(c.problem) : 180;
  c.costs.per_element_tenths = integers ? 20 : 65;
  if (c.registers_per_thread == 0) c.registers_per_thread = 128;
  return built_from(make_gemm_wmma(c, target), describe_gemm_cta(c), row, name);
}

bool matches_wgmma(std::string_view canonical) {
  static constexpr std::array<std::string_view, 1> kStems{"gemm_wgmma_"};
  return is_ladder_name(canonical, kStems);
}

BuiltKernel make_wgmma(const LaunchRow& row, const TargetFacts& target) {
  const LadderGemmName name = parse_ladder_gemm_name(canonical_kernel_name(row.kernel));
  expect_words(name, true);
  GemmTmaConfig c;
  c.name = canonical_kernel_name(row.kernel);
  c.problem = gemm_problem_of(row, name.layout, name.type, name.type);
  c.tile_m = name.tile_m;
  c.tile_n = name.tile_n;
  c.tile_k = name.tile_k;
  c.stages = name.stages;
  c.cluster_m = name.cluster_m;
  c.cluster_n = name.cluster_n;
  c.consumers = ConsumerMode::kCooperativeM;
  // Down a group of eight cluster rows, then one column on.
  c.raster = RasterDirection::kAlongN;
  c.raster_group = 8;
  c.num_clusters = row.grid ? static_cast<std::uint32_t>(row.grid->count() / c.cluster_size()) : 0;
  c.registers_per_thread = row.registers.value_or(168);
  c.smem_dynamic_bytes = row.smem_dynamic.value_or(0);
  // Recorded launches of several depths: a consumer warp's K tile and, per result, a multiply, half a conversion and
  // half a store with predicates and addresses; 43 instructions of the producer (compiled code) and about 28 polls
  // more.
  constexpr ByLayout kWide{91, 92, 90, 91}, kWideAlone{86, 87, 84, 85};
  const bool wide = c.tile_n > 128;
  c.costs.consumer_per_k_tile = wide ? (c.cluster_size() > 1 ? kWide : kWideAlone).of(c.problem) : 74;
  c.costs.per_wgmma_tenths = 10;
  c.costs.producer_per_k_tile = 71;
  c.costs.producer_issue_slots = 36;
  c.costs.per_element_hundredths = wide ? 955 : 850;
  // Operands are 640 wavefronts of a 128x256 K tile and 384 of a 128x128 one, where launches count one more. Each box
  // of the epilogue counts 75 to 105 beside the 64 that stage it, conflicts with operands on their way among them.
  c.costs.cooperative_barrier_wavefronts = 0;
  c.costs.box_wavefronts = 95;
  c.costs.tile_begin = 40;
  c.costs.tile_end = 45;
  c.reads_c = row.op == "gemm_beta";
  BuiltKernel built;
  built.source = make_gemm_tma(c, target);
  built.description = describe_gemm_tma(c);
  note_overruled_cells(row, name.layout, name.type, built);
  return built;
}

}  // namespace

FamilyParser ladder_simt_family() { return {"ladder_simt", &matches_simt, &make_simt, "strata_gemm_simt"}; }
FamilyParser ladder_mma_family() { return {"ladder_mma", &matches_mma, &make_mma, "strata_gemm_mma"}; }
FamilyParser ladder_wmma_family() { return {"ladder_wmma", &matches_wmma, &make_wmma, "strata_gemm_wmma"}; }
FamilyParser ladder_wgmma_family() {
  return {"ladder_wgmma", &matches_wgmma, &make_wgmma, "strata_gemm_wgmma", false, true, true};
}

}  // namespace strata
