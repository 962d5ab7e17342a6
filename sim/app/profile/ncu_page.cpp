/// The raw page of Nsight Compute as CSV: a header of metric names, a row of units, one row a launch.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/profile/launch_reader.hpp"
#include "sim/base/error.hpp"
#include "workloads/library/nvtx_label.hpp"

namespace strata::app {

namespace {

constexpr const char* kKernelName = "Kernel Name";
constexpr const char* kNoShape =
    "no shape: give the launch an NVTX range such as gemm_bf16_TN_4096x4096x4096 (ncu --nvtx), or "
    "torch.autograd.profiler.emit_nvtx(record_shapes=True)), or add columns op,dtype,shape to the page";

enum class Measure : std::uint8_t { kCount, kTime };

struct Metric {
  Quantity quantity;
  const char* name;
  Measure measure = Measure::kCount;
};
constexpr std::array kMetrics{
    Metric{Quantity::kSmCycles, "sm__cycles_elapsed.max"},
    Metric{Quantity::kDurationUs, "gpu__time_duration.sum", Measure::kTime},
    Metric{Quantity::kDramReadBytes, "dram__bytes_read.sum"},
    Metric{Quantity::kDramWriteBytes, "dram__bytes_write.sum"},
    Metric{Quantity::kLtsSectors, "lts__t_sectors.sum"},
    Metric{Quantity::kLtsFromSmSectors, "lts__t_sectors_srcunit_tex.sum"},
    Metric{Quantity::kLtsFromSmHitSectors, "lts__t_sectors_srcunit_tex_lookup_hit.sum"},
    Metric{Quantity::kLtsFabricSectors, "lts__t_sectors_srcunit_ltcfabric.sum"},
    Metric{Quantity::kDeliveredSectors, "l1tex__m_xbar2l1tex_read_sectors.sum"},
    Metric{Quantity::kStoredSectors, "l1tex__m_l1tex2xbar_write_sectors.sum"},
    Metric{Quantity::kSmemWavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
    Metric{Quantity::kWarpInsts, "sm__inst_executed.sum"},
    Metric{Quantity::kTensorInsts, "sm__inst_executed_pipe_tensor.sum"},
};

/// Factor from a printed unit to bytes, sectors, ...: "Kbyte", "Mbyte/block", "sector", "".
double count_scale(std::string_view unit) {
  constexpr std::string_view kPrefixes = "KMGT";
  if (unit.size() < 2) {
    return 1;
  }
  const std::size_t prefix = kPrefixes.find(unit.front());
  return prefix == std::string_view::npos ? 1 : std::pow(1000.0, static_cast<double>(prefix + 1));
}

/// Factor from a printed unit to microseconds; nothing for a unit that is no time.
std::optional<double> time_scale(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{{"ns", 1e-3},
                                                                              {"nsecond", 1e-3},
                                                                              {"us", 1},
                                                                              {"usecond", 1},
                                                                              {"ms", 1e3},
                                                                              {"msecond", 1e3},
                                                                              {"s", 1e6},
                                                                              {"second", 1e6}}};
  for (const auto& [name, scale] : kUnits) {
    if (name == unit) return scale;
  }
  return std::nullopt;
}

/// The labels in `594  "domain:label:none:none:none:none:none:none"  "domain:..."`, outermost range first.
std::vector<std::string> labels_of(const std::string& cell) {
  constexpr int kFieldsAfterLabel = 6;  // PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg
  std::vector<std::string> out;
  for (std::size_t open = cell.find('"'); open != std::string::npos;) {
    const std::size_t close = cell.find('"', open + 1);
    if (close == std::string::npos) {
      break;
    }
    std::string range = cell.substr(open + 1, close - open - 1);
    range.erase(0, range.find(':') + 1);
    for (int i = 0; i < kFieldsAfterLabel && range.find(':') != std::string::npos; ++i) {
      range.erase(range.rfind(':'));
    }
    out.push_back(std::move(range));
    open = cell.find('"', close + 1);
  }
  return out;
}

class NcuPage final : public LaunchReader {
 public:
  explicit NcuPage(std::string path) : path_(std::move(path)) { rewind(); }

