// The LSU: coalescing, L1, cp.async and what comes back. Stores: sm_store.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "models/hw/sm/l1_passes.hpp"
#include "models/hw/sm/sm.hpp"
#include "sim/base/error.hpp"
#include "workloads/spec/bank_wavefronts.hpp"

namespace strata {

namespace {

/// What a sector that comes through L1 for lanes which lie apart, or for cp.async, takes of the data path beside its
/// wavefronts: fills write 64 B a clk. An fp32 GEMM that keeps the path busy all the time (64x64 tiles) shows the same.
/// Clk of a cp.async on an H200 less its wavefronts: 1.7 to 2.9 for 4 B lanes (4 to 4.5 sectors). Of LDG whose lanes
/// lie apart see fill_path_bytes.
constexpr std::uint32_t kFillPathBytes = 64;

/// What a sector takes that comes for lanes apart. To registers it is hidden where all elements of a lane's 16 B lie in
/// one sector, so that one request of eight misses; where later requests miss too, a quarter of a clk stays.
std::uint32_t fill_path_bytes(const MemoryRef& m, bool to_smem) {
  if (to_smem) return kFillPathBytes;
  const bool in_one_sector =
      m.row_pitch % m.lane_pitch == 0 && m.address % static_cast<std::uint64_t>(m.lane_pitch) == 0;
  return in_one_sector ? 0 : kFillPathBytes / 2;
}

/// A load whose lanes are apart within the rows of a box.
bool lanes_apart(const MemoryRef& m) {
  return m.pattern == Pattern::kBox && m.lane_pitch > m.lane_bytes && m.lane_bytes > 0;
}

}  // namespace

void Sm::collect_lines(const Operation& op, const Stream& stream) {
  lines_.clear();
  const MemoryRef& m = op.mem;
  const auto add = [this](std::size_t from, std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t end = address + bytes - 1;
    for (std::uint64_t line = address / kLineBytes; line <= end / kLineBytes; ++line) {
      const std::uint64_t base = line * kLineBytes;
      const std::uint8_t mask =
          sector_mask(std::max(address, base) - base, std::min(end, base + kLineBytes - 1) - base);
      const auto line32 = static_cast<std::uint32_t>(line);
      bool merged = false;
      for (std::size_t i = lines_.size(); i-- > from;) {
        if (lines_[i].line == line32) {
          lines_[i].mask = static_cast<std::uint8_t>(lines_[i].mask | mask);
          merged = true;
          break;
        }
        if (lines_.size() - i >= kWarpLanes) {
          break;
        }
      }
      if (!merged) {
        lines_.push_back(LineAccess{line32, mask});
      }
    }
  };
  switch (m.pattern) {
    case Pattern::kBox: {
      if (m.row_bytes == 0) {
        break;
      }
      if (const BoxLines box = box_lines(m); box.count > 0) {
        for (std::uint32_t i = 0; i < box.count; ++i) {
          lines_.push_back(LineAccess{box.pattern.line(i), box.pattern.mask});
        }
      } else if (m.row_pitch == static_cast<std::int64_t>(m.row_bytes) || m.rows == 1) {
        // One contiguous run: its lines are distinct by construction.
        const std::uint64_t bytes = std::uint64_t{m.rows} * m.row_bytes;
        add(lines_.size(), m.address, bytes);
      } else {
        for (std::uint32_t r = 0; r < m.rows; ++r) {
          const std::uint64_t address = m.address + static_cast<std::uint64_t>(r * m.row_pitch);
          const bool may_share = m.row_pitch < static_cast<std::int64_t>(kLineBytes) && !lines_.empty();
          add(may_share ? lines_.size() - 1 : lines_.size(), address, m.row_bytes);
        }
      }
      break;
    }
    case Pattern::kLanes:
      for (std::uint32_t i = 0; i < m.rows; ++i) {
        for (std::uint32_t w = 0; w < stream.num_warps; ++w) {
          const std::size_t from = lines_.size();
          const std::uint64_t base =
              m.address + static_cast<std::uint64_t>(i * m.row_pitch) + static_cast<std::uint64_t>(w * m.warp_pitch);
          if (m.lane_pitch == m.lane_bytes) {
            add(lines_.size(), base, std::uint64_t{m.lanes} * m.lane_bytes);
            continue;
          }
          for (std::uint32_t l = 0; l < m.lanes; ++l) {
            add(from, base + static_cast<std::uint64_t>(std::int64_t{l} * m.lane_pitch), m.lane_bytes);
          }
        }
      }
      break;
    case Pattern::kTable: {
      const auto addresses = environment_->source->lane_addresses(m.table_index);
      for (std::uint32_t l = 0; l < m.lanes && l < kWarpLanes; ++l) {
        add(0, addresses[l], m.lane_bytes);
      }
      break;
    }
  }
}

std::uint32_t Sm::requests_of(const Operation& op, const Stream& stream) {
  if (op.mem.pattern == Pattern::kLanes) {
    return op.mem.rows * stream.num_warps;
  }
  return op.pipe == Pipe::kLsu && op.pipe_work > 0 ? op.pipe_work * stream.num_warps : std::max(1U, op.warp_insts);
}

std::uint32_t Sm::new_transfer(std::uint32_t slot, std::uint32_t stream_index, const Operation& op) {
  const std::uint32_t handle = context().new_transfer();
  Transfer& t = context().transfers[handle];
  t.sm = index_;
  t.cta_slot = static_cast<std::uint16_t>(slot);
  t.stream = static_cast<std::uint16_t>(stream_index);
  const auto stream16 = static_cast<std::uint16_t>(stream_index);
  if (op.completes[0].cls != TokenClass::kNone && op.completes[0].at != SignalAt::kIssue) {
    t.signals = PackedSignal::pack(op.completes[0], stream16);
  }
  if (op.completes[1].cls != TokenClass::kNone && op.completes[1].at != SignalAt::kIssue) {
    t.signals2 = PackedSignal::pack(op.completes[1], stream16);
  }
  return handle;
}

void Sm::finish_piece(std::uint32_t transfer, Tick done, ServedBy served) {
  Transfer& t = context().transfers[transfer];
  t.done_at = std::max(t.done_at, done);
  t.served = std::max(t.served, served);
  if (t.remaining == 0) {
    throw ModelBug("SM: a transfer received more chunks than it asked for");
  }
  if (--t.remaining == 0) {
    context().post(std::max(t.done_at, context().now()), EventKind::kTransferDone, t.sm, transfer);
  }
}

void Sm::send_read(std::uint32_t chunk, Tick at) {
  const Chunk& c = context().chunks[chunk];
  const Tick translation = port_->tlb->look_up(port_->gpc, context().line(c, 0), context().now());
  context().post(at + port_->request_latency + translation, EventKind::kReadAtL2, 0, chunk);
}

void Sm::take_turns(const Stream& stream) {
  // Warps of a CTA reach a load in an order that differs from SM to SM, so that neighbours do not ask for the same
  // lines at the same time although they run in step.
  const std::size_t chunks = lines_.size() / kChunkLines;
  if (stream.num_warps == 1 || chunks < 2) {
    return;
  }
  const std::size_t first = (index_ * 7U + stream.next) % chunks;
  std::rotate(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(first * kChunkLines),
              lines_.begin() + static_cast<std::ptrdiff_t>(chunks * kChunkLines));
}

void Sm::prefetch_l1_tags() const {
  for (const LineAccess& access : lines_) {
    l1_.prefetch(l1_place(access.line).set);
  }
}

void Sm::start_load(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued) {
  const Stream& stream = ctas_[slot].streams[stream_index];
  collect_lines(op, stream);
  take_turns(stream);
  const bool to_smem = op.kind == OpKind::kCpAsync;
  const bool pieces = op.mem.policy == CachePolicy::kBypassL1InPieces;
  const bool use_l1 = !pieces && op.mem.policy != CachePolicy::kBypassL1;
  if (use_l1) {
    prefetch_l1_tags();
  }
  const std::uint32_t transfer = new_transfer(slot, stream_index, op);
  Transfer& t = context().transfers[transfer];
  t.counts_in_stream = true;
  ++ctas_[slot].outstanding;
  Counters& counters = context().counters;
  counters.add(Counter::kGlobalRequests, requests_of(op, stream));

  const Tick now = context().now();
  const Tick lsu_done = issued;
  const Tick hit_latency = cycles(config().l1.latency_cycles);
  Tick tags_done = lsu_done;
  std::uint32_t sectors_seen = 0;
  std::uint32_t sectors_hit = 0;
  std::uint32_t chunk = kNoHandle;
  fetched_.clear();
  const std::int64_t copy_units = std::llround(config().l1.async_copy_cycles * requests_of(op, stream) * kScale) /
                                  std::max<std::int64_t>(1, static_cast<std::int64_t>(lines_.size()));
  const auto flush = [&] {
    if (chunk != kNoHandle) {
      context().set_lines(context().chunks[chunk], fetched_);
      fetched_.clear();
      ++context().transfers[transfer].remaining;
      load_queue_.push(QueuedChunk{chunk, std::max(tags_done, issued) + hit_latency});
      open_stores_.miss(tags_done);
      chunk = kNoHandle;
    }
  };
  for (const LineAccess& access : lines_) {
    std::uint8_t fetch = access.mask;
    const auto sectors = count_sectors(access.mask);
    sectors_seen += sectors;
    tags_done = std::max(tags_done, l1_tags_port_.reserve(now, kScale));
    if (to_smem) {
      tags_done = std::max(tags_done, async_copy_.reserve(now, copy_units));
    }
    std::uint32_t fill = L1Tags::kMiss;
    if (use_l1) {
      const L1Place place = l1_place(access.line);
      const std::uint32_t index = l1_.find(place.set, place.tag);
      if (index != L1Tags::kMiss) {
        l1_.touch(index);
        fetch = static_cast<std::uint8_t>(access.mask & ~l1_.valid(index));
        const std::uint8_t pending = fetch != 0 ? l1_.pending(index) : 0;
        if ((fetch & pending) != 0) {
          // Hit on a miss: wait for whoever fetches the line. Its own chunk may still be gathering lines.
          if (context().add_waiter(context().chunks[l1_.filler(index)], transfer, kAtSm, true)) {
            ++context().transfers[transfer].remaining;
          }
          fetch = static_cast<std::uint8_t>(fetch & ~pending);
        }
        sectors_hit += sectors - count_sectors(fetch);
        if (fetch != 0) {
          fill = index;
        }
      } else {
        fill = l1_.allocate(place.set, place.tag);
      }
    }
    if (fetch == 0) {
      continue;
    }
    if (chunk == kNoHandle) {
      chunk = context().new_chunk();
      Chunk& c = context().chunks[chunk];
      c.sm = index_;
      c.partition = port_->partition;
      c.transfer = transfer;
      c.deliveries = 1;
      c.fills_smem = to_smem;
      c.allocate_l1 = use_l1;
      c.pieces = pieces;
    }
    fetched_.push_back(LineAccess{access.line, fetch});
    if (fill != L1Tags::kMiss) {
      l1_.set_pending(fill, fetch, chunk);
    }
    if (fetched_.size() == kChunkLines) {
      flush();
    }
  }
  flush();
  counters.add(Counter::kL1GlobalLoadSectors, sectors_seen);
  counters.add(Counter::kL1GlobalLoadHitSectors, sectors_hit);
  // Data of hits passes now, other sectors when they come.
  Transfer& loaded = context().transfers[transfer];
  Tick data = now;
  const bool strided = lanes_apart(op.mem);
  const bool lanes = op.mem.pattern == Pattern::kLanes && op.mem.lane_pitch > op.mem.lane_bytes;
  if ((!to_smem || strided) && sectors_seen > 0) {
    const bool misses = loaded.remaining > 0;
    const std::int64_t bytes =
        strided ? strided_path_bytes(op, stream, misses)
                : (lanes ? lanes_path_bytes(op, stream, misses) : data_path_bytes(op, stream, sectors_seen));
    data = sectors_hit > 0 ? smem_read_.reserve(now, bytes * sectors_hit / sectors_seen) : now;
    loaded.path_bytes =
        static_cast<std::uint32_t>(bytes / sectors_seen) + (strided ? fill_path_bytes(op.mem, to_smem) : 0);
    if (to_smem) {
      counters.add(Counter::kSmemWavefronts, static_cast<std::uint64_t>(bytes / config().smem.read_bytes_per_cycle));
    }
  } else if (to_smem && use_l1) {
    loaded.path_bytes = kFillPathBytes;
  }
  loaded.done_at = std::max({lsu_done, tags_done, data, issued}) + hit_latency;
  loaded.served = ServedBy::kL1;
  if (loaded.remaining == 0) {
    context().post(loaded.done_at, EventKind::kTransferDone, index_, transfer);
  } else {
    pump();
  }
}

std::int64_t Sm::lanes_path_bytes(const Operation& op, const Stream& stream, bool misses) const {
  constexpr std::uint32_t kSamples = 2;
  const MemoryRef& m = op.mem;
  const std::uint32_t lanes = std::min<std::uint32_t>(m.lanes, kWarpLanes);
  // Of warps that ask for the same lines one fetches them; the others, which are not in step with it, find them.
  const double missing = m.warp_pitch == 0 ? 1.0 / stream.num_warps : 1.0;
  double wavefronts = 0;
  for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
    const std::int64_t first =
        m.rows * sample / kSamples * m.row_pitch + stream.num_warps * sample / kSamples * m.warp_pitch;
    std::array<std::uint64_t, kWarpLanes> at{};
    for (std::uint32_t l = 0; l < lanes; ++l) {
      at[l] = m.address + static_cast<std::uint64_t>(first + std::int64_t{l} * m.lane_pitch);
    }
    const L1Passes passes = l1_passes(std::span(at).first(lanes), m.lane_bytes, 0);
    wavefronts += passes.together + (misses ? passes.apart - passes.together : 0) * missing;
  }
  return std::llround(wavefronts / kSamples * requests_of(op, stream) * config().smem.read_bytes_per_cycle);
}

