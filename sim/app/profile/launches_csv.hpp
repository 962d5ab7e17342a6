/// launches.csv as `predict` reads it, with what a profiler counted under the names that `validate` reads.
#pragma once

#include <string>

#include "sim/app/profile/launch_reader.hpp"

namespace strata::app {

/// Header line, with its line end.
[[nodiscard]] std::string launches_csv_header();
[[nodiscard]] std::string launches_csv_row(const ProfiledLaunch& launch);

}  // namespace strata::app
