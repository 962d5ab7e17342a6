/// Reads launches.csv (and any measured CSV that has its columns) row by row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "validation/compare/csv_reader.hpp"
#include "workloads/library/resolve.hpp"

namespace strata::app {

/// Highest SM clock that is taken for one: beyond every GPU's, with room for a profiler's noise.
inline constexpr double kMaxSmClockMhz = 10000;

struct LaunchJob {
  LaunchRow row;
  double sm_clock_mhz = 0;  ///< 0 = the clock model chooses
};

/// Needs the columns case, seq, op, dtype, shape, kernel; takes grid_dim, block_dim, cluster_dim, regs, smem_dyn,
/// smem_static, sm_clock_mhz where the file has them and ignores all others. Throws InputError with file, line, column,
/// also where a cell is beyond what CUDA launches on any GPU.
class LaunchTable {
 public:
  explicit LaunchTable(const std::string& path);
  bool next(LaunchJob& job);
  /// Which columns that are not read are nearly the names of ones that are and that the file lacks; empty where none
  /// is.
  /// @param also_read  names beside a launch's own that a file may have
  [[nodiscard]] std::string misspelt_columns(std::span<const std::string_view> also_read = {}) const;
  /// The record behind the last job, for columns that are not part of a launch.
  [[nodiscard]] const CsvRecord& record() const noexcept { return record_; }
  [[nodiscard]] const CsvReader& reader() const noexcept { return reader_; }

 private:
  /// Reads the row ahead; false at the end of the file.
  bool read_ahead();
  [[nodiscard]] const std::string& text(std::optional<std::size_t> column) const;
  [[nodiscard]] std::optional<Dim3> dim3(std::optional<std::size_t> column) const;
  [[nodiscard]] std::optional<std::uint32_t> count(std::optional<std::size_t> column, std::uint32_t lowest,
                                                   std::uint32_t highest) const;
  [[nodiscard]] double clock() const;  ///< 0 where the cell is empty
  [[noreturn]] void refuse(std::optional<std::size_t> column, const std::string& expected) const;
  /// What no GPU launches, and cells that are no value at all, are mistakes of the file.
  void check(const LaunchRow& row) const;

  CsvReader reader_;
  CsvRecord record_;
  CsvRecord ahead_record_;  ///< of the row after, which says whether a launch's parts are added up
  std::optional<LaunchJob> ahead_;
  bool begun_ = false;
  std::optional<std::size_t> case_, seq_, op_, dtype_, shape_, kernel_;
  std::optional<std::size_t> grid_, block_, cluster_, registers_, smem_dynamic_, smem_static_, clock_;
};

}  // namespace strata::app
