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

GemmOperation parse_operation(std::string_view word, CutlassName& out) {
  const GemmOperation operation = parse_gemm_operation(word, out.arch >= 80);
  if ((operation.instruction.k == 0) != out.simt) {
    throw UnsupportedError(fmt::format("'{}' of the name does not fit {}", word, out.simt ? "simt" : "tensorop"));
  }
  out.input = operation.input;
  out.instruction = operation.instruction;
  if (!out.names_output) {
    out.output = operation.output;
  }
  return operation;
}

/// Throws UnsupportedError for words of kernels that walk over tiles otherwise than a plain product does.
void refuse_other_walks(std::string_view word) {
  if (word == "grouped") {
    throw UnsupportedError("'grouped' of the name: products of a list of sizes, which no row tells, are not modelled");
  }
  if (word == "streamk" || word == "stream") {
    throw UnsupportedError(
        fmt::format("'{}' of the name: CTAs that share tiles along K (stream-K) are not modelled", word));
  }
}

struct ClassWords {
  bool unit = false;  ///< simt or tensorop
  bool wmma = false;
};

/// Words before the operation: class and type of C.
void parse_class(std::string_view word, ClassWords& seen, CutlassName& out) {
  if (const auto type = operand_type(word)) {
    if (out.names_output) refuse_word(word, "one type of C before the operation");
    out.output = *type;
    out.names_output = true;
  } else if (word == "simt" || word == "tensorop") {
    if (seen.unit) refuse_word(word, "either simt or tensorop, once");
    seen.unit = true;
    out.simt = word == "simt";
  } else if (word == "wmma") {
    seen.wmma = true;
  } else {
    keep_unknown(word, out.unknown);
  }
}

/// Words after the operation: operand type, tile, K tile and stages, layout, alignment.
void parse_detail(std::string_view word, CutlassName& out) {
  if (out.align != 0) {
    refuse_word(word, "nothing behind the alignment");
  }
  if (take_sizes(word, out)) {
    return;
  }
  if (const auto type = operand_type(word)) {
    if (out.names_input) refuse_word(word, "one type of the operands behind the operation");
    out.names_input = true;
    out.input = *type == DataType::kFp32 && !out.simt ? DataType::kTf32 : *type;
  } else if (is_layout(word)) {
    if (!out.layout.empty()) refuse_word(word, "the layout once");
    out.layout = std::string(word);
  } else if (const auto align = size_after(word, "align")) {
    out.align = *align;
  } else {
    keep_unknown(word, out.unknown);
  }
}

void take_tile(const CutlassName& name, GemmCtaConfig& config) {
  config.tile_m = name.tile_m;
  config.tile_n = name.tile_n;
  config.tile_k = name.tile_k;
  config.stages = name.stages;
  config.access_limit_bytes = std::clamp(name.align * bits_of(name.input) / 8, 1U, 16U);
  // CUTLASS copies with cp.async only in its pipeline of three stages and more (MmaMultistage).
  config.copy = name.arch < 80 || name.stages < 3 ? GemmCopy::kRegisters : GemmCopy::kAuto;
  config.stores_pieces = true;
  config.loads_amid = !name.simt;  // SASS of three kernels: 55, 58 and 16 of 128, 128 and 32 HMMA stand before the LDG
}

/// Executed SASS of eight kernels of cuBLAS 13.0: 112 to 150 instructions stand between the loop and the first row of
/// C. Then an accumulator takes 8.0 and 8.5 where each is stored alone, 9.7 and 10.1 where it is narrowed too, 5.4
/// where two are stored at once and 2.8 where four are: an access brings address and predicate with it.
void take_epilogue_costs(const CutlassName& name, GemmCtaConfig& config) {
  constexpr std::uint32_t kOnce = 125;
  constexpr std::uint32_t kPerElement = 18;
  constexpr std::uint32_t kVectorBytes = 16;
  const std::uint32_t bytes = bits_of(config.problem.output) / 8;
  const std::uint32_t together = std::clamp(name.align, 1U, kVectorBytes / bytes);
  const std::uint32_t per_access = bytes == 4 ? 62 : 79;
  config.costs.epilogue = kOnce;
  config.costs.per_element_tenths = kPerElement + per_access / together;
}

