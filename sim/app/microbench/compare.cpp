#include "sim/app/microbench/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "models/hw/system/simulator.hpp"
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

/// A row may ask for a launch that no GPU, or not this one, can run: whatever `work` finds is said of the row.
template <class Work>
auto of_row(const Task& t, const Work& work) {
  const auto problem = [&t](const std::exception& e) {
    return Diagnostic{t.row->file,
                      t.row->line,
                      0,
                      {},
                      fmt::format("{} at {:.10g} cannot run: {}", t.row->series, t.row->x, e.what())};
  };
  try {
    return work();
  } catch (const InputError& e) {
    throw InputError(problem(e));
  } catch (const UnsupportedError& e) {
    throw InputError(problem(e));
  } catch (const StalledError& e) {
    throw StalledError(to_string(problem(e)));
  }
}

/// Before the first simulation, so that minutes are not spent on rows whose neighbour is refused.
void check_tasks(const GpuConfig& gpu, const std::vector<Task>& tasks) {
  for (const Task& t : tasks) {
    of_row(t, [&] { check_launch(gpu, t.make()->launch()); });
  }
}

void run_all(const GpuConfig& gpu, std::vector<Task>& tasks, const MicrobenchOptions& options) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  const auto worker = [&] {
    for (std::size_t i = next.fetch_add(1); i < tasks.size(); i = next.fetch_add(1)) {
      Task& t = tasks[i];
      t.run = of_row(t, [&] { return run_microbench(gpu, *t.make(), t.sm_clock_mhz); });
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

/// Rows as the simulations they ask for, each of those once.
struct MappedRows {
  std::vector<MappedRow> rows;
  std::vector<Task> tasks;
  std::map<std::string, std::size_t> not_simulated;  ///< reason: rows
  std::set<std::string> names;                       ///< that --only could mean
  std::vector<const MicrobenchRow*> zeros;           ///< could be simulated, but nothing was measured
};

MappedRows map_rows(const GpuConfig& gpu, const MicrobenchData& data, const std::string& only) {
  MappedRows out;
  const Placement placement(gpu);
  std::map<std::string, std::size_t> known;
  for (const MicrobenchRow& row : data.rows) {
    Mapping mapping = map_point(row, placement);
    if (mapping.point) {
      out.names.insert(row.bench);
      out.names.insert(mapping.point->benchmark);
    }
    if (!wanted(row, mapping, only)) {
      continue;
    }
    if (!mapping.point || row.value == 0) {
      std::string reason = row.bench + ": " + (mapping.point ? std::string(kNothingMeasured) : mapping.reason);
      if (mapping.reason.starts_with("an unknown ")) {
        reason += fmt::format(", {} at {:.10g} ({}:{})", row.series, row.x, row.file, row.line);
      }
      if (mapping.point) out.zeros.push_back(&row);
      ++out.not_simulated[reason];
      continue;
    }
    MappedRow mapped{&row, std::move(*mapping.point), {}};
    const double clock = clock_of(row, gpu);
    for (PointTrace& trace : mapped.point.traces) {
      const auto [at, fresh] = known.try_emplace(fmt::format("{} @{}", trace.key, clock), out.tasks.size());
      if (fresh) {
        out.tasks.push_back(Task{at->first, std::move(trace.make), clock, &row, {}});
      }
      mapped.tasks.push_back(at->second);
    }
    out.rows.push_back(std::move(mapped));
  }
  return out;
}

}  // namespace

CheckedRows check_microbench(const GpuConfig& gpu, const MicrobenchData& data) {
  const MappedRows mapped = map_rows(gpu, data, {});
  check_tasks(gpu, mapped.tasks);
  CheckedRows out;
  out.simulated = mapped.rows.size();
  for (const MicrobenchRow* row : mapped.zeros) {
    out.zeros.push_back(*row);
  }
  return out;
}

MicrobenchComparison compare_microbench(const GpuConfig& gpu, const MicrobenchData& data,
                                        const MicrobenchOptions& options) {
  MicrobenchComparison out;
  out.gpu = gpu.chip.name;
  out.product = data.product;
  out.runs = data.runs;
  MappedRows mapped = map_rows(gpu, data, lower_case(options.only));
  std::vector<Task>& tasks = mapped.tasks;
  out.not_simulated = std::move(mapped.not_simulated);
  if (mapped.rows.empty()) {
    throw InputError(
        options.only.empty()
            ? Diagnostic{{}, 0, 0, "--data", "holds no measurement that can be simulated"}
            : Diagnostic{
                  {},
                  0,
                  0,
                  "--only",
                  fmt::format("no measured microbenchmark that can be simulated matches '{}'; the nearest are {}",
                              shortened(options.only), nearest_to(lower_case(shortened(options.only)), mapped.names))});
  }
  check_tasks(gpu, tasks);
  run_all(gpu, tasks, options);
  for (const MappedRow& of : mapped.rows) {
    std::vector<const MicrobenchRun*> runs;
    for (const std::size_t t : of.tasks) {
      runs.push_back(&tasks[t].run);
    }
    MicrobenchPointResult result;
    result.row = *of.row;
    result.kind = of.point.kind;
    result.simulated = of.point.value(runs);
    group_named(out, of.point.benchmark).points.push_back(std::move(result));
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