std::int64_t Sm::data_path_bytes(const Operation& op, const Stream& stream, std::uint32_t sectors) const {
  const MemoryRef& m = op.mem;
  const std::uint32_t requests = requests_of(op, stream);
  std::int64_t wavefronts = std::max<std::int64_t>(requests, (sectors * kSectorBytes + kLineBytes - 1) / kLineBytes);
  if (m.pattern == Pattern::kBox && m.lane_pitch > 0) {
    wavefronts = std::int64_t{requests} *
                 bank_wavefronts(m.address, m.lane_pitch, lanes_of_row(m), m.row_pitch, kWarpLanes, m.lane_bytes);
  } else if (m.pattern == Pattern::kLanes && m.lane_pitch != m.lane_bytes) {
    wavefronts =
        std::int64_t{requests} * bank_wavefronts(m.address, m.lane_pitch, kWarpLanes, 0, m.lanes, m.lane_bytes);
  } else if (m.pattern == Pattern::kTable) {
    const auto addresses = environment_->source->lane_addresses(m.table_index);
    wavefronts = bank_wavefronts(addresses.first(std::min<std::size_t>(m.lanes, addresses.size())), m.lane_bytes);
  }
  return wavefronts * config().smem.read_bytes_per_cycle;
}

std::int64_t Sm::strided_path_bytes(const Operation& op, const Stream& stream, bool misses) const {
  const MemoryRef& m = op.mem;
  const std::uint32_t per_row = lanes_of_row(m);
  const std::uint32_t rows = std::max(1U, kWarpLanes / per_row);
  const std::uint32_t elements = static_cast<std::uint32_t>(m.lane_pitch) / m.lane_bytes;
  // Requests with no lane in range take no wavefront.
  const double requests =
      std::min<double>(requests_of(op, stream), std::ceil(static_cast<double>(m.rows) / rows) * elements *
                                                    std::ceil(static_cast<double>(m.row_bytes) / kLineBytes));
  const bool to_smem = op.kind == OpKind::kCpAsync;
  const L1Passes passes = environment_->strided_passes.of(m, per_row, to_smem);
  return std::llround((misses || to_smem ? passes.apart : passes.together) * requests *
                      config().smem.read_bytes_per_cycle);
}

