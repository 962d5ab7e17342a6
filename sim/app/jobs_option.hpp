/// -j N: how many launches are simulated at once. Never changes an answer.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

namespace strata::app {

inline constexpr int kMaxJobs = 1024;

[[nodiscard]] inline int default_jobs() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxJobs);
}

inline void add_jobs_option(CLI::App& command, int& jobs) {
  jobs = default_jobs();
  command.add_option("-j,--jobs", jobs, "launches simulated at once; the answers do not depend on it")
      ->check(CLI::Range(1, kMaxJobs))
      ->capture_default_str();
}

}  // namespace strata::app
