#include "validation/compare/microbench_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string_view>
#include <tuple>

#include "sim/base/error.hpp"
#include "validation/compare/csv_reader.hpp"
#include "validation/compare/microbench_series.hpp"
#include "validation/compare/microbench_topology.hpp"
#include "validation/compare/microbench_units.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;

/// Programs that choose SMs by GPC, and those whose numbers follow from it.
bool depends_on_gpcs(const std::string& bench) {
  return bench == "l2_bandwidth" || bench == "l2_fabric" || bench == "topology" || bench.rfind("lrc", 0) == 0;
}

/// "_cold" or "_warm" of X_cold_counters.csv: the same launches as X's with another treatment of the caches.
std::string treatment(const fs::path& path) {
  const std::string name = path.stem().string();
  for (const char* suffix : {"_cold", "_warm"}) {
    if (name.find(std::string(suffix) + "_counters") != std::string::npos) {
      return suffix;
    }
  }
  return {};
}

double finite_number(const CsvReader& reader, const CsvRecord& record, std::size_t column) {
  const std::string& text = record.cells[column];
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    throw InputError(Diagnostic{reader.path(), record.line, 0, reader.header()[column],
                                fmt::format("'{}' is not a finite number", text)});
  }
  return value;
}

/// Only the interval from one launch's end to the next one's start can be below zero: launches may overlap.
double measured_number(const CsvReader& reader, const CsvRecord& record, std::size_t column,
                       const std::string& series = {}) {
  const double value = finite_number(reader, record, column);
  if (value < 0 && !series.ends_with("_to_next_start")) {
    throw InputError(Diagnostic{reader.path(), record.line, 0, reader.header()[column],
                                fmt::format("'{}': expected a number of zero or more", record.cells[column])});
  }
  return value;
}

/// A number in another unit than the program's would be compared as if it were in this one; one that no GPU can give
/// would be taken for the median.
double value_in_unit(const CsvReader& reader, const CsvRecord& record, std::size_t column, const MicrobenchRow& row) {
  const double value = measured_number(reader, record, column, row.series);
  if (const double most = most_of_unit(row.unit); std::abs(value) > most) {
    throw InputError(
        Diagnostic{reader.path(), record.line, 0, reader.header()[column],
                   fmt::format("'{}' {}: expected {} at most {:g}", record.cells[column], row.unit,
                               row.series.ends_with("_to_next_start") ? "a number of" : "a number from 0,", most)});
  }
  return value;
}

/// Programs that do not time print 1. @param card_mhz  the highest clock that the run's card states
double clock_of(const CsvReader& reader, const CsvRecord& record, std::size_t column, int card_mhz) {
  constexpr double kLowest = 500;  // idle cards, and a last cell that was cut short, lie below
  constexpr double kShort = 1.25;  // short measurements read the clock up to a tenth too high
  const double highest = std::max(2 * kLowest, std::round(kShort * card_mhz));
  const double mhz = finite_number(reader, record, column);
  if (mhz != 1 && !(mhz >= kLowest && mhz <= highest)) {
    throw InputError(Diagnostic{reader.path(), record.line, 0, reader.header()[column],
                                fmt::format("'{}': expected {} to {} MHz on a card of at most {}, or 1 where nothing "
                                            "is timed",
                                            record.cells[column], kLowest, highest, card_mhz)});
  }
  return mhz;
}