void Sm::pump() {
  const Tick now = context().now();
  while (!load_queue_.empty()) {
    const QueuedChunk q = load_queue_.front();
    const Chunk& c = context().chunks[q.chunk];
    if (!load_credits_.take(c.sectors)) {
      break;
    }
    load_queue_.pop();
    prefetch_waiting();
    send_read(q.chunk, std::max(now, q.earliest));
  }
  pump_tma();
  while (!store_queue_.empty()) {
    const QueuedChunk q = store_queue_.front();
    const Chunk& c = context().chunks[q.chunk];
    if (!store_credits_.take(c.sectors)) {
      break;
    }
    store_queue_.pop();
    ++store_chunks_sent_;
    const Tick sent = port_->write.reserve(std::max(now, q.earliest), c.flit_bytes());
    const Tick translation = port_->tlb->look_up(port_->gpc, context().line(c, 0), context().now());
    context().post(sent + port_->request_latency + translation, EventKind::kWriteAtL2, 0, q.chunk);
    Transfer& t = context().transfers[c.transfer];
    if (--t.unsent == 0) {
      // The sources may be overwritten, and the CTA may leave; the acknowledgements come on their own.
      for (std::uint64_t* s : {&t.signals, &t.signals2}) {
        if (PackedSignal::valid(*s) && PackedSignal::at(*s) == SignalAt::kOperandsRead) {
          emit(t.cta_slot, *s, sent, StackReason::kDrain);
          *s = 0;
        }
      }
      --ctas_[t.cta_slot].outstanding;
      maybe_retire(t.cta_slot);
    }
  }
  while (!stalled_streams_.empty() && stalled_streams_.front().last_chunk <= store_chunks_sent_) {
    const StalledStream s = stalled_streams_.front();
    stalled_streams_.pop();
    context().post(std::max(now, s.next), EventKind::kStreamRun, index_, s.slot, s.stream);
  }
}

