/// A port that several senders share in equal parts: when it is busy, replies wait in a queue for each sender.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/base/time.hpp"

namespace strata {

/// The queues of one GPC's read port, one for each of its CPCs. Of those that wait, the one that has been served the
/// fewest bytes goes next; a sender that comes back from idling starts level with the others.
/// Evidence: docs/model/noc.md (equal shares per CPC).
class FairQueues {
 public:
  struct Reply {
    Tick ready = 0;
    std::uint32_t chunk = 0;
    std::uint32_t sm = 0;
    std::uint32_t rank = 0;
    std::uint32_t bytes = 0;
    bool merged = false;
  };

  explicit FairQueues(std::size_t senders = 1) : senders_(senders) {}

  [[nodiscard]] bool empty() const { return waiting_ == 0; }
  void push(std::size_t sender, const Reply& reply) {
    Sender& s = senders_[sender];
    if (s.queue.empty()) {
      s.served = std::max(s.served, level_);
    }
    s.queue.push_back(reply);
    ++waiting_;
  }
  /// The reply whose turn it is; there must be one.
  [[nodiscard]] Reply pop() {
    Sender* next = nullptr;
    for (Sender& s : senders_) {
      if (!s.queue.empty() && (next == nullptr || s.served < next->served)) {
        next = &s;
      }
    }
    const Reply reply = next->queue.front();
    next->queue.pop_front();
    --waiting_;
    level_ = next->served;
    if (!reply.merged) {
      next->served += reply.bytes;
    }
    return reply;
  }

 private:
  struct Sender {
    std::int64_t served = 0;  ///< bytes
    std::deque<Reply> queue;
  };
  std::vector<Sender> senders_;
  std::int64_t level_ = 0;  ///< bytes that the sender served last had been served before
  std::size_t waiting_ = 0;
};

}  // namespace strata
