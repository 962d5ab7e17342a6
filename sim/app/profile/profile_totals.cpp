#include "sim/app/profile/profile_totals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace strata::app {

namespace {

constexpr std::size_t kMostReasons = 12;

}  // namespace

void ProfileTotals::add_to(Sum& sum, const ProfiledLaunch& launch, double predicted_us) {
  ++sum.launches;
  sum.predicted_us += predicted_us;
  if (const auto& us = launch.measured[Quantity::kDurationUs]) {
    ++sum.measured;
    sum.measured_us += *us;
  }
}

void ProfileTotals::add(const ProfiledLaunch& launch, const Prediction& prediction) {
  if (!prediction.ok) {
    add_to(unsupported_, launch, 0);
    add_to(reasons_[prediction.reason], launch, 0);
    return;
  }
  const std::string family = family_of(launch.job.row.kernel);
  add_to(families_[family.empty() ? prediction.result.family : family], launch, prediction.result.duration_us);
  add_to(all_, launch, prediction.result.duration_us);
}

std::string ProfileTotals::line(const std::string& name, const Sum& sum) {
  std::string out = fmt::format("{:<24} {:>8} {:>14.1f}", name, sum.launches, sum.predicted_us);
  if (sum.measured > 0) {
    out += fmt::format(" {:>14.1f}", sum.measured_us);
  }
  if (sum.measured == sum.launches && sum.measured_us > 0) {
    out += fmt::format(" {:>+10.1f} %", 100 * (sum.predicted_us / sum.measured_us - 1));
  }
  return out + '\n';
}

std::string ProfileTotals::text(const DriverWork& driver) const {
  std::string out = fmt::format("{:<24} {:>8} {:>14} {:>14} {:>12}\n", "family", "launches", "predicted us",
                                "measured us", "difference");
  for (const auto& [family, sum] : families_) {
    out += line(family, sum);
  }
  out += line("all predicted", all_);
  if (unsupported_.launches > 0) {
    out += fmt::format("{:<24} {:>8} {:>14} {:>14.1f}\n", "unsupported", unsupported_.launches, "",
                       unsupported_.measured_us);
  }
  std::vector<std::pair<std::string, Sum>> reasons(reasons_.begin(), reasons_.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second.measured_us > b.second.measured_us; });
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
    out += fmt::format("  {} of them, {:.1f} us: {}\n", reasons[i].second.launches, reasons[i].second.measured_us,
                       reasons[i].first);
  }
  if (reasons.size() > kMostReasons) {
    out += fmt::format("  and {} more reasons, in the rows of --out\n", reasons.size() - kMostReasons);
  }
  if (driver.count > 0) {
    out += fmt::format("{:<24} {:>8} {:>14} {:>14.1f}\n", "driver copies and fills", driver.count, "", driver.us);
  }
  return out;
}

}  // namespace strata::app
