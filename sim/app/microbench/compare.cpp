#include "sim/app/microbench/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "sim/app/microbench/known_gaps.hpp"
#include "sim/app/microbench/point.hpp"
#include "sim/app/workers.hpp"
#include "sim/base/error.hpp"
#include "sim/base/shortened.hpp"
#include "sim/config/gpu_description.hpp"
#include "sim/config/text.hpp"

namespace strata::app {

namespace {

struct Task {
  std::string key;
  std::function<std::unique_ptr<TraceSource>()> make;
  double sm_clock_mhz = 0;
  const MicrobenchRow* row = nullptr;  ///< the first that asks for it
  MicrobenchRun run;
};

struct MappedRow {
  const MicrobenchRow* row = nullptr;
  MicrobenchPoint point;
  std::vector<std::size_t> tasks;
};

/// The clock to simulate at. Short measurements read the clock within 1.5 %: those are taken as the maximum.
double clock_of(const MicrobenchRow& row, const GpuConfig& gpu) {
  constexpr double kKnown = 500;
  constexpr double kNoise = 0.985;
  const double most = gpu.clocks.sm_max_mhz;
  return row.sm_clock_mhz < kKnown || row.sm_clock_mhz >= kNoise * most ? most : std::round(row.sm_clock_mhz);
}

/// @param only  in lower case
bool wanted(const MicrobenchRow& row, const Mapping& mapping, const std::string& only) {
  return only.empty() || lower_case(row.bench) == only ||
         (mapping.point && lower_case(mapping.point->benchmark).find(only) != std::string::npos);
}

/// What --only could have meant: programs and microbenchmarks that were measured, the nearest first.
std::string nearest_to(const std::string& only, const std::set<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::vector<std::pair<std::size_t, std::string>> by_distance;
  for (const std::string& name : names) {
    // A part of a name is meant as often as a whole one: the best window of the asked length counts.
    const std::string in_lower = lower_case(name);
    std::size_t least = edit_distance(only, in_lower);
    for (std::size_t at = 0; at + only.size() <= in_lower.size(); ++at) {
      least = std::min(least, edit_distance(only, std::string_view(in_lower).substr(at, only.size())));
    }
    by_distance.emplace_back(least, name);
  }
  std::sort(by_distance.begin(), by_distance.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first, a.second.size(), a.second) < std::tuple(b.first, b.second.size(), b.second);
  });
  by_distance.resize(std::min(kShown, by_distance.size()));
  std::string out;
  for (const auto& [distance, name] : by_distance) {
    out += fmt::format("{}'{}'", out.empty() ? "" : ", ", name);
  }
  return out;
}

/// A row may ask for a launch that no GPU, or not this one, can run.
MicrobenchRun run_task(const GpuConfig& gpu, const Task& t) {
  try {
    return run_microbench(gpu, *t.make(), t.sm_clock_mhz);
  } catch (const InputError& e) {
    throw InputError(Diagnostic{t.row->file,
                                t.row->line,
                                0,
                                {},
                                fmt::format("{} at {:.10g} cannot run: {}", t.row->series, t.row->x, e.what())});
  }
}

void run_all(const GpuConfig& gpu, std::vector<Task>& tasks, const MicrobenchOptions& options) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  const auto worker = [&] {
    for (std::size_t i = next.fetch_add(1); i < tasks.size(); i = next.fetch_add(1)) {
      Task& t = tasks[i];
      t.run = run_task(gpu, t);
      const std::size_t finished = done.fetch_add(1) + 1;
      if (options.progress) {
        options.progress(finished, tasks.size());
      }
    }
  };
  run_workers(options.jobs, worker);
}

MicrobenchGroup& group_named(MicrobenchComparison& comparison, const std::string& name) {
  const auto at = std::find_if(comparison.groups.begin(), comparison.groups.end(),
                               [&](const MicrobenchGroup& g) { return g.name == name; });
  if (at != comparison.groups.end()) {
    return *at;
  }
  comparison.groups.push_back(MicrobenchGroup{name, {}, {}});
  return comparison.groups.back();
}

}  // namespace

MicrobenchComparison compare_microbench(const GpuConfig& gpu, const MicrobenchData& data,
                                        const MicrobenchOptions& options) {
  MicrobenchComparison out;
  out.gpu = gpu.chip.name;
  out.product = data.product;
  out.runs = data.runs;
  const Placement placement(gpu);
  std::vector<MappedRow> rows;
  std::vector<Task> tasks;
  std::map<std::string, std::size_t> known;
  const std::string only = lower_case(options.only);
  std::set<std::string> names;
  for (const MicrobenchRow& row : data.rows) {
    Mapping mapping = map_point(row, placement);
    if (mapping.point) {
      names.insert(row.bench);
      names.insert(mapping.point->benchmark);
    }
    if (!wanted(row, mapping, only)) {
      continue;
    }
    if (!mapping.point || row.value == 0) {
      std::string reason = row.bench + ": " + (mapping.point ? std::string(kNothingMeasured) : mapping.reason);
      if (mapping.reason.starts_with("an unknown ")) {
        reason += fmt::format(", {} at {:.10g} ({}:{})", row.series, row.x, row.file, row.line);
      }
      ++out.not_simulated[reason];
      continue;
    }
    MappedRow mapped{&row, std::move(*mapping.point), {}};
    const double clock = clock_of(row, gpu);
    for (PointTrace& trace : mapped.point.traces) {
      const auto [at, fresh] = known.try_emplace(fmt::format("{} @{}", trace.key, clock), tasks.size());
      if (fresh) {
        tasks.push_back(Task{at->first, std::move(trace.make), clock, &row, {}});
      }
      mapped.tasks.push_back(at->second);
    }
    rows.push_back(std::move(mapped));
  }
  if (rows.empty()) {
    throw InputError(
        options.only.empty()
            ? Diagnostic{{}, 0, 0, "--data", "holds no measurement that can be simulated"}
            : Diagnostic{
                  {},
                  0,
                  0,
                  "--only",
                  fmt::format("no measured microbenchmark that can be simulated matches '{}'; the nearest are {}",
                              shortened(options.only), nearest_to(lower_case(shortened(options.only)), names))});
  }
  run_all(gpu, tasks, options);
  for (const MappedRow& mapped : rows) {
    std::vector<const MicrobenchRun*> runs;
    for (const std::size_t t : mapped.tasks) {
      runs.push_back(&tasks[t].run);
    }
    MicrobenchPointResult result;
    result.row = *mapped.row;
    result.kind = mapped.point.kind;
    result.simulated = mapped.point.value(runs);
    group_named(out, mapped.point.benchmark).points.push_back(std::move(result));
  }
  for (MicrobenchGroup& group : out.groups) {
    group.known_gap = known_gap(group, gpu);
  }
  return out;
}

std::string microbench_folder(const std::string& data, const std::string& gpu_name) {
  if (!data.empty()) {
    return data;
  }
  const std::filesystem::path recorded = config_dir().parent_path() / "validation" / "data" / gpu_name / "microbench";
  std::error_code none;  // a folder that cannot be read counts as absent
  if (!std::filesystem::is_directory(recorded, none)) {
    throw InputError(
        fmt::format("no microbenchmarks of {} are recorded: {} is no folder; expected --data FOLDER, which "
                    "validation/microbench/run_all.sh fills on such a GPU",
                    gpu_name, recorded.string()));
  }
  return recorded.string();
}

}  // namespace strata::app
