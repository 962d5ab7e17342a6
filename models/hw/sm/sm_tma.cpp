// The TMA unit: boxes become chunks, multicast loads complete in every destination CTA.
#include <algorithm>
#include <bit>
#include <cmath>

#include "models/hw/sm/sm.hpp"
#include "sim/base/error.hpp"

namespace strata {

void Sm::start_tma(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued) {
  if (config().tma.present == 0) {
    throw UnsupportedError(config().chip.name + " has no TMA unit");
  }
  if (op.mem.dir == MemDir::kLoad || op.mem.dir == MemDir::kPrefetch) {
    start_tma_load(slot, stream_index, op, issued);
    return;
  }
  const double busy = config().tma.issue_cycles + config().tma.row_cycles * op.mem.rows;
  const Tick engine = tma_.reserve(context().now(), std::llround(busy * kScale));
  start_store(slot, stream_index, op, std::max(issued, engine));
}

void Sm::start_tma_load(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued) {
  const TmaConfig& t = config().tma;
  Cta& cta = ctas_[slot];
  collect_lines(op, cta.streams[stream_index]);
  Tick latency = cycles(t.latency_cycles);
  if (!tma_warm_) {
    tma_warm_ = true;
    latency += cycles(t.descriptor_miss_cycles);
  }
  if (lines_.empty()) {
    const std::uint32_t none = new_transfer(slot, stream_index, op);
    context().transfers[none].counts_in_stream = true;
    ++cta.outstanding;
    context().post(issued + latency, EventKind::kTransferDone, index_, none);
    return;
  }
  const auto chunks = static_cast<std::uint32_t>((lines_.size() + kChunkLines - 1) / kChunkLines);
  const std::uint32_t primary = new_transfer(slot, stream_index, op);
  const std::uint16_t mask = cta.cluster == kNoHandle ? std::uint16_t{0} : op.mem.multicast;
  std::uint8_t deliveries = 1;
  std::uint32_t owner = primary;
  if (mask != 0) {
    const Cluster& cluster = (*environment_->clusters)[cta.cluster];
    owner = context().multicast_groups.acquire();
    MulticastGroup& g = context().multicast_groups[owner];
    g.chunks_left = chunks;
    deliveries = static_cast<std::uint8_t>(std::popcount(mask));
    bool primary_used = false;
    for (std::uint32_t r = 0; r < cluster.size; ++r) {
      if ((mask >> r & 1) == 0) {
        continue;
      }
      // Each destination CTA completes its own barrier when its copy has arrived.
      std::uint32_t handle = primary;
      if (primary_used) {
        handle = context().new_transfer();
        context().transfers[handle] = context().transfers[primary];
      }
      primary_used = true;
      Transfer& d = context().transfers[handle];
      d.sm = cluster.sm[r];
      d.cta_slot = cluster.slot[r];
      d.remaining = chunks;
      d.counts_in_stream = true;
      g.transfer[r] = handle;
      g.sm[r] = cluster.sm[r];
      ++(*environment_->sms)[cluster.sm[r]].ctas_[cluster.slot[r]].outstanding;
    }
  } else {
    Transfer& d = context().transfers[primary];
    d.remaining = chunks;
    d.counts_in_stream = true;
    ++cta.outstanding;
  }
  const Tick now = context().now();
  tma_.reserve(now, std::int64_t{t.issue_cycles} * kScale);
  const double rows_per_chunk = static_cast<double>(op.mem.rows + op.mem.oob_rows) / chunks;
  std::uint32_t next = 0;
  std::uint32_t oob = oob_sectors_;
  for (std::uint32_t k = 0; k < chunks; ++k) {
    const std::uint32_t handle = context().new_chunk();
    Chunk& c = context().chunks[handle];
    c.sm = index_;
    c.partition = port_->partition;
    c.transfer = owner;
    c.multicast = mask;
    c.deliveries = deliveries;
    c.from_tma = true;
    c.fills_smem = true;
    for (; next < lines_.size() && c.count < kChunkLines; ++next) {
      c.line[c.count] = lines_[next].line;
      c.mask[c.count] = lines_[next].mask;
      c.sectors = static_cast<std::uint16_t>(c.sectors + count_sectors(lines_[next].mask));
      ++c.count;
    }
    if (k + 1 == chunks) {
      c.oob_sectors = oob;
      oob = 0;
    }
    const double bytes = (c.sectors + c.oob_sectors) * static_cast<double>(kSectorBytes);
    const double busy = std::max(rows_per_chunk * t.row_cycles, bytes / t.bytes_per_cycle);
    const Tick engine = tma_.reserve(now, std::llround(busy * kScale));
    context().counters.add(Counter::kTmaBytes, static_cast<std::uint64_t>(bytes));
    tma_queue_.push(QueuedChunk{handle, std::max(engine, issued) + latency});
  }
  pump();
}

}  // namespace strata
