#include "workloads/kernels/gemm_tma_wgmma_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "workloads/kernels/gemm_mma_sync_spec.hpp"
#include "workloads/kernels/gemm_tma_wgmma_plan.hpp"

namespace strata {

namespace {

/// Tiles that Hopper's libraries ship, along M x N; those with few rows run wgmma's 64 along N.
struct Candidate {
  std::uint32_t tile_m, tile_n;
  ConsumerMode consumers;
  bool wgmma_m_along_n;
};
constexpr std::array kCandidates{
    Candidate{256, 128, ConsumerMode::kCooperativeM, false}, Candidate{128, 256, ConsumerMode::kCooperativeM, false},
    Candidate{192, 192, ConsumerMode::kCooperativeN, false}, Candidate{128, 192, ConsumerMode::kCooperativeM, false},
    Candidate{128, 128, ConsumerMode::kPingPong, false},     Candidate{128, 128, ConsumerMode::kCooperativeM, false},
    Candidate{64, 256, ConsumerMode::kPingPong, false},      Candidate{64, 128, ConsumerMode::kPingPong, false},
    Candidate{128, 64, ConsumerMode::kPingPong, false},      Candidate{64, 64, ConsumerMode::kPingPong, false},
    Candidate{32, 64, ConsumerMode::kPingPong, true},        Candidate{16, 128, ConsumerMode::kPingPong, true},
    Candidate{16, 64, ConsumerMode::kPingPong, true},        Candidate{8, 128, ConsumerMode::kPingPong, true},
    Candidate{8, 64, ConsumerMode::kPingPong, true},
};
constexpr std::uint32_t kMostChosenStages = 16;

std::vector<OptionSpec> tma_options() {
  return {
      {"tile-m", OptionType::kInt, "", true, "rows of a CTA's tile, 8 to 512"},
      {"tile-n", OptionType::kInt, "", true, "columns of a CTA's tile, 8 to 512"},
      {"tile-k", OptionType::kInt, "", true, "elements of K per stage, 8 to 512; chosen: 128 bytes"},
      {"stages", OptionType::kInt, "", true, "shared-memory stages, 2 to 30; chosen: as many as fit, at most 16"},
      {"consumers", OptionType::kText, "", true, "cooperative or pingpong warpgroups"},
      {"wgmma-rows", OptionType::kText, "", true, "m or n: the dimension along which wgmma's 64 rows run"},
      {"cluster-m", OptionType::kInt, "", true, "CTAs of a cluster along M, 1 to 16; cluster-m x cluster-n at most 16"},
      {"cluster-n", OptionType::kInt, "", true, "CTAs of a cluster along N, 1 to 16"},
      {"multicast", OptionType::kFlag, "on", false, "share the tiles of a cluster by TMA multicast: on or off"},
      {"raster", OptionType::kText, "", true, "m or n: the dimension along which tiles are swept"},
      {"raster-group", OptionType::kInt, "8", false, "cluster tiles across the sweep before it advances, 1 to 1048576"},
      {"serpentine", OptionType::kFlag, "off", false, "sweep every other group of tiles backwards: on or off"},
      {"split-k", OptionType::kInt, "1", false, "slices of K, each writing an fp32 partial of C, 1 to 1024"},
  };
}

/// What the user fixed; the rest is chosen.
struct Fixed {
  std::optional<std::uint32_t> tile_m, tile_n, tile_k, stages, cluster_m, cluster_n;
  std::optional<bool> pingpong, wgmma_m_along_n;
  std::optional<RasterDirection> raster;
};

std::optional<std::uint32_t> small_integer(OptionReader& reader, const char* name, std::int64_t lowest,
                                           std::int64_t highest) {
  if (!reader.given(name)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(reader.integer(name, lowest, highest, lowest));
}

Fixed read_fixed(OptionReader& reader) {
  Fixed fixed;
  fixed.tile_m = small_integer(reader, "tile-m", 8, 512);
  fixed.tile_n = small_integer(reader, "tile-n", 8, 512);
  fixed.tile_k = small_integer(reader, "tile-k", 8, 512);
  fixed.stages = small_integer(reader, "stages", 2, kMaxStages);
  fixed.cluster_m = small_integer(reader, "cluster-m", 1, kMaxClusterSize);
  fixed.cluster_n = small_integer(reader, "cluster-n", 1, kMaxClusterSize);
  if (reader.given("consumers")) {
    fixed.pingpong = reader.choice("consumers", {"cooperative", "pingpong"}) == "pingpong";
  }
  if (reader.given("wgmma-rows")) {
    fixed.wgmma_m_along_n = reader.choice("wgmma-rows", {"m", "n"}) == "n";
  }
  if (reader.given("raster")) {
    fixed.raster = reader.choice("raster", {"m", "n"}) == "m" ? RasterDirection::kAlongM : RasterDirection::kAlongN;
  }
  return fixed;
}

std::uint32_t stages_that_fit(GemmTmaConfig config, const TargetFacts& target) {
  for (std::uint32_t stages = kMostChosenStages; stages > 2; --stages) {
    config.stages = stages;
    if (gemm_tma_smem_bytes(config) <= static_cast<std::uint64_t>(target.smem_per_cta_bytes)) {
      return stages;
    }
  }
  return 2;
}

GemmTmaConfig complete(const GemmTmaConfig& base, const Fixed& fixed, const Candidate& candidate, bool cluster_along_m,
                       const TargetFacts& target) {
  GemmTmaConfig c = base;
  c.tile_m = fixed.tile_m.value_or(candidate.tile_m);
  c.tile_n = fixed.tile_n.value_or(candidate.tile_n);
  c.tile_k = fixed.tile_k.value_or(1024 / bits_of(c.problem.input));
  c.wgmma_m_along_n = fixed.wgmma_m_along_n.value_or(candidate.wgmma_m_along_n);
  c.consumers = candidate.consumers;
  if (fixed.pingpong) {
    const std::uint32_t rows = c.wgmma_m_along_n ? c.tile_n : c.tile_m;
    const ConsumerMode split = rows % 128 == 0 ? ConsumerMode::kCooperativeM : ConsumerMode::kCooperativeN;
    c.consumers = *fixed.pingpong ? ConsumerMode::kPingPong : split;
  }
  c.cluster_m = fixed.cluster_m.value_or(!fixed.cluster_n && cluster_along_m ? 2 : 1);
  c.cluster_n = fixed.cluster_n.value_or(!fixed.cluster_m && !cluster_along_m ? 2 : 1);
  c.raster = fixed.raster.value_or(cluster_along_m ? RasterDirection::kAlongM : RasterDirection::kAlongN);
  c.stages = fixed.stages.value_or(stages_that_fit(c, target));
  return c;
}

GemmTmaConfig choose(const GemmTmaConfig& base, const Fixed& fixed, const TargetFacts& target) {
  GemmTmaConfig best;
  double best_cycles = std::numeric_limits<double>::infinity();
  std::vector<Diagnostic> fewest_problems;  // those that no choice of the rest mends
  for (const Candidate& candidate : kCandidates) {
    for (const bool cluster_along_m : {true, false}) {
      const GemmTmaConfig c = complete(base, fixed, candidate, cluster_along_m, target);
      const std::vector<Diagnostic> problems = check_gemm_tma(c, target);
      if (!problems.empty()) {
        if (fewest_problems.empty() || problems.size() < fewest_problems.size()) fewest_problems = problems;
        continue;
      }
      const double cycles = estimate_gemm_tma_cycles(c, target);
      if (cycles < best_cycles) {
        best_cycles = cycles;
        best = c;
      }
    }
  }
  if (best_cycles == std::numeric_limits<double>::infinity()) {
    throw InputError(fewest_problems);
  }
  return best;
}

BuiltKernel build_tma(const KernelOptions& options, const TargetFacts& target, const std::vector<OptionSpec>& specs) {
  OptionReader reader(options, specs);
  GemmTmaConfig base;
  base.problem = read_gemm_problem(reader);
  const Fixed fixed = read_fixed(reader);
  base.multicast = reader.flag("multicast");
  base.raster_group = static_cast<std::uint32_t>(reader.integer("raster-group", 1, 1 << 20, 8));
  base.serpentine = reader.flag("serpentine");
  base.split_k = static_cast<std::uint32_t>(reader.integer("split-k", 1, 1024, 1));
  reader.finish();
  if (!target.has_tma || !target.has_wgmma) {
    throw UnsupportedError(fmt::format("gemm_tma_wgmma needs TMA and wgmma, which {} does not have; use gemm_mma_sync",
                                       target.architecture));
  }
  const GemmTmaConfig config = choose(base, fixed, target);
  BuiltKernel built;
  built.source = make_gemm_tma(config, target);
  built.description = describe_gemm_tma(config);
  if (!(fixed.tile_m && fixed.tile_n && fixed.stages && fixed.pingpong)) {
    built.notes.emplace_back(
        "a rule of thumb chose what is not given of tile and options, not the library; see --kernel auto");
  }
  if (config.split_k > 1) {
    built.notes.push_back("split-K writes fp32 partials of C; the launch that adds them up is not part of this kernel");
  }
  return built;
}

std::vector<OptionSpec> joined(std::vector<OptionSpec> first, const std::vector<OptionSpec>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<OptionSpec> tma_specs() { return joined(gemm_problem_options(), tma_options()); }

/// The same with a word on those that gemm_mma_sync does not have.
std::vector<OptionSpec> gemm_specs() {
  std::vector<OptionSpec> specs = tma_specs();
  const std::vector<OptionSpec> known = gemm_mma_sync_spec().options;
  for (OptionSpec& option : specs) {
    if (std::none_of(known.begin(), known.end(), [&](const OptionSpec& o) { return o.name == option.name; })) {
      option.help += "; only where gemm_tma_wgmma runs (Hopper, operands that the TMA can load)";
    }
  }
  return specs;
}

BuiltKernel make_tma(const KernelOptions& options, const TargetFacts& target) {
  return build_tma(options, target, tma_specs());
}

bool tma_can_load(const GemmProblem& p) {
  const auto aligned = [&](std::int64_t elements) { return elements * bits_of(p.input) % 128 == 0; };
  const bool wide = p.input != DataType::kFp16 && p.input != DataType::kBf16;
  const bool k_contiguous = p.a_k_contiguous && p.b_k_contiguous;
  const bool has_wgmma = p.input != DataType::kFp32 && p.input != DataType::kFp64;
  return has_wgmma && (!wide || k_contiguous) && (aligned(p.k) || (!p.a_k_contiguous && !p.b_k_contiguous)) &&
         (p.a_k_contiguous || aligned(p.m)) && (p.b_k_contiguous || aligned(p.n));
}

/// Why `gemm` falls back to mma.sync; empty when it does not.
std::string reason_for_mma_sync(const GemmProblem& p, const TargetFacts& target) {
  if (!target.has_tma || !target.has_wgmma) {
    return "the target has no wgmma";
  }
  if (tma_can_load(p)) {
    return {};
  }
  const bool sixteen_bit = p.input == DataType::kFp16 || p.input == DataType::kBf16;
  if (!sixteen_bit && !(p.a_k_contiguous && p.b_k_contiguous)) {
    return fmt::format("wgmma takes {} operands in layout TN alone", to_string(p.input));
  }
  return "rows are not aligned for the TMA";
}

/// The options of gemm_tma_wgmma that gemm_mma_sync does not have are not ignored.
void refuse_unused(OptionReader& reader, const std::vector<OptionSpec>& specs, const std::string& reason) {
  const std::vector<OptionSpec> known = gemm_mma_sync_spec().options;
  for (const OptionSpec& option : specs) {
    const bool has = std::any_of(known.begin(), known.end(), [&](const auto& o) { return o.name == option.name; });
    if (reader.given(option.name) && !has) {
      reader.problem(option.name, fmt::format("is an option of gemm_tma_wgmma; gemm_mma_sync runs here: {}", reason));
    }
  }
}

BuiltKernel make_gemm(const KernelOptions& options, const TargetFacts& target) {
  const std::vector<OptionSpec> specs = tma_specs();
  OptionReader reader(options, specs);
  const GemmProblem problem = read_gemm_problem(reader);
  const std::string reason = reason_for_mma_sync(problem, target);
  if (!reason.empty() && reader.ok()) {
    refuse_unused(reader, specs, reason);
  }
  reader.finish();
  if (reason.empty()) {
    return build_tma(options, target, specs);
  }
  BuiltKernel built = gemm_mma_sync_spec().make(options, target);
  built.notes.insert(built.notes.begin(), "chose gemm_mma_sync: " + reason);
  return built;
}

}  // namespace

namespace {

/// What an epilogue can write of a product's sums: these are integers of int8, doubles of fp64, and fp32 of all others.
/// tf32 is a way to multiply; its results are stored as fp32.
std::span<const DataType> outputs_of(DataType input) {
  static constexpr std::array kOfIntegers{DataType::kInt32, DataType::kInt8, DataType::kFp32, DataType::kFp16,
                                          DataType::kBf16};
  static constexpr std::array kOfDoubles{DataType::kFp64, DataType::kFp32};
  static constexpr std::array kOfFloats{DataType::kFp32, DataType::kFp16, DataType::kBf16, DataType::kFp8};
  if (input == DataType::kInt8 || input == DataType::kInt4) {
    return kOfIntegers;
  }
  return input == DataType::kFp64 ? std::span<const DataType>(kOfDoubles) : std::span<const DataType>(kOfFloats);
}

void check_output(OptionReader& reader, const GemmProblem& p) {
  const std::span<const DataType> known = outputs_of(p.input);
  if (std::find(known.begin(), known.end(), p.output) == known.end()) {
    std::string names;
    for (const DataType type : known) {
      names.append(names.empty() ? "" : ", ").append(to_string(type));
    }
    reader.problem("out-dtype", fmt::format("{} is no output of {} operands; expected one of {}", to_string(p.output),
                                            to_string(p.input), names));
  }
}

}  // namespace

std::vector<OptionSpec> gemm_problem_options() {
  return {
      {"m", OptionType::kInt, "", false, "rows of A and C, 1 to 2147483647"},
      {"n", OptionType::kInt, "", false, "columns of B and C, 1 to 2147483647"},
      {"k", OptionType::kInt, "", false, "columns of A and rows of B, 1 to 2147483647"},
      {"dtype", OptionType::kText, "bf16", false, "operand type: fp16, bf16, tf32, fp8 or int8"},
      {"out-dtype", OptionType::kText, "", true, "type of C; chosen: the operands', fp8 bf16, tf32 fp32, int8 int32"},
      {"layout", OptionType::kText, "TN", false,
       "as cuBLAS names it for row-major C: first letter B (T: K contiguous), second A (N: K contiguous)"},
  };
}

GemmProblem read_gemm_problem(OptionReader& reader, std::initializer_list<const char*> types) {
  GemmProblem p;
  p.m = reader.required_integer("m", 1, kMaxGemmDim);
  p.n = reader.required_integer("n", 1, kMaxGemmDim);
  p.k = reader.required_integer("k", 1, kMaxGemmDim);
  p.input = reader.data_type("dtype", DataType::kBf16, types);
  p.output = default_gemm_output(p.input);
  if (reader.given("out-dtype")) {
    p.output = reader.data_type("out-dtype", p.output);
    check_output(reader, p);
  }
  const std::string layout = reader.text("layout");
  if (!parse_gemm_layout(layout, p)) {
    reader.problem("layout", fmt::format("'{}' is not known; expected NN, NT, TN or TT", layout));
  }
  return p;
}

KernelSpec gemm_spec() {
  return {"gemm", "C = A B on tensor cores, by the kernel that suits the target (gemm_tma_wgmma or gemm_mma_sync)",
          gemm_specs(), make_gemm};
}

KernelSpec gemm_tma_wgmma_spec() {
  return {"gemm_tma_wgmma", "GEMM with TMA loads and wgmma: persistent, warp-specialised, clusters (Hopper)",
          tma_specs(), make_tma};
}

}  // namespace strata
