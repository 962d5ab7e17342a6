/// -j N: how many launches are simulated at once. Never changes an answer.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <thread>

namespace strata::app {

inline constexpr int kMaxJobs = 1024;

[[nodiscard]] inline int default_jobs() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxJobs);
}

[[nodiscard]] inline std::string check_jobs(const std::string& text) {
  int jobs = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  if (status != std::errc{} || end != text.data() + text.size() || jobs < 1 || jobs > kMaxJobs) {
    return "'" + text + "': expected a whole number from 1 to " + std::to_string(kMaxJobs);
  }
  return {};
}

inline void add_jobs_option(CLI::App& command, int& jobs) {
  jobs = default_jobs();
  command.add_option("-j,--jobs", jobs, "launches simulated at once; the answers do not depend on it")
      ->check(check_jobs)
      ->capture_default_str();
}

}  // namespace strata::app
