/// Address translation: one cache of pages per GPC, a shared level behind it, and the first touch of a page.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.hpp"
#include "sim/config/gpu_config.hpp"

namespace strata {

/// Direct-mapped by page number. Not modelled: walks in flight, page sizes that differ between allocations.
class Tlb {
 public:
  Tlb() = default;
  Tlb(const GpuConfig& config, Tick l2_cycle)
      : entries_(static_cast<std::uint32_t>(config.tlb.gpc_entries)),
        lines_per_page_(static_cast<std::uint32_t>(config.tlb.page_bytes / config.l2.line_bytes)),
        miss_(l2_cycle * config.tlb.miss_cycles),
        cold_miss_(l2_cycle * config.tlb.cold_miss_cycles),
        table_(config.topology.gpc_sms.size() * entries_, 0xffffffffU) {}

  /// Extra latency of translating `line` for an SM of `gpc`.
  Tick look_up(std::uint32_t gpc, std::uint32_t line) {
    const std::uint32_t page = line / lines_per_page_;
    std::uint32_t& entry = table_[gpc * entries_ + page % entries_];
    if (entry == page) {
      return 0;
    }
    entry = page;
    if (page >= touched_.size()) {
      touched_.resize(page + 1, false);
    }
    if (!touched_[page]) {
      touched_[page] = true;
      return cold_miss_;
    }
    return miss_;
  }

 private:
  std::uint32_t entries_ = 1;
  std::uint32_t lines_per_page_ = 1;
  Tick miss_ = 0;
  Tick cold_miss_ = 0;
  std::vector<std::uint32_t> table_;
  std::vector<bool> touched_;
};

}  // namespace strata