void Sm::chunk_arrived(std::uint32_t chunk, std::uint32_t rank, Tick done) {
  Chunk& c = context().chunks[chunk];
  const std::uint32_t sectors = c.sectors + c.oob_sectors;
  context().counters.add(Counter::kDeliveredSectors, sectors);
  std::uint32_t transfer = c.transfer;
  if (c.multicast != 0) {
    transfer = context().multicast_groups[c.transfer].transfer[rank];
  }
  if (c.fills_smem) {
    const std::int64_t bytes = std::int64_t{sectors} * kSectorBytes;
    context().counters.add(Counter::kSmemFillBytes, static_cast<std::uint64_t>(bytes));
    done = std::max(done, smem_fill_.reserve(context().now(), bytes));
    const auto coupled = static_cast<std::int64_t>(config().smem.fill_read_coupling * static_cast<double>(bytes));
    if (coupled > 0) {
      smem_read_.reserve(context().now(), coupled);
    }
  }
  if (const std::uint32_t path_bytes = context().transfers[transfer].path_bytes; path_bytes > 0) {
    const std::int64_t work = std::int64_t{path_bytes} * sectors;
    if (c.fills_smem) {
      // Copies pass between the fragment reads of a tile, which take the path from the tile's start on, at its end.
      smem_read_.reserve(0, work);
    } else {
      done = std::max(done, smem_read_.reserve(context().now(), work));
    }
  }
  if (c.allocate_l1) {
    for (std::uint32_t i = 0; i < c.count; ++i) {
      const L1Place place = l1_place(context().line(c, i));
      const std::uint32_t index = l1_.find(place.set, place.tag);
      if (index != L1Tags::kMiss) {
        l1_.fill(index, chunk, context().mask(c, i));
      }
    }
    std::uint32_t node = c.waiters;
    c.waiters = kNoHandle;
    while (node != kNoHandle) {
      const WaiterNode w = context().waiters[node];
      context().waiters.release(node);
      finish_piece(w.handle, done, c.served);
      node = w.next;
    }
  }
  finish_piece(transfer, done, c.served);
  if (--c.deliveries == 0) {
    Sm& requester = (*environment_->sms)[c.sm];
    if (c.from_tma) {
      requester.tma_credits_.give(std::int64_t{c.sectors} * kSectorBytes);
    } else {
      requester.load_credits_.give(c.sectors);
    }
    if (c.multicast != 0 && --context().multicast_groups[c.transfer].chunks_left == 0) {
      context().multicast_groups.release(c.transfer);
    }
    const bool more = !requester.load_queue_.empty() || !requester.tma_queue_.empty();
    context().free_chunk(chunk);
    if (more) {
      requester.pump();
    }
  }
}

