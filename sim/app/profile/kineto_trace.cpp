/// The JSON of a Kineto trace: events are handed on one at a time and never kept as a document.
#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/profile/gzip_text.hpp"
#include "sim/app/profile/kineto_events.hpp"
#include "sim/app/profile/launch_reader.hpp"
#include "sim/base/error.hpp"
#include "validation/compare/json_input.hpp"
#include "workloads/library/split_producer.hpp"

namespace strata::app {

namespace {

using nlohmann::json;
using Event = json::parse_event_t;

constexpr const char* kEvents = "traceEvents";

[[noreturn]] void fail(const std::string& path, int line, int column, const std::string& message) {
  throw InputError(Diagnostic{path, line, column, {}, message});
}

[[noreturn]] void fail(const std::string& path, const char* key, const std::string& message) {
  throw InputError(Diagnostic{path, 0, 0, key, message});
}

/// Line and column of a byte of the file, for messages.
std::pair<int, int> place_of(const std::string& path, std::size_t byte) {
  GzipText in(path);
  int line = 1;
  int column = 0;
  for (std::size_t i = 0; i < byte; ++i) {
    const int c = in.sbumpc();
    if (c == std::char_traits<char>::eof()) {
      break;
    }
    column = c == '\n' ? 0 : column + 1;
    line += c == '\n' ? 1 : 0;
  }
  return {line, column};
}

/// What the parser's message quotes: "... parsing '1e999'".
std::string quoted(const std::string& message) {
  const std::size_t close = message.rfind('\'');
  const std::size_t open = close == std::string::npos || close == 0 ? close : message.rfind('\'', close - 1);
  return open == std::string::npos || open == close ? std::string{} : message.substr(open + 1, close - open - 1);
}

/// Hands each element of the top-level list `traceEvents` to `take`, with its index, and drops it; returns what remains
/// of the document.
template <typename Take>
json parse_events(std::istream& in, const std::string& path, const Take& take) {
  bool inside = false;
  bool seen = false;
  std::size_t index = 0;
  const auto filter = [&](int depth, Event event, json& value) {
    refuse_deep_json(depth, path, inside ? fmt::format("{}[{}]", kEvents, index) : std::string{});
    if (depth == 1 && event == Event::key) {
      inside = value == kEvents;
      if (inside && std::exchange(seen, true)) {
        fail(path, kEvents, "is there twice; expected one list of events");
      }
    }
    if (inside && depth == 1 && (event == Event::object_start || event == Event::value)) {
      fail(path, kEvents, "is no list; expected a list of events");
    }
    if (inside && depth == 2 && event == Event::object_end) {
      take(value, index++);
      return false;
    }
    return true;
  };
  try {
    return json::parse(in, filter);
  } catch (const json::parse_error& error) {
    const auto [line, column] = place_of(path, error.byte);
    const bool ended = in.eof();
    fail(path, line, column,
         ended ? "the JSON ends before it is complete; was the trace cut short?"
               : "is not JSON; expected a trace of PyTorch's profiler (export_chrome_trace)");
  } catch (const json::out_of_range& error) {
    const std::string where = inside ? fmt::format("{}[{}]", kEvents, index) : std::string{};
    fail(path, where.c_str(),
         fmt::format("holds the number {}, which is out of range; expected at most 1.8e308", quoted(error.what())));
  }
}

class KinetoTrace final : public LaunchReader {
 public:
  KinetoTrace(const std::string& path, const std::function<void(std::size_t)>& progress) {
    constexpr std::size_t kReportEvery = 4096;  // events
    GzipText text(path);
    if (text.sgetc() == std::char_traits<char>::eof()) {
      fail(path, 0, 0, "is empty; expected the JSON of PyTorch's profiler");
    }
    std::istream in(&text);
    std::size_t count = 0;
    const json rest = parse_events(in, path, [&](const json& event, std::size_t index) {
      events_.add(event, path, fmt::format("{}[{}]", kEvents, index));
      if (++count % kReportEvery == 0 && progress) {
        progress(text.bytes_read());
      }
    });
    if (!rest.is_object() || !rest.contains(kEvents)) {
      fail(path, 0, 0, "has no traceEvents; expected a trace of PyTorch's profiler (export_chrome_trace)");
    }
    if (events_.launches().empty()) {
      fail(path, 0, 0,
           fmt::format("has no kernels among its {} events; expected a trace with activities=[CPU, CUDA]", count));
    }
    read_gpu(path, rest);
    events_.finish();
  }

