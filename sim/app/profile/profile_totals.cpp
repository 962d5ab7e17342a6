#include "sim/app/profile/profile_totals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace strata::app {

namespace {

constexpr std::size_t kMostReasons = 12;

/// A measured time in a table; a profile need not have any.
std::string time_cell(const std::optional<double>& us) { return us ? fmt::format("{:.1f}", *us) : "unknown"; }

/// Numbers that stand alone, such as sizes, as #: reasons that differ in nothing else are one. Those within a word are
/// part of a name.
std::string without_numbers(const std::string& reason) {
  const auto is = [&](std::size_t at, const char* more, auto kind) {
    return at < reason.size() && (kind(static_cast<unsigned char>(reason[at])) != 0 ||
                                  std::string_view(more).find(reason[at]) != std::string_view::npos);
  };
  std::string out;
  for (std::size_t i = 0; i < reason.size();) {
    if (is(i, "", [](int c) { return std::isdigit(c); }) &&
        (i == 0 || !is(i - 1, "_", [](int c) { return std::isalnum(c); }))) {
      while (is(i, ".x", [](int c) { return std::isdigit(c); })) ++i;
      out += '#';
    } else {
      out += reason[i++];
    }
  }
  return out;
}

}  // namespace

std::string ProfileTotals::Reason::text() const { return differs ? first + " (numbers differ)" : first; }

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
    Reason& reason = reasons_[without_numbers(prediction.reason)];
    if (reason.sum.launches == 0) reason.first = prediction.reason;
    reason.differs = reason.differs || reason.first != prediction.reason;
    add_to(reason.sum, launch, 0);
    needs_wgmma_ = needs_wgmma_ || prediction.reason.find(kNeedsWgmma) != std::string::npos;
    return;
  }
  add_to(families_[prediction.family], launch, prediction.result.duration_us);
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
  for (const auto& [key, reason] : reasons_) {
    reasons.push_back(
        {{"reason", reason.text()}, {"launches", reason.sum.launches}, {"measured_us", measured(reason.sum)}});
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
  std::vector<Reason> reasons;
  for (const auto& [key, reason] : reasons_) {
    reasons.push_back(reason);
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.sum.measured_us > b.sum.measured_us; });
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
    const Sum& sum = reasons[i].sum;
    const std::string time = sum.time() ? time_cell(sum.time()) + " us" : "time unknown";
    out += fmt::format("  {} of them, {}: {}\n", sum.launches, time, reasons[i].text());
  }
  if (reasons.size() > kMostReasons) {
    out += fmt::format("  and {} more reasons, in the rows of --out\n", reasons.size() - kMostReasons);
  }
  if (needs_wgmma_) {
    out +=
        "  An equivalent on this GPU: write the launches (--write-launches F), leave their kernel cells empty, and\n"
        "  `predict --in F` takes the fastest of this GPU's libraries.\n";
  }
  if (driver.count > 0) {
    out +=
        fmt::format("{:<24} {:>8} {:>14} {:>14}\n", "driver copies and fills", driver.count, "", time_cell(driver.us));
  }
  return out;
}

}  // namespace strata::app