/// Columns that nothing is made of, but that are numbers in every file of ours, and lie around the value: a row where
/// they do not was put together from several.
void check_spread(const CsvReader& reader, const CsvRecord& record, const MicrobenchRow& row) {
  const auto bound = [&](const char* name, double otherwise) {
    const auto column = reader.find(name);
    const bool endless = column && record.cells[*column] == "inf";  // the rate of a time too short to be measured
    return column && !endless ? measured_number(reader, record, *column, row.series) : otherwise;
  };
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  const double low = bound("min", -kEndless);
  const double high = bound("max", kEndless);
  if (low > high) {
    throw InputError(Diagnostic{reader.path(), record.line, 0, "min",
                                fmt::format("'{}' exceeds max, which is '{}'", record.cells[*reader.find("min")],
                                            record.cells[*reader.find("max")])});
  }
  // Of launches the value is the median of all gaps, min and max are of medians.
  const double rounding = 1e-4 * std::abs(row.value);
  if (!row.series.ends_with("_to_next_start") && (row.value < low - rounding || row.value > high + rounding)) {
    throw InputError(
        Diagnostic{reader.path(), record.line, 0, "value",
                   fmt::format("{:.10g} lies outside min to max, {:.10g} to {:.10g}", row.value, low, high)});
  }
  const auto reps = reader.find("reps");
  const double count = reps ? finite_number(reader, record, *reps) : 1;
  if (count < 1 || count != std::floor(count)) {
    throw InputError(Diagnostic{reader.path(), record.line, 0, "reps",
                                fmt::format("'{}': expected a whole number from 1", record.cells[*reps])});
  }
}

/// Rows of a run that are known to be wrong, as origin.json lists them: "PROGRAM SERIES X", where "*" is any x and, at
/// the front of a series, anything. The sums of rates of a series go with it.
struct LeftOut {
  std::string bench;
  std::string series;
  std::string x;
  bool found = false;  ///< whether the run has such rows

  [[nodiscard]] bool holds(const MicrobenchRow& row) const {
    constexpr std::string_view kSums = "_sum_of_rates";
    std::string_view name = row.series;
    if (name.ends_with(kSums)) name.remove_suffix(kSums.size());
    const bool named = series.starts_with('*') ? name.ends_with(std::string_view(series).substr(1)) : name == series;
    return named && row.bench == bench && (x == "*" || x == fmt::format("{:g}", row.x));
  }
};

struct Run {
  fs::path folder;
  std::vector<MicrobenchRow> rows;
  std::vector<int> gpc_sms;     ///< sorted; empty when not measured
  std::vector<Diagnostic> odd;  ///< of its origin.json: what is not refused, but does nothing
};

void read_file(const fs::path& path, const MicrobenchOrigin& origin, Run& run) {
  CsvReader reader(path.string());
  reader.require({"bench", "series", "x", "x_unit", "value", "unit"});
  const auto column = [&](std::string_view name) { return reader.find(name); };
  const auto bench = *column("bench");
  const auto series = *column("series");
  const auto x = *column("x");
  const auto x_unit = *column("x_unit");
  const auto value = *column("value");
  const auto unit = *column("unit");
  const auto metric = column("metric");
  const auto clock = column("sm_clock_mhz");
  const std::string suffix = treatment(path);
  CsvRecord record;
  const std::size_t before = run.rows.size();
  while (reader.next(record)) {
    MicrobenchRow row;
    row.file = reader.path();
    row.line = record.line;
    row.bench = record.cells[bench] + suffix;
    row.series = record.cells[series];
    row.x = measured_number(reader, record, x);
    if (row.x > std::numeric_limits<std::uint32_t>::max()) {
      throw InputError(Diagnostic{reader.path(), record.line, 0, reader.header()[x],
                                  fmt::format("'{}': expected a size or count below 2^32", record.cells[x])});
    }
    row.x_unit = record.cells[x_unit];
    row.unit = record.cells[unit];
    if (metric) row.metric = record.cells[*metric];
    row.value = value_in_unit(reader, record, value, row);
    if (clock) row.sm_clock_mhz = clock_of(reader, record, *clock, origin.sm_clock_mhz);
    check_spread(reader, record, row);
    run.rows.push_back(std::move(row));
  }
  if (run.rows.size() == before) {
    throw InputError(Diagnostic{path.string(), 0, 0, {}, "has no rows"});
  }
}

bool leaves_out(std::vector<LeftOut>& wrong, const MicrobenchRow& row) {
  bool any = false;
  for (LeftOut& rows : wrong) {
    if (rows.holds(row)) any = rows.found = true;
  }
  return any;
}

std::vector<LeftOut> left_out_of(const MicrobenchOrigin& origin) {
  std::vector<LeftOut> out;
  for (const std::string& entry : origin.left_out) {
    std::istringstream words(entry);
    LeftOut rows;
    words >> rows.bench >> rows.series >> rows.x;
    out.push_back(std::move(rows));
  }
  return out;
}

