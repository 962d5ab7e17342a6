#include "models/hw/noc/request_coalescer.hpp"

#include <algorithm>
#include <utility>

namespace strata {

RequestCoalescer::RequestCoalescer(Context& context, std::vector<std::uint16_t> group_of_sm)
    : context_(context), group_of_sm_(std::move(group_of_sm)) {
  const LrcConfig& c = context.config->lrc;
  present_ = c.present != 0;
  merge_limit_ = static_cast<std::uint32_t>(c.merge_limit);
  window_ = context.time.l2 * c.window_cycles;
  std::uint16_t groups = 0;
  for (const std::uint16_t g : group_of_sm_) {
    groups = std::max(groups, static_cast<std::uint16_t>(g + 1));
  }
  table_.resize(std::size_t{groups} * kEntries);
}

bool RequestCoalescer::merge(std::uint32_t chunk) {
  if (!present_) {
    return false;
  }
  Chunk& c = context_.chunks[chunk];
  if (c.atomic) {
    return false;
  }
  Entry& e = table_[slot_of(c)];
  if (e.line == c.line[0]) {
    Chunk& first = context_.chunks[e.chunk];
    const bool open = first.generation == e.generation && !first.replied && e.merges + 1 < merge_limit_ &&
                      (window_ == 0 || context_.now() - first.at_l2 <= window_);
    if (open && first.count == c.count && first.line == c.line && first.mask == c.mask) {
      ++e.merges;
      c.merged = true;
      context_.add_waiter(first, chunk, kAtCoalescer, false);
      context_.counters.add(Counter::kLrcMergedSectors, c.sectors + c.oob_sectors);
      return true;
    }
  }
  c.at_l2 = context_.now();
  e = Entry{c.line[0], chunk, c.generation, 0};
  return false;
}

void RequestCoalescer::release(std::uint32_t chunk) {
  Chunk& c = context_.chunks[chunk];
  c.replied = true;
  std::uint32_t node = c.waiters;
  std::uint32_t kept = kNoHandle;
  c.waiters = kNoHandle;
  while (node != kNoHandle) {
    const WaiterNode w = context_.waiters[node];
    if (w.partition == kAtCoalescer) {
      context_.waiters.release(node);
      context_.chunks[w.handle].served = c.served;
      context_.post(context_.now(), EventKind::kReplyAtXbar, 0, w.handle);
    } else {
      context_.waiters[node].next = kept;
      kept = node;
    }
    node = w.next;
  }
  c.waiters = kept;
}

}  // namespace strata
