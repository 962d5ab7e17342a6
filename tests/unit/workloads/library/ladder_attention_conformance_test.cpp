/// The ladder's attention kernels against the counters of recorded launches: counts that no timing changes.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "sim/base/error.hpp"
#include "tests/support/recorded_rows.hpp"
#include "tests/support/token_replay.hpp"
#include "tests/support/trace_totals.hpp"
#include "workloads/library/resolve.hpp"

using namespace strata;

namespace {

constexpr const char* kData = "h100-sxm5-80gb/ladder_attention.csv";
constexpr std::uint64_t kVisitedCtas = 512;
constexpr double kFloor = 10000;  ///< of instructions and wavefronts, below which an error means nothing

double error_of(std::uint64_t counted, double recorded) {
  return recorded == 0 ? static_cast<double>(counted) : (static_cast<double>(counted) - recorded) / recorded;
}

LaunchRow row(const char* kernel, const char* shape, const char* dtype = "bf16") {
  LaunchRow r;
  r.op = "attention";
  r.dtype = dtype;
  r.kernel = kernel;
  r.shape = shape;
  return r;
}

Dim3 grid_of(const LaunchRow& r) { return resolve_launch(r, test::hopper_facts()).source->launch().grid; }

std::string refusal_of(const LaunchRow& r, const TargetFacts& target = test::hopper_facts()) {
  try {
    (void)resolve_launch(r, target);
  } catch (const UnsupportedError& e) {
    return e.what();
  }
  return {};
}

/// Whether what the SM asks for is what it is delivered: nothing of it hits the L1.
bool bypasses_l1(const std::string& kernel) {
  for (const char* rung : {"naive", "softmax", "decode_split", "combine"}) {
    if (kernel.find(rung) != std::string::npos) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("ladder attention: counts of recorded launches", "[workloads][attention][ladder][conformance]") {
  const test::RecordedRows rows(kData);
  double instructions = 0;
  double wavefronts = 0;
  std::size_t launches = 0;
  for (const test::RecordedRow& r : rows.all()) {
    if (r.split != "calibration" || r.number("warp_insts") < kFloor) continue;
    INFO(r.launch.case_name << " " << r.launch.seq << " " << r.launch.kernel);
    const BuiltKernel built = resolve_launch(r.launch, test::hopper_facts());
    const std::uint64_t stride = std::max<std::uint64_t>(1, built.source->launch().num_ctas() / kVisitedCtas);
    const test::TraceTotals totals = test::trace_totals(*built.source, stride);
    CHECK(std::abs(error_of(totals.warp_insts, r.number("warp_insts"))) < 0.03);
    CHECK(std::abs(error_of(totals.stored_sectors, r.number("l12xbar_write_sectors"))) < 0.001);
    if (bypasses_l1(r.launch.kernel)) {
      CHECK(std::abs(error_of(totals.delivered_sectors, r.number("xbar2l1_read_sectors"))) < 0.001);
    }
    instructions += std::abs(error_of(totals.warp_insts, r.number("warp_insts")));
    if (r.number("smem_wavefronts") > kFloor) {
      wavefronts += std::abs(error_of(totals.smem_wavefronts, r.number("smem_wavefronts")));
    }
    ++launches;
  }
  REQUIRE(launches == 54);
  CHECK(instructions / static_cast<double>(launches) < 0.005);
  CHECK(wavefronts / static_cast<double>(launches) < 0.01);
}

TEST_CASE("ladder attention: names give tiles, masks and types", "[workloads][attention][ladder][library]") {
  CHECK(family_of("strata_attention_mma_128x64_d64_full_bf16") == "ladder_attention");
  CHECK(grid_of(row("strata_attention_mma_128x64_d64_full_bf16", "2,4,2,300,300,64,0,mma")) == Dim3{3, 4, 2});
  CHECK(grid_of(row("strata_attention_mma_64x64_d64_causal_bf16", "1,4,4,300,400,64,1,mma")) == Dim3{5, 4, 1});
  CHECK(grid_of(row("strata_attention_naive_strided_d32_f32", "1,2,2,70,90,32,0,naive", "fp32")) == Dim3{70, 2, 1});
  CHECK(grid_of(row("strata_attention_unfused_scores_64x64x16_d64_f32", "1,2,2,70,130,64,0,unfused", "fp32")) ==
        Dim3{3, 2, 2});
  CHECK(grid_of(row("strata_attention_wgmma_128x128_overlap_d128_full_f16", "1,2,2,257,64,128,0,wgmma", "fp16")) ==
        Dim3{3, 2, 1});
  CHECK(grid_of(row("strata_attention_decode_grouped256_d64_bf16", "3,8,2,1,1000,64,0,grouped256")) == Dim3{4, 2, 3});
  CHECK(grid_of(row("strata_attention_decode_combine_d64_bf16", "3,8,2,1,1000,64,0,grouped256")) == Dim3{8, 3, 1});
}

TEST_CASE("ladder attention: what the ladder does not have is refused", "[workloads][attention][ladder][library]") {
  CHECK_THAT(refusal_of(row("strata_attention_mma_128x64_d128_full_bf16", "1,4,4,300,300,128,0,mma")),
             Catch::Contains("128x32"));
  CHECK_THAT(refusal_of(row("strata_attention_mma_128x64_d64_full_bf16", "1,4,4,300,300,128,0,mma")),
             Catch::Contains("head dim 64"));
  CHECK_THAT(refusal_of(row("strata_attention_ring_d64_bf16", "1,4,4,300,300,64,0,x")), Catch::Contains("no rung"));
  CHECK_THAT(refusal_of(row("strata_attention_mma_64x64_d64_causal_bf16", "1,4,4,300,200,64,1,mma")),
             Catch::Contains("as many keys"));
  CHECK_THAT(refusal_of(row("strata_attention_decode_combine_d64_bf16", "1,4,4,1,300,64,0,split")),
             Catch::Contains("split256"));
  CHECK_THAT(refusal_of(row("strata_attention_decode_split256_d64_bf16", "1,4,4,2,300,64,0,split256")),
             Catch::Contains("one query row"));
  CHECK_THAT(refusal_of(row("strata_attention_decode_grouped256_d64_bf16", "1,34,2,1,300,64,0,grouped256")),
             Catch::Contains("16 query heads"));
  CHECK_THAT(refusal_of(row("strata_attention_flash_32x64_sb_d64_full_f32", "1,4,4,300,300,64,0,flash", "fp32")),
             Catch::Contains("32x64"));
  CHECK_THAT(refusal_of(row("strata_attention_wgmma_128x128_serial_d64_full_bf16", "1,4,4,300,300,64,0,wgmma"),
                        test::ampere_facts()),
             Catch::Contains("wgmma and TMA"));
  LaunchRow grid = row("strata_attention_mma_64x64_d64_full_bf16", "1,4,4,300,300,64,0,mma");
  grid.grid = Dim3{4, 4, 1};
  CHECK_THAT(refusal_of(grid), Catch::Contains("grid"));
}

TEST_CASE("ladder attention: no stream of any rung hangs, ragged and tiny shapes included",
          "[workloads][attention][ladder]") {
  struct Rung {
    const char* kernel;
    const char* dtype;
    bool causal;
    bool decodes;
  };
  const Rung rungs[] = {
      {"strata_attention_unfused_scores_64x64x16_d64_f32", "fp32", false, false},
      {"strata_attention_unfused_softmax_f32", "fp32", false, false},
      {"strata_attention_unfused_values_64x64x16_d64_f32", "fp32", false, false},
      {"strata_attention_naive_strided_d64_f32", "fp32", false, false},
      {"strata_attention_naive_coalesced_d64_f32", "fp32", false, false},
      {"strata_attention_tiled_32x32_pad0_d64_f32", "fp32", false, false},
      {"strata_attention_flash_64x64_sb_d64_causal_f32", "fp32", true, false},
      {"strata_attention_flash_64x64_db_d64_full_f32", "fp32", false, false},
      {"strata_attention_mma_64x64_d64_causal_bf16", "bf16", true, false},
      {"strata_attention_mma_128x64_d64_full_bf16", "bf16", false, false},
      {"strata_attention_wgmma_128x128_serial_d64_full_bf16", "bf16", false, false},
      {"strata_attention_wgmma_128x128_overlap_d64_causal_bf16", "bf16", true, false},
      {"strata_attention_decode_split256_d64_bf16", "bf16", false, true},
      {"strata_attention_decode_grouped256_d64_bf16", "bf16", false, true},
      {"strata_attention_decode_combine_d64_bf16", "bf16", false, true},
  };
  for (const Rung& rung : rungs) {
    for (const char* lengths : {"1,1", "70,150", "300,700"}) {
      const std::string cells =
          rung.decodes ? "1" + std::string(lengths).substr(std::string(lengths).find(',')) : lengths;
      const std::string shape = "1,4,2," + cells + ",64," + (rung.causal ? "1" : "0") + ",split256";
      INFO(rung.kernel << " " << shape);
      const BuiltKernel built = resolve_launch(row(rung.kernel, shape.c_str(), rung.dtype), test::hopper_facts());
      for (const std::uint64_t cta : {std::uint64_t{0}, built.source->launch().num_ctas() - 1}) {
        test::TokenReplay replay(*built.source, cta);
        CHECK(replay.run());
        CHECK(replay.stuck.empty());
        CHECK(replay.bad_signals == 0);
      }
    }
  }
}
