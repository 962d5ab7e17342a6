/// What the models tell anyone who listens: typed spans of activity, behind a sink that may be absent.
///
/// Cost when off: one predictable branch per span, nothing is built.
#pragma once

#include <cstdint>

#include "sim/base/time.hpp"

namespace strata {

/// One stretch of activity on a lane of an SM (or of the whole GPU).
struct Span {
  std::uint32_t sm = 0;   ///< kGpuWide for units that belong to no SM
  const char* lane = "";  ///< "warpgroup 0", "TMA", "tensor": static text, or kept alive by the caller
  const char* name = "";  ///< what happens, same life time
  Tick begin = 0;
  Tick end = 0;
};
inline constexpr std::uint32_t kGpuWide = UINT32_MAX;

/// Receives events in the order in which they are reported, which is not the order of their begin ticks.
class ObserverSink {
 public:
  ObserverSink() = default;
  ObserverSink(const ObserverSink&) = delete;
  ObserverSink& operator=(const ObserverSink&) = delete;
  virtual ~ObserverSink() = default;
  virtual void on_span(const Span& span) = 0;
};

/// The handle that models hold. Default-constructed it drops everything.
class Observer {
 public:
  Observer() = default;
  explicit Observer(ObserverSink* sink) : sink_(sink) {}

  [[nodiscard]] bool on() const { return sink_ != nullptr; }
  void span(std::uint32_t sm, const char* lane, const char* name, Tick begin, Tick end) const {
    if (sink_ != nullptr) [[unlikely]] {
      sink_->on_span({sm, lane, name, begin, end});
    }
  }

 private:
  ObserverSink* sink_ = nullptr;
};

}  // namespace strata
