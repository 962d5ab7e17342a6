#include "sim/app/profile/launches_csv.hpp"

#include <fmt/format.h>

#include "sim/result/csv_writer.hpp"

namespace strata::app {

namespace {

std::string cell(const std::optional<Dim3>& dims) {
  return dims ? fmt::format("{}x{}x{}", dims->x, dims->y, dims->z) : std::string{};
}

std::string cell(const std::optional<std::uint32_t>& number) {
  return number ? std::to_string(*number) : std::string{};
}

}  // namespace

std::string launches_csv_header() {
  std::string out = "case,seq,op,dtype,shape,kernel,grid_dim,block_dim,cluster_dim,regs,smem_dyn,smem_static";
  for (const QuantityInfo& info : kQuantityInfo) {
    out += fmt::format(",{}", info.column);
  }
  return out + '\n';
}

std::string launches_csv_row(const ProfiledLaunch& launch) {
  const LaunchRow& row = launch.job.row;
  std::string out = fmt::format("{},{},{},{},{},{}", csv_cell(row.case_name), csv_cell(row.seq), csv_cell(row.op),
                                csv_cell(row.dtype), csv_cell(row.shape), csv_cell(row.kernel));
  out += fmt::format(",{},{},{},{},{},{}", cell(row.grid), cell(row.block), cell(row.cluster), cell(row.registers),
                     cell(row.smem_dynamic), cell(row.smem_static));
  for (const std::optional<double>& value : launch.measured.value) {
    out += value ? fmt::format(",{:.10g}", *value) : std::string(",");
  }
  return out + '\n';
}

}  // namespace strata::app
