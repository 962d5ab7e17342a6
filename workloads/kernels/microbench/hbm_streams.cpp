#include "workloads/kernels/microbench/hbm_streams.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace strata::microbench {

namespace {

constexpr std::uint32_t kWarps = 16;
constexpr std::uint32_t kStepBytes = kWarps * kWarpLanes * 16;  ///< of one access of every thread of a CTA
constexpr std::uint32_t kSectorBytes = 32;
constexpr std::uint32_t kLoopInstructions = 4;

constexpr std::uint32_t kRegisters = 64;  ///< two CTAs of 512 threads fit
constexpr std::uint8_t kStoreSlot = 1;    ///< scoreboard slot of stores; loads use slot 0
/// Iterations whose stores may be under way: more than an SM's store queue holds, so that the queue is the limit.
constexpr std::uint64_t kStoresAhead = 4;

Launch stream_launch(const char* name, std::uint32_t ctas, std::uint32_t registers = kRegisters) {
  Launch l = bench_launch(name, ctas, kWarps);
  l.registers_per_thread = registers;
  return l;
}

/// What bench.cuh's flush leaves: an L2 full of another buffer, half of it dirty. All CTAs write 64 MiB and wait for
/// one another; they must all be resident.
std::vector<Section> flush(Launch& launch, std::uint32_t warps) {
  constexpr std::uint64_t kFlushAddress = std::uint64_t{1} << 38;
  constexpr std::uint64_t kFlushBytes = std::uint64_t{64} << 20;
  constexpr std::uint8_t kFlushSlot = 7;
  constexpr std::uint64_t kInFlight = 8;
  launch.global_counters = 1;
  const std::uint64_t ctas = launch.num_ctas();
  const std::uint64_t step = std::uint64_t{warps} * kWarpLanes * 16;
  const std::uint64_t stores = (kFlushBytes + step * ctas - 1) / (step * ctas);
  const Section write{stores, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                        op = contiguous(MemDir::kStore, kFlushAddress + (i * ctas + id.cta) * step,
                                        static_cast<std::uint32_t>(step), warps);
                        op.completes[0] = signal(TokenClass::kScoreboard, kFlushSlot);
                        if (i >= kInFlight) {
                          op.waits[0] = wait_for(TokenClass::kScoreboard, kFlushSlot, i - kInFlight + 1);
                        }
                      }};
  return {write,
          once(arrive(signal(TokenClass::kGlobalCounter, 0), wait_for(TokenClass::kScoreboard, kFlushSlot, stores))),
          once(hold(wait_for(TokenClass::kGlobalCounter, 0, ctas)))};
}

/// The sections of a launch, after a flush where one is asked for.
std::vector<Section> prepared(Launch& launch, bool after_flush, std::uint32_t warps, std::vector<Section> sections) {
  if (!after_flush) {
    return sections;
  }
  std::vector<Section> all = flush(launch, warps);
  all.insert(all.end(), sections.begin(), sections.end());
  return all;
}

/// Keeps only some sectors of every line of a contiguous access.
void keep_sectors(Operation& op, std::uint8_t sectors) {
  const auto count = static_cast<std::uint32_t>(std::popcount(sectors));
  const auto first = static_cast<std::uint32_t>(std::countr_zero(sectors));
  const auto distance =
      count == 1 ? 0 : (static_cast<std::uint32_t>(std::bit_width(sectors)) - 1 - first) / (count - 1);
  if (distance > 1) {  // sectors apart: as many rows as sectors
    op.mem.row_pitch = std::int64_t{distance} * kSectorBytes;
    op.mem.rows = op.mem.row_bytes / kLineBytes * count;
    op.mem.row_bytes = kSectorBytes;
  } else {
    op.mem.row_pitch = kLineBytes;
    op.mem.rows = op.mem.row_bytes / kLineBytes;
    op.mem.row_bytes = count * kSectorBytes;
  }
  op.mem.address += first * kSectorBytes;
}