  bool next(ProfiledLaunch& launch) override {
    if (at_ == events_.launches().size()) {
      return false;
    }
    const KernelEvent& event = events_.launches()[at_++];
    const OperatorFacts& op = events_.operator_of(event);
    launch = {};
    launch.job.row = events_.kernel(event);
    LaunchRow& row = launch.job.row;
    row.case_name = event.operator_id == 0 ? op.name : fmt::format("{} {}", op.name, event.operator_id);
    row.seq = std::to_string(event.seq);
    row.op = op.cells.op;
    row.dtype = op.cells.dtype;
    row.shape = op.cells.shape;
    launch.shape_missing = op.shape_missing;
    launch.measured[Quantity::kDurationUs] = event.us;
    if (event.previous != 0) {
      const LaunchRow& kernel = events_.kernel(events_.launches()[event.previous - 1]);
      LaunchRow previous = row;  // of the same operator
      previous.seq = std::to_string(event.seq - 1);
      previous.kernel = kernel.kernel;
      previous.grid = kernel.grid;
      link_producer(previous, row);
    }
    return true;
  }

  void rewind() override { at_ = 0; }
  [[nodiscard]] ProfiledGpu gpu() const override { return gpu_; }
  [[nodiscard]] DriverWork driver_work() const override { return events_.driver_work(); }
  [[nodiscard]] std::string warning() const override { return warning_; }

 private:
  /// The properties of the device that most kernels ran on; warns where there are none, or kernels of several.
  const json& device_of_kernels(const std::string& path, const json& devices) {
    const auto& used = events_.devices();
    const auto most =
        std::max_element(used.begin(), used.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == used.end()) {
      return devices[0];
    }
    const auto properties = [&devices](std::int64_t id) {
      return std::find_if(devices.begin(), devices.end(),
                          [id](const json& d) { return d.is_object() && d.contains("id") && d["id"] == id; });
    };
    for (const auto& [id, kernels] : used) {
      const bool any_id =
          std::any_of(devices.begin(), devices.end(), [](const json& d) { return d.is_object() && d.contains("id"); });
      if (any_id && properties(id) == devices.end() && warning_.empty()) {
        warning_ = fmt::format("{}: {} of its kernels ran on device {}, which deviceProperties does not list", path,
                               kernels, id);
      }
    }
    if (used.size() > 1 && warning_.empty()) {
      warning_ = fmt::format("{}: its kernels ran on {} devices, which are added up; most on device {}", path,
                             used.size(), most->first);
    }
    const auto found = properties(most->first);
    return found == devices.end() ? devices[0] : *found;
  }

  void read_gpu(const std::string& path, const json& document) {
    const json devices = document.value("deviceProperties", json::array());
    if (!devices.is_array() || devices.empty() || !devices[0].is_object()) {
      return;
    }
    const json& device = device_of_kernels(path, devices);
    const auto number = [&device](const char* key) -> std::optional<int> {
      const auto it = device.find(key);
      return it != device.end() && it->is_number_integer() ? std::optional(it->get<int>()) : std::nullopt;
    };
    if (const auto name = device.find("name"); name != device.end() && name->is_string()) {
      gpu_.name = name->get<std::string>();
    }
    gpu_.sms = number("numSms");
    const auto major = number("computeMajor");
    const auto minor = number("computeMinor");
    if (major && minor) {
      gpu_.compute_capability = fmt::format("{}.{}", *major, *minor);
    }
  }

  KinetoEvents events_;
  ProfiledGpu gpu_;
  std::string warning_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<LaunchReader> open_kineto_trace(const std::string& path,
                                                const std::function<void(std::size_t bytes)>& progress) {
  return std::make_unique<KinetoTrace>(path, progress);
}

}  // namespace strata::app
