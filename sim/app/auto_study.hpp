/// How often `--kernel auto` chooses the kernel that the library chose, and what it costs where it does not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/app/measured_table.hpp"
#include "sim/config/gpu_config.hpp"

namespace strata::app {

enum class Agreement : std::uint8_t { kSameKernel, kSameTile, kOther };

/// One operator: all launches of a case.
struct StudiedChoice {
  std::string case_name;
  std::string recorded;  ///< the kernel that the library launched
  std::string chosen;
  double recorded_us = 0;  ///< predicted, as is chosen_us: the model is compared with itself
  double chosen_us = 0;
  Agreement agreement = Agreement::kOther;
};

struct AutoStudy {
  std::vector<StudiedChoice> choices;
  std::vector<std::string> left_out;  ///< "case: reason"
};

/// Operators of the file whose first launch is not a validation row, of one or two launches each.
[[nodiscard]] AutoStudy study_choices(const GpuConfig& gpu, const MeasuredFile& file, int jobs,
                                      const std::function<void(std::size_t done)>& progress);

/// A line for each operator, then the shares of agreement and the cost.
[[nodiscard]] std::string auto_study_text(const AutoStudy& study);

}  // namespace strata::app
