#include "models/hw/common/tlb.hpp"

#include <catch2/catch.hpp>

#include "sim/config/gpu_description.hpp"

using namespace strata;

namespace {
std::uint32_t lines_per_page(const GpuConfig& gpu) {
  return static_cast<std::uint32_t>(gpu.tlb.page_bytes / gpu.l2.line_bytes);
}
}  // namespace

TEST_CASE("TLB: a GPC's first touch of a page is a miss, while which others of the GPC wait for the rest", "[tlb]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  constexpr Tick kCycle = 10;
  Tlb tlb(gpu, kCycle);
  const Tick miss = kCycle * gpu.tlb.miss_cycles;
  CHECK(tlb.look_up(0, 5, 0) == miss);
  CHECK(tlb.look_up(0, 6, miss / 2) == miss - miss / 2);
  CHECK(tlb.look_up(0, 5, miss) == 0);
  CHECK(tlb.look_up(1, 5, miss) == miss);
  CHECK(tlb.look_up(0, lines_per_page(gpu), miss) == miss);
}

TEST_CASE("TLB: within reach nothing is evicted; beyond it a page comes from the shared level", "[tlb]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  Tlb tlb(gpu, 1);
  const Tick later = 5000;
  const auto entries = static_cast<std::uint32_t>(gpu.tlb.gpc_entries);
  for (std::uint32_t page = 0; page < entries; ++page) (void)tlb.look_up(0, page * lines_per_page(gpu), 0);
  for (std::uint32_t page = 0; page < entries; ++page) CHECK(tlb.look_up(0, page * lines_per_page(gpu), later) == 0);
  (void)tlb.look_up(0, entries * lines_per_page(gpu), later);  // takes the place of page 0
  CHECK(tlb.look_up(0, 0, 2 * later) == gpu.tlb.miss_cycles);
}
