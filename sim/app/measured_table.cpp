#include "sim/app/measured_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/app/warning.hpp"
#include "sim/base/error.hpp"
#include "sim/config/gpu_description.hpp"
#include "sim/config/text.hpp"

namespace strata::app {

namespace {

struct MeasuredColumn {
  Quantity quantity;
  std::size_t column;
  double scale;  ///< measured value times this has the quantity's unit
};

/// Other spellings of a measured column, tried when the first is absent.
struct Alternative {
  Quantity quantity;
  const char* column;
  double scale;
};
constexpr std::array<Alternative, 3> kAlternatives{{
    {Quantity::kDurationUs, "duration_us", 1},
    {Quantity::kDurationUs, "measured_us", 1},
    {Quantity::kSmCycles, "sm_cycles_avg", 1},
}};

std::vector<MeasuredColumn> measured_columns(const CsvReader& reader) {
  std::vector<MeasuredColumn> out;
  for (std::size_t i = 0; i < kNumQuantities; ++i) {
    const QuantityInfo& info = kQuantityInfo[i];
    const auto q = static_cast<Quantity>(i);
    const bool renamed = *info.measured_column != '\0';
    if (const auto column = reader.find(renamed ? info.measured_column : info.column)) {
      out.push_back({q, *column, info.measured_scale});
      continue;
    }
    for (const Alternative& other : kAlternatives) {
      if (const auto column = other.quantity == q ? reader.find(other.column) : std::nullopt) {
        out.push_back({q, *column, other.scale});
        break;
      }
    }
  }
  return out;
}

/// Every name under which a file may give what was measured, and what else is read of it.
std::vector<std::string_view> names_read() {
  std::vector<std::string_view> names{"split", "gpu"};
  for (const QuantityInfo& info : kQuantityInfo) {
    names.emplace_back(*info.measured_column == '\0' ? info.column : info.measured_column);
  }
  return names;
}

/// The group of a launch, which has scores of its own.
std::string split_of(const CsvReader& reader, const CsvRecord& record, std::size_t column) {
  const std::string& split = record.cells[column];
  if (!split.empty() && split != "calibration" && split != "validation") {
    throw InputError(Diagnostic{reader.path(), record.line, 0, "split",
                                fmt::format("'{}': expected calibration, validation or an empty cell", split)});
  }
  return split;
}

/// The innermost folder above `path` that bears the name of a GPU.
std::string gpu_of_folder(const std::string& path) {
  const std::vector<std::string> known = list_gpus();
  std::error_code none;  // without a current folder, only what the path itself says
  const std::filesystem::path whole = std::filesystem::absolute(path, none);
  std::string found;
  for (const std::filesystem::path& part : none ? std::filesystem::path(path) : whole.lexically_normal()) {
    if (std::find(known.begin(), known.end(), part.string()) != known.end()) {
      found = part.string();
    }
  }
  return found;
}

}  // namespace

void warn_of_other_gpu(const MeasuredFile& file, const std::string& path, const std::string& gpu_name) {
  if (!file.folder_gpu.empty() && file.folder_gpu != gpu_name) {
    warn(fmt::format("{}: lies in the folder of {}, whose counters are scored as {}'s", path, file.folder_gpu,
                     gpu_name));
  }
}

MeasuredFile read_measured(const std::string& path, const std::string& gpu_name) {
  LaunchTable table(path);
  const CsvReader& reader = table.reader();
  const std::vector<MeasuredColumn> columns = measured_columns(reader);
  if (columns.empty()) {
    throw InputError(Diagnostic{path,
                                1,
                                0,
                                {},
                                "has no measured column; expected at least one of sm_cycles, ncu_duration_ns, "
                                "dram_read_bytes, ..."});
  }
  const auto split = reader.find("split");
  const auto gpu = reader.find("gpu");
  MeasuredFile out;
  out.misspelt = table.misspelt_columns(names_read());
  out.folder_gpu = gpu ? std::string() : gpu_of_folder(path);
  MeasuredLaunch launch;
  bool any_measured = false;
  while (table.next(launch.job)) {
    const CsvRecord& record = table.record();
    if (gpu && !record.cells[*gpu].empty() && lower_case(record.cells[*gpu]) != lower_case(gpu_name)) {
      ++out.other_gpu;
      continue;
    }
    launch.measured = {};
    for (const MeasuredColumn& column : columns) {
      if (const auto value = csv_number(reader, record, column.column)) {
        const QuantityInfo& info = info_of(column.quantity);
        const auto refuse = [&](const std::string& message) {
          throw InputError(Diagnostic{path, record.line, 0, reader.header()[column.column], message});
        };
        if (*value == 0 && info.lowest > 0) {
          refuse("0 is no time; leave the cell empty if unknown");
        }
        if (*value * column.scale < info.lowest) {
          refuse(fmt::format("'{}': expected at least {:g}", record.cells[column.column], info.lowest / column.scale));
        }
        if (*value * column.scale > info.highest) {
          refuse(fmt::format("'{}': expected at most {:g}", record.cells[column.column], info.highest / column.scale));
        }
        launch.measured[column.quantity] = *value * column.scale;
        any_measured = true;
      }
    }
    launch.split = split ? split_of(reader, record, *split) : std::string();
    if (out.launches.size() == kMaxMeasuredRows) {
      throw InputError(Diagnostic{
          path, record.line, 0, {}, fmt::format("has more than {} launches; split the file", kMaxMeasuredRows)});
    }
    out.launches.push_back(launch);
  }
  if (out.launches.empty()) {
    throw InputError(Diagnostic{
        path,
        0,
        0,
        {},
        out.other_gpu > 0 ? fmt::format("has no launch measured on {}", gpu_name) : std::string("has no launches")});
  }
  if (!any_measured) {
    throw InputError(Diagnostic{path, 0, 0, {}, "has no measured value: all cells of its measured columns are empty"});
  }
  return out;
}

}  // namespace strata::app
