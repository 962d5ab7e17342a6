/// Runs the streams of one cluster with every operation completing at once: shows that waits can be met, that barrier
/// phases balance and in which order stages are used. It has no time and no hardware.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/spec/trace_source.hpp"

namespace strata::test {

class TokenReplay {
 public:
  /// @param first_cta  a CTA of rank 0
  TokenReplay(const TraceSource& source, std::uint64_t first_cta) : source_(source), launch_(source.launch()) {
    const std::uint32_t size = launch_.cluster_size();
    ctas_.resize(size);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      for (std::uint32_t s = 0; s < launch_.streams.size(); ++s) {
        streams_.push_back({{first_cta + rank, s, rank}, {}, {}, 0, 0, false, {}, {}});
      }
    }
  }

  /// True when every stream ended; otherwise `stuck` names the waits.
  bool run() {
    bool progress = true;
    while (progress) {
      progress = false;
      for (Stream& stream : streams_) {
        while (step(stream)) {
          progress = true;
        }
      }
    }
    for (const Stream& stream : streams_) {
      if (!stream.ended) {
        stuck += "cta " + std::to_string(stream.id.cta) + " stream " + std::to_string(stream.id.stream) + " pc " +
                 std::to_string(stream.ops[stream.at].pc) + "; ";
      }
    }
    return stuck.empty();
  }

  /// Arrivals left over in unfinished phases of every mbarrier of the cluster: 0 when all phases balance.
  [[nodiscard]] std::uint64_t unfinished_arrivals() const {
    std::uint64_t sum = 0;
    for (const Cta& cta : ctas_) {
      for (std::size_t slot = 0; slot < cta.arrived.size(); ++slot) {
        const std::uint64_t expected = launch_.mbarrier_arrivals[slot];
        sum += expected == 0 ? cta.arrived[slot] : cta.arrived[slot] % expected;
      }
    }
    return sum;
  }

  std::string stuck;
  std::uint64_t bad_signals = 0;  ///< arrivals on barriers that the launch does not declare

 private:
  struct Stream {
    StreamId id;
    StreamCursor cursor;
    std::array<Operation, TraceSource::kMinFetch> ops;
    std::uint32_t at;
    std::uint32_t count;
    bool ended;
    std::array<std::uint64_t, 8> scoreboard;
    std::array<std::uint64_t, 8> groups;
  };
  struct Cta {
    std::array<std::uint64_t, 64> arrived{};
    std::array<std::uint64_t, 16> named{};
  };

  [[nodiscard]] bool holds(const Stream& stream, const Wait& wait) const {
    const Cta& cta = ctas_[stream.id.cluster_rank];
    switch (wait.cls) {
      case TokenClass::kScoreboard:
        return stream.scoreboard[wait.slot] >= wait.count;
      case TokenClass::kAsyncGroup:
        return stream.groups[wait.slot] >= wait.count;
      case TokenClass::kMbarrier:
        return launch_.mbarrier_arrivals[wait.slot] != 0 &&
               cta.arrived[wait.slot] / launch_.mbarrier_arrivals[wait.slot] >= wait.count;
      case TokenClass::kNamedBarrier:
        return launch_.named_barrier_warps[wait.slot] != 0 &&
               cta.named[wait.slot] / launch_.named_barrier_warps[wait.slot] >= wait.count;
      case TokenClass::kClusterBarrier:
        return launch_.cluster_barrier_arrivals != 0 &&
               cluster_arrived_ / launch_.cluster_barrier_arrivals >= wait.count;
      default:
        return true;
    }
  }

  void signal(Stream& stream, const Signal& s) {
    switch (s.cls) {
      case TokenClass::kScoreboard:
        stream.scoreboard[s.slot] += s.arrivals;
        break;
      case TokenClass::kAsyncGroup:
        stream.groups[s.slot] += s.arrivals;
        break;
      case TokenClass::kMbarrier:
        bad_signals += launch_.mbarrier_arrivals[s.slot] == 0 ? 1 : 0;
        for (std::uint32_t rank = 0; rank < ctas_.size(); ++rank) {
          const bool to = s.cta_mask == 0 ? rank == stream.id.cluster_rank : ((s.cta_mask >> rank) & 1U) != 0;
          ctas_[rank].arrived[s.slot] += to ? s.arrivals : 0;
        }
        break;
      case TokenClass::kNamedBarrier:
        bad_signals += launch_.named_barrier_warps[s.slot] == 0 ? 1 : 0;
        ctas_[stream.id.cluster_rank].named[s.slot] += s.arrivals;
        break;
      case TokenClass::kClusterBarrier:
        cluster_arrived_ += s.arrivals;
        break;
      default:
        break;
    }
  }

  bool step(Stream& stream) {
    if (stream.ended) {
      return false;
    }
    if (stream.at == stream.count) {
      stream.count = source_.fetch(stream.id, stream.cursor, stream.ops);
      stream.at = 0;
      stream.ended = stream.count == 0;
      return !stream.ended;
    }
    const Operation& op = stream.ops[stream.at];
    for (const Wait& wait : op.waits) {
      if (!holds(stream, wait)) {
        return false;
      }
    }
    for (const Signal& s : op.completes) {
      signal(stream, s);
    }
    ++stream.at;
    return true;
  }

  const TraceSource& source_;
  const Launch& launch_;
  std::vector<Cta> ctas_;
  std::vector<Stream> streams_;
  std::uint64_t cluster_arrived_ = 0;
};

}  // namespace strata::test
