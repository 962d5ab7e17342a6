#include "models/hw/common/tlb.hpp"

#include <catch2/catch.hpp>

#include "sim/config/gpu_description.hpp"

using namespace strata;

TEST_CASE("TLB: the first touch of a page is cold, the next GPC pays a miss, then nothing", "[tlb]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  constexpr Tick kCycle = 10;
  Tlb tlb(gpu, kCycle);
  const Tick cold = kCycle * gpu.tlb.cold_miss_cycles;
  const Tick miss = kCycle * gpu.tlb.miss_cycles;
  const auto lines_per_page = static_cast<std::uint32_t>(gpu.tlb.page_bytes / 128);
  CHECK(tlb.look_up(0, 5, 0) == cold);
  // While it is under way, others of the page wait for the rest of it.
  CHECK(tlb.look_up(0, 6, cold / 4) == cold - cold / 4);
  CHECK(tlb.look_up(1, 6, cold / 2) == cold - cold / 2);
  CHECK(tlb.look_up(0, 5, cold) == 0);
  CHECK(tlb.look_up(2, 5, 2 * cold) == miss);
  CHECK(tlb.look_up(2, 5, 3 * cold) == 0);
  CHECK(tlb.look_up(0, lines_per_page, 3 * cold) == cold);
}

TEST_CASE("TLB: within reach nothing is evicted; beyond it a page comes from the shared level", "[tlb]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  Tlb tlb(gpu, 1);
  const auto lines_per_page = static_cast<std::uint32_t>(gpu.tlb.page_bytes / 128);
  const auto entries = static_cast<std::uint32_t>(gpu.tlb.gpc_entries);
  for (std::uint32_t page = 0; page < entries; ++page) (void)tlb.look_up(0, page * lines_per_page, 0);
  // Walks queue, so the last page is translated once all have been walked in turn.
  const Tick later = Tick{gpu.tlb.cold_miss_cycles} * (gpu.tlb.gpc_entries + 10);
  for (std::uint32_t page = 0; page < entries; ++page) CHECK(tlb.look_up(0, page * lines_per_page, later) == 0);
  (void)tlb.look_up(0, entries * lines_per_page, later);  // takes the place of page 0
  CHECK(tlb.look_up(0, 0, 2 * later) == gpu.tlb.miss_cycles);
}
