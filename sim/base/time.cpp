#include "sim/base/time.hpp"

#include <numeric>
#include <string>

#include "sim/base/error.hpp"

namespace strata {

namespace {
void check(const char* name, int mhz) {
  if (mhz < 1 || mhz > 3999) {
    throw InputError(std::string(name) + " clock " + std::to_string(mhz) + " MHz: expected 1 to 3999");
  }
}
}  // namespace

TimeBase::TimeBase(int sm_clock, int l2_clock, int hbm_clock) : sm_mhz(sm_clock), l2_mhz(l2_clock), hbm_mhz(hbm_clock) {
  check("SM", sm_mhz);
  check("L2", l2_mhz);
  check("HBM", hbm_mhz);
  ticks_per_us = std::lcm(std::lcm<std::int64_t>(sm_mhz, l2_mhz), static_cast<std::int64_t>(hbm_mhz));
  sm = ticks_per_us / sm_mhz;
  l2 = ticks_per_us / l2_mhz;
  hbm = ticks_per_us / hbm_mhz;
}

}  // namespace strata
