#include "models/hw/sm/l1_passes.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace strata;

namespace {

/// `per_row` lanes 16 B apart in each of the rows that 32 lanes take.
std::vector<std::uint64_t> rows_of_lanes(std::uint64_t pitch, std::uint32_t per_row) {
  std::vector<std::uint64_t> lanes;
  for (std::uint32_t l = 0; l < 32; ++l) lanes.push_back((1 << 21) + l / per_row * pitch + l % per_row * 16);
  return lanes;
}

}  // namespace

TEST_CASE("L1 passes: lines of different tag banks share a pass", "[l1]") {
  // Eight lines 4096 B apart lie two in each bank, as measured: two passes of four rows in the same four data banks.
  const L1Passes same = l1_passes(rows_of_lanes(4096, 4), 2, 0);
  CHECK(same.together == 8);
  CHECK(same.apart == 8);
  // Four lines 2176 B apart: two passes. The lanes of a row are a wavefront, the rows are in the same banks.
  CHECK(l1_passes(rows_of_lanes(2176, 8), 4, 0).apart == 4);
  CHECK(l1_passes(rows_of_lanes(2176, 8), 4, 8).apart == 4);
}

TEST_CASE("L1 passes: a request of one line is one pass", "[l1]") {
  std::vector<std::uint64_t> lanes;
  for (std::uint64_t l = 0; l < 32; ++l) lanes.push_back(l * 4);
  CHECK(l1_passes(lanes, 4, 0).together == 1);
  CHECK(l1_passes(lanes, 4, 0).apart == 1);
  CHECK(l1_passes(lanes, 4, 8).apart == 4);  // into four rows of eight chunks
}
