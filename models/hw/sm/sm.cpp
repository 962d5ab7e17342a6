#include "models/hw/sm/sm.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace strata {

namespace {
/// One more than the last slot of a barrier that anyone arrives at.
template <typename T>
std::uint32_t declared(const T& arrivals) {
  const auto used = std::find_if(arrivals.rbegin(), arrivals.rend(), [](auto n) { return n != 0; });
  return static_cast<std::uint32_t>(arrivals.rend() - used);
}

std::int64_t scaled(double rate, std::int64_t scale) {
  return std::max<std::int64_t>(1, std::llround(rate * static_cast<double>(scale)));
}
}  // namespace

Sm::Sm(SmEnvironment& environment, std::uint16_t index, SmPort& port)
    : environment_(&environment),
      port_(&port),
      sm_cycle_(environment.context->time.sm),
      index_(index),
      turns_(index + 1U) {
  constexpr std::uint64_t kUntilSeedsDiffer = 16;
  turns_.discard(kUntilSeedsDiffer);
  const GpuConfig& g = config();
  for (std::uint32_t s = 0; s < kSmsps; ++s) {
    smsps_[s].issue = TurnPort(sm_cycle_, kScale);
    smsps_[s].mma = TurnPort(sm_cycle_, kScale);
    smsps_[s].shared = TurnPort(sm_cycle_, kScale);
    auto& p = smsps_[s].pipes;
    p[static_cast<std::size_t>(Pipe::kFma)] = TurnPort(sm_cycle_, scaled(g.sm.fma_per_cycle_smsp, kScale));
    p[static_cast<std::size_t>(Pipe::kAlu)] = TurnPort(sm_cycle_, scaled(g.sm.alu_per_cycle_smsp, kScale));
    p[static_cast<std::size_t>(Pipe::kFp64)] = TurnPort(sm_cycle_, scaled(g.sm.fp64_per_cycle_smsp, kScale));
    p[static_cast<std::size_t>(Pipe::kFp16)] = TurnPort(sm_cycle_, scaled(g.sm.fp16_per_cycle_smsp, kScale));
    p[static_cast<std::size_t>(Pipe::kMufu)] = TurnPort(sm_cycle_, scaled(g.sm.mufu_per_cycle_smsp, kScale));
    p[static_cast<std::size_t>(Pipe::kUniform)] = TurnPort(sm_cycle_, scaled(g.sm.uniform_per_cycle_smsp, kScale));
  }
  icache_ = InstructionCache(g.icache, environment.source->launch().code_bytes, sm_cycle_);
  lsu_ = Resource(sm_cycle_, scaled(g.sm.lsu_per_cycle_sm, kScale));
  l1_tags_port_ = Resource(sm_cycle_, scaled(g.l1.tags_per_cycle, kScale));
  smem_read_ = Resource(sm_cycle_, g.smem.read_bytes_per_cycle);
  smem_fill_ = Resource(sm_cycle_, g.smem.fill_bytes_per_cycle);
  tma_ = tma_bytes_ = async_copy_ = barriers_ = mbarriers_ = Resource(sm_cycle_, kScale);
  dsmem_ = Resource(sm_cycle_, std::max(1, g.smem.dsmem_bytes_per_cycle));
  l1_sets_ = FixedDivisor(static_cast<std::uint32_t>(environment.occupancy.l1_bytes / kLineBytes / L1Tags::kWays));
  l1_ = L1Tags(l1_sets_.divisor());
  load_credits_ = Credits(g.l1.outstanding_sectors);
  tma_credits_ = Credits(g.tma.outstanding_bytes);
  store_credits_ = Credits(g.l1.store_queue_sectors);
  ctas_.resize(environment.occupancy.ctas);
  mbarriers_declared_ = declared(environment.source->launch().mbarrier_arrivals);
  greedy_log_gap_ = IssueQueue::log_of(config().sm.greedy_gap_cycles);
  named_barriers_declared_ = declared(environment.source->launch().named_barrier_warps);
}

std::uint16_t Sm::place(std::uint64_t cta, std::uint32_t cluster, std::uint32_t rank, Tick start) {
  std::uint16_t slot = 0;
  while (ctas_[slot].active) {
    ++slot;
  }
  const Launch& launch = environment_->source->launch();
  Cta& c = ctas_[slot];
  c.id = cta;
  c.cluster = cluster;
  c.rank = rank;
  c.active = true;
  c.draining = false;
  c.outstanding = 0;
  c.streams_alive = static_cast<std::uint32_t>(launch.streams.size());
  c.streams.resize(launch.streams.size());
  const bool beside_others = resident_ > 0 && code_asked_ && code_here_ <= context().now();
  std::uint32_t first_smsp = slot * launch.warps_per_cta();
  for (std::size_t i = 0; i < c.streams.size(); ++i) {
    Stream& s = c.streams[i];
    const StreamInfo& info = launch.streams[i];
    std::vector<Operation> ops = std::move(s.ops);
    ops.clear();
    s = Stream{};
    s.ops = std::move(ops);
    s.num_warps = info.num_warps;
    s.reason = beside_others ? StackReason::kDrain : StackReason::kLaunch;
    for (std::uint32_t w = 0; w < info.num_warps; ++w) {
      ++s.warps_on[(first_smsp + info.first_warp + w) % kSmsps];
    }
  }
  for (std::size_t i = 0; i < mbarriers_declared_; ++i) {
    c.mbarrier[i] = Token{0, 0, launch.mbarrier_arrivals[i], kNoStream, 0};
  }
  for (std::size_t i = 0; i < named_barriers_declared_; ++i) {
    c.named[i] = Token{0, 0, launch.named_barrier_warps[i], kNoStream, 0};
  }
  c.elders = resident_;
  c.number = ctas_placed_++;
  if (resident_++ == 0) {
    active_since_ = start;
    account(StackReason::kIdle, context().now(), context().now(), StackReason::kIdle);
  }
  context().counters.add(Counter::kCtasLaunched, 1);
  // All wait for the first code; the first CTA meets what else is missing, and those behind it find it there.
  Tick begin = std::max(start, code_here_);
  if (!code_asked_) {
    code_asked_ = true;
    code_here_ = start + first_trip();
    begin = code_here_ + later_misses();
  }
  c.started = begin;
  context().post(begin, EventKind::kCtaStart, index_, slot);
  return slot;
}

