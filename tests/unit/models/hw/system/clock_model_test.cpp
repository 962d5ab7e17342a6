#include "models/hw/system/clock_model.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "sim/base/error.hpp"
#include "tests/support/h100.hpp"

using namespace strata;
using namespace strata::test;

namespace {
WorkTotals work(double tensor_flops, double bytes) {
  WorkTotals w;
  w.tensor_flops = tensor_flops;
  w.compulsory_read_bytes = bytes;
  return w;
}
}  // namespace

TEST_CASE("Clock model: a given clock is rounded, and clamped to the part's maximum", "[clock]") {
  CHECK(choose_clock(h100(), {}, 1500).sm_mhz == 1500);
  CHECK(choose_clock(h100(), {}, 1500.4).sm_mhz == 1500);
  CHECK(choose_clock(h100(), {}, 1500).how == "given");
  CHECK(choose_clock(h100(), {}, 1990).sm_mhz == h100().clocks.sm_max_mhz);
  CHECK(choose_clock(h100(), {}, 1e30).sm_mhz == h100().clocks.sm_max_mhz);
  CHECK(choose_clock(h100(), {}, 1990).how.find("clamped") != std::string::npos);
}

TEST_CASE("Clock model: nonsense is refused", "[clock]") {
  for (const double mhz :
       {-1.0, 0.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_AS(choose_clock(h100(), {}, mhz), InputError);
  }
}

TEST_CASE("Clock model: idle runs at the maximum, full tensor load and full HBM load at their own clocks", "[clock]") {
  CHECK(choose_clock(h100(), {}, 0).sm_mhz == h100().clocks.sm_max_mhz);
  CHECK(choose_clock(h100(), work(1e13, 1), 0).sm_mhz == h100().clocks.sm_loaded_mhz);
  CHECK(choose_clock(h100(), work(0, 1e10), 0).sm_mhz == h100().clocks.sm_memory_mhz);
}

TEST_CASE("Clock model: tensor cores that wait for exponentials draw less", "[clock]") {
  // Attention, 16 x 32 heads of 1024 x 1024: 4 d operations and one exponential for each score. Calibration rows have
  // 1780 and 1800 MHz with d = 64 (cuDNN, FlashAttention-2) and 1673 to 1728 with d = 128, GEMMs 1531 to 1599.
  const double scores = 16.0 * 32 * 1024 * 1024;
  const auto clock = [&](double d) {
    WorkTotals w = work(4 * d * scores, 1e8);
    w.mufu_ops = scores;
    return choose_clock(h100(), w, 0).sm_mhz;
  };
  CHECK(clock(64) == Approx(1785).margin(15));
  CHECK(clock(128) == Approx(1720).margin(15));
}

TEST_CASE("Clock model: more tensor work never raises the clock", "[clock]") {
  int last = h100().clocks.sm_max_mhz;
  for (double flops = 1e6; flops < 1e14; flops *= 3) {
    const int mhz = choose_clock(h100(), work(flops, 1e8), 0).sm_mhz;
    CHECK(mhz <= last);
    CHECK(mhz >= h100().clocks.sm_loaded_mhz);
    last = mhz;
  }
}
