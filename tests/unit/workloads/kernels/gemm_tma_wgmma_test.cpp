#include "workloads/kernels/gemm_tma_wgmma.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/recorded_rows.hpp"
#include "tests/support/token_replay.hpp"
#include "tests/support/trace_totals.hpp"

using namespace strata;

namespace {

GemmTmaConfig config_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmTmaConfig config;
  config.problem.m = m;
  config.problem.n = n;
  config.problem.k = k;
  return config;
}

bool names(const std::vector<Diagnostic>& problems, const std::string& key) {
  return std::any_of(problems.begin(), problems.end(), [&](const Diagnostic& d) { return d.key == key; });
}

}  // namespace

TEST_CASE("GEMM TMA: every wait can be met and every barrier phase balances", "[workloads][gemm]") {
  for (const ConsumerMode mode : {ConsumerMode::kPingPong, ConsumerMode::kCooperativeM, ConsumerMode::kCooperativeN}) {
    for (const auto& [cm, cn] : {std::pair{1U, 1U}, {2U, 1U}, {1U, 2U}, {2U, 2U}, {4U, 2U}}) {
      for (const bool multicast : {true, false}) {
        for (const std::uint32_t split_k : {1U, 3U}) {
          GemmTmaConfig config = config_of(1000, 1544, 456);
          config.consumers = mode;
          config.cluster_m = cm;
          config.cluster_n = cn;
          config.multicast = multicast;
          config.split_k = split_k;
          config.num_clusters = 3;
          const auto source = make_gemm_tma(config, test::hopper_facts());
          for (std::uint64_t cluster = 0; cluster < 3; ++cluster) {
            test::TokenReplay replay(*source, cluster * config.cluster_size());
            INFO("mode " << static_cast<int>(mode) << " cluster " << cm << "x" << cn << " multicast " << multicast);
            CHECK(replay.run());
            CHECK(replay.stuck.empty());
            CHECK(replay.bad_signals == 0);
            CHECK(replay.unfinished_arrivals() == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("GEMM TMA: delivered sectors are tiles times K with multicast and without", "[workloads][gemm]") {
  for (const bool multicast : {true, false}) {
    GemmTmaConfig config = config_of(512, 1024, 640);
    config.cluster_m = 2;
    config.cluster_n = 2;
    config.multicast = multicast;
    const auto source = make_gemm_tma(config, test::hopper_facts());
    const test::TraceTotals totals = test::trace_totals(*source);
    CHECK(totals.delivered_sectors == 4 * 8 * 640 * (128 + 128) * 2 / 32);
    CHECK(totals.stored_sectors == 512 * 1024 * 2 / 32);
    CHECK(totals.tensor_insts == 4U * 4 * 8 * 640 / 16 * 2);
  }
}

TEST_CASE("GEMM TMA: CTAs that share a tile cut it into whole lines, along K where its rows are contiguous",
          "[workloads][gemm]") {
  for (const std::uint32_t cluster : {1U, 2U, 4U, 8U}) {
    GemmTmaConfig config = config_of(512, 1024, 256);
    REQUIRE(parse_gemm_layout("NN", config.problem));
    config.tile_m = config.tile_n = 64;
    config.consumers = ConsumerMode::kPingPong;
    config.cluster_m = cluster;
    const auto source = make_gemm_tma(config, test::hopper_facts());
    CHECK(test::trace_totals(*source).delivered_sectors == 8 * 16 * 256 * (64 + 64) * 2 / 32);
    test::walk_cta(*source, 0, [&](const StreamId&, const Operation& op) {
      if (op.kind == OpKind::kTma && op.mem.dir == MemDir::kLoad) {
        REQUIRE(op.mem.row_bytes % 128 == 0);
      }
    });
  }
}

TEST_CASE("GEMM TMA: rows and columns out of range are delivered", "[workloads][gemm]") {
  GemmTmaConfig config = config_of(130, 128, 1000);
  const auto source = make_gemm_tma(config, test::hopper_facts());
  // Rows of 2000 B start 16 B off every second time: a 128 B row then touches five sectors for four. Of the last box,
  // 80 B touch three, and the 48 B beyond them two more.
  const std::uint64_t aligned_row = 15 * 4 + 3 + 2;
  const std::uint64_t shifted_row = 15 * 5 + 3 + 2;
  const test::TraceTotals totals = test::trace_totals(*source);
  const std::uint64_t b = 2 * 64 * (aligned_row + shifted_row);
  // The second tile has two rows of the matrix and 126 beyond it.
  const std::uint64_t a = 65 * (aligned_row + shifted_row) + 126 * 16 * 4;
  CHECK(totals.delivered_sectors == a + b);
  CHECK(totals.stored_sectors == 130 * 128 * 2 / 32);
}

TEST_CASE("GEMM TMA: boxes stay inside their buffers for every layout", "[workloads][gemm]") {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    GemmTmaConfig config = config_of(200, 328, 136);
    REQUIRE(parse_gemm_layout(layout, config.problem));
    config.cluster_n = 2;
    const auto source = make_gemm_tma(config, test::hopper_facts());
    const Launch& launch = source->launch();
    for (std::uint64_t cta = 0; cta < launch.num_ctas(); ++cta) {
      test::walk_cta(*source, cta, [&](const StreamId&, const Operation& op) {
        if (op.kind != OpKind::kTma) {
          return;
        }
        const std::uint64_t last =
            op.mem.address + (op.mem.rows - 1) * static_cast<std::uint64_t>(op.mem.row_pitch) + op.mem.row_bytes;
        const bool inside = std::any_of(launch.buffers.begin(), launch.buffers.end(), [&](const Buffer& b) {
          return op.mem.address >= b.base && last <= b.base + b.bytes;
        });
        REQUIRE(op.mem.rows > 0);
        REQUIRE(inside);
      });
    }
  }
}

TEST_CASE("GEMM TMA: split-K writes one fp32 copy of C per slice and loads K once", "[workloads][gemm]") {
  GemmTmaConfig config = config_of(256, 256, 64 * 7);
  config.split_k = 3;
  const auto source = make_gemm_tma(config, test::hopper_facts());
  const test::TraceTotals totals = test::trace_totals(*source);
  CHECK(totals.stored_sectors == 3 * 256 * 256 * 4 / 32);
  CHECK(totals.delivered_sectors == 4 * 64 * 7 * 256 * 2 / 32);
  CHECK(source->launch().work.compulsory_write_bytes == 3 * 256 * 256 * 4);
}

TEST_CASE("GEMM TMA: what does not fit is refused by key", "[workloads][gemm]") {
  const TargetFacts target = test::hopper_facts();
  GemmTmaConfig config = config_of(4096, 4096, 4096);
  CHECK(check_gemm_tma(config, target).empty());
  config.stages = 12;
  CHECK(names(check_gemm_tma(config, target), "stages"));
  config.stages = 2;
  config.tile_m = 256;
  config.tile_n = 256;
  CHECK(names(check_gemm_tma(config, target), "tile-m"));  // 256 accumulators a thread
  config = config_of(4096, 4096, 4096);
  config.tile_m = 100;
  CHECK(names(check_gemm_tma(config, target), "tile-m"));
  config = config_of(4096, 4096, 4095);
  CHECK(names(check_gemm_tma(config, target), "k"));
  config = config_of(0, -3, std::int64_t{1} << 40);
  CHECK(check_gemm_tma(config, target).size() == 3);
  config = config_of(1 << 20, 1 << 20, 1 << 20);
  CHECK(names(check_gemm_tma(config, target), "m"));
  config = config_of(256, 256, 256);
  config.problem.input = DataType::kFp8;
  config.problem.a_k_contiguous = false;
  config.tile_k = 128;
  CHECK(names(check_gemm_tma(config, target), "layout"));
  config.problem.input = DataType::kFp64;
  CHECK(names(check_gemm_tma(config, target), "dtype"));
  CHECK_THROWS_AS(make_gemm_tma(config_of(64, 64, 64), test::ampere_facts()), UnsupportedError);
}

TEST_CASE("GEMM TMA: a tile that two warpgroups cannot halve is refused", "[workloads][gemm]") {
  const TargetFacts target = test::hopper_facts();
  const auto refused = [&](std::uint32_t m, std::uint32_t n, ConsumerMode mode, const char* key) {
    GemmTmaConfig config = config_of(4096, 4096, 4096);
    config.tile_m = m;
    config.tile_n = n;
    config.consumers = mode;
    config.stages = 2;
    return names(check_gemm_tma(config, target), key);
  };
  for (const std::uint32_t odd : {17U, 129U, 257U}) {
    for (const ConsumerMode mode :
         {ConsumerMode::kPingPong, ConsumerMode::kCooperativeM, ConsumerMode::kCooperativeN}) {
      INFO(odd << " " << static_cast<int>(mode));
      CHECK(refused(128, odd, mode, "tile-n"));
    }
  }
  for (const std::uint32_t odd : {129U, 257U, 385U}) {
    CHECK(refused(odd, 64, ConsumerMode::kCooperativeM, "tile-m"));
  }
  CHECK_FALSE(refused(128, 128, ConsumerMode::kCooperativeN, "tile-n"));
  GemmTmaConfig large = config_of(4096, 4096, 4096);
  large.tile_m = large.tile_n = 256;
  large.stages = 2;
  for (const Diagnostic& d : check_gemm_tma(large, target)) {
    CHECK(d.message.find("cooperative consumers halve") == std::string::npos);
  }
}

TEST_CASE("GEMM TMA: 4096 x 4096 x 4096 takes about four operations a K tile", "[workloads][gemm]") {
  GemmTmaConfig config = config_of(4096, 4096, 4096);
  config.tile_m = 256;
  config.cluster_m = 2;
  const test::TraceTotals totals = test::trace_totals(*make_gemm_tma(config, test::hopper_facts()));
  const std::uint64_t k_tiles = 16 * 32 * 64;
  CHECK(totals.operations > 4 * k_tiles);
  CHECK(totals.operations < 5 * k_tiles);
}