Tick Sm::first_trip() const {
  // Parameters and first code come from HBM; distant SMs wait longer. A kernel that only exits waits for neither.
  const bool waits = environment_->source->launch().code_bytes > kLineBytes;
  return waits ? port_->request_latency + port_->reply_latency + context().idle_l2_miss() : 0;
}

Tick Sm::later_misses() const {
  // Measured: 4 KiB of code cost the first trip, any more one access to HBM on top, which is when the instruction
  // caches start to prefetch far enough. The first line of constants comes with the first trip, each further one is
  // waited for by itself: 109 clk on average of twelve kernels with a CTA per SM, by stall samples.
  constexpr std::uint32_t kFirstCodeBytes = 4096;
  constexpr std::int64_t kConstantLineCycles = 110;
  const Launch& launch = environment_->source->launch();
  const std::uint32_t code = launch.code_bytes;
  if (code <= kLineBytes) {
    return 0;
  }
  const Tick constants = cycles(kConstantLineCycles * (std::max(1U, launch.constant_lines) - 1));
  return (code > kFirstCodeBytes ? context().idle_l2_miss() : 0) + constants;
}

void Sm::start_cta(std::uint32_t slot) {
  for (std::uint32_t i = 0; i < ctas_[slot].streams.size(); ++i) {
    run_stream(slot, i);
  }
}

void Sm::end_stream(std::uint32_t slot, std::uint32_t stream_index) {
  Cta& cta = ctas_[slot];
  cta.streams[stream_index].ended = true;
  --cta.streams_alive;
  maybe_retire(slot);
}

void Sm::maybe_retire(std::uint32_t slot) {
  Cta& cta = ctas_[slot];
  if (cta.streams_alive == 0 && cta.outstanding == 0 && !cta.draining) {
    cta.draining = true;
    context().post(context().now() + cycles(config().sm.cta_drain_cycles), EventKind::kCtaFree, index_, slot);
  }
}

std::uint32_t Sm::free_cta(std::uint32_t slot) {
  Cta& cta = ctas_[slot];
  cta.active = false;
  context().observer.span(index_, "CTAs", "CTA", cta.started, context().now());
  for (Cta& other : ctas_) {
    other.elders -= other.active && other.elders > cta.elders ? 1 : 0;
  }
  if (--resident_ == 0) {
    active_ticks_ += context().now() - active_since_;
    account(StackReason::kDrain, context().now(), context().now(), StackReason::kDrain);
  }
  return cta.cluster;
}

void Sm::account(StackReason gap_reason, Tick begin, Tick end, StackReason reason) {
  if (begin > frontier_) {
    stack_[static_cast<std::size_t>(gap_reason)] += begin - frontier_;
    frontier_ = begin;
  }
  if (end > frontier_) {
    stack_[static_cast<std::size_t>(reason)] += end - frontier_;
    frontier_ = end;
  }
}

Tick Sm::issue_busy() const {
  Tick sum = 0;
  for (const Smsp& s : smsps_) {
    sum += s.issue.busy();
  }
  return sum / kSmsps;
}

Tick Sm::pipe_busy(Pipe p) const {
  Tick sum = 0;
  for (const Smsp& s : smsps_) {
    sum += s.pipes[static_cast<std::size_t>(p)].busy();
  }
  return sum / kSmsps;
}

std::string Sm::waiting_report() const {
  static constexpr const char* kNames[] = {"nothing",       "scoreboard",      "async group",   "mbarrier",
                                           "named barrier", "cluster barrier", "global counter"};
  std::string out;
  for (const Cta& cta : ctas_) {
    if (!cta.active) {
      continue;
    }
    for (std::size_t i = 0; i < cta.streams.size(); ++i) {
      const Stream& s = cta.streams[i];
      if (s.waiting) {
        out += "SM " + std::to_string(index_) + ": CTA " + std::to_string(cta.id) + " stream " + std::to_string(i) +
               " waits for " + kNames[static_cast<std::size_t>(s.waiting_cls)] + " " + std::to_string(s.waiting_slot) +
               " to reach phase " + std::to_string(s.waiting_count) + "\n";
      }
    }
  }
  return out;
}

}  // namespace strata
