#include "workloads/library/ampere_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/error.hpp"
#include "workloads/kernels/gemm_mma_sync.hpp"
#include "workloads/kernels/gemm_simt.hpp"
#include "workloads/library/ampere_sgemm_counts.hpp"
#include "workloads/library/gemm_launch.hpp"
#include "workloads/library/gemm_operation.hpp"

namespace strata {

namespace {

constexpr std::array<std::string_view, 4> kGenerations{"maxwell_", "volta_", "turing_", "ampere_"};
constexpr std::uint32_t kSgemmTileK = 8;
constexpr std::uint32_t kDefaultStages = 3;

bool matches(std::string_view canonical) {
  const bool known = std::any_of(kGenerations.begin(), kGenerations.end(),
                                 [&](std::string_view g) { return canonical.starts_with(g); });
  return known && canonical.find("gemm_") != std::string_view::npos;
}

void parse_detail(std::string_view word, AmpereGemmName& out) {
  constexpr std::string_view kSliced = "sliced";
  if (take_sizes(word, out)) {
    return;
  }
  if (const auto type = operand_type(word)) {
    if (out.names_input) refuse_word(word, "one type of the operands behind the operation");
    out.names_input = true;
    out.input = *type == DataType::kFp32 && !out.simt ? DataType::kTf32 : *type;
  } else if (word.starts_with(kSliced)) {
    std::array<std::uint32_t, 2> along{};
    if (out.slices != 1) refuse_word(word, "the slices once");
    if (!parse_dims(word.substr(kSliced.size()), along) || along[0] != 1) refuse_word(word, "sliced1x<slices>");
    out.slices = along[1];
  } else if (const auto elements = size_after(word, "ldg")) {
    if (out.load_elements != 0) refuse_word(word, "the elements of a load once");
    out.load_elements = *elements;
  } else if (is_layout(word)) {
    if (!out.layout.empty()) refuse_word(word, "the layout once");
    out.layout = std::string(word);
  } else if (word != "stages" && word != "f2f") {
    keep_unknown(word, out.unknown);
  }
}

void take_launch(const LaunchRow& row, const AmpereGemmName& name, GemmCtaConfig& config) {
  config.name = canonical_kernel_name(row.kernel);
  config.problem = gemm_problem_of(row, name.layout, name.input, name.output);
  config.tile_m = name.tile_m;
  config.tile_n = name.tile_n;
  config.warp_slices = name.slices;
  config.split_k = split_k_of(row, config.problem);
  // Launch order runs along the library's M, our N: DRAM bytes of launches with many rows are compulsory only so.
  config.raster = RasterDirection::kAlongN;
  config.raster_group = 1;
  if (name.load_elements != 0) {
    config.access_limit_bytes = std::clamp(name.load_elements * bits_of(name.input) / 8, 1U, 16U);
  }
  take_resources(row, config);
}

void cut_or_refuse(GemmCtaConfig& config, std::uint32_t warps, std::uint32_t least_m) {
  if (warps % config.warp_slices != 0 || !cut_warps(config, warps / config.warp_slices, least_m, 8)) {
    throw UnsupportedError(fmt::format("{} warps do not divide tile {}x{} in {} slices", warps, config.tile_m,
                                       config.tile_n, config.warp_slices));
  }
}

/// Threads of a CTA where the row does not say: 8x8 results a thread with both sides 64 or more, four by four with a
/// side of 32, and 32 results a thread and slice where K is sliced; at most 256.
std::uint32_t sgemm_warps(const AmpereGemmName& name) {
  const std::uint32_t area = name.tile_m * name.tile_n * name.slices;
  const bool narrow = std::min(name.tile_m, name.tile_n) < 64;
  const std::uint32_t results = name.slices > 1 ? 32 : (narrow ? 16 : 64);
  return std::clamp(area / results / 32, name.slices, std::max(8U, name.slices));
}

/// Costs of the kernels whose SASS was counted.
void take_counts(const SgemmCounts& counts, GemmSimtConfig& config) {
  constexpr std::uint32_t kElementBytes = 4;
  config.access_limit_bytes = kElementBytes;
  config.store_bytes = kElementBytes;
  // A row of K is padded by 16 B: lanes along eight rows meet no bank twice, lanes along a sliced kernel's 32 rows do.
  config.store_conflict_ways = config.warp_slices > 1 ? 4 : 1;
  // Eight pieces of 16 B a warp on one side of its tile, two lanes each, four on the other: half a warp is a wavefront.
  config.lds_wavefronts = 2;
  config.fragments_ahead = true;
  config.prefetch = true;
  config.loads_amid = true;
  config.amid_percent = 100 - 100 * counts.loads_ahead / counts.loop_instructions;
  config.code_bytes = counts.code_bytes;
  if (config.registers_per_thread == 0) config.registers_per_thread = counts.registers;
  const std::uint32_t results = config.tile_m * config.tile_n / (32 * config.warps());
  config.costs.prologue = counts.prologue;
  config.costs.per_k_tile = counts.loop_others;
  config.costs.per_k_step = 0;
  config.costs.per_load_tenths = 0;
  config.costs.epilogue = counts.epilogue_once;
  config.costs.per_element_tenths = 10 * counts.epilogue_passes / results;
}

/// CTAs that make progress together. An SM's FFMA pipes are busy with one CTA; kernels that slice K over warps too wait
/// for loads, and two of their CTAs take no longer than one where both fit.
std::uint64_t split_slots(const GemmSimtConfig& c, const TargetFacts& target) {
  const std::uint64_t registers = std::uint64_t{std::max(1U, c.registers_per_thread)} * 32 * c.warps();
  const bool two = c.warp_slices > 1 && 2 * registers <= target.registers_per_sm;
  return std::uint64_t{two ? 2U : 1U} * std::max(1U, target.num_sms);
}

/// How far the library goes to shorten the waves of CTAs.
struct SplitHabit {
  std::int64_t shortest;  ///< slice of K
  double worthwhile;      ///< of the waves of fewer slices
};

/// Published A100 launches bound these from both sides. Slices of 128 are made where a grid leaves most SMs idle, by
/// kernels that slice K over warps too, and in a second wave that they shorten by a fifth. Grids of 24 to 36 CTAs with
/// K up to 2048 take longer than their unsplit kernel would (the wait of slices for one another is not modelled), 32
/// CTAs with K of 12544 a third of that.
SplitHabit habit_of_grid(const GemmSimtConfig& c, std::uint64_t ctas, std::uint64_t sms) {
  constexpr std::uint64_t kIdleShare = 6;
  constexpr SplitHabit kFill{128, 0.95};
  constexpr SplitHabit kSecondWave{128, 0.8};
  if (c.warp_slices > 1 || ctas * kIdleShare <= sms) return ctas <= sms ? kFill : kSecondWave;
  if (ctas * 2 <= sms) return {1025, 0.95};
  if (ctas <= sms) return {320, 0.95};
  return kSecondWave;
}

/// Slices of K where the row has no grid; the name does not say. As many as shorten the waves of CTAs; last waves that
/// are evened out by less than a fifth have slices of 768 in the launches seen, and none with K of 768 is. Grids of
/// under eight CTAs are left alone: published launches of one to three with K up to 4608 take as long as one CTA does,
/// six times as long as eight CTAs of the same kernel and K.
std::uint32_t choose_split(const GemmSimtConfig& c, const TargetFacts& target) {
  constexpr std::uint64_t kFewestCtas = 8;
  constexpr std::uint64_t kMostSlices = 16;
  constexpr SplitHabit kEvenOut{768, 0.95};
  const std::uint64_t sms = std::max(1U, target.num_sms);
  const std::uint64_t ctas = ceil_div(static_cast<std::uint64_t>(c.problem.m), c.tile_m) *
                             ceil_div(static_cast<std::uint64_t>(c.problem.n), c.tile_n) *
                             static_cast<std::uint64_t>(c.problem.batch);
  const std::uint64_t slots = split_slots(c, target);
  const auto waves = [&](std::uint64_t slices) {
    return static_cast<double>(ceil_div(ctas * slices, slots)) / static_cast<double>(slices);
  };
  std::uint64_t best = 1;
  const auto split = [&](const SplitHabit& habit) {
    const auto most = std::min(kMostSlices, static_cast<std::uint64_t>(c.problem.k / habit.shortest));
    for (std::uint64_t slices = best + 1; slices <= most; ++slices) {
      best = waves(slices) < habit.worthwhile * waves(best) ? slices : best;
    }
  };
  if (ctas >= kFewestCtas && ctas < 2 * sms) {
    split(habit_of_grid(c, ctas, sms));
  }
  if (ctas > sms) {
    split(kEvenOut);
  }
  return static_cast<std::uint32_t>(best);
}

BuiltKernel make_sgemm(const LaunchRow& row, const TargetFacts& target, const AmpereGemmName& name) {
  GemmSimtConfig config;
  take_launch(row, name, config);
  config.tile_k = kSgemmTileK * name.slices;
  config.copy = GemmCopy::kRegisters;
  // Where no SASS was counted. Published A100 launches of sliced kernels take 1390 cycles per 32 elements of K with one
  // CTA an SM and with two: a load's latency and then 512 cycles of FFMA.
  config.prefetch = name.slices == 1;
  config.stages = 2;
  cut_or_refuse(config, warps_of(row, sgemm_warps(name)), 8);
  spread_lanes(config);
  if (const SgemmCounts* counts = sgemm_counts(name.tile_n, name.tile_m, name.slices, name.layout)) {
    take_counts(*counts, config);
  }
  if (!row.grid) {
    config.split_k = choose_split(config, target);
  }
  return build_gemm(config, target);
}

BuiltKernel make_tensor(const LaunchRow& row, const TargetFacts& target, const AmpereGemmName& name) {
  GemmMmaSyncConfig config;
  take_launch(row, name, config);
  config.tile_k = name.tile_k != 0 ? name.tile_k : 512 / bits_of(name.input);
  config.copy = name.stages == 0 ? GemmCopy::kRegisters : GemmCopy::kAuto;
  config.stages = name.stages == 0 ? kDefaultStages : name.stages;
  config.mma_k = name.instruction.k;
  cut_or_refuse(config, warps_of(row, (name.tile_m * name.tile_n >= 256 * 128 ? 8 : 4) * name.slices), 16);
  return build_gemm(config, target);
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const AmpereGemmName name = parse_ampere_gemm_name(canonical_kernel_name(row.kernel));
  std::string warning;
  const LaunchRow fitting = fitting_row(row, least_resources(row, name, name.input, name.slices), warning);
  BuiltKernel built = name.simt ? make_sgemm(fitting, target, name) : make_tensor(fitting, target, name);
  expect_ctas(row, built.source->launch());
  note_name(row, name, warning, built);
  return built;
}

}  // namespace

AmpereGemmName parse_ampere_gemm_name(std::string_view canonical) {
  const std::vector<std::string_view> words = words_of(canonical);
  AmpereGemmName out;
  const bool ampere = words[0] == "ampere";
  std::string_view operation_word;
  GemmOperation operation;
  bool names_output = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!operation_word.empty()) {
      parse_detail(words[i], out);
    } else if (is_gemm_operation(words[i])) {
      operation_word = words[i];
      operation = parse_gemm_operation(operation_word, ampere);
      out.simt = operation.instruction.k == 0;
      out.input = operation.input;
      out.output = names_output ? out.output : operation.output;
      out.instruction = operation.instruction;
    } else if (const auto type = operand_type(words[i])) {
      if (names_output) refuse_word(words[i], "one type of C before the operation");
      out.output = *type;
      names_output = true;
    } else {
      keep_unknown(words[i], out.unknown);
    }
  }
  if (operation_word.empty() || out.tile_n == 0 || out.layout.empty()) {
    throw UnsupportedError("the name is cut short; expected <generation>_<operation>gemm_<tile>_..._<layout>");
  }
  // Older kernels of the FMA pipe are simulated with what was counted of Ampere's.
  if (!ampere && out.simt) out.unknown.emplace_back(words[0]);
  expect_operands(operation_word, operation, out.input);
  if (out.load_elements != 0) {
    expect_access("ldg", out.load_elements, out.input);
  }
  if (out.tile_k != 0) expect_whole_instructions(out.instruction, out.tile_m, out.tile_n, out.tile_k);
  return out;
}

FamilyParser ampere_gemm_family() { return {"ampere_gemm", matches, make, "ampere_sgemm_"}; }

}  // namespace strata
