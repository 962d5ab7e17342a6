// Streams: fetching operations, waiting for tokens, issuing in quanta, handing work to the units.
#include <algorithm>
#include <array>
#include <cmath>

#include "models/hw/sm/sm.hpp"
#include "sim/base/error.hpp"

namespace strata {

namespace {
constexpr std::uint32_t kQuantumCycles = 64;

/// Timeline lane of a stream; streams past the eighth share the last one.
const char* lane_of(std::uint32_t stream) {
  static constexpr std::array<const char*, 8> kLanes{"stream 0", "stream 1", "stream 2", "stream 3",
                                                     "stream 4", "stream 5", "stream 6", "streams 7 and up"};
  return kLanes[std::min<std::size_t>(stream, kLanes.size() - 1)];
}

const char* name_of(OpKind kind) {
  switch (kind) {
    case OpKind::kCompute:
      return "arithmetic";
    case OpKind::kMmaSync:
      return "mma.sync";
    case OpKind::kWgmma:
      return "issue wgmma";
    case OpKind::kShared:
      return "shared memory";
    case OpKind::kMemory:
      return "load or store";
    case OpKind::kCpAsync:
      return "cp.async";
    case OpKind::kTma:
      return "issue TMA";
    default:
      return "barrier or control";
  }
}

StackReason reason_of_pipe(Pipe p) {
  switch (p) {
    case Pipe::kFma:
    case Pipe::kFp64:
    case Pipe::kFp16:
      return StackReason::kFp32;
    case Pipe::kMufu:
      return StackReason::kMufu;
    case Pipe::kTensor:
      return StackReason::kTensor;
    default:
      return StackReason::kIssue;
  }
}
}  // namespace

bool Sm::fetch_more(Cta& cta, std::uint32_t stream_index) {
  Stream& stream = cta.streams[stream_index];
  auto& buffer = environment_->fetch_buffer;
  const StreamId id{cta.id, stream_index, cta.rank};
  const std::uint32_t n = environment_->source->fetch(id, stream.cursor, buffer);
  stream.ops.assign(buffer.begin(), buffer.begin() + n);
  stream.next = 0;
  return n > 0;
}

void Sm::run_stream(std::uint32_t slot, std::uint32_t stream_index) {
  Cta& cta = ctas_[slot];
  Stream& stream = cta.streams[stream_index];
  while (true) {
    if (stream.next == stream.ops.size() && !fetch_more(cta, stream_index)) {
      stop_issuing(stream);
      end_stream(slot, stream_index);
      return;
    }
    const Operation& op = stream.ops[stream.next];
    if (stream.quanta_left == 0) {
      stop_issuing(stream);
      if (!waits_hold(slot, stream_index, op)) {
        return;
      }
      begin(stream, op);
    }
    if (goes_by_age(cta, stream) && (!waiting_turns_.empty() || ports_free(stream, op) > context().now())) {
      const WaitingTurn w{cta.number, slot, stream_index, latest_turn(cta, stream)};
      waiting_turns_.insert(
          std::upper_bound(waiting_turns_.begin(), waiting_turns_.end(), w,
                           [](const WaitingTurn& x, const WaitingTurn& y) { return x.cta_number < y.cta_number; }),
          w);
      give_turns();
      return;
    }
    if (!issue(slot, stream_index, op)) {
      return;
    }
  }
}

bool Sm::issue(std::uint32_t slot, std::uint32_t stream_index, const Operation& op) {
  Cta& cta = ctas_[slot];
  Stream& stream = cta.streams[stream_index];
  const bool by_age = goes_by_age(cta, stream);
  Tick issued = issue_quantum(stream_index, stream, op, by_age ? Turn::kInOrder : turn_of(cta));
  if (--stream.quanta_left > 0) {
    if (by_age) {  // an old warp asks for no more slots than its chain lets it use
      const double chain = op.dependent_latency * latency_of(op) * static_cast<double>(sm_cycle_);
      const double done = static_cast<double>(stream.quanta - stream.quanta_left) / stream.quanta;
      issued = std::max(issued, stream.started + static_cast<Tick>(std::llround(chain * done)));
    }
    context().post(issued, EventKind::kStreamRun, index_, slot, stream_index);
    return false;
  }
  stream.at_start = false;
  count(stream, op);
  context().pieces_ended += op.ends_piece ? 1 : 0;
  const Tick next = execute(slot, stream_index, op, std::max(issued, stream.code_ready));
  ++stream.next;
  if (!store_queue_.empty() && op.kind == OpKind::kMemory && op.mem.dir != MemDir::kLoad &&
      op.mem.dir != MemDir::kPrefetch) {
    stream.reason = StackReason::kDrain;
    stop_issuing(stream);
    stalled_streams_.push(StalledStream{slot, stream_index, store_chunks_queued_, next});
    return false;
  }
  if (next > context().now()) {
    context().post(next, EventKind::kStreamRun, index_, slot, stream_index);
    return false;
  }
  return true;
}

void Sm::give_turns() {
  const Tick now = context().now();
  Tick soonest = 0;
  for (std::size_t i = 0; i < waiting_turns_.size();) {
    const WaitingTurn w = waiting_turns_[i];
    Stream& stream = ctas_[w.slot].streams[w.stream];
    const Operation& op = stream.ops[stream.next];
    const Tick free = ports_free(stream, op);
    if (free > now && w.latest > now) {
      soonest = std::min({soonest == 0 ? free : soonest, free, w.latest});
      ++i;
      continue;
    }
    waiting_turns_.erase(waiting_turns_.begin() + static_cast<std::ptrdiff_t>(i));
    if (stream.quanta_left == stream.quanta) {
      stream.started = now;
    }
    if (issue(w.slot, w.stream, op)) {
      run_stream(w.slot, w.stream);
    }
    i = 0;  // ports and those that wait for them have changed
    soonest = 0;
  }
  if (!waiting_turns_.empty() && (turns_given_at_ <= now || turns_given_at_ > soonest)) {
    turns_given_at_ = soonest;
    context().post(soonest, EventKind::kIssueTurn, index_, 0);
  }
}

bool Sm::goes_by_age(const Cta& cta, const Stream& stream) const {
  // An SM's first CTAs wait for their first code together. Products of mma.sync share the port as `turn_of` says, and
  // warps of a CTA that are not in step have turns of their own.
  const bool first_code = stream.at_start && cta.number < environment_->occupancy.ctas;
  if (resident_ < 2 || cta.streams.size() > 1 || first_code || environment_->source->launch().work.tensor_flops > 0) {
    return false;
  }
  std::int32_t greedy = 0;
  std::int32_t in_long = 0;
  for (std::uint32_t s = 0; s < kSmsps; ++s) {
    const std::int32_t own = stream.counted_issuing ? stream.warps_on[s] : 0;
    if (stream.warps_on[s] > 0) {
      greedy += smsps_[s].greedy - (stream.greedy ? own : 0);
      in_long += smsps_[s].in_long - (stream.in_long ? own : 0);
    }
  }
  return in_long > 0 && 2 * greedy >= in_long;
}

Tick Sm::ports_free(const Stream& stream, const Operation& op) const {
  const Quantum& q = stream.quantum;
  Tick at = 0;
  for (std::uint32_t s = 0; s < kSmsps; ++s) {
    const Smsp& m = smsps_[s];
    if (stream.warps_on[s] == 0) {
      continue;
    }
    at = std::max(at, m.issue.next_free());
    if (q.pipe > 0) {
      at = std::max(at, m.pipes[static_cast<std::size_t>(op.pipe)].next_free());
    }
  }
  return at;
}

Tick Sm::latest_turn(const Cta& cta, const Stream& stream) const {
  constexpr double kLeast = 1e-4;  // of the slots
  const Tick now = context().now();
  Tick at = now;
  for (std::uint32_t s = 0; s < kSmsps; ++s) {
    const Smsp& m = smsps_[s];
    const std::int32_t own = stream.warps_on[s];
    if (own == 0 || m.issuing == 0) {
      continue;
    }
    const std::int64_t others = std::max(0, m.issuing - own);
    const auto older = static_cast<std::int32_t>(others * cta.elders / std::max(1U, resident_ - 1));
    const double left = std::max(kLeast, IssueQueue::left_by(m.log_gaps, m.issuing, older, own));
    const double slots = static_cast<double>(stream.quantum.issue * own) / kScale;
    at = std::max(at, now + static_cast<Tick>(std::llround(slots / left * static_cast<double>(sm_cycle_))));
  }
  return at;
}

Tick Sm::seen_at(const Cta& cta, const Wait& w) const {
  switch (w.cls) {
    case TokenClass::kMbarrier:
      return cta.mbarrier[w.slot & 63].ready;
    case TokenClass::kNamedBarrier:
      return cta.named[w.slot & 15].ready;
    case TokenClass::kGlobalCounter:
      return w.slot < environment_->global_counters->size() ? (*environment_->global_counters)[w.slot].ready : 0;
    default:
      return 0;
  }
}

bool Sm::waits_hold(std::uint32_t slot, std::uint32_t stream_index, const Operation& op) {
  Cta& cta = ctas_[slot];
  Stream& stream = cta.streams[stream_index];
  for (const Wait& w : op.waits) {
    if (w.cls == TokenClass::kNone) {
      continue;
    }
    const bool barrier = w.cls == TokenClass::kMbarrier || w.cls == TokenClass::kNamedBarrier;
    if (const std::uint32_t phase = completed(cta, stream, w); phase >= w.count) {
      const Tick ready = phase == w.count ? seen_at(cta, w) : 0;
      if (ready <= context().now()) {
        continue;
      }
      // Whoever completes a phase, or comes just after, waits for it as the others do.
      stream.reason = StackReason::kBarrier;
      context().post(ready, EventKind::kStreamRun, index_, slot, stream_index);
      return false;
    }
    stream.waiting = true;
    stream.waiting_cls = w.cls;
    stream.waiting_slot = w.slot;
    stream.waiting_count = w.count;
    if (barrier) {
      Token& token = token_of(cta, w);
      stream.next_waiter = token.waiter;
      token.waiter = static_cast<std::uint16_t>(stream_index);
    }
    return false;
  }
  return true;
}

double Sm::mma_cycles_per_smsp(const Operation& op) const {
  const TensorConfig& t = config().tensor;
  double fma_per_cycle = t.fma_16bit;
  switch (op.mma_bits) {
    case 4:
      fma_per_cycle = t.fma_4bit;
      break;
    case 8:
      fma_per_cycle = t.fma_8bit;
      break;
    case 19:
    case 32:
      fma_per_cycle = t.fma_tf32;
      break;
    case 64:
      fma_per_cycle = t.fma_fp64;
      break;
    default:
      break;
  }
  if (fma_per_cycle <= 0) {
    throw UnsupportedError("the tensor cores of " + config().chip.name + " have no " + std::to_string(op.mma_bits) +
                           "-bit multiply-add");
  }
  const double work = static_cast<double>(op.mma_m) * op.mma_n * op.mma_k;
  return work / (fma_per_cycle / kSmsps);
}

void Sm::begin(Stream& stream, const Operation& op) {
  double hold = op.issue_slots;
  if (op.kind == OpKind::kMmaSync) {
    const TensorConfig& t = config().tensor;
    const double interval = mma_cycles_per_smsp(op) + t.mma_sync_overhead_cycles;
    hold += t.mma_sync_issue_hold * std::max(0.0, (interval - 1.0) * op.mma_count);
  }
  stream.quanta = std::max(1U, static_cast<std::uint32_t>(std::ceil(hold / kQuantumCycles)));
  stream.quanta_left = stream.quanta;
  stream.quantum = quantum_of(op, stream, stream.quanta_left);
  stream.started = context().now();
  stream.pipe_end = 0;
  stream.code_ready = icache_.fetch(stream.started, op.pc, op.issue_slots);
  const double chain = op.dependent_latency * latency_of(op);
  if (hold > 0) {  // a wait without instructions takes no part
    stream.log_gap = IssueQueue::log_of(chain / hold - 1);
    stream.pipe_share = pipe_share(op, hold);
    stream.in_long = stream.quanta > 1;
    stream.greedy = stream.in_long && op.kind == OpKind::kCompute && stream.log_gap < greedy_log_gap_;
    count_issuing(stream, 1);
  }
}

double Sm::pipe_share(const Operation& op, double hold) const {
  const SmConfig& c = config().sm;
  double rate = 1;
  switch (op.pipe) {
    case Pipe::kAlu:
      rate = c.alu_per_cycle_smsp;
      break;
    case Pipe::kMufu:
      rate = c.mufu_per_cycle_smsp;
      break;
    case Pipe::kFp64:
      rate = c.fp64_per_cycle_smsp;
      break;
    default:
      break;
  }
  return rate < 1 ? std::min(1.0, op.pipe_work / rate / hold) : 0.0;
}

void Sm::stop_issuing(Stream& stream) {
  if (stream.counted_issuing) {
    count_issuing(stream, -1);
  }
}

void Sm::count_issuing(Stream& stream, int sign) {
  stream.counted_issuing = sign > 0;
  for (std::uint32_t s = 0; s < kSmsps; ++s) {
    smsps_[s].issuing += sign * stream.warps_on[s];
    smsps_[s].in_long += stream.in_long ? sign * stream.warps_on[s] : 0;
    smsps_[s].greedy += stream.greedy ? sign * stream.warps_on[s] : 0;
    smsps_[s].log_gaps += sign * stream.warps_on[s] * stream.log_gap;
  }
}

Turn Sm::turn_of(const Cta& cta) {
  if (resident_ < 2 || cta.elders > 0) {
    return Turn::kInOrder;
  }
  // Hardware picks the oldest of the warps that are ready. Which are is finer than the model: it is drawn.
  const double drawn =
      static_cast<double>(turns_() - std::minstd_rand::min()) / (std::minstd_rand::max() - std::minstd_rand::min());
  return drawn < config().sm.oldest_first_share ? Turn::kOldestFirst : Turn::kOldest;
}

Sm::Quantum Sm::quantum_of(const Operation& op, const Stream& stream, std::int64_t quanta) const {
  Quantum q;
  q.issue = std::int64_t{op.issue_slots} * kScale / quanta;
  if (op.kind == OpKind::kMmaSync) {
    const TensorConfig& t = config().tensor;
    const double interval = mma_cycles_per_smsp(op) + t.mma_sync_overhead_cycles;
    q.mma = std::llround(interval * op.mma_count * kScale / static_cast<double>(quanta));
    q.issue += std::llround(t.mma_sync_issue_hold * std::max(0.0, interval - 1.0) * op.mma_count * kScale /
                            static_cast<double>(quanta));
  }
  if (op.pipe != Pipe::kNone && op.pipe < Pipe::kLsu) {
    q.pipe = std::int64_t{op.pipe_work} * kScale / quanta;
  }
  q.shared = shared_issue_units(op, stream) / quanta;
  if (q.shared > 0) {
    q.warp_issue = warp_issue_time(op) / quanta;
  }
  const bool to_memory = op.kind == OpKind::kMemory || op.kind == OpKind::kCpAsync;
  if (to_memory || op.pipe == Pipe::kLsu) {
    const std::int64_t requests =
        to_memory ? std::int64_t{requests_of(op, stream)} : std::int64_t{op.pipe_work} * stream.num_warps;
    q.lsu = requests * kScale / quanta;
  }
  return q;
}

Tick Sm::issue_quantum(std::uint32_t stream_index, Stream& stream, const Operation& op, Turn turn) {
  const Tick now = context().now();
  const Quantum& q = stream.quantum;
  const auto pipe = static_cast<std::size_t>(op.pipe);
  Tick issued = now;
  Tick mma_end = now;
  Tick pipe_end = now;
  for (std::uint32_t s = 0; s < kSmsps; ++s) {
    const std::int64_t warps = stream.warps_on[s];
    if (warps == 0) {
      continue;
    }
    TurnPort& port = smsps_[s].issue;
    const Tick start = std::max(now, port.next_free());
    // A warp alone is held up by its own chain. Multiplications of equal chains, whose steps are regular, fill each
    // other's gaps completely (measured: two chains of two warps run at the full rate, one of each at twice its own).
    const bool regular =
        op.kind == OpKind::kMmaSync && smsps_[s].log_gaps == stream.log_gap * std::int64_t{smsps_[s].issuing};
    const bool contended = smsps_[s].issuing > 1 && !regular;
    const std::int64_t units = contended
                                   ? environment_->issue_queue.with_idle_slots(q.issue * warps, smsps_[s].log_gaps,
                                                                               smsps_[s].issuing, stream.pipe_share)
                                   : q.issue * warps;
    issued = std::max(issued, port.reserve(now, issue_beside_wgmma(op, units, start), turn));
    if (q.mma > 0) {
      mma_end = std::max(mma_end, smsps_[s].mma.reserve(now, q.mma * warps, turn));
    }
    if (q.pipe > 0) {
      pipe_end = std::max(pipe_end, smsps_[s].pipes[pipe].reserve(now, q.pipe * warps, turn));
    }
    if (q.shared > 0) {
      pipe_end = std::max(pipe_end, smsps_[s].shared.reserve(now, q.shared * warps, turn));
    }
  }
  pipe_end = std::max(pipe_end, now + q.warp_issue);
  if (q.lsu != Quantum::kNoLsu) {
    pipe_end = std::max(pipe_end, lsu_.reserve(now, q.lsu));
  }
  account(stream.reason, now, issued, op.kind == OpKind::kMmaSync ? StackReason::kTensor : StackReason::kIssue);
  if (mma_end > issued) {
    account(stream.reason, issued, mma_end, StackReason::kTensor);
  }
  if (pipe_end > issued) {
    account(stream.reason, issued, pipe_end, reason_of_pipe(op.pipe));
  }
  const Tick end = std::max({issued, mma_end, pipe_end});
  stream.pipe_end = std::max(stream.pipe_end, end);
  stream.reason = StackReason::kLatency;
  if (context().observer.on() && end > now) {
    context().observer.span(index_, lane_of(stream_index), name_of(op.kind), now, end);
  }
  return end;
}

std::int64_t Sm::shared_issue_units(const Operation& op, const Stream& stream) const {
  if (op.kind != OpKind::kShared || op.pipe != Pipe::kLsu) {
    return 0;
  }
  const SharedMemoryConfig& c = config().smem;
  if (op.smem_read_wavefronts > 0 || op.smem_write_wavefronts == 0) {
    return std::llround(c.load_issue_cycles * op.pipe_work * kScale);
  }
  // A store of n registers a lane takes n wavefronts if its lanes do not conflict.
  constexpr double kMostRegisters = 4;
  const double instructions = std::max(1U, op.pipe_work * stream.num_warps);
  const double wavefronts = op.smem_write_wavefronts - std::min(op.smem_conflicts, op.smem_write_wavefronts);
  const double further = std::clamp(wavefronts / instructions, 1.0, kMostRegisters) - 1;
  return std::llround((c.store_issue_cycles + further * c.store_register_cycles) * op.pipe_work * kScale);
}

Tick Sm::warp_issue_time(const Operation& op) const {
  const double others = op.issue_slots > op.pipe_work ? op.issue_slots - op.pipe_work : 0;
  return std::llround((config().smem.warp_issue_cycles * op.pipe_work + others) * static_cast<double>(sm_cycle_));
}

double Sm::latency_of(const Operation& op) const {
  if (op.kind == OpKind::kMmaSync) {
    const TensorConfig& t = config().tensor;
    constexpr double kFullWork = 16.0 * 8 * 16;  // m16n8k16 of 16-bit operands, whose latency is configured
    const double share = mma_cycles_per_smsp(op) / (kFullWork * kSmsps / t.fma_16bit);
    return t.mma_sync_base_latency_cycles + share * (t.mma_sync_latency_cycles - t.mma_sync_base_latency_cycles);
  }
  switch (op.pipe) {
    case Pipe::kMufu:
      return config().sm.mufu_latency_cycles;
    case Pipe::kFp16:
      return config().sm.fp16_latency_cycles;
    case Pipe::kFp64:
      return config().sm.fp64_latency_cycles;
    default:
      return config().sm.alu_latency_cycles;
  }
}

void Sm::count(const Stream& stream, const Operation& op) {
  Counters& c = context().counters;
  c.add(Counter::kWarpInsts, op.warp_insts);
  if (op.tensor_insts > 0) {
    c.add(Counter::kTensorInsts, op.tensor_insts);
  }
  // The profiler's count leaves out what cp.async writes.
  const std::uint32_t wavefronts =
      op.smem_read_wavefronts + (op.kind == OpKind::kCpAsync ? 0 : op.smem_write_wavefronts);
  if (wavefronts > 0) {
    c.add(Counter::kSharedRequests, stream.num_warps);
    c.add(Counter::kSmemWavefronts, wavefronts);
    c.add(Counter::kBankConflicts, op.smem_conflicts);
  }
}

Tick Sm::execute(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued) {
  Stream& stream = ctas_[slot].streams[stream_index];
  Tick next = issued;
  Tick result = issued;  // when an operation without memory or tensor work has its result
  if (op.smem_read_wavefronts + op.smem_write_wavefronts > 0 && op.kind != OpKind::kMemory &&
      op.kind != OpKind::kCpAsync) {
    const bool interleaved = op.kind == OpKind::kCompute || op.kind == OpKind::kMmaSync;
    const Tick arrival = interleaved ? stream.started : context().now();
    const std::int64_t wavefronts = std::int64_t{op.smem_read_wavefronts} + op.smem_write_wavefronts;
    const Tick port = smem_read_.reserve(arrival, wavefronts * config().smem.read_bytes_per_cycle);
    // Each wavefront costs its instruction more latency than it costs the port; the last instruction decides.
    const double instructions = std::max(1U, op.pipe_work * stream.num_warps);
    const double more = std::max(0.0, static_cast<double>(wavefronts) / instructions - 1);
    const double beyond_port = std::max(0.0, config().smem.conflict_latency_cycles - 1);
    const double last = op.kind == OpKind::kShared ? more * beyond_port : 0;
    result = std::max(result, port + cycles(config().smem.latency_cycles + std::llround(last)));
    if (op.kind == OpKind::kShared) {
      account(stream.reason, context().now(), port, StackReason::kSharedMemory);
    }
    next = std::max(next, port);
  }
  if (op.dependent_latency > 0) {
    const Tick chain = stream.started + cycles(std::llround(op.dependent_latency * latency_of(op)));
    result = std::max(result, chain);
    next = std::max(next, chain);
  }
  for (const Signal& s : op.completes) {
    if (s.cls != TokenClass::kNone && s.at == SignalAt::kIssue) {
      emit(slot, PackedSignal::pack(s, static_cast<std::uint16_t>(stream_index)), context().now(),
           StackReason::kBarrier);
    }
  }
  switch (op.kind) {
    case OpKind::kWgmma:
      start_wgmma(slot, stream_index, op, issued);
      return next;
    case OpKind::kTma:
      start_tma(slot, stream_index, op, issued);
      return next;
    case OpKind::kMemory:
    case OpKind::kCpAsync:
      if (op.mem.space == MemSpace::kDsmem) {
        start_dsmem(slot, stream_index, op, issued);
      } else if (op.mem.dir == MemDir::kLoad || op.mem.dir == MemDir::kPrefetch) {
        start_load(slot, stream_index, op, issued);
      } else {
        next = std::max(next, start_store(slot, stream_index, op, issued));
      }
      return next;
    case OpKind::kSetMaxNReg:
      next += cycles(config().sm.setmaxnreg_cycles);
      break;
    default:
      break;
  }
  for (const Signal& s : op.completes) {
    if (s.cls != TokenClass::kNone && s.at != SignalAt::kIssue) {
      emit(slot, PackedSignal::pack(s, static_cast<std::uint16_t>(stream_index)), result,
           op.kind == OpKind::kShared ? StackReason::kSharedMemory : StackReason::kBarrier);
    }
  }
  return next;
}

}  // namespace strata
