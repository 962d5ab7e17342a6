/// Address translation: one cache of pages per GPC, a shared level behind it, and the first touch of a page.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/time.hpp"
#include "sim/config/gpu_config.hpp"

namespace strata {

/// Direct-mapped by page number. Not modelled: page sizes that differ between allocations.
class Tlb {
 public:
  Tlb() = default;
  Tlb(const GpuConfig& config, Tick l2_cycle)
      : entries_(static_cast<std::uint32_t>(config.tlb.gpc_entries)),
        lines_per_page_(static_cast<std::uint32_t>(config.tlb.page_bytes / config.l2.line_bytes)),
        miss_(l2_cycle * config.tlb.miss_cycles),
        cold_miss_(l2_cycle * config.tlb.cold_miss_cycles),
        walkers_(std::max(1, config.tlb.walkers)),
        table_(config.topology.gpc_sms.size() * entries_) {}

  /// Extra latency of translating `line` for an SM of `gpc` at `now`. Requests to a page whose translation is on its
  /// way wait for it.
  Tick look_up(std::uint32_t gpc, std::uint32_t line, Tick now) {
    const std::uint32_t page = line / lines_per_page_;
    Entry& entry = table_[gpc * entries_ + page % entries_];
    if (entry.page != page) {
      if (page >= shared_ready_.size()) {
        shared_ready_.resize(page + 1, kNever);
      }
      if (shared_ready_[page] == kNever) {
        // A few walks of pages nobody has touched are under way at once; the rest queue.
        walker_free_ = std::max(now, walker_free_) + cold_miss_ / walkers_;
        shared_ready_[page] = walker_free_ + cold_miss_ - cold_miss_ / walkers_;
      }
      entry = Entry{page, std::max(now + miss_, shared_ready_[page])};
    }
    return entry.ready > now ? entry.ready - now : 0;
  }

 private:
  std::uint32_t entries_ = 1;
  std::uint32_t lines_per_page_ = 1;
  Tick miss_ = 0;
  Tick cold_miss_ = 0;
  Tick walker_free_ = 0;
  Tick walkers_ = 1;
  struct Entry {
    std::uint32_t page = 0xffffffffU;
    Tick ready = 0;
  };
  std::vector<Entry> table_;
  std::vector<Tick> shared_ready_;  ///< when the shared level has a page's translation; kNever = never touched
};

}  // namespace strata
