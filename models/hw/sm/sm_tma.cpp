// The TMA unit: boxes become chunks, multicast loads complete in every destination CTA.
#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "models/hw/sm/sm.hpp"
#include "sim/base/error.hpp"

namespace strata {

namespace {

/// Requested and delivered beyond the tensor. Measured on an H200, sectors delivered and read in the L2 of single
/// boxes.
struct OobSectors {
  std::uint32_t rows = 0;       ///< of rows beyond it: as if aligned, and all alike
  std::uint32_t columns = 0;    ///< of the others: a sector that the tensor ends within is asked for once more
  std::uint32_t row_times = 0;  ///< of the engine beyond one a row: rows that end beyond the columns
};

/// What a multicast row asks for beyond the tensor's columns, at least. Measured: 16 to 112 B of 128 B that exist, rows
/// on a line and at every 16 B off it, bring just what this and multicast_sectors() add up to (docs/model/tma.md).
constexpr std::uint32_t kMulticastBeyondSectors = 3;

/// The engine's time for a row that ends beyond the columns, in those of a whole row beyond the first. Measured on an
/// H200 (tma_beyond): boxes of 128 such rows take two SMs 380 clk where the tensor ends with a sector, 513 within one.
constexpr std::uint32_t kEdgeRowTimes = 2;
constexpr std::uint32_t kSplitRowTimes = 3;

OobSectors oob_sectors_of(const MemoryRef& m, bool multicast) {
  OobSectors oob;
  if (m.pattern != Pattern::kBox || m.row_bytes == 0) {
    return oob;
  }
  const auto sectors = [](std::uint64_t bytes) {
    return static_cast<std::uint32_t>((bytes + kSectorBytes - 1) / kSectorBytes);
  };
  oob.rows = m.oob_rows * sectors(std::uint64_t{m.row_bytes} + m.oob_bytes);
  if (m.oob_bytes != 0) {
    std::uint64_t end = m.address + m.row_bytes;
    for (std::uint32_t r = 0; r < m.rows; ++r, end += static_cast<std::uint64_t>(m.row_pitch)) {
      oob.columns += std::max(sectors(end % kSectorBytes + m.oob_bytes), multicast ? kMulticastBeyondSectors : 1U);
      oob.row_times += end % kSectorBytes == 0 ? kEdgeRowTimes : kSplitRowTimes;
    }
  }
  return oob;
}

/// A multicast request is for two sectors at least (measured: rows of 128 B that start 16 B off a line bring six, 32 B
/// five, 64 B four).
std::uint8_t multicast_sectors(std::uint8_t mask) {
  return count_sectors(mask) == 1 ? static_cast<std::uint8_t>(sector_pairs(mask)) : mask;
}

}  // namespace

void Sm::start_tma(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued) {
  if (config().tma.present == 0) {
    throw UnsupportedError(config().chip.name + " has no TMA unit");
  }
  if (op.mem.space == MemSpace::kDsmem) {
    const Tick engine = tma_.reserve(context().now(), std::int64_t{config().tma.issue_cycles} * kScale);
    start_dsmem(slot, stream_index, op, std::max(issued, engine));
    return;
  }
  if (op.mem.dir == MemDir::kLoad || op.mem.dir == MemDir::kPrefetch) {
    start_tma_load(slot, stream_index, op, issued);
    return;
  }
  const double busy = std::max<double>(config().tma.issue_cycles, config().tma.row_cycles * op.mem.rows);
  const Tick engine = tma_.reserve(context().now(), std::llround(busy * kScale));
  start_store(slot, stream_index, op, std::max(issued, engine));
}

Sm::BoxLines Sm::box_lines(const MemoryRef& m) {
  const bool one_run = m.rows == 1 || m.row_pitch == static_cast<std::int64_t>(m.row_bytes);
  if (m.pattern != Pattern::kBox || m.row_bytes == 0 || m.rows == 0 || (!one_run && m.row_pitch % kLineBytes != 0)) {
    return {};
  }
  const std::uint64_t offset = m.address % kLineBytes;
  const std::uint64_t rows = one_run ? 1 : m.rows;
  const std::uint64_t bytes = one_run ? std::uint64_t{m.rows} * m.row_bytes : m.row_bytes;
  BoxLines box;
  box.pattern.first = static_cast<std::uint32_t>(m.address / kLineBytes);
  box.pattern.stride = static_cast<std::int32_t>(m.row_pitch / kLineBytes);
  if (offset + bytes <= kLineBytes) {
    box.pattern.mask = sector_mask(offset, offset + bytes - 1);
    box.count = static_cast<std::uint32_t>(rows);
    return box;
  }
  const std::uint64_t row_lines = bytes / kLineBytes;
  if (offset != 0 || bytes % kLineBytes != 0) {
    return {};
  }
  box.count = static_cast<std::uint32_t>(rows * row_lines);
  if (rows == 1) {
    box.pattern.stride = 1;
    return box;
  }
  if (!std::has_single_bit(row_lines) || row_lines > kChunkLines) {
    return {};
  }
  box.pattern.row_shift = static_cast<std::uint8_t>(std::countr_zero(row_lines));
  return box;
}

void Sm::start_tma_load(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued) {
  const TmaConfig& t = config().tma;
  Cta& cta = ctas_[slot];
  Tick latency = cycles(t.latency_cycles);
  if (!tma_warm_) {
    tma_warm_ = true;
    latency += cycles(t.descriptor_miss_cycles);
  }
  const std::uint16_t mask = cta.cluster == kNoHandle ? std::uint16_t{0} : op.mem.multicast;
  const OobSectors beyond = oob_sectors_of(op.mem, mask != 0);
  const std::uint32_t oob = beyond.rows + beyond.columns;
  TmaJob job;
  if (const BoxLines box = box_lines(op.mem); box.count > 0) {
    job.lines = box.pattern;
    job.total = box.count;
  } else {
    collect_lines(op, cta.streams[stream_index]);
    job.rest = lines_;
    job.total = static_cast<std::uint32_t>(lines_.size());
  }
  if (job.total == 0) {
    const std::uint32_t none = new_transfer(slot, stream_index, op);
    context().transfers[none].counts_in_stream = true;
    ++cta.outstanding;
    context().post(issued + latency, EventKind::kTransferDone, index_, none);
    return;
  }
  // Rows that share a line are asked for one by one (measured: 70 rows of 16 B and 62 of 32 B a clk for all SMs, which
  // is a look-up per slice and clk).
  constexpr std::uint32_t kMostRequests = 8;
  job.lines.requests = static_cast<std::uint8_t>(std::clamp(op.mem.rows / job.total, 1U, kMostRequests));
  job.form.pattern.requests = job.lines.requests;
  if (mask != 0) {
    job.lines.mask = multicast_sectors(job.lines.mask);
    for (LineAccess& line : job.rest) {
      line.mask = multicast_sectors(line.mask);
    }
  }
  const std::uint32_t chunks = (job.total + kChunkLines - 1) / kChunkLines;
  const std::uint32_t primary = new_transfer(slot, stream_index, op);
  Chunk& form = job.form;
  form.sm = index_;
  form.partition = port_->partition;
  form.multicast = mask;
  form.deliveries = 1;
  form.transfer = primary;
  form.from_tma = true;
  form.fills_smem = true;
  form.oob_sectors = static_cast<std::uint16_t>(oob);
  form.oob_rows = static_cast<std::uint16_t>(beyond.rows);
  if (mask == 0 && config().lrc.present != 0) {
    // Rows beyond the tensor are requests for the same bytes, which merge as those of different SMs do.
    const auto limit = static_cast<std::uint32_t>(config().lrc.merge_limit);
    form.oob_merged = static_cast<std::uint16_t>(beyond.rows - (beyond.rows + limit - 1) / limit);
  }
  if (mask != 0) {
    const Cluster& cluster = (*environment_->clusters)[cta.cluster];
    form.transfer = context().multicast_groups.acquire();
    MulticastGroup& g = context().multicast_groups[form.transfer];
    g.chunks_left = chunks;
    form.deliveries = static_cast<std::uint8_t>(std::popcount(mask));
    const Transfer every = context().transfers[primary];
    bool primary_used = false;
    for (std::uint32_t r = 0; r < cluster.size; ++r) {
      if ((mask >> r & 1) == 0) {
        continue;
      }
      // Each destination CTA completes its own barrier, and no other's, when its copy has arrived.
      std::uint32_t handle = primary;
      if (primary_used) {
        handle = context().new_transfer();
      }
      primary_used = true;
      context().transfers[handle] = every;
      Transfer& d = context().transfers[handle];
      d.sm = cluster.sm[r];
      d.cta_slot = cluster.slot[r];
      d.remaining = chunks;
      d.counts_in_stream = true;
      d.signals = PackedSignal::at_rank(d.signals, r);
      d.signals2 = PackedSignal::at_rank(d.signals2, r);
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
  const Tick begin = tma_.reserve(now, std::int64_t{t.issue_cycles} * kScale);
  const std::int64_t sectors = sectors_of(job) + oob;
  const double bytes = static_cast<double>(sectors * kSectorBytes);
  const double busy =
      std::max((op.mem.rows + op.mem.oob_rows + beyond.row_times) * t.row_cycles, bytes / t.bytes_per_cycle);
  // Descriptors of one operation are worked on while another's bytes are asked for.
  const Tick asked = tma_bytes_.reserve(begin, std::llround(busy * kScale));
  context().counters.add(Counter::kTmaBytes, static_cast<std::uint64_t>(bytes));
  job.interval_units = std::llround(busy * kScale / chunks);
  job.first = std::max(asked - job.interval_units * (chunks - 1) * sm_cycle_ / kScale, issued) + latency;
  tma_queue_.push(std::move(job));
  pump();
}

void Sm::pump_tma() {
  const Tick now = context().now();
  while (!tma_queue_.empty()) {
    TmaJob& job = tma_queue_.front();
    const std::uint32_t count = std::min(kChunkLines, job.total - job.next);
    Chunk c = job.form;
    if (job.rest.empty()) {
      c.pattern = job.lines;
      c.pattern.first = job.lines.line(job.next);
      c.count = static_cast<std::uint8_t>(count);
      c.sectors = static_cast<std::uint16_t>(count * count_sectors(job.lines.mask));
    } else {
      c.sectors = 0;
      for (std::uint32_t i = 0; i < count; ++i) {
        c.sectors = static_cast<std::uint16_t>(c.sectors + count_sectors(job.rest[job.next + i].mask));
      }
    }
    if (!tma_credits_.take(std::int64_t{c.sectors} * kSectorBytes)) {
      return;
    }
    const std::uint32_t handle = context().new_chunk();
    c.generation = context().chunks[handle].generation;
    const bool last = job.next + count == job.total;
    if (!last) {
      c.oob_sectors = c.oob_merged = c.oob_rows = 0;
    }
    if (!job.rest.empty()) {
      context().set_lines(c, std::span<const LineAccess>(job.rest).subspan(job.next, count));
    }
    context().chunks[handle] = c;
    const Tick earliest = job.first + job.next / kChunkLines * (job.interval_units * sm_cycle_ / kScale);
    job.next += count;
    if (last) {
      tma_queue_.pop();
    }
    send_read(handle, std::max(now, earliest));
  }
}

std::int64_t Sm::sectors_of(const TmaJob& job) {
  if (job.rest.empty()) {
    return std::int64_t{job.total} * count_sectors(job.lines.mask);
  }
  std::int64_t sum = 0;
  for (const LineAccess& a : job.rest) {
    sum += count_sectors(a.mask);
  }
  return sum;
}

}  // namespace strata