void Sm::transfer_done(std::uint32_t transfer) {
  const Transfer t = context().transfers[transfer];
  context().transfers.release(transfer);
  const StackReason reason = t.served == ServedBy::kSm ? StackReason::kTensor : reason_of(t.served);
  emit(t.cta_slot, t.signals, context().now(), reason);
  emit(t.cta_slot, t.signals2, context().now(), reason);
  if (t.counts_in_stream) {
    --ctas_[t.cta_slot].outstanding;
    maybe_retire(t.cta_slot);
  }
}

void Sm::write_done(std::uint32_t chunk) {
  const Chunk c = context().chunks[chunk];
  store_credits_.give(c.sectors);
  context().free_chunk(chunk);
  finish_piece(c.transfer, context().now(), c.served);
  if (!store_queue_.empty()) {
    pump();
  }
}

void Sm::start_dsmem(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued) {
  const std::int64_t bytes = op.mem.pattern == Pattern::kLanes
                                 ? std::int64_t{op.mem.rows} * op.mem.lanes * op.mem.lane_bytes
                                 : std::int64_t{op.mem.rows} * op.mem.row_bytes;
  const std::uint32_t transfer = new_transfer(slot, stream_index, op);
  Transfer& t = context().transfers[transfer];
  t.counts_in_stream = true;
  t.served = ServedBy::kCrossbar;
  ++ctas_[slot].outstanding;
  // The way into an SM and a GPC's network are booked in bytes of loads; bulk copies need less of both.
  const SharedMemoryConfig& c = config().smem;
  const std::int64_t work =
      op.kind == OpKind::kTma ? bytes * c.dsmem_bytes_per_cycle / std::max(1, c.dsmem_bulk_bytes_per_cycle) : bytes;
  const Tick now = context().now();
  const Tick through = std::max(dsmem_.reserve(now, work), environment_->dsmem_gpcs[port_->gpc].reserve(now, work));
  const Tick done = std::max(through, issued) + cycles(c.dsmem_latency_cycles);
  context().post(done, EventKind::kTransferDone, index_, transfer);
}

}  // namespace strata
