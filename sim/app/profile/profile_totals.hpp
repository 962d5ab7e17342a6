/// What a profile adds up to: predicted and measured time by kernel family, and what could not be predicted.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sim/app/predictor.hpp"
#include "sim/app/profile/launch_reader.hpp"

namespace strata::app {

class ProfileTotals {
 public:
  void add(const ProfiledLaunch& launch, const Prediction& prediction);
  /// A table; one line for each family, one for each reason why launches are unsupported.
  [[nodiscard]] std::string text(const DriverWork& driver) const;
  /// {"families": [...], "unsupported_reasons": [...]}; a time that is not known is null.
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  struct Sum {
    std::size_t launches = 0;
    std::size_t measured = 0;  ///< launches whose time is known
    double predicted_us = 0;
    double measured_us = 0;
    [[nodiscard]] std::optional<double> time() const {
      return measured > 0 ? std::optional(measured_us) : std::nullopt;
    }
  };
  /// Reasons that are the same but for their numbers.
  struct Reason {
    std::string first;     ///< as it was found first
    bool differs = false;  ///< others have other numbers
    Sum sum;
    [[nodiscard]] std::string text() const;
  };
  static void add_to(Sum& sum, const ProfiledLaunch& launch, double predicted_us);
  static std::string line(const std::string& name, const Sum& sum);

  std::map<std::string, Sum> families_;
  std::map<std::string, Reason> reasons_;  ///< by without_numbers()
  Sum all_;
  Sum unsupported_;
  bool needs_wgmma_ = false;  ///< a launch is unsupported for that
};

}  // namespace strata::app