  void rewind() override {
    csv_ = std::make_unique<CsvReader>(path_, CsvSurroundings{"ID", '='});
    processes_.clear();
    has_rows_ = false;
    find_columns();
    if (!csv_->next(record_)) {
      fail(0, {}, "has a header but no row of units; expected `ncu --csv --page raw`");
    }
    read_units();
  }

  bool next(ProfiledLaunch& launch) override {
    while (csv_->next(record_)) {
      if (record_.cells[0] == csv_->header()[0]) {  // another process's page, one after the other in a file
        take_another_header();
        continue;
      }
      has_rows_ = true;
      read_launch(launch);
      return true;
    }
    if (!has_rows_) {
      fail(0, {}, "has no launches below its header");
    }
    return false;
  }

 private:
  /// What came before in a process, for the numbering of launches and sums of splits.
  struct Process {
    LaunchRow previous;
    int seq = 0;
  };

  [[noreturn]] void fail(int line, const std::string& column, const std::string& message) const {
    throw InputError(Diagnostic{path_, line, 0, column, message});
  }

  [[nodiscard]] const std::string& text(std::optional<std::size_t> column) const {
    static const std::string kEmpty;
    return column ? record_.cells[*column] : kEmpty;
  }

  void find_columns() {
    if (csv_->find("Metric Name")) {
      fail(1, {}, "is a details page; expected the raw page of `ncu --csv --page raw`");
    }
    csv_->require({kKernelName, "Block Size", "Grid Size"});
    nvtx_.clear();
    for (std::size_t i = 0; i < csv_->header().size(); ++i) {
      const std::string& name = csv_->header()[i];
      if (name.find(":Push/Pop_Range:") != std::string::npos || name.find(":Start/Stop_Range:") != std::string::npos) {
        nvtx_.push_back(i);
      }
    }
  }

  void read_units() {
    if (!text(csv_->find(kKernelName)).empty()) {
      fail(record_.line, {}, "is a launch; expected the row of units that follows the header of a raw page");
    }
    units_ = record_.cells;
  }

  void take_another_header() {
    if (record_.cells != csv_->header()) {
      fail(record_.line, {}, "is a header with other columns; expected pages of the same metrics in one file");
    }
    if (csv_->next(record_)) {
      read_units();
    }
  }

  /// A number as printed, "9,459,712" or "15.68", in its printed unit; nothing for an empty cell and "n/a".
  [[nodiscard]] std::optional<double> printed(std::size_t column) const {
    std::string digits;
    for (const char c : record_.cells[column]) {
      if (c != ',') digits += c;
    }
    if (digits.empty() || digits == "n/a") {
      return std::nullopt;
    }
    double value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value) || value < 0) {
      fail(record_.line, csv_->header()[column],
           fmt::format("'{}' is not a number of zero or more", record_.cells[column]));
    }
    return value;
  }

  [[nodiscard]] std::optional<double> measured(const Metric& metric) const {
    const auto column = csv_->find(metric.name);
    const auto value = column ? printed(*column) : std::nullopt;
    if (!value) {
      return std::nullopt;
    }
    if (metric.measure == Measure::kCount) {
      return *value * count_scale(units_[*column]);
    }
    const auto scale = time_scale(units_[*column]);
    if (!scale) {
      fail(record_.line, metric.name,
           fmt::format("unit '{}' is no time; expected ns, us, ms or s in the row of units", units_[*column]));
    }
    return *value * *scale;
  }

  [[nodiscard]] std::optional<std::uint32_t> whole(const char* name) const {
    const auto column = csv_->find(name);
    const auto value = column ? printed(*column) : std::nullopt;
    if (!value) {
      return std::nullopt;
    }
    const double scaled = std::round(*value * count_scale(units_[*column]));
    if (scaled > std::numeric_limits<std::uint32_t>::max()) {
      fail(record_.line, name, fmt::format("'{}' is above 2^32", record_.cells[*column]));
    }
    return static_cast<std::uint32_t>(scaled);
  }

