#include "sim/app/auto_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/app/auto_kernel.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/base/error.hpp"

namespace strata::app {

namespace {

constexpr double kPercent = 100;
constexpr std::size_t kMostLaunches = 2;  ///< a kernel and the sum of its parts; more is an operator of several kernels

/// Launches of a case, in order.
using Case = std::vector<LaunchJob>;

std::vector<Case> cases_of(const MeasuredFile& file) {
  std::vector<Case> out;
  bool skip = false;
  std::string name;
  for (const MeasuredLaunch& launch : file.launches) {
    const LaunchRow& row = launch.job.row;
    if (out.empty() || row.case_name != name) {
      name = row.case_name;
      skip = launch.split == "validation";
      if (!skip) out.emplace_back();
    }
    if (!skip) {
      out.back().push_back(launch.job);
      out.back().back().sm_clock_mhz = 0;
    }
  }
  std::erase_if(out, [](const Case& c) { return c.size() > kMostLaunches; });
  return out;
}

std::string description_of(const LaunchRow& row, const TargetFacts& target) {
  return family_of(row.kernel) + " " + resolve_launch(row, target).description;
}

/// Family and tile only: what stands before "(MxNxK)" of a GEMM's description.
std::string tile_of(const std::string& description) { return description.substr(0, description.find(" (MxNxK)")); }

Agreement compare(const LaunchRow& recorded, const LaunchRow& chosen, const TargetFacts& target) {
  const std::string a = description_of(recorded, target);
  const std::string b = description_of(chosen, target);
  if (a == b) {
    return Agreement::kSameKernel;
  }
  return tile_of(a) == tile_of(b) ? Agreement::kSameTile : Agreement::kOther;
}

std::string short_name(const std::string& kernel) {
  const std::string canonical = canonical_kernel_name(kernel);
  constexpr std::size_t kLongest = 60;
  return canonical.size() <= kLongest ? canonical : canonical.substr(0, kLongest - 3) + "...";
}

/// The sum over a case's launches; nothing when one is unsupported.
std::optional<double> total_us(std::span<const std::shared_ptr<const Prediction>> launches) {
  double sum = 0;
  for (const auto& launch : launches) {
    if (!launch->ok) {
      return std::nullopt;
    }
    sum += launch->result.duration_us;
  }
  return sum;
}

}  // namespace

AutoStudy study_choices(const GpuConfig& gpu, const MeasuredFile& file, int jobs,
                        const std::function<void(std::size_t done)>& progress) {
  const std::vector<Case> cases = cases_of(file);
  std::vector<LaunchJob> recorded;
  std::vector<LaunchJob> operators;
  for (const Case& c : cases) {
    recorded.insert(recorded.end(), c.begin(), c.end());
    operators.push_back(c.front());
  }
  LaunchPredictor predictor(gpu, jobs);
  predictor.on_progress(progress);
  const auto predictions = predictor.predict(recorded);
  const std::vector<AutoChoice> choices = choose_kernels(predictor, operators);
  const TargetFacts target = target_facts(gpu);
  AutoStudy out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto recorded_us = total_us(std::span(predictions).subspan(at, cases[i].size()));
    at += cases[i].size();
    const LaunchRow& row = cases[i].front().row;
    if (!choices[i].ok() || !recorded_us) {
      out.left_out.push_back(row.case_name + ": " +
                             (choices[i].ok() ? "the recorded kernel is not supported" : choices[i].reason));
      continue;
    }
    const SimulatedCandidate& best = choices[i].simulated.front();
    out.choices.push_back({row.case_name, short_name(row.kernel), short_name(best.candidate.launches.front().kernel),
                           *recorded_us, best.duration_us(), compare(row, best.candidate.launches.front(), target)});
  }
  return out;
}

std::string auto_study_text(const AutoStudy& study) {
  static constexpr std::array<const char*, 3> kWords{"same", "same tile", "other"};
  std::array<std::size_t, 3> counts{};
  double log_sum = 0;
  double worst = 1;
  std::string out = fmt::format("{:<40} {:>12} {:>10} {:>8}  {:<10} {}\n", "operator", "library us", "auto us", "ratio",
                                "agreement", "kernels, the library's and the chosen");
  for (const StudiedChoice& c : study.choices) {
    const double ratio = c.chosen_us / c.recorded_us;
    ++counts[static_cast<std::size_t>(c.agreement)];
    log_sum += std::log(ratio);
    worst = std::max(worst, ratio);
    out += fmt::format("{:<40} {:>12.2f} {:>10.2f} {:>8.3f}  {:<10} {}\n", c.case_name, c.recorded_us, c.chosen_us,
                       ratio, kWords[static_cast<std::size_t>(c.agreement)], c.recorded);
    if (c.agreement != Agreement::kSameKernel) {
      out += fmt::format("{:>86}{}\n", "", c.chosen);
    }
  }
  const auto n = static_cast<double>(study.choices.size());
  if (!study.choices.empty()) {
    out += fmt::format(
        "\n{} operators: {} with the library's kernel ({:.0f} %), {} with its tile and other stages, cluster or "
        "consumers, {} with another\nchosen kernels take {:.3f} of the library's time as predicted (geometric mean), "
        "at "
        "worst {:.3f}\n",
        study.choices.size(), counts[0], kPercent * static_cast<double>(counts[0]) / n, counts[1], counts[2],
        std::exp(log_sum / n), worst);
  }
  for (const std::string& line : study.left_out) {
    out += fmt::format("left out: {}\n", line);
  }
  return out;
}

}  // namespace strata::app
