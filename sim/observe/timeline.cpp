#include "sim/observe/timeline.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>
#include <tuple>

namespace strata {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

/// Process id of an SM; 0 is the GPU as a whole.
std::uint32_t pid(std::uint32_t sm) { return sm == kGpuWide ? 0 : sm + 1; }

}  // namespace

std::uint32_t Timeline::intern(const char* text) {
  const std::string_view view(text);
  if (const auto it = text_ids_.find(view); it != text_ids_.end()) {
    return it->second;
  }
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(view);
  text_ids_.emplace(texts_.back(), id);
  return id;
}

void Timeline::on_span(const Span& span) {
  if (spans_.size() >= max_spans_) {
    ++dropped_;
    return;
  }
  spans_.push_back({span.begin, span.end, span.sm, intern(span.lane), intern(span.name)});
}

std::string Timeline::json(const TimeBase& time) const {
  std::vector<Stored> sorted = spans_;
  const auto key = [this](const Stored& s) {
    return std::tuple<Tick, std::uint32_t, const std::string&, Tick, const std::string&>(
        s.begin, pid(s.sm), texts_[s.lane], s.end, texts_[s.name]);
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Stored& x, const Stored& y) { return key(x) < key(y); });

  std::set<std::pair<std::uint32_t, std::uint32_t>> lanes;  // process, lane
  for (const Stored& s : sorted) {
    lanes.emplace(pid(s.sm), s.lane);
  }
  std::string out = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped_spans\":" + std::to_string(dropped_) +
                    "},\"traceEvents\":[";
  const char* separator = "\n";
  const auto add = [&](const std::string& event) {
    out += separator + event;
    separator = ",\n";
  };
  std::uint32_t last = UINT32_MAX;
  for (const auto& [process, lane] : lanes) {
    const std::string ids = "\"pid\":" + std::to_string(process);
    if (process != last) {
      const std::string name = process == 0 ? "GPU" : "SM " + std::to_string(process - 1);
      add("{\"ph\":\"M\"," + ids + ",\"name\":\"process_name\",\"args\":{\"name\":\"" + name + "\"}}");
      last = process;
    }
    add("{\"ph\":\"M\"," + ids + ",\"tid\":" + std::to_string(lane) +
        ",\"name\":\"thread_name\",\"args\":{\"name\":" + quoted(texts_[lane]) + "}}");
  }
  for (const Stored& s : sorted) {
    add("{\"ph\":\"X\",\"pid\":" + std::to_string(pid(s.sm)) + ",\"tid\":" + std::to_string(s.lane) +
        ",\"ts\":" + number(time.microseconds(s.begin)) + ",\"dur\":" + number(time.microseconds(s.end - s.begin)) +
        ",\"name\":" + quoted(texts_[s.name]) + "}");
  }
  return out + "\n]}\n";
}

}  // namespace strata
