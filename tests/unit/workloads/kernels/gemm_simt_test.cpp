#include "workloads/kernels/gemm_simt.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/recorded_rows.hpp"
#include "tests/support/token_replay.hpp"
#include "tests/support/trace_totals.hpp"
#include "workloads/kernels/gemm_simt_spec.hpp"

using namespace strata;

namespace {

GemmSimtConfig config_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmSimtConfig config;
  config.problem.m = m;
  config.problem.n = n;
  config.problem.k = k;
  return config;
}

std::uint64_t fma_work(const TraceSource& source) {
  std::uint64_t sum = 0;
  for (std::uint64_t cta = 0; cta < source.launch().num_ctas(); ++cta) {
    test::walk_cta(source, cta, [&](const StreamId& id, const Operation& op) {
      sum += op.pipe == Pipe::kFma ? std::uint64_t{op.pipe_work} * source.launch().streams[id.stream].num_warps : 0;
    });
  }
  return sum;
}

bool names(const std::vector<Diagnostic>& problems, const std::string& key) {
  return std::any_of(problems.begin(), problems.end(), [&](const Diagnostic& d) { return d.key == key; });
}

}  // namespace

TEST_CASE("GEMM on the FMA pipe: counts follow from tiles and K", "[workloads][gemm]") {
  GemmSimtConfig config = config_of(256, 384, 64);
  const auto source = make_gemm_simt(config, test::ampere_facts());
  CHECK(source->launch().num_ctas() == 6);
  CHECK(source->launch().block.x == 256);
  CHECK(source->launch().work.fp32_flops == 2.0 * 256 * 384 * 64);
  CHECK(source->launch().work.tensor_flops == 0);
  CHECK(fma_work(*source) == std::uint64_t{256} * 384 * 64 / 32);
  const test::TraceTotals totals = test::trace_totals(*source);
  CHECK(totals.tensor_insts == 0);
  CHECK(totals.delivered_sectors == 6 * (128 + 128) * 64 * 4 / 32);
  CHECK(totals.stored_sectors == 256 * 384 * 4 / 32);
  // Per K: 8 warps read 8 + 8 words a lane, a wavefront a word; fills count one in 560 B; C passes once each way.
  const std::uint64_t fills = 8 * 2 * ((std::uint64_t{256} * 8 * 4 / 2 + 280) / 560);
  CHECK(totals.smem_wavefronts == 6 * (64 * 8 * 16 + fills + 2 * 128 * 128 * 4 / 128));
}

TEST_CASE("GEMM on the FMA pipe: a batch is as many products", "[workloads][gemm]") {
  GemmSimtConfig config = config_of(128, 128, 32);
  const test::TraceTotals one = test::trace_totals(*make_gemm_simt(config, test::ampere_facts()));
  config.problem.batch = 5;
  const auto source = make_gemm_simt(config, test::ampere_facts());
  CHECK(source->launch().grid.z == 5);
  const test::TraceTotals five = test::trace_totals(*source);
  CHECK(five.warp_insts == 5 * one.warp_insts);
  CHECK(five.delivered_sectors == 5 * one.delivered_sectors);
  CHECK(source->launch().buffers.front().bytes == std::uint64_t{5} * 128 * 32 * 4);
}

TEST_CASE("GEMM on the FMA pipe: memory operations stay inside the buffers and every wait can be met",
          "[workloads][gemm]") {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const GemmCopy copy : {GemmCopy::kAsync, GemmCopy::kRegisters}) {
      for (const std::uint32_t slices : {1U, 4U}) {
        GemmSimtConfig config = config_of(70, 100, 100);
        REQUIRE(parse_gemm_layout(layout, config.problem));
        config.problem.batch = 2;
        config.tile_m = config.tile_n = 32;
        config.warp_m = config.warp_n = 32;
        config.thread_m = 4;
        config.thread_n = 8;
        config.tile_k = 8 * slices;
        config.warp_slices = slices;
        config.copy = copy;
        config.split_k = 2;
        config.split_reduction = slices == 1 ? SplitKReduction::kInPlace : SplitKReduction::kPartials;
        INFO(layout << " " << describe_gemm_simt(config));
        const auto source = make_gemm_simt(config, test::ampere_facts());
        for (std::uint64_t cta = 0; cta < source->launch().num_ctas(); ++cta) {
          test::TokenReplay replay(*source, cta);
          CHECK(replay.run());
          CHECK(replay.stuck.empty());
          test::walk_cta(*source, cta, [&](const StreamId&, const Operation& op) {
            if (op.mem.rows == 0) return;
            const std::uint64_t end =
                op.mem.address + (op.mem.rows - 1) * static_cast<std::uint64_t>(op.mem.row_pitch) + op.mem.row_bytes;
            const auto& buffers = source->launch().buffers;
            const bool inside = std::any_of(buffers.begin(), buffers.end(), [&](const Buffer& b) {
              return op.mem.address >= b.base && end <= b.base + b.bytes;
            });
            if (!inside) FAIL("operation at " << op.mem.address << " of pc " << op.pc);
          });
        }
      }
    }
  }
}

TEST_CASE("GEMM on the FMA pipe: CTAs of a padded raster leave at once", "[workloads][gemm]") {
  GemmSimtConfig config = config_of(128, 640, 64);  // five tiles of columns, eight launched
  config.raster_group = 8;
  config.raster_padded = true;
  const auto source = make_gemm_simt(config, test::ampere_facts());
  CHECK(source->launch().grid == Dim3{8, 1, 1});
  std::vector<std::uint64_t> insts;
  for (std::uint64_t cta = 0; cta < 8; ++cta) {
    insts.push_back(0);
    test::walk_cta(*source, cta, [&](const StreamId&, const Operation& op) { insts.back() += op.warp_insts; });
  }
  CHECK(std::count_if(insts.begin(), insts.end(), [](std::uint64_t n) { return n < 1000; }) == 3);
  CHECK(fma_work(*source) == std::uint64_t{128} * 640 * 64 / 32);
}

TEST_CASE("GEMM on the FMA pipe: what does not fit is refused by key", "[workloads][gemm]") {
  const TargetFacts target = test::ampere_facts();
  GemmSimtConfig config = config_of(512, 512, 512);
  CHECK(check_gemm_simt(config, target).empty());
  config.thread_m = 4;
  CHECK(names(check_gemm_simt(config, target), "thread-m"));
  config = config_of(512, 512, 512);
  config.problem.input = DataType::kBf16;
  CHECK(names(check_gemm_simt(config, target), "dtype"));
  config = config_of(512, 512, 512);
  config.warp_slices = 3;
  config.tile_m = 32;
  CHECK(names(check_gemm_simt(config, target), "tile-k"));
  CHECK_THROWS_AS(make_gemm_simt(config, target), InputError);
  const KernelSpec spec = gemm_simt_spec();
  CHECK_THROWS_AS(spec.make({{"m", "64"}, {"n", "64"}, {"k", "64"}, {"split-k", "99"}}, target), InputError);
  CHECK_THROWS_AS(spec.make({{"m", "64"}, {"n", "64"}, {"k", "64"}, {"copy", "magic"}}, target), InputError);
  const BuiltKernel built = spec.make({{"m", "4096"}, {"n", "4096"}, {"k", "64"}}, target);
  CHECK(built.description == "tile 128x128x8 (MxNxK), warps of 32x64, 3 stages, raster along M by 8, threads of 8x8");
  CHECK(built.notes.size() == 1);
}
