// What a change of a ladder kernel is worth: recorded and predicted ratios of cycles for pairs of launches that differ
// in that one thing. The limits are what the model reached when they were set, with a little room.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/hw/system/simulator.hpp"
#include "sim/config/gpu_description.hpp"
#include "tests/support/recorded_rows.hpp"
#include "workloads/library/resolve.hpp"

using namespace strata;
using namespace strata::test;

namespace {

struct Side {
  std::vector<std::string> kernels;  ///< run one after the other; without "strata_"
  std::string shape;
};

struct Change {
  const char* name;
  Side before, after;
  double limit;  ///< of the predicted ratio's error, in per cent
};

struct SumOfCycles {
  double recorded = 0;
  double predicted = 0;
};

class Ladder {
 public:
  Ladder() : gpu_(load_gpu("h100-sxm5-80gb").config) {
    for (const char* file : {"h100-sxm5-80gb/ladder_kernels.csv", "h100-sxm5-80gb/ladder_attention.csv"}) {
      const RecordedRows recorded(file);
      for (const RecordedRow& row : recorded.all()) {
        rows_.emplace(std::pair{row.launch.kernel, row.launch.shape}, row);
      }
    }
  }

  [[nodiscard]] SumOfCycles cycles(const Side& side) const {
    SumOfCycles sum;
    for (const std::string& kernel : side.kernels) {
      const RecordedRow& row = rows_.at({"strata_" + kernel, side.shape});
      SimulationOptions options;
      options.sm_clock_mhz = row.number("sm_clock_mhz");
      sum.recorded += row.number("sm_cycles");
      sum.predicted += simulate(gpu_, *resolve_launch(row.launch, hopper_facts()).source, options).sm_cycles;
    }
    return sum;
  }

 private:
  GpuConfig gpu_;
  std::map<std::pair<std::string, std::string>, RecordedRow> rows_;
};

}  // namespace

TEST_CASE("Ladder: what padding, coalescing, a second buffer, fusion and a mask are worth", "[golden][ladder]") {
  const Ladder ladder;
  const Change changes[] = {
      {"tiles padded, GEMM",
       {{"gemm_tiled_32x32x32_p0_f32_tn"}, "1024,1024,1024,TN"},
       {{"gemm_tiled_32x32x32_p1_f32_tn"}, "1024,1024,1024,TN"},
       8},
      {"tiles padded, attention",
       {{"attention_tiled_32x32_pad0_d64_f32"}, "1,8,8,1024,1024,64,0,tiled"},
       {{"attention_tiled_32x32_pad1_d64_f32"}, "1,8,8,1024,1024,64,0,tiled"},
       8},
      {"tiles padded, transpose",
       {{"transpose_tile_32x32_f32"}, "1000,1500"},
       {{"transpose_padded_32x32_f32"}, "1000,1500"},
       14},
      {"loads coalesced, GEMM",
       {{"gemm_naive_strided_16x16_f32_nn"}, "512,512,512,NN"},
       {{"gemm_naive_16x16_f32_nn"}, "512,512,512,NN"},
       12},
      {"two buffers, GEMM",
       {{"gemm_simt_128x128x32_8x8_sb_al4_f32_nt"}, "2048,2048,2048,NT"},
       {{"gemm_simt_128x128x32_8x8_db_al4_f32_nt"}, "2048,2048,2048,NT"},
       5},
      {"two buffers, attention",
       {{"attention_flash_64x64_sb_d64_full_f32"}, "1,8,8,1024,4096,64,0,flash"},
       {{"attention_flash_64x64_db_d64_full_f32"}, "1,8,8,1024,4096,64,0,flash"},
       5},
      {"residual and norm fused",
       {{"residual_v8_bf16", "layernorm_smem_v8_bf16"}, "8192,4096"},
       {{"residual_layernorm_smem_v8_bf16"}, "8192,4096"},
       10},
      {"bias and GELU fused", {{"bias_v8_bf16", "gelu_v8_bf16"}, "8192,4096"}, {{"bias_gelu_v8_bf16"}, "8192,4096"}, 6},
      {"causal mask, mma.sync",
       {{"attention_mma_64x64_d64_full_bf16"}, "2,12,4,1000,3000,64,0,mma"},
       {{"attention_mma_64x64_d64_causal_bf16"}, "2,12,4,1000,3000,64,1,mma"},
       8},
      {"causal mask, wgmma",
       {{"attention_wgmma_128x128_overlap_d128_full_bf16"}, "2,16,16,4096,4096,128,0,wgmma"},
       {{"attention_wgmma_128x128_overlap_d128_causal_bf16"}, "2,16,16,4096,4096,128,1,wgmma"},
       8},
  };
  for (const Change& change : changes) {
    const SumOfCycles before = ladder.cycles(change.before);
    const SumOfCycles after = ladder.cycles(change.after);
    const double recorded = before.recorded / after.recorded;
    const double predicted = before.predicted / after.predicted;
    INFO(change.name << ": recorded " << recorded << ", predicted " << predicted);
    CHECK(100 * std::abs(predicted / recorded - 1) <= change.limit);
  }
}
