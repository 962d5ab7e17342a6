/// Spans as a Chrome trace ("--timeline"), to be opened in Perfetto or chrome://tracing: a process per SM, a thread per
/// lane, times in microseconds.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/time.hpp"
#include "sim/observe/observer.hpp"

namespace strata {

/// Collects spans and writes them sorted, so that equal runs give equal files.
/// Memory: about 40 bytes a span; beyond `max_spans` spans are counted and dropped.
class Timeline final : public ObserverSink {
 public:
  explicit Timeline(std::size_t max_spans = 2'000'000) : max_spans_(max_spans) {}

  void on_span(const Span& span) override;
  /// The whole trace as JSON text. @param time converts ticks to microseconds
  [[nodiscard]] std::string json(const TimeBase& time) const;

  [[nodiscard]] std::size_t size() const { return spans_.size(); }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  struct Stored {
    Tick begin;
    Tick end;
    std::uint32_t sm;
    std::uint32_t lane;
    std::uint32_t name;
  };
  std::uint32_t intern(const char* text);

  std::size_t max_spans_;
  std::size_t dropped_ = 0;
  std::vector<Stored> spans_;
  std::vector<std::string> texts_;
  std::map<std::string, std::uint32_t, std::less<>> text_ids_;
};

}  // namespace strata
