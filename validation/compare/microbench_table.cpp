#include "validation/compare/microbench_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <tuple>

#include "sim/base/error.hpp"
#include "sim/base/input_file.hpp"
#include "validation/compare/csv_reader.hpp"
#include "validation/compare/json_input.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;

// Beyond any GPU so far; what a description may hold is checked there.
constexpr std::int64_t kMostSms = 4096;
constexpr std::int64_t kMostL2Bytes = std::int64_t{1} << 40;
constexpr std::int64_t kMostMhz = 100000;

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

/// The units that a program prints; of a program that is not known any.
struct ProgramUnits {
  std::string_view bench;
  std::vector<std::string_view> units;
};

const std::vector<ProgramUnits>& program_units() {
  static const std::vector<ProgramUnits> kUnits{
      {"alu", {"clk", "clk/inst", "clk/inst/SMSP"}},
      {"barrier", {"clk"}},
      {"cold_start", {"ns", "clk", "clk/KiB"}},
      {"cta_ends", {"ns", "sector", "cycle"}},
      {"dsmem_atomics", {"B/clk/SM", "lane_ops/clk", "clk"}},
      {"first_touch", {"ns", "sector", "cycle"}},
      {"hbm", {"GB/s", "ns"}},
      {"hbm_traffic", {"B asked", "byte", "ns", "sector", "hz"}},
      {"instruction_fetch", {"clk/inst/SMSP"}},
      {"issue_slots", {"clk/inst/SMSP"}},
      {"l2_bandwidth", {"B/clk"}},
      {"l2_fabric", {"side", "SM", "B/clk"}},
      {"l2_partition", {"clk", "fraction", "smid"}},
      {"latency", {"clk"}},
      {"launch", {"CTA/clk", "ns", "clk", "sector", "cycle"}},
      {"lrc", {"B/clk/SM", "ns", "sector", "cycle", "request"}},
      {"mma_sync", {"clk/inst/SMSP", "inst/clk/SMSP"}},
      {"shared_memory", {"clk/inst/SM", "clk"}},
      {"tma", {"B/clk", "clk/copy/SM", "clk/copy", "clk", "B/clk/SM"}},
      {"tma_edges", {"clk", "ns", "sector", "request", "cycle"}},
      {"topology", {"index", "SM", "fraction", "clusters", "clk"}},
      {"wgmma", {"clk/inst/SM", "B/clk"}},
  };
  return kUnits;
}

/// A number in another unit than the program's would be compared as if it were in this one.
void check_unit(const CsvReader& reader, const CsvRecord& record, std::size_t bench, std::size_t unit) {
  const auto& all = program_units();
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const ProgramUnits& p) { return p.bench == record.cells[bench]; });
  if (known != all.end() &&
      std::find(known->units.begin(), known->units.end(), record.cells[unit]) == known->units.end()) {
    throw InputError(Diagnostic{
        reader.path(), record.line, 0, reader.header()[unit],
        fmt::format("'{}': {} measures in {}", record.cells[unit], known->bench, fmt::join(known->units, ", "))});
  }
}

/// Programs that do not time print 1.
double clock_of(const CsvReader& reader, const CsvRecord& record, std::size_t column) {
  constexpr double kHighest = 10000;
  const double mhz = finite_number(reader, record, column);
  if (mhz < 1 || mhz > kHighest) {
    throw InputError(Diagnostic{reader.path(), record.line, 0, reader.header()[column],
                                fmt::format("'{}': expected 1 to {} MHz", record.cells[column], kHighest)});
  }
  return mhz;
}

