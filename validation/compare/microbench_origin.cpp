#include "validation/compare/microbench_origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string_view>

#include "sim/base/error.hpp"
#include "sim/base/input_file.hpp"
#include "sim/config/text.hpp"
#include "validation/compare/json_input.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;

// Beyond any GPU so far; what a description may hold is checked there.
constexpr std::int64_t kMostSms = 4096;
constexpr std::int64_t kMostMemoryBytes = std::int64_t{1} << 42;
constexpr std::int64_t kMostBusBits = 65536;
constexpr std::int64_t kMostL2Bytes = std::int64_t{1} << 40;
constexpr std::int64_t kLeastMhz = 100;  // what a description may hold, whose clocks calibrate takes from here
constexpr std::int64_t kMostMhz = 3999;
constexpr std::size_t kLongestName = 200;

constexpr std::array kKeys{"gpu",
                           "compute_capability",
                           "sms",
                           "l2_bytes",
                           "memory_bytes",
                           "memory_bus_bits",
                           "driver_cuda",
                           "runtime_cuda",
                           "nvcc",
                           "spin_sm_clock_mhz",
                           "date_utc",
                           "max_sm_clock_mhz",
                           "left_out",
                           "globaltimer_step_ns",
                           "left_out_because",
                           "memory_clock_mhz"};

struct Architecture {
  std::string_view word;  ///< of the name or of the description
  std::string_view capability;
};
constexpr std::array<Architecture, 16> kProducts{{{"V100", "7.0"},
                                                  {"T4", "7.5"},
                                                  {"A100", "8.0"},
                                                  {"A800", "8.0"},
                                                  {"A30", "8.0"},
                                                  {"A10", "8.6"},
                                                  {"A40", "8.6"},
                                                  {"L4", "8.9"},
                                                  {"L40", "8.9"},
                                                  {"L40S", "8.9"},
                                                  {"H100", "9.0"},
                                                  {"H200", "9.0"},
                                                  {"H800", "9.0"},
                                                  {"GH200", "9.0"},
                                                  {"B200", "10.0"},
                                                  {"GB200", "10.0"}}};
constexpr std::array<Architecture, 2> kDescribed{{{"ampere", "8.0"}, {"hopper", "9.0"}}};

fs::path origin_path(const std::string& run) { return fs::path(run) / "origin.json"; }

InputError fault(const std::string& run, const char* key, std::string message) {
  return InputError(Diagnostic{origin_path(run).string(), 0, 0, key, std::move(message)});
}

/// The compute capability of a product by a word of its name: "NVIDIA A100-SXM4-80GB". Empty where no word is known.
std::string_view capability_by_name(const std::string& name) {
  std::size_t begin = 0;
  while (begin < name.size()) {
    const auto at = [&](std::size_t i) { return std::isalnum(static_cast<unsigned char>(name[i])) != 0; };
    std::size_t end = begin;
    while (end < name.size() && at(end)) ++end;
    const std::string_view word = std::string_view(name).substr(begin, end - begin);
    const auto* known =
        std::find_if(kProducts.begin(), kProducts.end(), [&](const Architecture& a) { return a.word == word; });
    if (known != kProducts.end()) return known->capability;
    begin = end + 1;
  }
  return {};
}

void check_architecture(const std::string& run, const MicrobenchOrigin& origin, const GpuConfig& gpu) {
  const auto* described = std::find_if(kDescribed.begin(), kDescribed.end(),
                                       [&](const Architecture& a) { return a.word == gpu.chip.architecture; });
  if (described == kDescribed.end()) return;
  const bool stated = !origin.compute_capability.empty();
  const std::string found = stated ? origin.compute_capability : std::string(capability_by_name(origin.gpu));
  if (!found.empty() && found != described->capability) {
    throw fault(run, stated ? "compute_capability" : "gpu",
                fmt::format("'{}': measured on another architecture than {}, which is {}: expected compute capability "
                            "{}",
                            stated ? found : origin.gpu, gpu.chip.name, gpu.chip.architecture, described->capability));
  }
}

bool is_run(const fs::path& folder) {
  std::error_code unreadable;  // counts as none
  return fs::exists(folder / "origin.json", unreadable);
}

