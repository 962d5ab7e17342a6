// Tokens: who waits for what, and who is woken.
#include <algorithm>
#include <bit>
#include <cmath>

#include "models/hw/sm/sm.hpp"
#include "sim/base/error.hpp"

namespace strata {

std::uint32_t Sm::completed(const Cta& cta, const Stream& stream, const Wait& w) const {
  switch (w.cls) {
    case TokenClass::kScoreboard:
      return stream.scoreboard[w.slot & 7];
    case TokenClass::kAsyncGroup:
      return stream.group[w.slot & 7];
    case TokenClass::kMbarrier:
      return cta.mbarrier[w.slot & 63].phase;
    case TokenClass::kNamedBarrier:
      return cta.named[w.slot & 15].phase;
    case TokenClass::kClusterBarrier:
      return cta.cluster == kNoHandle ? w.count : (*environment_->clusters)[cta.cluster].barrier_phase;
    case TokenClass::kGlobalCounter:
      return w.slot < environment_->global_counters->size() ? (*environment_->global_counters)[w.slot].phase : w.count;
    case TokenClass::kNone:
      break;
  }
  return w.count;
}

void Sm::arrive(std::uint32_t slot, Token& token, std::uint32_t arrivals, Resource& unit, double each, int latency,
                StackReason reason) {
  const Tick taken = unit.reserve(context().now(), std::llround(each * arrivals * kScale));
  if (token.arrive(arrivals)) {
    token.ready = taken + cycles(latency);
    wake_waiters(slot, token, reason);
  }
}

void Sm::wake_waiters(std::uint32_t slot, Token& token, StackReason reason) {
  Cta& cta = ctas_[slot];
  std::uint16_t s = token.waiter;
  token.waiter = kNoStream;
  while (s != kNoStream) {
    Stream& stream = cta.streams[s];
    const std::uint16_t next = stream.next_waiter;
    stream.next_waiter = kNoStream;
    if (token.phase >= stream.waiting_count) {
      stream.waiting = false;
      stream.reason = reason;
      context().post(token.ready, EventKind::kStreamRun, index_, slot, s);
    } else {
      stream.next_waiter = token.waiter;
      token.waiter = s;
    }
    s = next;
  }
}

void Sm::apply_signal(std::uint32_t slot, std::uint32_t stream_index, TokenClass cls, std::uint32_t token_slot,
                      std::uint32_t arrivals, StackReason reason) {
  Cta& cta = ctas_[slot];
  if (!cta.active) {
    return;  // a peer's late arrival at a CTA that has already left
  }
  const SmConfig& c = config().sm;
  switch (cls) {
    case TokenClass::kScoreboard:
    case TokenClass::kAsyncGroup: {
      Stream& stream = cta.streams[stream_index];
      std::uint32_t& value =
          cls == TokenClass::kScoreboard ? stream.scoreboard[token_slot & 7] : stream.group[token_slot & 7];
      value += 1;
      if (stream.waiting && stream.waiting_cls == cls && stream.waiting_slot == token_slot &&
          value >= stream.waiting_count) {
        stream.waiting = false;
        stream.reason = reason;
        context().post(context().now(), EventKind::kStreamRun, index_, slot, stream_index);
      }
      break;
    }
    case TokenClass::kMbarrier: {
      arrive(slot, cta.mbarrier[token_slot & 63], arrivals, mbarriers_, c.mbarrier_arrival_cycles,
             c.mbarrier_latency_cycles, reason);
      break;
    }
    case TokenClass::kNamedBarrier: {
      arrive(slot, cta.named[token_slot & 15], arrivals, barriers_, c.barrier_arrival_cycles, c.barrier_latency_cycles,
             reason);
      break;
    }
    case TokenClass::kClusterBarrier: {
      if (cta.cluster == kNoHandle) {
        break;
      }
      Cluster& cluster = (*environment_->clusters)[cta.cluster];
      const std::uint32_t expected =
          std::max<std::uint32_t>(1, environment_->source->launch().cluster_barrier_arrivals);
      cluster.barrier_arrived += arrivals;
      if (cluster.barrier_arrived >= expected) {
        cluster.barrier_arrived -= expected;
        ++cluster.barrier_phase;
        const int doublings = std::max(0, static_cast<int>(std::bit_width(cluster.size - 1U)) - 1);
        const Tick latency =
            cycles(c.cluster_barrier_latency_cycles + std::int64_t{doublings} * c.cluster_barrier_level_cycles);
        for (std::uint32_t r = 0; r < cluster.size; ++r) {
          Sm& sm = (*environment_->sms)[cluster.sm[r]];
          sm.wake_all(cluster.slot[r], cls, token_slot, cluster.barrier_phase, latency);
        }
      }
      break;
    }
    case TokenClass::kGlobalCounter: {
      auto& counters = *environment_->global_counters;
      if (token_slot >= counters.size()) {
        throw ModelBug("SM: a signal names a global counter that the launch does not declare");
      }
      const Tick latency = context().time.l2 * config().l2.hit_latency_cycles;
      counters[token_slot].phase += arrivals;
      counters[token_slot].ready = context().now() + latency;
      for (Sm& sm : *environment_->sms) {
        for (std::uint32_t other = 0; other < sm.ctas_.size(); ++other) {
          if (sm.ctas_[other].active) {
            sm.wake_all(other, cls, token_slot, counters[token_slot].phase, latency);
          }
        }
      }
      break;
    }
    case TokenClass::kNone:
      break;
  }
}

void Sm::wake_all(std::uint32_t slot, TokenClass cls, std::uint32_t token_slot, std::uint32_t value, Tick latency) {
  Cta& cta = ctas_[slot];
  for (std::uint32_t i = 0; i < cta.streams.size(); ++i) {
    Stream& stream = cta.streams[i];
    if (stream.waiting && stream.waiting_cls == cls && stream.waiting_slot == token_slot &&
        value >= stream.waiting_count) {
      stream.waiting = false;
      stream.reason = StackReason::kBarrier;
      context().post(context().now() + latency, EventKind::kStreamRun, index_, slot, i);
    }
  }
}

void Sm::emit(std::uint32_t slot, std::uint64_t packed, Tick tick, StackReason reason) {
  if (!PackedSignal::valid(packed)) {
    return;
  }
  const std::uint16_t mask = PackedSignal::cta_mask(packed);
  const std::uint32_t b = SignalEvent::b(packed, static_cast<std::uint32_t>(reason));
  const std::uint32_t stream = PackedSignal::stream(packed);
  const Cta& cta = ctas_[slot];
  if (mask == 0 || cta.cluster == kNoHandle) {
    if (tick <= context().now()) {
      signal(SignalEvent::a(slot, stream), b);
    } else {
      context().post(tick, EventKind::kSignal, index_, SignalEvent::a(slot, stream), b);
    }
    return;
  }
  const Cluster& cluster = (*environment_->clusters)[cta.cluster];
  // A remote arrival crosses the SM-to-SM network one way; the reply does not concern the waiter.
  const Tick remote = cycles(config().smem.dsmem_latency_cycles / 2);
  for (std::uint32_t r = 0; r < cluster.size; ++r) {
    if ((mask >> r & 1) == 0) {
      continue;
    }
    const bool here = r == cta.rank;
    context().post(std::max(tick, context().now()) + (here ? 0 : remote), EventKind::kSignal, cluster.sm[r],
                   SignalEvent::a(cluster.slot[r], stream), b);
  }
}

void Sm::signal(std::uint32_t a, std::uint32_t b) {
  apply_signal(SignalEvent::cta_slot(a), SignalEvent::stream(a), SignalEvent::cls(b), SignalEvent::slot(b),
               SignalEvent::arrivals(b), static_cast<StackReason>(SignalEvent::reason(b)));
}

}  // namespace strata
