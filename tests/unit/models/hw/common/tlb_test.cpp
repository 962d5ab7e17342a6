#include "models/hw/common/tlb.hpp"

#include <catch2/catch.hpp>

#include "sim/config/gpu_description.hpp"

using namespace strata;

namespace {
constexpr Tick kCycle = 10;
constexpr Tick kWalk = 5000;

std::uint32_t lines_per_page(const GpuConfig& gpu) {
  return static_cast<std::uint32_t>(gpu.tlb.page_bytes / gpu.l2.line_bytes);
}
}  // namespace

TEST_CASE("TLB: the first touch of 16 pages is a walk, the next GPC pays a miss, then nothing", "[tlb]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  Tlb tlb(gpu, kCycle, kWalk);
  const Tick miss = kCycle * gpu.tlb.miss_cycles;
  CHECK(tlb.look_up(0, 5, 0) == kWalk);
  // While it is under way, others of the region wait for the rest of it.
  CHECK(tlb.look_up(0, 6, kWalk / 4) == kWalk - kWalk / 4);
  CHECK(tlb.look_up(1, 6, kWalk / 2) == kWalk - kWalk / 2);
  CHECK(tlb.look_up(0, 5, kWalk) == 0);
  CHECK(tlb.look_up(2, 5, 2 * kWalk) == miss);
  CHECK(tlb.look_up(2, 5, 3 * kWalk) == 0);
  CHECK(tlb.look_up(0, 15 * lines_per_page(gpu), 3 * kWalk) == miss);
  CHECK(tlb.look_up(0, 16 * lines_per_page(gpu), 3 * kWalk) == kWalk);
}

TEST_CASE("TLB: walks do not wait for one another", "[tlb]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  Tlb tlb(gpu, kCycle, kWalk);
  for (std::uint32_t region = 0; region < 8; ++region) {
    CHECK(tlb.look_up(0, region * Tlb::kPagesPerWalk * lines_per_page(gpu), 0) == kWalk);
  }
}

TEST_CASE("TLB: within reach nothing is evicted; beyond it a page comes from the shared level", "[tlb]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  Tlb tlb(gpu, 1, kWalk);
  const auto entries = static_cast<std::uint32_t>(gpu.tlb.gpc_entries);
  for (std::uint32_t page = 0; page < entries; ++page) (void)tlb.look_up(0, page * lines_per_page(gpu), 0);
  for (std::uint32_t page = 0; page < entries; ++page) CHECK(tlb.look_up(0, page * lines_per_page(gpu), kWalk) == 0);
  (void)tlb.look_up(0, entries * lines_per_page(gpu), kWalk);  // takes the place of page 0
  CHECK(tlb.look_up(0, 0, 2 * kWalk) == gpu.tlb.miss_cycles);
}
