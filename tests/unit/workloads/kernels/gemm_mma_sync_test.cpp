#include "workloads/kernels/gemm_mma_sync.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/recorded_rows.hpp"
#include "tests/support/token_replay.hpp"
#include "tests/support/trace_totals.hpp"

using namespace strata;

namespace {

GemmMmaSyncConfig config_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmMmaSyncConfig config;
  config.problem.m = m;
  config.problem.n = n;
  config.problem.k = k;
  return config;
}

bool names(const std::vector<Diagnostic>& problems, const std::string& key) {
  return std::any_of(problems.begin(), problems.end(), [&](const Diagnostic& d) { return d.key == key; });
}

}  // namespace

TEST_CASE("GEMM mma.sync: counts follow from tiles, fragments and K", "[workloads][gemm]") {
  const auto source = make_gemm_mma_sync(config_of(256, 512, 320), test::ampere_facts());
  const test::TraceTotals totals = test::trace_totals(*source);
  CHECK(source->launch().num_ctas() == 8);
  CHECK(source->launch().block.x == 128);
  CHECK(totals.tensor_insts == 256U / 16 * 512 / 8 * 320 / 16);
  CHECK(totals.delivered_sectors == 8 * 320 * 256 * 2 / 32);
  CHECK(totals.stored_sectors == 256 * 512 * 2 / 32);
}

TEST_CASE("GEMM mma.sync: rows out of range are neither loaded nor stored", "[workloads][gemm]") {
  const auto source = make_gemm_mma_sync(config_of(8, 128, 64), test::ampere_facts());
  const test::TraceTotals totals = test::trace_totals(*source);
  CHECK(totals.delivered_sectors == (8 + 128) * 64 * 2 / 32);
  CHECK(totals.stored_sectors == 8 * 128 * 2 / 32);
}

TEST_CASE("GEMM mma.sync: every wait can be met, ragged, split and unaligned", "[workloads][gemm]") {
  for (const std::int64_t k : {32, 96, 1000, 1001}) {
    for (const std::uint32_t split_k : {1U, 3U}) {
      if (split_k > k / 32) {
        continue;
      }
      GemmMmaSyncConfig config = config_of(300, 200, k);
      config.split_k = split_k;
      const auto source = make_gemm_mma_sync(config, test::ampere_facts());
      for (std::uint64_t cta = 0; cta < source->launch().num_ctas(); ++cta) {
        test::TokenReplay replay(*source, cta);
        CHECK(replay.run());
        CHECK(replay.stuck.empty());
      }
    }
  }
}

TEST_CASE("GEMM mma.sync: rows that are not aligned to 4 bytes go through registers", "[workloads][gemm]") {
  const auto uses = [](std::int64_t k, OpKind kind) {
    const auto source = make_gemm_mma_sync(config_of(128, 128, k), test::ampere_facts());
    bool found = false;
    test::walk_cta(*source, 0, [&](const StreamId&, const Operation& op) {
      found = found || (op.kind == kind && op.mem.dir == MemDir::kLoad && op.mem.rows > 0);
    });
    return found;
  };
  CHECK(uses(4096, OpKind::kCpAsync));
  CHECK(uses(4098, OpKind::kCpAsync));
  CHECK_FALSE(uses(4097, OpKind::kCpAsync));
  CHECK(uses(4097, OpKind::kMemory));
}

TEST_CASE("GEMM mma.sync: elements copied one by one lie 16 bytes apart, and results go out one by one",
          "[workloads][gemm]") {
  GemmMmaSyncConfig config = config_of(128, 128, 64);
  config.copy = GemmCopy::kRegisters;
  config.access_limit_bytes = 2;
  const auto source = make_gemm_mma_sync(config, test::ampere_facts());
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  test::walk_cta(*source, 0, [&](const StreamId&, const Operation& op) {
    if (op.kind != OpKind::kMemory) {
      return;
    }
    CHECK(op.mem.lane_bytes == 2);
    if (op.mem.dir == MemDir::kLoad) {
      CHECK(op.mem.lane_pitch == 16);
      loads += op.warp_insts;
    } else {
      stores += op.warp_insts;
    }
  });
  CHECK(loads == 2U * 128 * 64 / 32);
  CHECK(stores == 128U * 128 / 32);
}

TEST_CASE("GEMM mma.sync: without a swizzle, rows of 64 B meet in the banks four ways", "[workloads][gemm]") {
  GemmMmaSyncConfig config = config_of(128, 128, 32);
  const std::uint64_t free = test::trace_totals(*make_gemm_mma_sync(config, test::ampere_facts())).smem_wavefronts;
  config.swizzle = false;
  std::uint64_t conflicts = 0;
  const auto source = make_gemm_mma_sync(config, test::ampere_facts());
  test::walk_cta(*source, 0, [&](const StreamId&, const Operation& op) { conflicts += op.smem_conflicts; });
  // 4 warps read 64 + 64 rows of 64 B each: 256 wavefronts without conflicts.
  CHECK(conflicts == 3 * 256);
  CHECK(test::trace_totals(*source).smem_wavefronts == free + conflicts);
}

TEST_CASE("GEMM mma.sync: what does not fit is refused by key", "[workloads][gemm]") {
  const TargetFacts target = test::ampere_facts();
  GemmMmaSyncConfig config = config_of(4096, 4096, 4096);
  CHECK(check_gemm_mma_sync(config, target).empty());
  config.stages = 16;
  config.tile_k = 64;
  CHECK(names(check_gemm_mma_sync(config, target), "stages"));
  config = config_of(4096, 4096, 4096);
  config.warp_m = 48;
  CHECK(names(check_gemm_mma_sync(config, target), "warp-m"));
  config.warp_m = 128;
  config.warp_n = 128;
  CHECK(names(check_gemm_mma_sync(config, target), "warp-m"));
  config = config_of(4096, 4096, 4096);
  config.problem.input = DataType::kFp8;
  config.tile_k = 64;
  CHECK(names(check_gemm_mma_sync(config, target), "dtype"));
  CHECK(check_gemm_mma_sync(config, test::hopper_facts()).empty());
}