/// Columns that nothing is made of, but that are numbers in every file of ours.
void check_spread(const CsvReader& reader, const CsvRecord& record, const std::string& series) {
  for (const char* name : {"min", "max"}) {
    const auto column = reader.find(name);
    const bool endless = column && record.cells[*column] == "inf";  // the rate of a time too short to be measured
    if (column && !endless) static_cast<void>(measured_number(reader, record, *column, series));
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
  std::vector<int> gpc_sms;  ///< sorted; empty when not measured
};

void read_file(const fs::path& path, Run& run) {
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
    row.value = measured_number(reader, record, value, row.series);
    row.unit = record.cells[unit];
    check_unit(reader, record, bench, unit);
    if (metric) row.metric = record.cells[*metric];
    if (clock) row.sm_clock_mhz = clock_of(reader, record, *clock);
    check_spread(reader, record, row.series);
    const bool gpc = row.bench == "topology" && row.series == "sms_in_gpc";
    if ((gpc || row.series == "side_of_gpc") && !(row.value <= kMostSms && row.value == std::floor(row.value))) {
      throw InputError(
          Diagnostic{reader.path(), record.line, 0, reader.header()[value],
                     fmt::format("'{}': expected a whole number from 0 to {}", record.cells[value], kMostSms)});
    }
    if (gpc) {
      run.gpc_sms.push_back(static_cast<int>(row.value));
    }
    run.rows.push_back(std::move(row));
  }
  if (run.rows.size() == before) {
    throw InputError(Diagnostic{path.string(), 0, 0, {}, "has no rows"});
  }
}

nlohmann::json origin_json(const fs::path& folder) {
  const fs::path path = folder / "origin.json";
  require_regular_file(path.string());
  std::ifstream in(path);
  if (!in) {
    throw InputError(Diagnostic{path.string(), 0, 0, {}, cannot_be_opened() + "; run_all.sh writes it"});
  }
  const auto shallow = [&path](int depth, nlohmann::json::parse_event_t /*event*/, nlohmann::json& /*value*/) {
    refuse_deep_json(depth, path.string(), {});
    return true;
  };
  const nlohmann::json json = nlohmann::json::parse(in, shallow, false);
  if (!json.is_object()) {
    throw InputError(Diagnostic{path.string(), 0, 0, {}, "is not a JSON object"});
  }
  return json;
}

/// @param json  what the run's origin.json holds
std::vector<LeftOut> read_left_out(const fs::path& folder, const nlohmann::json& json) {
  const fs::path path = folder / "origin.json";
  std::vector<LeftOut> out;
  for (const nlohmann::json& entry : json.value("left_out", nlohmann::json::array())) {
    std::istringstream words(entry.is_string() ? entry.get<std::string>() : std::string());
    LeftOut rows;
    std::string more;
    if (!(words >> rows.bench >> rows.series >> rows.x) || words >> more) {
      throw InputError(Diagnostic{path.string(), 0, 0, "left_out",
                                  fmt::format("expected \"PROGRAM SERIES X\", found {}", shown(entry))});
    }
    out.push_back(std::move(rows));
  }
  return out;
}

MicrobenchOrigin read_origin(const fs::path& folder, const nlohmann::json& json) {
  const fs::path path = folder / "origin.json";
  const auto number = [&](const char* key, std::int64_t most) {
    const auto at = json.find(key);
    const double value = at != json.end() && at->is_number() ? at->get<double>() : 0;
    if (!(value >= 1 && value <= static_cast<double>(most) && value == std::floor(value))) {
      throw InputError(Diagnostic{
          path.string(), 0, 0, key,
          fmt::format("{}: expected a whole number from 1 to {}", at == json.end() ? "is missing" : shown(*at), most)});
    }
    return static_cast<std::int64_t>(value);
  };
  const auto text = [&](const char* key) {
    const auto at = json.find(key);
    if (at != json.end() && !at->is_string()) {
      throw InputError(Diagnostic{path.string(), 0, 0, key, fmt::format("{}: expected text", shown(*at))});
    }
    return at != json.end() ? at->get<std::string>() : std::string("unknown");
  };
  MicrobenchOrigin origin;
  origin.gpu = text("gpu");
  origin.date = text("date_utc");
  origin.sms = static_cast<int>(number("sms", kMostSms));
  origin.l2_bytes = number("l2_bytes", kMostL2Bytes);
  origin.sm_clock_mhz = static_cast<int>(number("max_sm_clock_mhz", kMostMhz));
  origin.memory_clock_mhz = static_cast<int>(number("memory_clock_mhz", kMostMhz));
  return origin;
}