/// LDS without effect that the compiler puts before cp.async, three wherever a fragment read stands between them and
/// those before: as many as their schedule makes, by executed SASS of cuBLAS 13.0 (int8 128x256: by its wavefronts).
std::uint32_t void_reads_of(const CutlassName& name) {
  struct Known {
    std::uint32_t tile_n;
    std::uint32_t tile_m;
    std::uint32_t bits;
    std::uint32_t reads;
  };
  constexpr std::array<Known, 4> kKnown{{{128, 64, 8, 24}, {128, 256, 8, 15}, {128, 128, 16, 33}, {128, 256, 16, 45}}};
  constexpr std::uint32_t kPerStep = 7;  // theirs, on average: all have four steps
  for (const Known& k : kKnown) {
    if (k.tile_n == name.tile_n && k.tile_m == name.tile_m && k.bits == bits_of(name.input) &&
        name.tile_k == 4 * name.instruction.k) {
      return k.reads;
    }
  }
  return kPerStep * static_cast<std::uint32_t>(ceil_div(name.tile_k, std::max(1U, name.instruction.k)));
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
    // LDG, LDSM, STS or packing: with 254, 236 and 96 registers, the last has no room for addresses and adds them up
    // copy by copy. Before the loop stand 684, 603 and 406; half of the accumulators are one CS2R each.
    constexpr std::uint32_t kFewRegisters = 128;
    costs.per_k_tile = 0;
    costs.per_load_tenths = config.registers_per_thread != 0 && config.registers_per_thread < kFewRegisters ? 38 : 18;
    costs.prologue = 160 + 56 * copies / 10 + accumulators / 2;
  } else if (config.copy != GemmCopy::kRegisters) {
    // Beside cp.async, multiply-adds, ldmatrix and the void LDS 63 with 12 copies of 16 B, 71 and 74 with 48 and 64
    // narrower ones. Before the loop stand 471 and, with narrow copies, 730 and 780.
    costs.per_k_tile = 28;
    costs.per_k_step = 8;
    costs.per_load_tenths = 2;
    costs.void_reads = void_reads_of(name);
    costs.prologue = config.access_limit_bytes < kWideBytes ? 740 : 480;
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

/// The library runs a kernel of wide accesses only where rows of A and of B begin on them.
void expect_aligned(const GemmProblem& p, std::uint32_t align) {
  const std::int64_t a = p.a_k_contiguous ? p.k : p.m;
  const std::int64_t b = p.b_k_contiguous ? p.k : p.n;
  for (const std::int64_t extent : {a, b}) {
    if (extent % align != 0) {
      throw UnsupportedError(fmt::format(
          "align{} of the name does not fit the shape; expected a multiple of {}, not {}", align, align, extent));
    }
  }
}

void take_launch(const LaunchRow& row, const CutlassName& name, GemmCtaConfig& config) {
  config.name = canonical_kernel_name(row.kernel);
  config.problem = gemm_problem_of(row, name.layout, name.input, name.output);
  expect_aligned(config.problem, name.align);
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
  config.mma_k = name.instruction.k;
  take_epilogue_costs(name, config);
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
  config.costs.per_element_tenths = 26 + 64 / std::clamp(name.align, 1U, 8U);
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

/// Into how many slices the library cuts K is in no name, only in the grid. It does so where the tiles leave most SMs
/// without work.
void warn_of_unknown_split(const LaunchRow& row, const TargetFacts& target, BuiltKernel& built) {
  if (row.grid || 2 * built.source->launch().grid.count() > target.num_sms) return;
  built.warning += built.warning.empty() ? "" : "; ";
  built.warning += fmt::format("no grid: K is taken as not split, though {} CTAs are few for {} SMs; record grid_dim",
                               built.source->launch().grid.count(), target.num_sms);
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const CutlassName name = parse_cutlass_name(canonical_kernel_name(row.kernel));
  std::string warning;
  const LaunchRow fitting = fitting_row(row, least_resources(row, name, name.input, 1), warning);
  BuiltKernel built = name.simt ? make_simt(fitting, target, name) : make_tensor(fitting, target, name);
  expect_ctas(row, built.source->launch());
  note_name(row, name, warning, built);
  warn_of_unknown_split(row, target, built);
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
  ClassWords seen;
  std::string_view operation_word;
  GemmOperation operation;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    refuse_other_walks(word);
    if (!operation_word.empty()) {
      parse_detail(word, out);
    } else if (is_gemm_operation(word)) {
      operation = parse_operation(word, out);
      operation_word = word;
    } else {
      parse_class(word, seen, out);
    }
  }
  if (operation_word.empty() || out.tile_n == 0 || out.layout.empty()) {
    throw UnsupportedError(
        "the name is cut short; expected cutlass_<arch>_<class>_<operation>gemm_<tile>_..._<layout>");
  }
  if (out.align == 0) {
    out.align = 1;
  }
  const TensorInstruction& i = out.instruction;
  if (seen.wmma && (i.k == 0 || (i.m == 16 && i.n == 8) || i.m == 8)) {
    refuse_word(operation_word, "an instruction of wmma, such as 161616");
  }
  expect_operands(operation_word, operation, out.input);
  expect_access("align", out.align, out.input);
  if (out.tile_k == 0) {
    out.tile_k = kDefaultKBytes * 8 / bits_of(out.input);
    out.stages = kDefaultStages;
  }
  expect_whole_instructions(out.instruction, out.tile_m, out.tile_n, out.tile_k);
  return out;
}

FamilyParser cutlass_gemm_family() { return {"cutlass_gemm", matches, make, "cutlass_"}; }

}  // namespace strata
