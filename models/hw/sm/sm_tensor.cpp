// The tensor cores under wgmma: groups of one warpgroup run in order, warpgroups take turns.
#include <algorithm>
#include <cmath>

#include "models/hw/sm/sm.hpp"
#include "sim/base/error.hpp"

namespace strata {

namespace {
/// Tensor time that one warpgroup gets before another may have its turn.
constexpr std::int64_t kTurnCycles = 128;
/// For how long after a sector has come shared memory counts as being filled: copies of a K tile come in bursts.
constexpr int kFillRecentCycles = 64;
}  // namespace

void Sm::start_wgmma(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued) {
  if (config().tensor.wgmma_present == 0) {
    throw UnsupportedError(config().chip.name + " has no wgmma");
  }
  const TensorConfig& t = config().tensor;
  // Bytes of one instruction's operands: A is read from shared memory again by every instruction.
  const double bits = op.mma_bits == 19 ? 32.0 : op.mma_bits;
  const double a_bytes = op.mma_a_in_registers ? 0.0 : op.mma_m * op.mma_k * bits / 8.0;
  const double b_bytes = op.mma_n * op.mma_k * bits / 8.0;
  const double compute = mma_cycles_per_smsp(op) / kSmsps;
  const double operands = (a_bytes + b_bytes) / t.wgmma_operand_bytes_per_cycle;
  const double interval = std::max({compute, operands, t.wgmma_min_cycles}) + t.wgmma_overhead_cycles;

  WgmmaGroup group;
  group.slot = slot;
  group.stream = static_cast<std::uint16_t>(stream_index);
  group.left = std::max(1U, op.mma_count);
  group.instruction_units = std::llround(interval * kScale);
  const double filled = std::max({compute * t.wgmma_fill_stretch, operands, t.wgmma_min_cycles});
  group.filled_units = std::llround((filled + t.wgmma_overhead_cycles) * kScale);
  group.operand_bytes = static_cast<std::int64_t>(a_bytes + b_bytes);
  // The last instruction has its result a fixed time after it has computed, whatever its operands make the next one
  // wait.
  const double waits = std::max(0.0, interval - t.wgmma_overhead_cycles - compute);
  const int latency = op.mma_a_in_registers ? t.wgmma_register_latency_cycles : t.wgmma_latency_cycles;
  group.latency = std::llround(std::max(0.0, latency - waits) * static_cast<double>(sm_cycle_));
  group.signals = group.signals2 = 0;
  const auto stream16 = static_cast<std::uint16_t>(stream_index);
  if (op.completes[0].cls != TokenClass::kNone && op.completes[0].at != SignalAt::kIssue) {
    group.signals = PackedSignal::pack(op.completes[0], stream16);
  }
  if (op.completes[1].cls != TokenClass::kNone && op.completes[1].at != SignalAt::kIssue) {
    group.signals2 = PackedSignal::pack(op.completes[1], stream16);
  }
  ++ctas_[slot].outstanding;
  wgmma_backlog_end_ = std::max(issued, wgmma_backlog_end_) + group.instruction_units * group.left * sm_cycle_ / kScale;
  context().counters.add(Counter::kSmemWavefronts,
                         static_cast<std::uint64_t>((group.operand_bytes + 127) / 128) * group.left);

  auto queue = std::find_if(wgmma_.begin(), wgmma_.end(),
                            [&](const WgmmaQueue& q) { return q.slot == slot && q.stream == stream16; });
  if (queue == wgmma_.end()) {
    wgmma_.push_back(WgmmaQueue{{}, 0, slot, stream16});
    queue = wgmma_.end() - 1;
  }
  queue->groups.push_back(group);
  if (!wgmma_scheduled_) {
    wgmma_scheduled_ = true;
    context().post(std::max(issued, wgmma_free_), EventKind::kWgmmaRun, index_, 0);
  }
}

std::int64_t Sm::issue_beside_wgmma(const Operation& op, std::int64_t units, Tick start) const {
  const TensorConfig& t = config().tensor;
  const Tick busy = wgmma_backlog_end_ - start;
  if (busy <= 0 || units == 0 || op.kind == OpKind::kWgmma || t.wgmma_beside_cycles <= 1) {
    return units;
  }
  const double mufu = op.pipe == Pipe::kMufu ? std::min(1.0, static_cast<double>(op.pipe_work) / op.issue_slots) : 0.0;
  const double stretch = t.wgmma_beside_cycles * (1 - mufu) + t.wgmma_beside_mufu_cycles * mufu;
  const double busy_units = static_cast<double>(busy) / static_cast<double>(sm_cycle_) * kScale;
  const auto plain = static_cast<double>(units);
  // What does not fit beside the wgmma at hand goes on at full speed after it.
  return std::llround(std::min(plain * stretch, plain + busy_units * (1 - 1 / stretch)));
}

void Sm::run_tensor() {
  wgmma_scheduled_ = false;
  const std::size_t n = wgmma_.size();
  for (std::size_t i = 0; i < n; ++i) {
    wgmma_turn_ = (wgmma_turn_ + 1) % n;
    WgmmaQueue& queue = wgmma_[wgmma_turn_];
    if (queue.head == queue.groups.size()) {
      continue;
    }
    WgmmaGroup& group = queue.groups[queue.head];
    const Tick now = context().now();
    const std::int64_t turn = std::max<std::int64_t>(1, kTurnCycles * kScale / group.instruction_units);
    const auto run = static_cast<std::uint32_t>(std::min<std::int64_t>(group.left, turn));
    // Copies that arrive meanwhile take turns from the tensor cores, whatever they bring.
    const bool filled = smem_fill_.next_free() + cycles(kFillRecentCycles) > now;
    const Tick tensor = now + (filled ? group.filled_units : group.instruction_units) * run * sm_cycle_ / kScale;
    const Tick operands = smem_read_.reserve(now, group.operand_bytes * run);
    const Tick end = std::max(tensor, operands);
    const StackReason gap = ctas_[group.slot].streams[group.stream].reason;
    account(gap, now, end, StackReason::kTensor);
    context().observer.span(index_, "tensor cores", "wgmma", now, end);
    wgmma_busy_ += tensor - now;
    wgmma_free_ = end;
    group.left -= run;
    if (group.left == 0) {
      const Tick done = end + group.latency;
      const WgmmaGroup finished = group;
      if (++queue.head == queue.groups.size()) {
        queue.groups.clear();
        queue.head = 0;
      }
      // Retirement is a transfer without chunks, so that the CTA outlives its last group.
      const std::uint32_t transfer = context().new_transfer();
      Transfer& t = context().transfers[transfer];
      t.sm = index_;
      t.cta_slot = static_cast<std::uint16_t>(finished.slot);
      t.stream = finished.stream;
      t.signals = finished.signals;
      t.signals2 = finished.signals2;
      t.counts_in_stream = true;
      t.served = ServedBy::kSm;
      context().post(done, EventKind::kTransferDone, index_, transfer, 1);
    }
    wgmma_scheduled_ = true;
    context().post(end, EventKind::kWgmmaRun, index_, 0);
    return;
  }
}

Tick Sm::mma_busy() const {
  Tick sum = 0;
  for (const Smsp& s : smsps_) {
    sum += s.mma.busy();
  }
  return sum / kSmsps;
}

}  // namespace strata