/// Rows of one run without those that its origin.json leaves out.
Run read_run(const fs::path& folder, const MicrobenchOrigin& origin) {
  Run run;
  run.folder = folder;
  run.odd = origin.unknown;
  std::vector<fs::path> files;
  std::error_code unreadable;
  fs::directory_iterator entry(folder, unreadable);
  for (; !unreadable && entry != fs::directory_iterator(); entry.increment(unreadable)) {
    if (entry->path().extension() == ".csv" && entry->path().filename() != "nvidia_smi.csv") {
      files.push_back(entry->path());
    }
  }
  if (unreadable) {
    throw InputError(Diagnostic{folder.string(), 0, 0, "--data", "cannot be read: " + unreadable.message()});
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    throw InputError(Diagnostic{folder.string(), 0, 0, "--data", "holds no measured CSV"});
  }
  for (const fs::path& file : files) {
    read_file(file, origin, run);
  }
  std::vector<LeftOut> wrong = left_out_of(origin);
  std::erase_if(run.rows, [&wrong](const MicrobenchRow& row) { return leaves_out(wrong, row); });
  for (const LeftOut& rows : wrong) {
    const bool measured = std::any_of(run.rows.begin(), run.rows.end(),
                                      [&rows](const MicrobenchRow& row) { return row.bench == rows.bench; });
    // A folder may hold a part of the run's programs.
    if (!rows.found && (measured || !known_program(rows.bench))) {
      run.odd.push_back(Diagnostic{(folder / "origin.json").string(), 0, 0, "left_out",
                                   fmt::format("'{} {} {}' names no row of the run", rows.bench, rows.series, rows.x)});
    }
  }
  check_topology(run.rows, origin);
  for (const MicrobenchRow& row : run.rows) {
    if (row.bench == "topology" && row.series == "sms_in_gpc" && row.x_unit == "gpc")
      run.gpc_sms.push_back(static_cast<int>(row.value));
  }
  std::sort(run.gpc_sms.begin(), run.gpc_sms.end());
  return run;
}

using PointKey = std::tuple<std::string, std::string, double, std::string, std::string>;
PointKey key_of(const MicrobenchRow& row) { return {row.bench, row.series, row.x, row.x_unit, row.metric}; }

/// Takes rows away that no program prints, and keeps what is wrong with them: once for each series of a file.
void leave_out_unknown(Run& run, std::vector<UnknownSeries>& unknown) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::optional<std::size_t>> seen;
  std::erase_if(run.rows, [&](const MicrobenchRow& row) {
    const auto [at, fresh] = seen.try_emplace({row.file, row.bench, row.series + " " + row.metric, row.x_unit});
    if (fresh) {
      if (std::optional<Diagnostic> problem = unknown_series(row)) {
        at->second = unknown.size();
        unknown.push_back(UnknownSeries{std::move(*problem), 0});
      }
    }
    if (at->second) ++unknown[*at->second].rows;
    return at->second.has_value();
  });
}

/// Of series that are known: what a misspelt one measures in is not.
void check_units(const Run& run) {
  for (const MicrobenchRow& row : run.rows) {
    if (const auto expected = unexpected_unit(row)) {
      throw InputError(Diagnostic{row.file, row.line, 0, "unit", fmt::format("'{}': {}", row.unit, *expected)});
    }
  }
}

/// Whether a point may come again: programs repeat some launches, and lrc.cu groups that a GPC is too small for. Every
/// profile of run_counters.sh reads the time of its launches.
bool may_repeat(const MicrobenchRow& row, const MicrobenchRow& first) {
  if (row.file != first.file) return row.metric == "gpu__time_duration.sum";
  if (row.bench == "lrc" || row.bench == "lrc_cold") return true;
  if (row.metric.empty()) return false;
  return (row.bench == "launch" && row.series.starts_with("empty_") && row.x == 1) ||
         (row.bench.starts_with("first_touch") && row.series == "nothing");
}

