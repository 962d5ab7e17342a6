/// Runs the streams of one CTA without time: every signal is seen at once. A trace that cannot finish here would hang.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "workloads/spec/trace_source.hpp"

namespace strata::test {

class UntimedRun {
 public:
  UntimedRun(const TraceSource& source, std::uint64_t cta) : source_(source), streams_(source.launch().streams.size()) {
    for (std::uint32_t s = 0; s < streams_.size(); ++s) streams_[s].id = StreamId{cta, s, 0};
  }

  /// Whether all streams reached their ends.
  bool finishes() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (Stream& s : streams_) {
        while (step(s)) moved = true;
      }
    }
    for (const Stream& s : streams_) {
      if (!s.ended) return false;
    }
    return true;
  }

 private:
  struct Stream {
    StreamId id;
    StreamCursor cursor;
    std::array<Operation, TraceSource::kMinFetch> ops{};
    std::uint32_t count = 0;
    std::uint32_t next = 0;
    bool ended = false;
  };
  using Key = std::tuple<TokenClass, std::uint32_t, std::uint32_t>;

  static bool per_stream(TokenClass c) { return c == TokenClass::kScoreboard || c == TokenClass::kAsyncGroup; }
  Key key(const Stream& s, TokenClass c, std::uint8_t slot) const { return {c, slot, per_stream(c) ? s.id.stream : 0}; }
  std::uint32_t phases(const Stream& s, TokenClass c, std::uint8_t slot) const {
    const auto it = arrivals_.find(key(s, c, slot));
    if (it == arrivals_.end()) return 0;
    std::uint32_t per_phase = 1;
    if (c == TokenClass::kMbarrier) per_phase = source_.launch().mbarrier_arrivals[slot];
    if (c == TokenClass::kNamedBarrier) per_phase = source_.launch().named_barrier_warps[slot];
    return per_phase == 0 ? 0 : it->second / per_phase;
  }

  bool step(Stream& s) {
    if (s.ended) return false;
    if (s.next == s.count) {
      s.count = source_.fetch(s.id, s.cursor, s.ops);
      s.next = 0;
      if (s.count == 0) {
        s.ended = true;
        return true;
      }
    }
    const Operation& op = s.ops[s.next];
    for (const Wait& w : op.waits) {
      if (w.cls != TokenClass::kNone && phases(s, w.cls, w.slot) < w.count) return false;
    }
    for (const Signal& sig : op.completes) {
      if (sig.cls != TokenClass::kNone) arrivals_[key(s, sig.cls, sig.slot)] += sig.arrivals;
    }
    ++s.next;
    return true;
  }

  const TraceSource& source_;
  std::vector<Stream> streams_;
  std::map<Key, std::uint32_t> arrivals_;
};

}  // namespace strata::test
