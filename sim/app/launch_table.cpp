#include "sim/app/launch_table.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "sim/base/error.hpp"

namespace strata::app {

namespace {

constexpr std::uint32_t kMaxSmem = 232448;  // bytes of a CTA, 227 KiB, of any GPU so far

}  // namespace

void link_producer(const LaunchRow& previous, LaunchRow& row) {
  if (!previous.case_name.empty() && previous.case_name == row.case_name && uses_producer(row.kernel)) {
    row.producer_kernel = previous.kernel;
    row.producer_grid = previous.grid;
  }
}

LaunchTable::LaunchTable(const std::string& path) : reader_(path) {
  reader_.require({"case", "seq", "op", "dtype", "shape", "kernel"});
  case_ = reader_.find("case");
  seq_ = reader_.find("seq");
  op_ = reader_.find("op");
  dtype_ = reader_.find("dtype");
  shape_ = reader_.find("shape");
  kernel_ = reader_.find("kernel");
  grid_ = reader_.find("grid_dim");
  block_ = reader_.find("block_dim");
  cluster_ = reader_.find("cluster_dim");
  registers_ = reader_.find("regs");
  smem_dynamic_ = reader_.find("smem_dyn");
  smem_static_ = reader_.find("smem_static");
  clock_ = reader_.find("sm_clock_mhz");
}

const std::string& LaunchTable::text(std::optional<std::size_t> column) const {
  static const std::string kEmpty;
  return column ? record_.cells[*column] : kEmpty;
}

std::optional<Dim3> LaunchTable::dim3(std::optional<std::size_t> column) const {
  const std::string& cell = text(column);
  if (cell.empty()) {
    return std::nullopt;
  }
  std::array<std::uint32_t, 3> extent{};
  const char* at = cell.data();
  const char* const end = at + cell.size();
  for (std::size_t i = 0; i < extent.size(); ++i) {
    const auto [stop, status] = std::from_chars(at, end, extent[i]);
    const bool last = i + 1 == extent.size();
    if (status != std::errc{} || (last ? stop != end : stop == end || *stop != 'x')) {
      refuse(column, "three dimensions such as 128x1x1");
    }
    at = stop + 1;
  }
  return Dim3{extent[0], extent[1], extent[2]};
}

void LaunchTable::refuse(std::optional<std::size_t> column, const std::string& expected) const {
  throw InputError(Diagnostic{reader_.path(), record_.line, 0, reader_.header()[*column],
                              fmt::format("'{}': expected {}", text(column), expected)});
}

std::optional<std::uint32_t> LaunchTable::count(std::optional<std::size_t> column, std::uint32_t lowest,
                                                std::uint32_t highest) const {
  const auto value = column ? csv_number(reader_, record_, *column) : std::nullopt;
  if (!value) {
    return std::nullopt;
  }
  if (*value < lowest || *value > highest || *value != std::floor(*value)) {
    refuse(column, fmt::format("a whole number from {} to {}, or an empty cell", lowest, highest));
  }
  return static_cast<std::uint32_t>(*value);
}

double LaunchTable::clock() const {
  const auto mhz = clock_ ? csv_number(reader_, record_, *clock_) : std::nullopt;
  if (mhz && (*mhz < 1 || *mhz > kMaxSmClockMhz)) {
    refuse(clock_, fmt::format("1 to {} MHz, or an empty cell", kMaxSmClockMhz));
  }
  return mhz.value_or(0);
}

void LaunchTable::check(const LaunchRow& row) const {
  constexpr std::uint32_t kMaxGridX = 0x7fffffff;
  constexpr std::uint32_t kMaxGridYz = 65535;
  constexpr std::uint32_t kMaxBlockZ = 64;
  constexpr std::uint64_t kMaxThreads = 1024;
  constexpr std::uint64_t kMaxCluster = 16;
  const auto all_positive = [](const Dim3& d) { return d.x > 0 && d.y > 0 && d.z > 0; };
  if (row.grid &&
      (!all_positive(*row.grid) || row.grid->x > kMaxGridX || row.grid->y > kMaxGridYz || row.grid->z > kMaxGridYz)) {
    refuse(grid_, fmt::format("1 to {} CTAs along x and 1 to {} along y and z", kMaxGridX, kMaxGridYz));
  }
  if (row.block && (!all_positive(*row.block) || row.block->x > kMaxThreads || row.block->y > kMaxThreads ||
                    row.block->z > kMaxBlockZ || row.block->count() > kMaxThreads)) {
    refuse(block_, fmt::format("1 to {} threads, at most {} of them along z", kMaxThreads, kMaxBlockZ));
  }
  if (row.cluster && (!all_positive(*row.cluster) || row.cluster->x > kMaxCluster || row.cluster->y > kMaxCluster ||
                      row.cluster->z > kMaxCluster || row.cluster->count() > kMaxCluster)) {
    refuse(cluster_, fmt::format("at most {} CTAs, or 0x0x0 for none", kMaxCluster));
  }
  if (row.cluster && row.grid &&
      (row.grid->x % row.cluster->x != 0 || row.grid->y % row.cluster->y != 0 || row.grid->z % row.cluster->z != 0)) {
    refuse(cluster_, fmt::format("dimensions that divide the grid's, {}x{}x{}", row.grid->x, row.grid->y, row.grid->z));
  }
}

void LaunchTable::check_smem(const LaunchRow& row) const {
  const std::uint32_t dynamic = row.smem_dynamic.value_or(0);
  if (std::uint64_t{dynamic} + row.smem_static.value_or(0) > kMaxSmem) {
    refuse(smem_static_, fmt::format("at most {} bytes beside the {} of smem_dyn", kMaxSmem - dynamic, dynamic));
  }
}

bool LaunchTable::next(LaunchJob& job) {
  if (!reader_.next(record_)) {
    return false;
  }
  job.row = {};
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
  constexpr std::uint32_t kMaxRegisters = 255;
  job.row.registers = count(registers_, 1, kMaxRegisters);
  job.row.smem_dynamic = count(smem_dynamic_, 0, kMaxSmem);
  job.row.smem_static = count(smem_static_, 0, kMaxSmem);
  check(job.row);
  check_smem(job.row);
  link_producer(previous_, job.row);
  previous_ = job.row;
  job.sm_clock_mhz = clock();
  return true;
}

}  // namespace strata::app
