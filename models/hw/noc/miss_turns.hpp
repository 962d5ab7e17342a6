/// Who may read HBM next: each CPC has a bounded number of bytes of L2 misses under way, and those beyond it wait.
///
/// When HBM is saturated every CPC gets the same share of it, so an SM of a six-SM CPC gets less than one of four.
/// Evidence: docs/model/noc.md. Not modelled: turns within a CPC other than first come, first served.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace strata {

class MissTurns {
 public:
  struct Miss {
    std::uint32_t chunk = 0;
    std::uint32_t lines = 0;  ///< as in the event
    std::int64_t bytes = 0;
  };

  MissTurns() = default;
  /// @param limit bytes a CPC may have under way; 0 = no limit
  MissTurns(std::size_t cpcs, std::int64_t limit) : limit_(limit), cpcs_(cpcs) {}

  /// True when the miss may go on now; otherwise it is kept.
  bool enter(std::uint16_t cpc, const Miss& miss) {
    Cpc& c = cpcs_[cpc];
    if (limit_ > 0 && (!c.waiting.empty() || c.under_way >= limit_)) {
      c.waiting.push_back(miss);
      return false;
    }
    c.under_way += miss.bytes;
    return true;
  }
  /// The data of a miss is there.
  void leave(std::uint16_t cpc, std::int64_t bytes) { cpcs_[cpc].under_way -= bytes; }
  /// The next miss that may go on, if there is one.
  bool next(std::uint16_t cpc, Miss& miss) {
    Cpc& c = cpcs_[cpc];
    if (c.waiting.empty() || c.under_way >= limit_) {
      return false;
    }
    miss = c.waiting.front();
    c.waiting.pop_front();
    c.under_way += miss.bytes;
    return true;
  }

 private:
  struct Cpc {
    std::int64_t under_way = 0;
    std::deque<Miss> waiting;
  };
  std::int64_t limit_ = 0;
  std::vector<Cpc> cpcs_;
};

}  // namespace strata