/// The iterations [first, first + count) of the loop; `loads` were issued by the sections before.
Section iterations(const HbmStreamConfig& c, std::uint64_t first, std::uint64_t count, std::uint64_t steps) {
  const std::uint64_t loads = std::uint64_t{c.reads} * c.unroll;
  const std::uint64_t stores = std::uint64_t{c.writes} * c.unroll;
  const std::uint64_t per_iteration = loads + 1 + stores;
  return Section{count * per_iteration, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                   const std::uint64_t iteration = first + i / per_iteration;
                   const std::uint64_t part = i % per_iteration;
                   if (part == loads) {  // combines the values; it needs them all
                     op = compute(Pipe::kAlu, static_cast<std::uint32_t>(4 * loads + kLoopInstructions), kWarps);
                     op.waits[0] = wait_scoreboard((iteration + 1) * loads);
                     if (iteration >= kStoresAhead) {
                       op.waits[1] =
                           wait_for(TokenClass::kScoreboard, kStoreSlot, (iteration - kStoresAhead + 1) * stores);
                     }
                     return;
                   }
                   const bool load = part < loads;
                   const std::uint64_t in_part = load ? part : part - loads - 1;
                   const std::uint64_t arrays = load ? c.reads : c.writes;
                   const std::uint64_t array = in_part % arrays + (load ? 0 : c.reads);
                   const std::uint64_t step = (iteration * c.unroll + in_part / arrays) % steps;
                   const std::uint64_t at = (step * c.ctas + id.cta) * kStepBytes;
                   op = contiguous(load ? MemDir::kLoad : MemDir::kStore, kFirstAddress + array * c.pitch + at,
                                   kStepBytes, kWarps);
                   if (at >= c.bytes) {
                     op.mem.row_bytes = 0;  // past the end: predicated off
                   } else if (!load && c.write_sectors != 15) {
                     keep_sectors(op, c.write_sectors);
                   }
                   op.completes[0] = load ? signal_scoreboard() : signal(TokenClass::kScoreboard, kStoreSlot);
                 }};
}

/// A stamp once all loads and stores of so many iterations are done: what a finite store queue makes of the clock.
Operation done_stamp(const HbmStreamConfig& c, std::uint64_t iterations) {
  Operation op = stamp(wait_scoreboard(iterations * c.reads * c.unroll));
  op.waits[1] = wait_for(TokenClass::kScoreboard, kStoreSlot, iterations * c.writes * c.unroll);
  return op;
}

}  // namespace

std::uint32_t hbm_unroll(std::uint32_t reads) { return reads > 2 ? 1 : reads == 2 ? 2 : 4; }

std::unique_ptr<TraceSource> make_hbm_stream(const HbmStreamConfig& c) {
  Launch l = stream_launch("hbm_stream", c.ctas, c.registers);
  const std::uint64_t per_iteration = std::uint64_t{kStepBytes} * c.ctas * c.unroll;
  const auto rounds = [&](std::uint64_t bytes) { return (bytes + per_iteration - 1) / per_iteration; };
  const std::uint64_t all = rounds(c.bytes);
  const std::uint64_t steps = all * c.unroll;
  const std::uint64_t warm = std::min(rounds(c.warm_bytes), all);
  const std::uint64_t timed_rounds = all * c.passes - warm;
  std::vector<Section> sections{iterations(c, 0, warm, steps), once(done_stamp(c, warm)),
                                iterations(c, warm, timed_rounds, steps), once(done_stamp(c, all * c.passes))};
  sections = prepared(l, c.after_flush, kWarps, std::move(sections));
  return std::make_unique<Program>(std::move(l), std::move(sections));
}

std::unique_ptr<TraceSource> make_hbm_bulk_read(const HbmBulkConfig& c) {
  constexpr std::uint32_t kCopy = 8192;
  constexpr std::uint32_t kStages = 16;
  // What a turn of the loop costs its thread: one SM alone gets 26.9 B/clk (read_bulk_by_sms), two get twice that.
  constexpr std::uint32_t kLoopClocks = 304;
  Launch l = bench_launch("hbm_bulk_read", c.ctas, 4);
  l.streams = {StreamInfo{0, 1, "producer"}};
  l.smem_dynamic_bytes = kStages * kCopy;
  std::fill_n(l.mbarrier_arrivals.begin(), kStages, std::uint16_t{1});
  const auto each = [&](std::uint64_t bytes) { return (bytes / kCopy + c.ctas - 1) / c.ctas; };
  const std::uint64_t copies = each(c.bytes);
  const Section run{copies, [=](const StreamId& id, std::uint64_t n, StreamCursor&, Operation& op) {
                      const std::uint64_t at = (n * c.ctas + id.cta) * kCopy;
                      op.kind = OpKind::kTma;
                      set_instructions(op, 8, 1);
                      op.dependent_latency = kLoopClocks / kAluLatency;
                      op.mem.address = kFirstAddress + at;
                      op.mem.rows = 1;
                      op.mem.row_bytes = at < c.bytes ? kCopy : 0;
                      const auto slot = static_cast<std::uint8_t>(n % kStages);
                      op.waits[0] = wait_for(TokenClass::kMbarrier, slot, n / kStages);
                      op.completes[0] = signal(TokenClass::kMbarrier, slot);
                    }};
  // The stages of the last lap are awaited one after the other.
  const Section drain{
      kStages, [=](const StreamId&, std::uint64_t s, StreamCursor&, Operation& op) {
        op = hold(wait_for(TokenClass::kMbarrier, static_cast<std::uint8_t>(s), (copies + kStages - 1 - s) / kStages));
      }};
  std::vector<Section> sections{once(stamp()), run, drain, once(stamp())};
  sections = prepared(l, c.after_flush, 1, std::move(sections));
  return std::make_unique<Program>(std::move(l), std::move(sections));
}

