#include "workloads/kernels/gemm_simt_spec.hpp"

#include <algorithm>
#include <utility>

#include "workloads/kernels/gemm_simt.hpp"
#include "workloads/kernels/gemm_tma_wgmma_spec.hpp"
#include "workloads/kernels/options.hpp"

namespace strata {

namespace {

std::vector<OptionSpec> all_options() {
  std::vector<OptionSpec> specs = gemm_problem_options();
  OptionSpec& dtype = *std::find_if(specs.begin(), specs.end(), [](const OptionSpec& o) { return o.name == "dtype"; });
  dtype.default_value = "fp32";
  dtype.help = "operand type: fp32";
  const std::vector<OptionSpec> more{
      {"batch", OptionType::kInt, "1", false, "independent products, their matrices one after the other, 1 to 65536"},
      {"tile-m", OptionType::kInt, "", true, "rows of a CTA's tile, 8 to 512; chosen: 128, or 64 for small grids"},
      {"tile-n", OptionType::kInt, "", true, "columns of a CTA's tile, 8 to 512"},
      {"tile-k", OptionType::kInt, "8", false, "elements of K per stage, 4 to 512"},
      {"warp-m", OptionType::kInt, "", true,
       "rows of a warp's tile, a multiple of 8 from 8 to 512; chosen: 32 or less"},
      {"warp-n", OptionType::kInt, "", true, "columns of a warp's tile, 8 to 512; chosen: 64 or less"},
      {"thread-m", OptionType::kInt, "", true, "rows of a thread's tile, 1 to 64; 32 threads make a warp's tile"},
      {"thread-n", OptionType::kInt, "", true, "columns of a thread's tile, 1 to 64"},
      {"warp-slices", OptionType::kInt, "1", false,
       "groups of warps that share each K tile and add up at the end, 1 to 32"},
      {"stages", OptionType::kInt, "3", false, "shared-memory stages, 2 to 16"},
      {"copy", OptionType::kText, "async", false, "async (cp.async) or registers (LDG, then STS)"},
      {"raster", OptionType::kText, "m", false, "m or n: the dimension along which tiles are swept"},
      {"raster-group", OptionType::kInt, "8", false, "tiles across the sweep before it advances, 1 to 1048576"},
      {"split-k", OptionType::kInt, "1", false, "slices of K, each a CTA, 1 to 1024"},
      {"split-reduction", OptionType::kText, "partials", false,
       "partials (fp32 copies of C, added by another launch) or inplace"},
      {"read-c", OptionType::kFlag, "off", false, "C is read before it is written (beta != 0)"},
  };
  specs.insert(specs.end(), more.begin(), more.end());
  return specs;
}

std::uint32_t number(OptionReader& reader, const char* name, std::int64_t lowest, std::int64_t highest,
                     std::int64_t fallback) {
  return static_cast<std::uint32_t>(reader.integer(name, lowest, highest, fallback));
}

/// Rows of a thread's tile that make 32 lanes with about as many columns: 8x8 of a 32x64 warp tile.
std::uint32_t thread_rows(const GemmSimtConfig& c) {
  std::uint32_t lanes_m = 1;
  while (lanes_m < 32 && c.warp_m % (2 * lanes_m) == 0 &&
         (c.warp_m / lanes_m > c.warp_n / (32 / lanes_m) || c.warp_n % (32 / lanes_m) != 0)) {
    lanes_m *= 2;
  }
  return c.warp_m / lanes_m;
}

void read_tile(OptionReader& reader, const TargetFacts& target, GemmSimtConfig& c) {
  const std::uint64_t large = ceil_div(static_cast<std::uint64_t>(std::max<std::int64_t>(c.problem.m, 1)), 128) *
                              ceil_div(static_cast<std::uint64_t>(std::max<std::int64_t>(c.problem.n, 1)), 128);
  const std::int64_t side = large * static_cast<std::uint64_t>(c.problem.batch) < target.num_sms ? 64 : 128;
  c.tile_m = number(reader, "tile-m", 8, 512, side);
  c.tile_n = number(reader, "tile-n", 8, 512, side);
  c.tile_k = number(reader, "tile-k", 4, 512, 8);
  c.warp_m = number(reader, "warp-m", 8, 512, std::min(c.tile_m, 32U));
  c.warp_n = number(reader, "warp-n", 8, 512, std::min(c.tile_n, 64U));
  c.thread_m = number(reader, "thread-m", 1, 64, thread_rows(c));
  const std::uint32_t lanes_n = std::max(1U, 32 * c.thread_m / c.warp_m);
  c.thread_n = number(reader, "thread-n", 1, 64, std::max(1U, c.warp_n / lanes_n));
  c.warp_slices = number(reader, "warp-slices", 1, 32, 1);
  c.stages = number(reader, "stages", 2, 16, 3);
}

/// No option is ignored.
void refuse_unused(OptionReader& reader, const GemmSimtConfig& c) {
  if (c.copy == GemmCopy::kRegisters && reader.given("stages")) {
    reader.problem("stages", "is an option of --copy async");
  }
  if (c.split_k == 1 && reader.given("split-reduction")) {
    reader.problem("split-reduction", "needs --split-k above 1");
  }
}

BuiltKernel make(const KernelOptions& options, const TargetFacts& target) {
  const std::vector<OptionSpec> specs = all_options();
  OptionReader reader(options, specs);
  GemmSimtConfig c;
  c.problem = read_gemm_problem(reader, {"fp32"});
  c.problem.batch = reader.integer("batch", 1, 1 << 16, 1);
  read_tile(reader, target, c);
  c.copy = reader.choice("copy", {"async", "registers"}) == "async" ? GemmCopy::kAsync : GemmCopy::kRegisters;
  c.raster = reader.choice("raster", {"m", "n"}) == "m" ? RasterDirection::kAlongM : RasterDirection::kAlongN;
  c.raster_group = number(reader, "raster-group", 1, 1 << 20, 8);
  c.split_k = number(reader, "split-k", 1, 1024, 1);
  c.split_reduction = reader.choice("split-reduction", {"partials", "inplace"}) == "partials"
                          ? SplitKReduction::kPartials
                          : SplitKReduction::kInPlace;
  c.reads_c = reader.flag("read-c");
  refuse_unused(reader, c);
  reader.finish();
  BuiltKernel built;
  built.source = make_gemm_simt(c, target);
  built.description = describe_gemm_simt(c);
  if (!(reader.given("tile-m") && reader.given("tile-n"))) {
    built.notes.emplace_back(
        "a rule of thumb chose what is not given of tile and options, not the library; see --kernel auto");
  }
  if (c.partials() > 1) {
    built.notes.push_back("split-K writes fp32 partials of C; the launch that adds them up is not part of this kernel");
  }
  return built;
}

}  // namespace

KernelSpec gemm_simt_spec() {
  return {"gemm_simt", "fp32 GEMM on the FMA pipe: register tiles, shared-memory fragments, no tensor cores",
          all_options(), make};
}

}  // namespace strata
