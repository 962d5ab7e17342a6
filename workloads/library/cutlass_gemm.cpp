#include "workloads/library/cutlass_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "sim/base/error.hpp"
#include "workloads/kernels/gemm_mma_sync.hpp"
#include "workloads/kernels/gemm_simt.hpp"
#include "workloads/library/gemm_launch.hpp"
#include "workloads/library/gemm_operation.hpp"
#include "workloads/library/name_words.hpp"

namespace strata {

namespace {

constexpr std::string_view kStem = "cutlass_";
constexpr std::uint32_t kDefaultKBytes = 64;
constexpr std::uint32_t kDefaultStages = 2;

/// Where the name proper begins: "cutlass_" and a digit; npos when there is none.
std::size_t name_start(std::string_view text) {
  for (std::size_t at = text.find(kStem); at != std::string_view::npos; at = text.find(kStem, at + 1)) {
    const std::size_t digit = at + kStem.size();
    if (digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit])) != 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

bool matches(std::string_view canonical) {
  return name_start(canonical) != std::string_view::npos && canonical.find("gemm") != std::string_view::npos;
}

void parse_operation(std::string_view word, CutlassName& out) {
  const GemmOperation operation = parse_gemm_operation(word, out.arch >= 80);
  if ((operation.mma_k == 0) != out.simt) {
    throw UnsupportedError(fmt::format("'{}' of the name does not fit {}", word, out.simt ? "simt" : "tensorop"));
  }
  out.input = operation.input;
  out.mma_k = operation.mma_k;
  if (!out.names_output) {
    out.output = operation.output;
  }
}

/// Words after the operation: operand type, tile, K tile and stages, layout, alignment.
void parse_detail(std::string_view word, CutlassName& out) {
  std::array<std::uint32_t, 2> pair{};
  if (parse_dims(word, pair)) {
    (out.tile_n == 0 ? out.tile_n : out.tile_k) = pair[0];
    (out.tile_m == 0 ? out.tile_m : out.stages) = pair[1];
  } else if (const auto type = operand_type(word)) {
    out.input = *type == DataType::kFp32 && !out.simt ? DataType::kTf32 : *type;
  } else if (is_layout(word)) {
    out.layout = std::string(word);
  } else if (const auto align = number_after(word, "align")) {
    out.align = *align;
  } else {
    out.unknown.emplace_back(word);
  }
}

void take_tile(const CutlassName& name, GemmCtaConfig& config) {
  config.tile_m = name.tile_m;
  config.tile_n = name.tile_n;
  config.tile_k = name.tile_k;
  config.stages = name.stages;
  config.access_limit_bytes = std::clamp(name.align * bits_of(name.input) / 8, 1U, 16U);
  config.copy = name.arch < 80 ? GemmCopy::kRegisters : GemmCopy::kAuto;
  config.stores_pieces = true;
  config.loads_amid = !name.simt;  // SASS of three kernels: 55, 58 and 16 of 128, 128 and 32 HMMA stand before the LDG
  // An access of the epilogue brings address, predicate and conversion with it: 10.6 instructions an accumulator where
  // each is stored alone and narrowed, 9.0 where it is not narrowed (executed SASS of three such kernels, cuBLAS 13.0),
  // 3.5 where eight are stored at once (recorded launches).
  constexpr std::uint32_t kPerElement = 26;
  const std::uint32_t per_access = config.problem.output == DataType::kFp32 ? 64 : 80;
  config.costs.per_element_tenths = kPerElement + per_access / std::clamp(name.align, 1U, 8U);
}

/// Instructions of copies narrower than 16 B, by executed SASS (cuBLAS 13.0). The predicates of all copies are worked
/// out before the loop and lie in registers.
void take_copy_costs(const CutlassName& name, std::uint32_t warps, GemmCtaConfig& config) {
  constexpr std::uint32_t kWideBytes = 16;
  const std::uint32_t element = std::max(8U, bits_of(name.input)) / 8;
  const std::uint32_t copies = (name.tile_m + name.tile_n) * name.tile_k * element /
                               (std::min(config.access_limit_bytes, kWideBytes) * 32 * warps);
  const std::uint32_t accumulators = name.tile_m * name.tile_n / (32 * warps);
  GemmCtaCosts& costs = config.costs;
  if (config.copy == GemmCopy::kRegisters && config.access_limit_bytes < kWideBytes) {
    // 383, 323 and 231 instructions a K tile of 32 with 64, 48 and 32 LDG, of which 134, 100 and 138 are none of HMMA,
    // LDG, LDSM, STS or packing. Before the loop stand 684, 603 and 406; half of the accumulators are one CS2R each.
    costs.per_k_tile = 46;
    costs.per_load_tenths = 12;
    costs.prologue = 160 + 56 * copies / 10 + accumulators / 2;
  } else if (config.copy != GemmCopy::kRegisters && config.access_limit_bytes < kWideBytes) {
    // 107 and 116 beside 64 and 48 cp.async, the multiply-adds and ldmatrix; 730 and 780 before the loop.
    costs.per_load_tenths = 15;
    costs.prologue = 740;
  }
  if (config.copy != GemmCopy::kRegisters) {
    // LDS that are predicated off stand before groups of cp.async: 33, 45 and 24 a K tile for 16, 12 and 12 vectors of
    // 16 B (cuBLAS 13.0). The wavefronts of an int8 kernel of cuBLAS 12 leave room for half of one a vector. Taken
    // between both, nearer to the older.
    costs.void_reads_tenths = 7;
  }
}

/// CTAs walk up to eight tiles along N, then advance along M: GemmIdentityThreadblockSwizzle<8>, whose thresholds these
/// are. It launches the last eight whole.
void take_raster(GemmCtaConfig& config) {
  const std::uint64_t tiles_n = ceil_div(static_cast<std::uint64_t>(config.problem.n), config.tile_n);
  config.raster = RasterDirection::kAlongM;
  config.raster_group = tiles_n >= 6 ? 8 : (tiles_n >= 3 ? 4 : (tiles_n >= 2 ? 2 : 1));
  config.raster_padded = true;
}

/// Partials are of the kernel's output type; accumulators always go to a launch that adds them up. Slices are as
/// GemmUniversal cuts K: even, rounded up to 128 bits.
void take_split(const LaunchRow& row, GemmCtaConfig& config) {
  constexpr std::uint64_t kSliceAlignBits = 128;
  const GemmProblem& p = config.problem;
  config.split_k = split_k_of(row, p);
  if (config.split_k == 1) return;
  const bool accumulators = p.output == DataType::kFp32 || p.output == DataType::kInt32;
  config.partial_bytes = bits_of(p.output) / 8;
  config.split_reduction = accumulators ? SplitKReduction::kPartials : split_reduction_of(config);
  const std::uint64_t align = kSliceAlignBits / bits_of(p.input);
  const std::uint64_t even = ceil_div(static_cast<std::uint64_t>(p.k), config.split_k);
  config.slice_k = static_cast<std::uint32_t>(ceil_div(even, align) * align);
}

void take_launch(const LaunchRow& row, const CutlassName& name, GemmCtaConfig& config) {
  config.name = canonical_kernel_name(row.kernel);
  config.problem = gemm_problem_of(row, name.layout, name.input, name.output);
  take_tile(name, config);
  take_raster(config);
  take_split(row, config);
  take_resources(row, config);
}

[[noreturn]] void refuse_warps(const GemmCtaConfig& config, std::uint32_t warps) {
  throw UnsupportedError(fmt::format("{} warps do not divide tile {}x{}", warps, config.tile_m, config.tile_n));
}

BuiltKernel make_tensor(const LaunchRow& row, const TargetFacts& target, const CutlassName& name) {
  GemmMmaSyncConfig config;
  take_launch(row, name, config);
  config.mma_k = name.mma_k;
  if (name.input == DataType::kInt8) {
    // 471 before the loop and 304 after it with 64 accumulators a thread; 1032 in all with 128 (recorded launches).
    config.costs.prologue = 480;
    config.costs.per_element_tenths += 9;
  }
  const std::uint32_t area = name.tile_m * name.tile_n;
  std::uint32_t warps = warps_of(row, area >= 256 * 128 ? 8 : 4);
  while (!cut_warps(config, warps, 16, 8)) {
    if (row.block || warps == 1) {
      refuse_warps(config, warps);
    }
    warps /= 2;
  }
  take_copy_costs(name, warps, config);
  return build_gemm(config, target);
}

BuiltKernel make_simt(const LaunchRow& row, const TargetFacts& target, const CutlassName& name) {
  GemmSimtConfig config;
  take_launch(row, name, config);
  const std::uint32_t warps = warps_of(row, std::max(2U, std::min(8U, name.tile_m * name.tile_n / 2048)));
  if (!cut_warps(config, warps, 8, 8)) {
    refuse_warps(config, warps);
  }
  // Wavefronts of two recorded launches, one with one operand turned and one with both: 3 an LDS.128 as in sm80_xmma
  // kernels, 4.7 a turned copy as in the ladder's, and conflicts where C is staged.
  config.lds_wavefronts = 3;
  config.costs.turned_copy_tenths = 47;
  config.costs.epilogue_conflict_ways = 2;
  spread_lanes(config);
  return build_gemm(config, target);
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const CutlassName name = parse_cutlass_name(canonical_kernel_name(row.kernel));
  BuiltKernel built = name.simt ? make_simt(row, target, name) : make_tensor(row, target, name);
  expect_ctas(row, built.source->launch());
  note_unknown_words(name.unknown, built);
  note_overruled_cells(row, name.layout, name.input, built);
  return built;
}

}  // namespace

CutlassName parse_cutlass_name(std::string_view canonical) {
  const std::size_t start = name_start(canonical);
  if (start == std::string_view::npos) {
    throw UnsupportedError("the name does not hold cutlass_<arch>_");
  }
  std::string_view text = canonical.substr(start + kStem.size());
  text = text.substr(0, text.find_first_of(">,( :"));
  const std::vector<std::string_view> words = words_of(text);
  CutlassName out;
  const auto arch = number_after(words[0], "");
  if (!arch || *arch < 70 || *arch > 89) {
    throw UnsupportedError(fmt::format("architecture '{}' of the name is not modelled; expected 70 to 89", words[0]));
  }
  out.arch = *arch;
  bool operation = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (operation) {
      parse_detail(word, out);
    } else if (is_gemm_operation(word)) {
      parse_operation(word, out);
      operation = true;
    } else if (const auto type = operand_type(word)) {
      out.output = *type;
      out.names_output = true;
    } else if (word == "simt") {
      out.simt = true;
    } else if (word != "tensorop" && word != "wmma") {
      out.unknown.emplace_back(word);
    }
  }
  if (!operation || out.tile_n == 0 || out.layout.empty()) {
    throw UnsupportedError(
        "the name is cut short; expected cutlass_<arch>_<class>_<operation>gemm_<tile>_..._<layout>");
  }
  if (out.tile_k == 0) {
    out.tile_k = kDefaultKBytes * 8 / bits_of(out.input);
    out.stages = kDefaultStages;
  }
  return out;
}

FamilyParser cutlass_gemm_family() { return {"cutlass_gemm", matches, make, "cutlass_"}; }

}  // namespace strata