  /// "(384, 1, 1)"
  [[nodiscard]] Dim3 dims(const char* name) const {
    const std::string& cell = text(csv_->find(name));
    std::array<std::uint32_t, 3> n{};
    std::size_t count = 0;
    for (const char* at = cell.data(); at != cell.data() + cell.size() && count < n.size();) {
      const auto [next, status] = std::from_chars(at, cell.data() + cell.size(), n[count]);
      if (status == std::errc{}) {
        ++count;
        at = next;
      } else {
        ++at;
      }
    }
    if (count != n.size()) {
      fail(record_.line, name, fmt::format("'{}' is not three dimensions such as (128, 1, 1)", cell));
    }
    return Dim3{n[0], n[1], n[2]};
  }

  [[nodiscard]] std::optional<Dim3> cluster() const {
    const auto x = whole("launch__cluster_dim_x");
    const auto y = whole("launch__cluster_dim_y");
    const auto z = whole("launch__cluster_dim_z");
    if (!x || !y || !z) {
      return std::nullopt;
    }
    const Dim3 out{*x, *y, *z};
    return out.count() == 0 ? Dim3{} : out;  // 0x0x0: launched without a cluster
  }

  /// The innermost range whose label tells the shape, else the columns op, dtype and shape.
  void read_shape(ProfiledLaunch& launch, std::string& label) const {
    LaunchRow& row = launch.job.row;
    row.op = text(csv_->find("op"));
    row.dtype = text(csv_->find("dtype"));
    row.shape = text(csv_->find("shape"));
    for (const std::size_t column : nvtx_) {
      const std::vector<std::string> labels = labels_of(record_.cells[column]);
      for (auto it = labels.rbegin(); it != labels.rend() && row.shape.empty(); ++it) {
        label = *it;
        take_label(*it, launch);
      }
    }
    if (!row.shape.empty()) {
      launch.shape_missing.clear();
    } else if (launch.shape_missing.empty()) {
      launch.shape_missing = kNoShape;
    }
  }

  static void take_label(const std::string& label, ProfiledLaunch& launch) {
    try {
      if (const auto cells = parse_nvtx_label(label)) {
        launch.job.row.op = cells->op;
        launch.job.row.dtype = cells->dtype;
        launch.job.row.shape = cells->shape;
      }
    } catch (const UnsupportedError& error) {
      launch.shape_missing = error.what();
    }
  }

  void read_launch(ProfiledLaunch& launch) {
    launch = {};
    LaunchRow& row = launch.job.row;
    std::string label;
    read_shape(launch, label);
    row.kernel = text(csv_->find(kKernelName));
    row.grid = dims("Grid Size");
    row.block = dims("Block Size");
    row.cluster = cluster();
    row.registers = whole("launch__registers_per_thread");
    row.smem_dynamic = whole("launch__shared_mem_per_block_dynamic");
    row.smem_static = whole("launch__shared_mem_per_block_static");
    for (const Metric& metric : kMetrics) {
      launch.measured[metric.quantity] = measured(metric);
    }
    row.case_name = label.empty() ? text(csv_->find("Process Name")) : label;
    Process& process = processes_[text(csv_->find("Process ID"))];
    process.seq = process.previous.case_name == row.case_name ? process.seq + 1 : 1;
    row.seq = std::to_string(process.seq);
    link_producer(process.previous, row);
    process.previous = row;
  }

  std::string path_;
  std::unique_ptr<CsvReader> csv_;
  CsvRecord record_;
  std::vector<std::string> units_;
  std::vector<std::size_t> nvtx_;  ///< columns that hold NVTX ranges
  std::map<std::string, Process> processes_;
  bool has_rows_ = false;
};

}  // namespace

std::unique_ptr<LaunchReader> open_ncu_page(const std::string& path) { return std::make_unique<NcuPage>(path); }

}  // namespace strata::app
