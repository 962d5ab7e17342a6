/// The raw page of Nsight Compute as CSV: a header of metric names, a row of units, one row a launch.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/app/launch_limits.hpp"
#include "sim/app/profile/launch_reader.hpp"
#include "sim/base/error.hpp"
#include "workloads/library/nvtx_label.hpp"
#include "workloads/library/split_producer.hpp"

namespace strata::app {

namespace {

constexpr const char* kKernelName = "Kernel Name";
constexpr const char* kGrid = "Grid Size";
constexpr const char* kBlock = "Block Size";
constexpr const char* kClusterX = "launch__cluster_dim_x";
constexpr const char* kClusterY = "launch__cluster_dim_y";
constexpr const char* kClusterZ = "launch__cluster_dim_z";
constexpr const char* kRegisters = "launch__registers_per_thread";
constexpr const char* kSmemDynamic = "launch__shared_mem_per_block_dynamic";
constexpr const char* kSmemStatic = "launch__shared_mem_per_block_static";
constexpr const char* kNoShape =
    "no shape: give the launch an NVTX range such as gemm_bf16_TN_4096x4096x4096 (ncu --nvtx), or "
    "torch.autograd.profiler.emit_nvtx(record_shapes=True), or add columns op,dtype,shape to the page";

const char* column_of(LaunchCell cell) {
  switch (cell) {
    case LaunchCell::kGrid:
      return kGrid;
    case LaunchCell::kBlock:
      return kBlock;
    case LaunchCell::kCluster:
      return kClusterX;
    case LaunchCell::kRegisters:
      return kRegisters;
    case LaunchCell::kSmemDynamic:
      return kSmemDynamic;
    case LaunchCell::kSmemStatic:
      return kSmemStatic;
  }
  return kKernelName;
}

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

/// Factor from a printed unit to bytes, sectors, ...: "Kbyte", "Mbyte/block", "KiB", "sector", ""; nothing for any
/// other.
std::optional<double> count_scale(std::string_view unit, bool bytes) {
  constexpr std::string_view kPrefixes = "KMGT";
  constexpr std::array<std::string_view, 2> kBytes{"byte", "B"};
  constexpr std::array<std::string_view, 11> kCounts{
      "", "cycle", "sector", "inst", "instruction", "wavefront", "request", "register", "block", "thread", "cluster"};
  unit = unit.substr(0, unit.find('/'));
  double scale = 1;
  if (const std::size_t prefix = unit.empty() ? std::string_view::npos : kPrefixes.find(unit.front());
      prefix != std::string_view::npos) {
    unit.remove_prefix(1);
    const bool binary = unit.starts_with("iB") || unit.starts_with("ib");
    unit.remove_prefix(binary ? 1 : 0);
    scale = std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(prefix + 1));
  }
  const bool known = bytes ? std::find(kBytes.begin(), kBytes.end(), unit) != kBytes.end()
                           : std::find(kCounts.begin(), kCounts.end(), unit) != kCounts.end();
  return known ? std::optional(scale) : std::nullopt;
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

/// "9,459,712" without its commas; nothing where they do not separate thousands. A comma for a decimal point, as other
/// locales have it ("26,65", "26.656,5", "0,656"), would be off by orders of magnitude.
std::optional<std::string> without_thousands(std::string_view text) {
  constexpr std::size_t kGroup = 3;
  std::string out;
  const std::string_view whole = text.substr(0, text.find('.'));
  bool first = true;
  for (std::size_t at = 0; at <= whole.size(); first = false) {
    const std::string_view group = whole.substr(at, whole.find(',', at) - at);
    const bool last = at + group.size() == whole.size();
    const bool alone = first && last;
    const bool fits = first ? !group.empty() && group.size() <= kGroup && group.front() != '0' : group.size() == kGroup;
    if (!alone && !fits) return std::nullopt;
    out += group;
    at += group.size() + 1;
  }
  const std::string_view rest = text.substr(whole.size());
  if (rest.find(',') != std::string_view::npos) return std::nullopt;
  return out.append(rest);
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

  [[nodiscard]] ProfiledGpu gpu() const override { return gpu_; }

  void rewind() override {
    csv_ = std::make_unique<CsvReader>(path_, CsvSurroundings{"ID", '='});
    processes_.clear();
    ids_.clear();
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
    csv_->require({kKernelName, kBlock, kGrid});
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
    ids_.clear();  // each page counts its launches from 0
  }

  /// ncu numbers the launches of a page. Rows that have no number, or that of another, are none of its launches.
  void read_id() {
    constexpr const char* kId = "ID";
    const std::string& id = record_.cells[0];
    const auto digits = without_thousands(id);
    std::uint64_t value = 0;
    const char* const end = digits ? digits->data() + digits->size() : nullptr;
    const auto parsed = digits ? std::from_chars(digits->data(), end, value) : std::from_chars_result{nullptr, {}};
    if (!digits || digits->empty() || parsed.ec != std::errc{} || parsed.ptr != end) {
      fail(record_.line, kId, fmt::format("'{}': expected the launch's number, 0 or more", id));
    }
    const auto [at, is_new] = ids_.try_emplace(std::pair{text(csv_->find("Process ID")), value}, record_.line);
    if (!is_new) {
      fail(record_.line, kId, fmt::format("'{}' stands on line {} too; expected each launch once", id, at->second));
    }
  }

  /// A number as printed, "9,459,712" or "15.68", in its printed unit; nothing for an empty cell and "n/a".
  [[nodiscard]] std::optional<double> printed(std::size_t column) const {
    const std::string& cell = record_.cells[column];
    if (cell.empty() || cell == "n/a") {
      return std::nullopt;
    }
    const auto digits = without_thousands(cell);
    if (!digits) {
      fail(record_.line, csv_->header()[column],
           fmt::format("'{}': expected commas between groups of three digits only and a point before decimals, as ncu "
                       "prints numbers in an English locale",
                       cell));
    }
    double value = 0;
    const auto [end, status] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
    if (status != std::errc{} || end != digits->data() + digits->size() || !std::isfinite(value) || value < 0) {
      fail(record_.line, csv_->header()[column], fmt::format("'{}' is not a number of zero or more", cell));
    }
    return value;
  }

  /// What a column's unit says.
  [[nodiscard]] double scale_of(std::size_t column, std::string_view name) const {
    const bool bytes =
        name.find("bytes") != std::string_view::npos || name.find("shared_mem") != std::string_view::npos;
    const auto scale = count_scale(units_[column], bytes);
    if (!scale) {
      fail(record_.line, std::string(name),
           fmt::format("unit '{}' in the row of units; expected {}, alone or after K, M, G or T", units_[column],
                       bytes ? "byte" : "cycle, sector, inst, wavefront or another count"));
    }
    return *scale;
  }

  [[nodiscard]] std::optional<double> measured(const Metric& metric) const {
    const auto column = csv_->find(metric.name);
    const auto value = column ? printed(*column) : std::nullopt;
    if (!value) {
      return std::nullopt;
    }
    const auto time = metric.measure == Measure::kTime ? time_scale(units_[*column]) : std::nullopt;
    if (metric.measure == Measure::kTime && !time) {
      fail(record_.line, metric.name,
           fmt::format("unit '{}' is no time; expected ns, us, ms or s in the row of units", units_[*column]));
    }
    const double scaled = *value * (time ? *time : scale_of(*column, metric.name));
    const QuantityInfo& info = info_of(metric.quantity);
    if (scaled < info.lowest || scaled > info.highest) {
      fail(record_.line, metric.name,
           scaled > info.highest
               ? fmt::format("'{}': expected at most {:g} {}", record_.cells[*column], info.highest, info.unit)
               : fmt::format("'{}': expected at least {:g} {}", record_.cells[*column], info.lowest, info.unit));
    }
    return scaled;
  }

  [[nodiscard]] std::optional<std::uint32_t> whole(const char* name) const {
    const auto column = csv_->find(name);
    const auto value = column ? printed(*column) : std::nullopt;
    if (!value) {
      return std::nullopt;
    }
    constexpr double kRounding = 1e-6;  // of 16.384 Kbyte times 1000
    const double scaled = *value * scale_of(*column, name);
    const double rounded = std::round(scaled);
    if (std::abs(scaled - rounded) > kRounding) {
      fail(record_.line, name,
           fmt::format("'{}' {}: expected a whole number", record_.cells[*column], units_[*column]));
    }
    if (rounded > std::numeric_limits<std::uint32_t>::max()) {
      fail(record_.line, name, fmt::format("'{}' is above 2^32", record_.cells[*column]));
    }
    return static_cast<std::uint32_t>(rounded);
  }

  /// "(384, 1, 1)", with its parentheses or without.
  [[nodiscard]] Dim3 dims(const char* name) const {
    const std::string& cell = text(csv_->find(name));
    std::string plain;
    std::remove_copy(cell.begin(), cell.end(), std::back_inserter(plain), ' ');
    if (plain.size() > 1 && plain.front() == '(' && plain.back() == ')') {
      plain = plain.substr(1, plain.size() - 2);
    }
    std::array<std::uint32_t, 3> n{};
    const char* at = plain.data();
    const char* const end = at + plain.size();
    for (std::size_t i = 0; i < n.size(); ++i) {
      const auto [next, status] = std::from_chars(at, end, n[i]);
      const bool last = i + 1 == n.size();
      if (status != std::errc{} || (last ? next != end : next == end || *next != ',')) {
        fail(record_.line, name, fmt::format("'{}' is not three dimensions such as (128, 1, 1)", cell));
      }
      at = next + 1;
    }
    return Dim3{n[0], n[1], n[2]};
  }

  [[nodiscard]] std::optional<Dim3> cluster() const {
    const auto x = whole(kClusterX);
    const auto y = whole(kClusterY);
    const auto z = whole(kClusterZ);
    if (!x || !y || !z) {
      return std::nullopt;
    }
    const Dim3 out{*x, *y, *z};
    return out == Dim3{0, 0, 0} ? Dim3{} : out;  // 0x0x0: launched without a cluster
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

  /// Kbytes are printed with two decimals: what that adds to the most that a CTA may have is none of the launch's.
  void take_back_rounding(LaunchRow& row) const {
    constexpr std::uint32_t kRounding = 10;
    const std::uint32_t most = kMaxCtaSmemBytes - std::min(row.smem_static.value_or(0), kMaxCtaSmemBytes);
    const auto column = csv_->find(kSmemDynamic);
    if (column && scale_of(*column, kSmemDynamic) > 1 && row.smem_dynamic && *row.smem_dynamic > most &&
        *row.smem_dynamic <= most + kRounding) {
      row.smem_dynamic = most;
    }
  }

  /// The dimension that cannot be, of one along each a column; all of them where only their product is too large.
  [[noreturn]] void fail_cluster(const LaunchRow& row, const std::string& expected) const {
    const auto wrong = [&](std::uint32_t Dim3::*along) {
      const std::uint32_t n = (*row.cluster).*along;
      return n == 0 || n > kMaxCluster || (row.grid && (*row.grid).*along % n != 0);
    };
    for (const auto& [along, column] : {std::pair{&Dim3::x, kClusterX}, {&Dim3::y, kClusterY}, {&Dim3::z, kClusterZ}}) {
      if (wrong(along)) {
        fail(record_.line, column, fmt::format("'{}': expected {}", text(csv_->find(column)), expected));
      }
    }
    fail(record_.line, "launch__cluster_dim_x, _y and _z",
         fmt::format("'{}x{}x{}': expected {}", row.cluster->x, row.cluster->y, row.cluster->z, expected));
  }

  void check(const LaunchRow& row) const {
    if (const auto impossible = impossible_cell(row)) {
      if (impossible->cell == LaunchCell::kCluster) fail_cluster(row, impossible->expected);
      const char* column = column_of(impossible->cell);
      fail(record_.line, column, fmt::format("'{}': expected {}", text(csv_->find(column)), impossible->expected));
    }
  }

  /// The first launch's; the other ones of a page ran on the same.
  void read_gpu() {
    if (gpu_.compute_capability.empty()) {
      gpu_.compute_capability = text(csv_->find("CC"));
      gpu_.name = text(csv_->find("device__attribute_display_name"));
      if (const auto sms = whole("device__attribute_multiprocessor_count")) {
        gpu_.sms = static_cast<int>(*sms);
      }
    }
  }

  void read_launch(ProfiledLaunch& launch) {
    launch = {};
    read_id();
    LaunchRow& row = launch.job.row;
    std::string label;
    read_shape(launch, label);
    row.kernel = text(csv_->find(kKernelName));
    for (const std::string* cell : {&row.kernel, &row.op, &row.dtype, &row.shape, &label}) {
      if (cell->size() > kMaxCellBytes) {
        fail(record_.line, kKernelName,
             fmt::format("'{}': expected at most {} bytes in a name, a label or a shape", *cell, kMaxCellBytes));
      }
    }
    if (row.kernel.empty()) {  // elsewhere a launch without a name asks for a choice of kernel
      fail(record_.line, kKernelName, "is empty; expected a kernel's name");
    }
    row.grid = dims(kGrid);
    row.block = dims(kBlock);
    row.cluster = cluster();
    row.registers = whole(kRegisters);
    row.smem_dynamic = whole(kSmemDynamic);
    row.smem_static = whole(kSmemStatic);
    take_back_rounding(row);
    check(row);
    read_gpu();
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
  std::map<std::pair<std::string, std::uint64_t>, int> ids_;  ///< process and ID -> line, of this page
  ProfiledGpu gpu_;
  bool has_rows_ = false;
};

}  // namespace

std::unique_ptr<LaunchReader> open_ncu_page(const std::string& path) { return std::make_unique<NcuPage>(path); }

}  // namespace strata::app
