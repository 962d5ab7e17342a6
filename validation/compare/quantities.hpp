/// What is compared between a simulation and a measurement, declared once: column names, unit, floor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace strata {

enum class Quantity : std::uint8_t {
  kSmCycles,
  kDurationUs,
  kDramReadBytes,
  kDramWriteBytes,
  kLtsSectors,
  kLtsFromSmSectors,
  kLtsFromSmHitSectors,
  kLtsFabricSectors,
  kDeliveredSectors,
  kStoredSectors,
  kSmemWavefronts,
  kWarpInsts,
  kTensorInsts,
  kDramBytes,  ///< read and written, of files that have only the sum: no column of predicted.csv
  kCount
};
inline constexpr std::size_t kNumQuantities = static_cast<std::size_t>(Quantity::kCount);
/// Those that are columns of predicted.csv, whose columns do not change.
inline constexpr std::size_t kNumPredictedColumns = static_cast<std::size_t>(Quantity::kDramBytes);

struct QuantityInfo {
  const char* column;           ///< name in predicted.csv, and in a measured CSV unless the next field says otherwise
  const char* measured_column;  ///< name in a measured CSV; empty = the same
  double measured_scale;        ///< measured value times this has the predicted column's unit
  const char* unit;
  double floor;    ///< scored only where the measured value exceeds this: below it, noise and start-up decide
  double highest;  ///< a measured value beyond this is a mistake of the file: a launch of hours, more than GPUs count
  double lowest = 0;  ///< one below this, likewise: counters may be zero, time never is and would divide the error
};

inline constexpr std::array<QuantityInfo, kNumQuantities> kQuantityInfo{{
    {"sm_cycles", "", 1, "cycles", 0, 1e14, 1},
    {"duration_us", "ncu_duration_ns", 1e-3, "us", 0, 1e10, 1e-6},
    {"dram_read_bytes", "", 1, "bytes", 8e6, 1e18},
    {"dram_write_bytes", "", 1, "bytes", 32e6, 1e18},
    {"lts_sectors", "", 1, "sectors", 100e3, 1e18},
    {"lts_from_sm_sectors", "", 1, "sectors", 100e3, 1e18},
    {"lts_from_sm_hit_sectors", "", 1, "sectors", 100e3, 1e18},
    {"lts_fabric_sectors", "", 1, "sectors", 100e3, 1e18},
    {"xbar2l1_read_sectors", "", 1, "sectors", 100e3, 1e18},
    {"l12xbar_write_sectors", "", 1, "sectors", 100e3, 1e18},
    {"smem_wavefronts", "", 1, "wavefronts", 10e3, 1e18},
    {"warp_insts", "", 1, "inst", 10e3, 1e18},
    {"tensor_insts", "", 1, "inst", 10e3, 1e18},
    {"dram_bytes", "", 1, "bytes", 0, 1e18},
}};

[[nodiscard]] constexpr const QuantityInfo& info_of(Quantity q) { return kQuantityInfo[static_cast<std::size_t>(q)]; }

/// A value of each quantity; nothing where it is not known.
struct QuantityValues {
  std::array<std::optional<double>, kNumQuantities> value{};
  [[nodiscard]] std::optional<double>& operator[](Quantity q) { return value[static_cast<std::size_t>(q)]; }
  [[nodiscard]] const std::optional<double>& operator[](Quantity q) const { return value[static_cast<std::size_t>(q)]; }
};

}  // namespace strata
