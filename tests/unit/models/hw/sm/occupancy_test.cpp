#include "models/hw/sm/occupancy.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/h100.hpp"

using namespace strata;
using namespace strata::test;

namespace {

SmOccupancy of(std::uint32_t threads, std::uint32_t registers, std::uint32_t smem = 0) {
  Launch l;
  l.grid = Dim3{1000, 1, 1};
  l.block = Dim3{threads, 1, 1};
  l.registers_per_thread = registers;
  l.smem_dynamic_bytes = smem;
  return occupancy(h100(), l);
}

}  // namespace

TEST_CASE("Occupancy: registers are given to a warp in units of 256", "[occupancy]") {
  // 33 x 32 = 1056 registers round up to 1280 a warp: 65536 / (8 x 1280) = 6.4.
  CHECK(of(256, 33).ctas == 6);
  CHECK(of(256, 33).limiter == "registers");
  CHECK(of(256, 33).warps == 48);
  // 40 x 32 = 1280: the same.
  CHECK(of(256, 40).ctas == 6);
  // 41 x 32 = 1312 round up to 1536: 65536 / 12288 = 5.3.
  CHECK(of(256, 41).ctas == 5);
  CHECK(of(384, 168).ctas == 1);
  CHECK(of(128, 168).ctas == 3);
}

TEST_CASE("Occupancy: every CTA takes 1 KiB of shared memory beyond its own", "[occupancy]") {
  // 228 KiB per SM: four times 56 + 1 KiB fit exactly, four times 56 KiB + 1 B + 1 KiB do not.
  CHECK(of(128, 32, 56 * 1024).ctas == 4);
  CHECK(of(128, 32, 56 * 1024 + 1).ctas == 3);
  CHECK(of(128, 32, 56 * 1024 + 1).limiter == "shared memory");
  CHECK(of(128, 32, 227 * 1024).ctas == 1);
  CHECK(of(128, 32, 56 * 1024).smem_per_cta == 57 * 1024);
}

TEST_CASE("Occupancy: what shared memory leaves of 256 KiB is L1", "[occupancy]") {
  CHECK(of(128, 32, 56 * 1024).l1_bytes == (256 - 4 * 57) * 1024);
  CHECK(of(1024, 32).ctas == 2);
  CHECK(of(1024, 32).l1_bytes == (256 - 32) * 1024);  // the least that is cut out
  CHECK(of(128, 32, 10 * 1024).ctas == 16);
  CHECK(of(128, 32, 10 * 1024).l1_bytes == (256 - 196) * 1024);  // 176 KiB are in use
}

TEST_CASE("Occupancy: warps, threads and CTAs", "[occupancy]") {
  CHECK(of(32, 16).ctas == 32);
  CHECK(of(32, 16).limiter == "CTAs");
  CHECK(of(1024, 16).ctas == 2);
  // 96 threads: 64 warps / 3 = 21.3, 2048 threads / 96 = 21.3.
  CHECK(of(96, 16).ctas == 21);
  // 65 threads are 3 warps.
  CHECK(of(65, 16).ctas == 21);
  CHECK(of(65, 16).limiter == "warps");
}

TEST_CASE("Occupancy: what does not fit is refused by name", "[occupancy]") {
  CHECK_THROWS_WITH(of(128, 32, 227 * 1024 + 1), Catch::Contains("shared memory"));
  CHECK_THROWS_AS(of(128, 32, 227 * 1024 + 1), InputError);
  CHECK_THROWS_WITH(of(1024, 255), Catch::Contains("registers"));
  CHECK_THROWS_AS(of(1024, 255), InputError);
  CHECK_THROWS_AS(of(0, 32), InputError);
  CHECK_THROWS_AS(of(2049, 16), InputError);
}
