#include "sim/app/launch_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "sim/app/launch_limits.hpp"
#include "sim/base/error.hpp"
#include "sim/config/text.hpp"
#include "workloads/kernels/options.hpp"
#include "workloads/library/shape.hpp"
#include "workloads/library/split_producer.hpp"

namespace strata::app {

namespace {

constexpr std::array<std::string_view, 7> kOptional{"grid_dim", "block_dim",   "cluster_dim", "regs",
                                                    "smem_dyn", "smem_static", "sm_clock_mhz"};

/// The column that `column` is nearly, three letters of eight wrong at most, or the beginning of, among those that the
/// file lacks, capitals aside; empty where there is none.
std::string_view nearest_of(const std::string& column, const std::vector<std::string_view>& lacking) {
  constexpr std::size_t kMostEdits = 3;
  constexpr std::size_t kOfLetters = 8;
  const std::string lower = lower_case(column);
  std::string_view best;
  std::size_t least = kMostEdits + 1;
  for (const std::string_view known : lacking) {
    if (lower.size() > known.size() + kMostEdits) continue;
    const bool begins = known.size() > lower.size() && known.starts_with(lower) && known[lower.size()] == '_';
    const std::size_t edits = begins ? 0 : word_distance(lower, known);
    if (edits < least && edits * kOfLetters <= kMostEdits * known.size()) {
      best = known;
      least = edits;
    }
  }
  return best;
}

}  // namespace

LaunchTable::LaunchTable(const std::string& path) : reader_(path) {
  reader_.require({"case", "seq", "op", "dtype", "shape", "kernel"});
  case_ = reader_.find("case");
  seq_ = reader_.find("seq");
  op_ = reader_.find("op");
  dtype_ = reader_.find("dtype");
  shape_ = reader_.find("shape");
  kernel_ = reader_.find("kernel");
  grid_ = reader_.find(kOptional[0]);
  block_ = reader_.find(kOptional[1]);
  cluster_ = reader_.find(kOptional[2]);
  registers_ = reader_.find(kOptional[3]);
  smem_dynamic_ = reader_.find(kOptional[4]);
  smem_static_ = reader_.find(kOptional[5]);
  clock_ = reader_.find(kOptional[6]);
}

std::string LaunchTable::misspelt_columns(std::span<const std::string_view> also_read) const {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string_view> read(kOptional.begin(), kOptional.end());
  read.insert(read.end(), also_read.begin(), also_read.end());
  std::vector<std::string_view> lacking;
  std::copy_if(read.begin(), read.end(), std::back_inserter(lacking),
               [this](auto name) { return !reader_.find(name); });
  std::string out;
  std::size_t found = 0;
  for (const std::string& column : reader_.header()) {
    if (std::find(read.begin(), read.end(), column) != read.end()) continue;
    const std::string_view meant = nearest_of(column, lacking);
    if (meant.empty() || ++found > kMostNamed) continue;
    out += fmt::format("{}column '{}' is not read; did you mean '{}'?", out.empty() ? "" : "; ", column, meant);
  }
  return found > kMostNamed ? fmt::format("{}; {} more likewise", out, found - kMostNamed) : out;
}

const std::string& LaunchTable::text(std::optional<std::size_t> column) const {
  static const std::string kEmpty;
  return column ? ahead_record_.cells[*column] : kEmpty;
}

std::optional<Dim3> LaunchTable::dim3(std::optional<std::size_t> column) const {
  const std::string& cell = text(column);
  if (cell.empty()) {
    return std::nullopt;
  }
  // As Python and Nsight Compute print it, too: "(128, 1, 1)".
  const bool tuple = cell.size() > 2 && cell.front() == '(' && cell.back() == ')';
  std::array<std::uint32_t, 3> extent{};
  const char* at = cell.data() + (tuple ? 1 : 0);
  const char* const end = cell.data() + cell.size() - (tuple ? 1 : 0);
  for (std::size_t i = 0; i < extent.size(); ++i) {
    while (tuple && at != end && *at == ' ') ++at;
    const auto [stop, status] = std::from_chars(at, end, extent[i]);
    const bool last = i + 1 == extent.size();
    if (status != std::errc{} || (last ? stop != end : stop == end || *stop != (tuple ? ',' : 'x'))) {
      refuse(column, "three dimensions such as 128x1x1");
    }
    at = stop + 1;
  }
  return Dim3{extent[0], extent[1], extent[2]};
}

void LaunchTable::refuse(std::optional<std::size_t> column, const std::string& expected) const {
  throw InputError(Diagnostic{reader_.path(), ahead_record_.line, 0, reader_.header()[*column],
                              fmt::format("'{}': expected {}", text(column), expected)});
}

std::optional<std::uint32_t> LaunchTable::count(std::optional<std::size_t> column, std::uint32_t lowest,
                                                std::uint32_t highest) const {
  const auto value = column ? csv_number(reader_, ahead_record_, *column) : std::nullopt;
  if (!value) {
    return std::nullopt;
  }
  if (*value < lowest || *value > highest || *value != std::floor(*value)) {
    refuse(column, fmt::format("a whole number from {} to {}, or an empty cell", lowest, highest));
  }
  return static_cast<std::uint32_t>(*value);
}

double LaunchTable::clock() const {
  const auto mhz = clock_ ? csv_number(reader_, ahead_record_, *clock_) : std::nullopt;
  if (mhz && (*mhz < 1 || *mhz > kMaxSmClockMhz)) {
    refuse(clock_, fmt::format("1 to {} MHz, or an empty cell", kMaxSmClockMhz));
  }
  return mhz.value_or(0);
}

void LaunchTable::check(const LaunchRow& row) const {
  if (!row.dtype.empty() && !names_data_type(row.dtype)) {
    try {
      static_cast<void>(parse_data_type(row.dtype));
    } catch (const InputError& error) {
      throw InputError(Diagnostic{reader_.path(), ahead_record_.line, 0, reader_.header()[*dtype_],
                                  error.diagnostics().front().message});
    }
  }
  if (!row.shape.empty()) {
    if (const std::string expected = unreadable_cell(row.op, row.shape); !expected.empty()) refuse(shape_, expected);
  }
  const auto impossible = impossible_cell(row);
  if (!impossible) {
    return;
  }
  switch (impossible->cell) {
    case LaunchCell::kGrid:
      refuse(grid_, impossible->expected);
    case LaunchCell::kBlock:
      refuse(block_, impossible->expected);
    case LaunchCell::kCluster:
      refuse(cluster_, impossible->expected);
    case LaunchCell::kRegisters:
      refuse(registers_, impossible->expected);
    case LaunchCell::kSmemDynamic:
      refuse(smem_dynamic_, impossible->expected);
    case LaunchCell::kSmemStatic:
      refuse(smem_static_, impossible->expected);
  }
}

bool LaunchTable::next(LaunchJob& job) {
  if (!begun_) {
    begun_ = true;
    read_ahead();
  }
  if (!ahead_) {
    return false;
  }
  job = std::move(*ahead_);
  std::swap(record_, ahead_record_);
  if (read_ahead()) {
    link_producer(job.row, ahead_->row);
    link_sum(job.row, ahead_->row);
  }
  return true;
}

bool LaunchTable::read_ahead() {
  ahead_.reset();
  if (!reader_.next(ahead_record_)) {
    return false;
  }
  for (const auto& column : {case_, op_, dtype_, shape_, kernel_}) {
    if (text(column).size() > kMaxCellBytes) {
      refuse(column, fmt::format("at most {} bytes, found {}", kMaxCellBytes, text(column).size()));
    }
  }
  LaunchJob job;
  job.row.case_name = text(case_);
  job.row.seq = text(seq_);
  static_cast<void>(count(seq_, 0, std::numeric_limits<std::uint32_t>::max()));
  job.row.op = text(op_);
  job.row.dtype = text(dtype_);
  job.row.shape = text(shape_);
  job.row.kernel = text(kernel_);
  job.row.grid = dim3(grid_);
  job.row.block = dim3(block_);
  job.row.cluster = dim3(cluster_);
  if (job.row.cluster == Dim3{0, 0, 0}) {
    job.row.cluster = Dim3{};  // launched without a cluster
  }
  job.row.registers = count(registers_, 1, kMaxRegisters);
  job.row.smem_dynamic = count(smem_dynamic_, 0, kMaxCtaSmemBytes);
  job.row.smem_static = count(smem_static_, 0, kMaxCtaSmemBytes);
  check(job.row);
  job.sm_clock_mhz = clock();
  ahead_ = std::move(job);
  return true;
}

}  // namespace strata::app
