#include "workloads/spec/bank_wavefronts.hpp"

#include <catch2/catch.hpp>

using namespace strata;

namespace {

/// 32 lanes in one row.
std::uint32_t strided(std::int64_t pitch, std::uint32_t lane_bytes) {
  return bank_wavefronts(1 << 20, pitch, 32, 0, 32, lane_bytes);
}

}  // namespace

TEST_CASE("Bank wavefronts: loads of 4 bytes by stride, as measured", "[wavefronts]") {
  CHECK(strided(4, 4) == 1);
  CHECK(strided(8, 4) == 2);
  CHECK(strided(12, 4) == 1);  // odd in words: three lines, every bank once
  CHECK(strided(16, 4) == 4);
  CHECK(strided(32, 4) == 8);
  CHECK(strided(64, 4) == 16);
  CHECK(strided(128, 4) == 32);
  CHECK(strided(132, 4) == 1);
  CHECK(strided(4096, 2) == 32);
}

TEST_CASE("Bank wavefronts: wide lanes go in groups that fill a wavefront", "[wavefronts]") {
  CHECK(strided(8, 8) == 2);
  CHECK(strided(16, 16) == 4);
  CHECK(strided(32, 16) == 8);
  CHECK(strided(64, 16) == 16);
  CHECK(strided(128, 16) == 32);
}

TEST_CASE("Bank wavefronts: lanes of one word share it, rows of a matrix may meet", "[wavefronts]") {
  CHECK(strided(0, 4) == 1);
  CHECK(strided(2, 2) == 1);
  // Four lanes a row, 16 B apart, each of 2 bytes: eight rows in the same four banks, or spread by a padded pitch.
  CHECK(bank_wavefronts(1 << 20, 16, 4, 8192, 32, 2) == 8);
  CHECK(bank_wavefronts(1 << 20, 16, 4, 8192 + 4, 32, 2) == 2);
}
