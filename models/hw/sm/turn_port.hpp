/// An issue port or pipe that the CTAs of an SM share: in the order of arrival, but for the oldest one's better turns.
#pragma once

#include <cstdint>

#include "sim/timing/resource.hpp"

namespace strata {

/// How a quantum of work comes to a port.
enum class Turn : std::uint8_t {
  kInOrder,      ///< after what waits already
  kOldest,       ///< the same, of the SM's oldest CTA
  kOldestFirst,  ///< of the oldest CTA, after its own work alone: what waits already is pushed back
};

/// Work under way is not taken back: what has a time to be done by keeps it, and who comes next waits longer.
class TurnPort {
 public:
  TurnPort() = default;
  /// @param period,per_cycle as of Resource
  TurnPort(Tick period, std::int64_t per_cycle) : all_(period, per_cycle), oldest_(period, per_cycle) {}

  Tick reserve(Tick arrival, std::int64_t work, Turn turn) {
    const Tick in_order = all_.reserve(arrival, work);
    if (turn == Turn::kInOrder) {
      return in_order;
    }
    const Tick first = oldest_.reserve(arrival, work);
    return turn == Turn::kOldestFirst ? first : in_order;
  }
  [[nodiscard]] Tick next_free() const { return all_.next_free(); }
  [[nodiscard]] Tick busy() const { return all_.busy(); }  ///< total ticks held

 private:
  Resource all_;
  Resource oldest_;  ///< what the oldest CTA alone has asked for
};

}  // namespace strata
