#include "workloads/kernels/gemm_common.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace strata;

TEST_CASE("tile order: every tile once, whatever the direction and the group", "[workloads][gemm]") {
  for (const RasterDirection direction : {RasterDirection::kAlongM, RasterDirection::kAlongN}) {
    for (const std::uint32_t group : {1U, 3U, 8U, 100U}) {
      const TileOrder order(7, 10, direction, group);
      std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
      for (std::uint64_t i = 0; i < order.count(); ++i) {
        const TileOrder::Tile tile = order.at(i);
        CHECK(tile.m < 7);
        CHECK(tile.n < 10);
        seen.insert({tile.m, tile.n});
      }
      CHECK(seen.size() == 70);
    }
  }
}

TEST_CASE("tile order: a band is crossed before the sweep advances", "[workloads][gemm]") {
  const TileOrder order(4, 6, RasterDirection::kAlongM, 2);
  CHECK(order.at(0).m == 0);
  CHECK(order.at(0).n == 0);
  CHECK(order.at(1).m == 0);
  CHECK(order.at(1).n == 1);
  CHECK(order.at(2).m == 1);
  CHECK(order.at(8).n == 2);  // the next band begins after four steps of two
}

TEST_CASE("split-K: slices cover K once and differ by at most one tile", "[workloads][gemm]") {
  std::uint32_t next = 0;
  for (std::uint32_t slice = 0; slice < 5; ++slice) {
    const KRange range = split_k_range(17, 5, slice);
    CHECK(range.begin == next);
    CHECK(range.end - range.begin >= 3);
    CHECK(range.end - range.begin <= 4);
    next = range.end;
  }
  CHECK(next == 17);
}

TEST_CASE("GEMM layout letters are B's, then A's", "[workloads][gemm]") {
  GemmProblem problem;
  REQUIRE(parse_gemm_layout("TN", problem));
  CHECK(problem.a_k_contiguous);
  CHECK(problem.b_k_contiguous);
  REQUIRE(parse_gemm_layout("nn", problem));
  CHECK(problem.a_k_contiguous);
  CHECK_FALSE(problem.b_k_contiguous);
  CHECK(problem.layout() == "NN");
  CHECK_FALSE(parse_gemm_layout("TX", problem));
  CHECK_FALSE(parse_gemm_layout("TNN", problem));
}

TEST_CASE("GEMM buffers do not overlap and start on 2 MiB", "[workloads][gemm]") {
  GemmProblem problem;
  problem.m = 1000;
  problem.n = 3000;
  problem.k = 777;
  const GemmAddresses placed = place_gemm(problem, 1);
  REQUIRE(placed.buffers.size() == 3);
  std::uint64_t end = 0;
  for (const Buffer& buffer : placed.buffers) {
    CHECK(buffer.base % (2U << 20) == 0);
    CHECK(buffer.base >= end);
    end = buffer.base + buffer.bytes;
  }
  CHECK(placed.buffers[2].bytes == 1000U * 3000 * 2);
}