namespace {

constexpr std::uint64_t kAtOnce = 4;  ///< words a thread asks for before it uses them
constexpr std::uint64_t kLoadsAtOnce = kAtOnce * kWarps;

/// Per four words of a thread: 4 x 16 warp loads and the use of their values. A warp instruction covers 512 bytes: one
/// piece of a row, or several short rows.
Section random_loads(const RandomRowsConfig& c) {
  const std::uint64_t count = c.per_thread / kAtOnce * (kLoadsAtOnce + 1);
  return Section{count, [c](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                   const std::uint64_t iteration = i / (kLoadsAtOnce + 1);
                   const std::uint64_t part = i % (kLoadsAtOnce + 1);
                   if (part == kLoadsAtOnce) {
                     op = compute(Pipe::kAlu, 16 + kLoopInstructions, kWarps);
                     op.waits[0] = wait_scoreboard((iteration + 1) * kLoadsAtOnce);
                     return;
                   }
                   op = contiguous(MemDir::kLoad, 0, 512, 1);
                   by_one_warp(op);
                   op.issue_slots = part % kWarps == 0 ? 1 : 0;  // the sixteen warps issue side by side: once each
                   op.mem.pattern = Pattern::kTable;
                   op.mem.lane_bytes = 16;
                   const std::uint64_t word = iteration * kAtOnce + part / kWarps;
                   op.mem.table_index = static_cast<std::uint32_t>((word * c.ctas + id.cta) * kWarps + part % kWarps);
                   op.completes[0] = signal_scoreboard();
                 }};
}

class RandomRows final : public TraceSource {
 public:
  explicit RandomRows(const RandomRowsConfig& c) : config_(c), program_(program_of(c)) {}
  [[nodiscard]] const Launch& launch() const override { return program_.launch(); }
  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    return program_.fetch(id, cursor, out);
  }

  [[nodiscard]] std::span<const std::uint64_t, 32> lane_addresses(std::uint32_t index) const override {
    static thread_local std::array<std::uint64_t, 32> lanes{};
    constexpr std::uint64_t kSetBytes = std::uint64_t{8} << 30;
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;  // hbm.cu's hash
    const std::uint32_t words_per_row = config_.row_bytes / 16;
    const std::uint64_t rows = kSetBytes / config_.row_bytes;
    for (std::uint64_t l = 0; l < lanes.size(); ++l) {
      const std::uint64_t word = std::uint64_t{index} * kWarpLanes + l;
      const std::uint64_t row = (word / words_per_row * kGolden >> 24) % rows;
      lanes[l] = kFirstAddress + row * config_.row_bytes + word % words_per_row * 16;
    }
    return lanes;
  }

 private:
  static Program program_of(const RandomRowsConfig& c) {
    Launch l = stream_launch("random_rows", c.ctas);
    std::vector<Section> sections{once(stamp()), random_loads(c), once(stamp())};
    sections = prepared(l, c.after_flush, kWarps, std::move(sections));
    return Program(std::move(l), std::move(sections));
  }

  RandomRowsConfig config_;
  Program program_;
};

}  // namespace

std::unique_ptr<TraceSource> make_random_rows(const RandomRowsConfig& config) {
  return std::make_unique<RandomRows>(config);
}

std::unique_ptr<TraceSource> make_strided_reads(const StridedConfig& c) {
  Launch l = stream_launch("strided_reads", c.ctas);
  constexpr std::uint64_t kPerWarp = kWarpLanes / 2;  // two lanes read the 32 bytes
  constexpr std::uint64_t kUnroll = 4;                // what the compiler makes of the loop
  const std::uint64_t per_step = kPerWarp * kWarps * c.ctas;
  const std::uint64_t steps = (c.count + per_step - 1) / per_step;
  const Section body{steps, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                       const std::uint64_t first = i * per_step + id.cta * kPerWarp * kWarps;
                       op = contiguous(MemDir::kLoad, kFirstAddress + first * c.stride, kStepBytes, kWarps);
                       op.mem.pattern = Pattern::kLanes;
                       op.mem.lanes = kPerWarp;
                       op.mem.lane_bytes = 16;
                       op.mem.lane_pitch = static_cast<std::int32_t>(c.stride);
                       op.mem.warp_pitch = static_cast<std::int64_t>(kPerWarp * c.stride);
                       if (first >= c.count) op.mem.rows = 0;
                       if (i >= kUnroll) op.waits[0] = wait_scoreboard(i / kUnroll * kUnroll);
                       op.completes[0] = signal_scoreboard();
                     }};
  std::vector<Section> sections = timed(l, {body}, wait_scoreboard(steps)).front();
  sections = prepared(l, c.after_flush, kWarps, std::move(sections));
  return std::make_unique<Program>(std::move(l), std::move(sections));
}

}  // namespace strata::microbench