/// Any other point that a run has twice was copied or appended, and its average would be nobody's measurement.
void refuse_repeated(const Run& run) {
  constexpr std::size_t kShown = 5;
  std::map<PointKey, const MicrobenchRow*> seen;
  std::vector<Diagnostic> repeated;
  for (const MicrobenchRow& row : run.rows) {
    const auto [at, fresh] = seen.try_emplace(key_of(row), &row);
    if (!fresh && !may_repeat(row, *at->second) && repeated.size() < kShown) {
      repeated.push_back(
          Diagnostic{row.file, row.line, 0, "series",
                     fmt::format("{} {} at {:.10g} {} is measured twice, also in {}:{}; expected one "
                                 "row in each run",
                                 row.bench, row.series, row.x, row.x_unit, at->second->file, at->second->line)});
    }
  }
  if (!repeated.empty()) throw InputError(std::move(repeated));
}

/// A run that lies in the folder twice, as a copy, would count twice. Two runs are one where they were made in the same
/// second and say the same.
void refuse_same_run(const std::vector<Run>& runs, const std::vector<MicrobenchOrigin>& origins) {
  const auto same = [](const MicrobenchRow& a, const MicrobenchRow& b) {
    return key_of(a) == key_of(b) && a.value == b.value && a.sm_clock_mhz == b.sm_clock_mhz;
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const std::vector<MicrobenchRow>& a = runs[i].rows;
      const std::vector<MicrobenchRow>& b = runs[k].rows;
      if (origins[i].date.find('T') != std::string::npos && origins[i].date == origins[k].date &&
          std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) {
        throw InputError(Diagnostic{(runs[i].folder / "origin.json").string(), 0, 0, "date_utc",
                                    fmt::format("'{}': the run is the one in {}: expected each once", origins[i].date,
                                                runs[k].folder.string())});
      }
    }
  }
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  const std::size_t n = v.size();
  return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/// The values of one point.
struct Gathered {
  MicrobenchRow row;
  std::vector<double> values;
  std::vector<double> clocks;
};

}  // namespace

std::vector<MicrobenchRow> read_microbench_run(const std::string& run) {
  return read_run(run, read_microbench_origin(run)).rows;
}

MicrobenchData read_microbench(const std::string& folder, const GpuConfig& gpu) {
  MicrobenchData out;
  std::vector<Run> runs;
  out.runs = microbench_runs(folder);
  check_same_gpu(out.runs, gpu);
  for (const std::string& path : out.runs) {
    const MicrobenchOrigin origin = read_microbench_origin(path);
    check_origin(path, origin, gpu);
    out.product = origin.gpu;
    out.origins.push_back(origin);
    runs.push_back(read_run(path, origin));
    out.odd.insert(out.odd.end(), runs.back().odd.begin(), runs.back().odd.end());
    leave_out_unknown(runs.back(), out.unknown);
    check_units(runs.back());
    refuse_repeated(runs.back());
  }
  refuse_same_run(runs, out.origins);
  std::vector<int> described = gpu.topology.gpc_sms;
  std::sort(described.begin(), described.end());
  const auto same_gpcs = [&](const Run& run) { return run.gpc_sms == described; };
  const bool any_same = std::any_of(runs.begin(), runs.end(), same_gpcs);
  std::map<PointKey, std::size_t> places;
  std::vector<Gathered> gathered;
  for (const Run& run : runs) {
    for (const MicrobenchRow& row : run.rows) {
      if (any_same && !same_gpcs(run) && depends_on_gpcs(row.bench)) {
        continue;
      }
      const auto [at, fresh] = places.try_emplace(key_of(row), gathered.size());
      if (fresh) gathered.push_back(Gathered{row, {}, {}});
      gathered[at->second].values.push_back(row.value);
      gathered[at->second].clocks.push_back(row.sm_clock_mhz);
    }
  }
  for (Gathered& g : gathered) {
    g.row.low = *std::min_element(g.values.begin(), g.values.end());
    g.row.high = *std::max_element(g.values.begin(), g.values.end());
    g.row.runs = static_cast<int>(g.values.size());
    g.row.value = median(g.values);
    g.row.sm_clock_mhz = median(g.clocks);
    out.rows.push_back(std::move(g.row));
  }
  return out;
}

}  // namespace strata
