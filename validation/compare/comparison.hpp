/// Joins predictions with measurements and scores them, by split and family.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "validation/compare/error_stats.hpp"
#include "validation/compare/quantities.hpp"

namespace strata {

/// Whose prediction: the simulator's, or one of the simple models it has to beat.
enum class Predictor : std::uint8_t { kSimulator, kRoofline, kBound, kCompulsory, kCount };
inline constexpr std::size_t kNumPredictors = static_cast<std::size_t>(Predictor::kCount);
[[nodiscard]] const char* to_string(Predictor p);

/// One measured launch beside what was predicted for it.
struct ComparedRow {
  std::string case_name;
  std::string seq;
  std::string kernel;
  std::string family;
  std::string split;  ///< "calibration", "validation", or empty when the file does not say
  bool supported = false;
  std::string reason;  ///< why not
  std::string bottleneck;
  QuantityValues measured;
  std::array<QuantityValues, kNumPredictors> predicted;

  /// Signed error, or nothing where either value is unknown or the measured one does not exceed the floor.
  [[nodiscard]] std::optional<double> error(Quantity q, Predictor p = Predictor::kSimulator) const;
  /// Measured HBM reads above 8 MB and over 5 % more than compulsory.
  [[nodiscard]] bool hard() const;
  /// Measured duration under 20 us.
  [[nodiscard]] bool brief() const;
};

/// Errors of one group of rows: every quantity by every predictor.
struct GroupScore {
  std::string name;  ///< family, "overall", "overall, short", "overall, hard"
  std::size_t rows = 0;
  std::array<std::array<ErrorStats, kNumPredictors>, kNumQuantities> stats{};
  [[nodiscard]] const ErrorStats& of(Quantity q, Predictor p = Predictor::kSimulator) const {
    return stats[static_cast<std::size_t>(q)][static_cast<std::size_t>(p)];
  }
};

struct SplitScore {
  std::string name;  ///< "all", "calibration", "validation"
  std::vector<GroupScore> families;
  GroupScore overall;
  GroupScore brief;      ///< launches under 20 us
  GroupScore not_brief;  ///< the others
  GroupScore hard;       ///< rows whose HBM reads exceed the compulsory bytes
  std::size_t unsupported = 0;
};

struct Comparison {
  std::string gpu;
  std::string data;                           ///< the measured file
  std::vector<ComparedRow> rows;              ///< in the file's order
  std::vector<SplitScore> splits;             ///< "all" first, then each split of the file by name
  std::map<std::string, std::size_t> causes;  ///< why rows are unsupported, with their number
  std::size_t other_gpu = 0;                  ///< rows of the file that were measured on another GPU
};

/// Fills `splits` and `causes` from `rows`.
void score(Comparison& comparison);

}  // namespace strata