/// Refuses measurements of a chip that differs from the description in what identifies it.
void check_origin(const fs::path& folder, const MicrobenchOrigin& origin, const GpuConfig& gpu) {
  const auto compare = [&](const char* key, const char* name, std::int64_t measured, std::int64_t described) {
    if (measured != described) {
      throw InputError(Diagnostic{(folder / "origin.json").string(), 0, 0, key,
                                  fmt::format("was measured on {} with {} {}; {} has {}", origin.gpu, measured, name,
                                              gpu.chip.name, described)});
    }
  };
  compare("sms", "SMs", origin.sms, gpu.num_sms());
  compare("l2_bytes", "bytes of L2", origin.l2_bytes, gpu.l2.size_bytes);
  if (!same_memory_clock(origin.memory_clock_mhz, gpu.clocks.hbm_mhz)) {
    compare("memory_clock_mhz", "MHz of memory clock", origin.memory_clock_mhz, gpu.clocks.hbm_mhz);
  }
}

std::vector<fs::path> run_folders(const std::string& folder) {
  if (!fs::is_directory(folder)) {
    throw InputError(Diagnostic{folder, 0, 0, "--data", "is not a folder"});
  }
  std::vector<fs::path> out;
  if (fs::exists(fs::path(folder) / "origin.json")) {
    return {folder};
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) {
      out.push_back(entry.path());
    }
  }
  if (out.empty()) {
    throw InputError(Diagnostic{folder, 0, 0, "--data", "holds no run; run_all.sh leaves one folder per run"});
  }
  std::sort(out.begin(), out.end());
  return out;
}

Run read_run(const fs::path& folder) {
  Run run;
  run.folder = folder;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv" && entry.path().filename() != "nvidia_smi.csv") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    throw InputError(Diagnostic{folder.string(), 0, 0, "--data", "holds no measured CSV"});
  }
  for (const fs::path& file : files) {
    read_file(file, run);
  }
  std::sort(run.gpc_sms.begin(), run.gpc_sms.end());
  return run;
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

std::vector<std::string> microbench_runs(const std::string& folder) {
  std::vector<std::string> out;
  for (const fs::path& run : run_folders(folder)) {
    out.push_back(run.string());
  }
  return out;
}

MicrobenchOrigin read_microbench_origin(const std::string& run) { return read_origin(run, origin_json(run)); }

bool same_memory_clock(double one, double other) {
  constexpr double kSame = 0.05;
  return std::abs(one / other - 1) <= kSame;
}

std::vector<MicrobenchRow> read_microbench_run(const std::string& run) { return read_run(run).rows; }

MicrobenchData read_microbench(const std::string& folder, const GpuConfig& gpu) {
  MicrobenchData out;
  std::vector<Run> runs;
  for (const fs::path& path : run_folders(folder)) {
    const nlohmann::json stated = origin_json(path);
    const MicrobenchOrigin origin = read_origin(path, stated);
    check_origin(path, origin, gpu);
    out.product = origin.gpu;
    out.runs.push_back(path.string());
    runs.push_back(read_run(path));
    const std::vector<LeftOut> wrong = read_left_out(path, stated);
    std::erase_if(runs.back().rows, [&](const MicrobenchRow& row) {
      return std::any_of(wrong.begin(), wrong.end(), [&](const LeftOut& rows) { return rows.holds(row); });
    });
  }
  std::vector<int> described = gpu.topology.gpc_sms;
  std::sort(described.begin(), described.end());
  const auto same_gpcs = [&](const Run& run) { return run.gpc_sms == described; };
  const bool any_same = std::any_of(runs.begin(), runs.end(), same_gpcs);
  using Key = std::tuple<std::string, std::string, double, std::string, std::string>;
  std::map<Key, std::size_t> places;
  std::vector<Gathered> gathered;
  for (const Run& run : runs) {
    for (const MicrobenchRow& row : run.rows) {
      if (any_same && !same_gpcs(run) && depends_on_gpcs(row.bench)) {
        continue;
      }
      const auto [at, fresh] =
          places.try_emplace(Key{row.bench, row.series, row.x, row.x_unit, row.metric}, gathered.size());
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
