/// Address translation: one cache of pages per GPC and a shared level behind it, which knows every page.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.hpp"
#include "sim/config/gpu_config.hpp"

namespace strata {

/// Direct-mapped by page number. Not modelled: page sizes that differ between allocations, and the walk for memory that
/// no kernel has touched before (docs/model/tlb.md).
class Tlb {
 public:
  Tlb() = default;
  Tlb(const GpuConfig& config, Tick l2_cycle)
      : entries_(static_cast<std::uint32_t>(config.tlb.gpc_entries)),
        lines_per_page_(static_cast<std::uint32_t>(config.tlb.page_bytes / config.l2.line_bytes)),
        miss_(l2_cycle * config.tlb.miss_cycles),
        table_(config.topology.gpc_sms.size() * entries_) {}

  /// Extra latency of translating `line` for an SM of `gpc` at `now`. Requests to a page whose translation is on its
  /// way wait for it.
  Tick look_up(std::uint32_t gpc, std::uint32_t line, Tick now) {
    const std::uint32_t page = line / lines_per_page_;
    Entry& entry = table_[gpc * entries_ + page % entries_];
    if (entry.page != page) {
      entry = Entry{page, now + miss_};
    }
    return entry.ready > now ? entry.ready - now : 0;
  }

 private:
  std::uint32_t entries_ = 1;
  std::uint32_t lines_per_page_ = 1;
  Tick miss_ = 0;
  struct Entry {
    std::uint32_t page = 0xffffffffU;
    Tick ready = 0;
  };
  std::vector<Entry> table_;
};

}  // namespace strata