/// The folders in a folder, but for links, in order; what cannot be read holds none.
std::vector<fs::path> folders_in(const fs::path& folder, std::error_code& unreadable) {
  std::vector<fs::path> out;
  fs::directory_iterator at(folder, unreadable);
  for (; !unreadable && at != fs::directory_iterator(); at.increment(unreadable)) {
    std::error_code unknown;
    if (at->is_directory(unknown) && !at->is_symlink(unknown)) out.push_back(at->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Runs below `folder`, down to `depth` levels.
void find_runs(const fs::path& folder, int depth, std::vector<std::string>& out) {
  std::error_code unreadable;
  for (const fs::path& inner : folders_in(folder, unreadable)) {
    if (is_run(inner)) {
      out.push_back(inner.string());
    } else if (depth > 1) {
      find_runs(inner, depth - 1, out);
    }
  }
}

/// What to give instead of a folder that is neither a run nor holds any: the folders of the runs below it.
std::string where_runs_lie(const fs::path& folder) {
  constexpr int kDeep = 3;
  constexpr std::size_t kShown = 4;
  std::vector<std::string> runs;
  find_runs(folder, kDeep, runs);
  std::vector<std::string> parents;
  for (const std::string& run : runs) parents.push_back(fs::path(run).parent_path().string());
  std::sort(parents.begin(), parents.end());
  parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
  if (parents.empty()) return "run_all.sh leaves one folder per run, with an origin.json in it";
  const bool more = parents.size() > kShown;
  if (more) parents.resize(kShown);
  return fmt::format("runs lie in {}{}; give one of them", fmt::join(parents, ", "), more ? ", ..." : "");
}

nlohmann::json read_origin_json(const std::string& run) {
  const fs::path path = origin_path(run);
  require_regular_file(path.string());
  std::ifstream in(path);
  if (!in) {
    throw InputError(Diagnostic{path.string(), 0, 0, {}, cannot_be_opened() + "; run_all.sh writes it"});
  }
  std::set<std::string> keys;
  const auto shallow = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    refuse_deep_json(depth, path.string(), {});
    // The parser keeps the last of equal keys, whatever the others say.
    if (event == nlohmann::json::parse_event_t::key && depth == 1 && !keys.insert(value.get<std::string>()).second) {
      throw fault(run, value.get<std::string>().c_str(), "is given twice; expected each key once");
    }
    return true;
  };
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    nlohmann::json json = nlohmann::json::parse(text, shallow);
    if (json.is_object()) return json;
  } catch (const nlohmann::json::exception& e) {
    const auto* at = dynamic_cast<const nlohmann::json::parse_error*>(&e);
    const auto read = static_cast<std::ptrdiff_t>(at == nullptr ? 0 : std::min(at->byte, text.size()));
    const auto line = static_cast<int>(1 + std::count(text.begin(), text.begin() + read, '\n'));
    throw InputError(Diagnostic{path.string(), at == nullptr ? 0 : line, 0, {}, "is not a JSON object"});
  }
  throw InputError(Diagnostic{path.string(), 0, 0, {}, "is not a JSON object"});
}

/// Throws InputError where an entry is not three words.
std::vector<std::string> left_out_of(const std::string& run, const nlohmann::json& json) {
  std::vector<std::string> out;
  const auto list = json.find("left_out");
  if (list == json.end()) return out;
  if (!list->is_array()) {
    throw fault(run, "left_out", fmt::format("{}: expected a list of \"PROGRAM SERIES X\"", shown(*list)));
  }
  for (const nlohmann::json& entry : *list) {
    std::istringstream words(entry.is_string() ? entry.get<std::string>() : std::string());
    std::string word;
    int count = 0;
    while (words >> word) ++count;
    constexpr int kWords = 3;
    if (count != kWords) {
      throw fault(run, "left_out", fmt::format("expected \"PROGRAM SERIES X\", found {}", shown(entry)));
    }
    out.push_back(entry.get<std::string>());
  }
  return out;
}

std::vector<Diagnostic> unknown_keys(const std::string& run, const nlohmann::json& json) {
  const std::vector<std::string> known(kKeys.begin(), kKeys.end());
  std::vector<Diagnostic> out;
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      out.push_back(Diagnostic{origin_path(run).string(), 0, 0, key,
                               fmt::format("unknown key; the nearest is '{}'", nearest_name(key, known))});
    }
  }
  return out;
}

bool has_control_characters(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; });
}

}  // namespace

bool same_memory_clock(double one, double other) {
  constexpr double kSame = 0.05;
  return std::abs(one / other - 1) <= kSame;
}

std::vector<std::string> microbench_runs(const std::string& folder) {
  std::error_code unreadable;
  if (!fs::is_directory(folder, unreadable)) {
    throw InputError(Diagnostic{folder, 0, 0, "--data", "is not a folder"});
  }
  if (is_run(folder)) return {folder};
  std::vector<std::string> out;
  bool any = false;
  for (const fs::path& inner : folders_in(folder, unreadable)) {
    out.push_back(inner.string());
    any = any || is_run(inner);
  }
  if (unreadable) {
    throw InputError(Diagnostic{folder, 0, 0, "--data", "cannot be read: " + unreadable.message()});
  }
  if (!any) {
    throw InputError(Diagnostic{
        folder, 0, 0, "--data",
        fmt::format("holds no run: neither it nor a folder in it has an origin.json; {}", where_runs_lie(folder))});
  }
  return out;
}

