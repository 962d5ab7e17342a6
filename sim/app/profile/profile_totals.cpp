#include "sim/app/profile/profile_totals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace strata::app {

namespace {

constexpr std::size_t kMostReasons = 12;

/// A measured time in a table; a profile need not have any.
std::string time_cell(const std::optional<double>& us) { return us ? fmt::format("{:.1f}", *us) : "unknown"; }

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
  std::string out =
      fmt::format("{:<24} {:>8} {:>14.1f} {:>14}", name, sum.launches, sum.predicted_us, time_cell(sum.time()));
  if (sum.measured == sum.launches && sum.measured_us > 0) {
    out += fmt::format(" {:>+10.1f} %", 100 * (sum.predicted_us / sum.measured_us - 1));
  }
  return out + '\n';
}

nlohmann::ordered_json ProfileTotals::json() const {
  using Json = nlohmann::ordered_json;
  const auto measured = [](const Sum& sum) { return sum.time() ? Json(*sum.time()) : Json(); };
  Json families = Json::array();
  for (const auto& [family, sum] : families_) {
    families.push_back({{"family", family},
                        {"launches", sum.launches},
                        {"predicted_us", sum.predicted_us},
                        {"measured_us", measured(sum)}});
  }
  Json reasons = Json::array();
  for (const auto& [reason, sum] : reasons_) {
    reasons.push_back({{"reason", reason}, {"launches", sum.launches}, {"measured_us", measured(sum)}});
  }
  return {{"families", families}, {"unsupported_reasons", reasons}};
}

std::string ProfileTotals::text(const DriverWork& driver) const {
  std::string out = fmt::format("{:<24} {:>8} {:>14} {:>14} {:>12}\n", "family", "launches", "predicted us",
                                "measured us", "difference");
  for (const auto& [family, sum] : families_) {
    out += line(family, sum);
  }
  out += line("all predicted", all_);
  if (unsupported_.launches > 0) {
    out += fmt::format("{:<24} {:>8} {:>14} {:>14}\n", "unsupported", unsupported_.launches, "",
                       time_cell(unsupported_.time()));
  }
  std::vector<std::pair<std::string, Sum>> reasons(reasons_.begin(), reasons_.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second.measured_us > b.second.measured_us; });
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
    const Sum& sum = reasons[i].second;
    const std::string time = sum.time() ? time_cell(sum.time()) + " us" : "time unknown";
    out += fmt::format("  {} of them, {}: {}\n", sum.launches, time, reasons[i].first);
  }
  if (reasons.size() > kMostReasons) {
    out += fmt::format("  and {} more reasons, in the rows of --out\n", reasons.size() - kMostReasons);
  }
  if (driver.count > 0) {
    out +=
        fmt::format("{:<24} {:>8} {:>14} {:>14}\n", "driver copies and fills", driver.count, "", time_cell(driver.us));
  }
  return out;
}

}  // namespace strata::app