MicrobenchOrigin read_microbench_origin(const std::string& run) {
  const nlohmann::json json = read_origin_json(run);
  const auto number = [&](const char* key, std::int64_t most, std::int64_t least = 1) {
    const auto at = json.find(key);
    const double value = at != json.end() && at->is_number() ? at->get<double>() : 0;
    if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most) && value == std::floor(value))) {
      throw fault(run, key,
                  fmt::format("{}: expected a whole number from {} to {}", at == json.end() ? "is missing" : shown(*at),
                              least, most));
    }
    return static_cast<std::int64_t>(value);
  };
  const auto text = [&](const char* key, const char* otherwise) {
    const auto at = json.find(key);
    if (at != json.end() && !at->is_string()) {
      throw fault(run, key, fmt::format("{}: expected text", shown(*at)));
    }
    if (at != json.end()) {
      const auto value = at->get<std::string>();
      if (value.size() > kLongestName || has_control_characters(value)) {
        throw fault(run, key,
                    fmt::format("{}: expected text of at most {} characters, none of them a control character",
                                shown(*at), kLongestName));
      }
    }
    return at != json.end() ? at->get<std::string>() : std::string(otherwise);
  };
  MicrobenchOrigin origin;
  origin.gpu = text("gpu", "");
  if (origin.gpu.empty()) {
    throw fault(run, "gpu",
                json.contains("gpu") ? "'': expected the GPU's name" : "is missing: expected the GPU's name");
  }
  origin.date = text("date_utc", "unknown");
  origin.compute_capability = text("compute_capability", "");
  origin.sms = static_cast<int>(number("sms", kMostSms));
  origin.l2_bytes = number("l2_bytes", kMostL2Bytes);
  origin.sm_clock_mhz = static_cast<int>(number("max_sm_clock_mhz", kMostMhz, kLeastMhz));
  origin.memory_clock_mhz = static_cast<int>(number("memory_clock_mhz", kMostMhz, kLeastMhz));
  if (json.contains("memory_bytes")) {
    origin.memory_bytes = number("memory_bytes", kMostMemoryBytes);
  }
  if (json.contains("memory_bus_bits")) {
    origin.memory_bus_bits = static_cast<int>(number("memory_bus_bits", kMostBusBits));
  }
  origin.left_out = left_out_of(run, json);
  origin.unknown = unknown_keys(run, json);
  const std::string_view by_name = capability_by_name(origin.gpu);
  if (!by_name.empty() && !origin.compute_capability.empty() && by_name != origin.compute_capability) {
    throw fault(run, "gpu",
                fmt::format("'{}' has compute capability {}; compute_capability states '{}'", origin.gpu, by_name,
                            origin.compute_capability));
  }
  return origin;
}

void check_same_gpu(const std::vector<std::string>& runs, const GpuConfig& gpu) {
  const MicrobenchOrigin first = read_microbench_origin(runs.front());
  for (const std::string& run : runs) {
    const MicrobenchOrigin origin = read_microbench_origin(run);
    check_architecture(run, origin, gpu);
    const auto compare = [&](const char* key, const auto& found, const auto& expected, bool same) {
      if (!same) {
        throw fault(run, key,
                    fmt::format("'{}', but '{}' in {}: the runs of a folder are of one GPU", found, expected,
                                origin_path(runs.front()).string()));
      }
    };
    compare("gpu", origin.gpu, first.gpu, origin.gpu == first.gpu);
    compare("sms", origin.sms, first.sms, origin.sms == first.sms);
    compare("l2_bytes", origin.l2_bytes, first.l2_bytes, origin.l2_bytes == first.l2_bytes);
    compare("max_sm_clock_mhz", origin.sm_clock_mhz, first.sm_clock_mhz, origin.sm_clock_mhz == first.sm_clock_mhz);
    // Runs of before these were written say nothing of them.
    const auto compare_stated = [&](const char* key, std::int64_t found, std::int64_t expected) {
      compare(key, found, expected, found == expected || found == 0 || expected == 0);
    };
    compare_stated("memory_bytes", origin.memory_bytes, first.memory_bytes);
    compare_stated("memory_bus_bits", origin.memory_bus_bits, first.memory_bus_bits);
    compare("memory_clock_mhz", origin.memory_clock_mhz, first.memory_clock_mhz,
            same_memory_clock(origin.memory_clock_mhz, first.memory_clock_mhz));
  }
}

void check_origin(const std::string& run, const MicrobenchOrigin& origin, const GpuConfig& gpu) {
  const auto compare = [&](const char* key, const char* name, std::int64_t measured, std::int64_t described) {
    if (measured != described) {
      throw fault(run, key,
                  fmt::format("was measured on {} with {} {}; {} has {}", origin.gpu, measured, name, gpu.chip.name,
                              described));
    }
  };
  compare("sms", "SMs", origin.sms, gpu.num_sms());
  compare("l2_bytes", "bytes of L2", origin.l2_bytes, gpu.l2.size_bytes);
  if (!same_memory_clock(origin.memory_clock_mhz, gpu.clocks.hbm_mhz)) {
    compare("memory_clock_mhz", "MHz of memory clock", origin.memory_clock_mhz, gpu.clocks.hbm_mhz);
  }
}

}  // namespace strata
