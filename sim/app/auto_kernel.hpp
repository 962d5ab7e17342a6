/// `--kernel auto`: the kernel that is predicted to be fastest of those that the GPU's libraries could run.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/app/predictor.hpp"
#include "workloads/library/candidates.hpp"

namespace strata::app {

/// A candidate that was simulated.
struct SimulatedCandidate {
  KernelCandidate candidate;
  std::vector<std::shared_ptr<const Prediction>> launches;  ///< one for each of the candidate's

  [[nodiscard]] bool ok() const;
  [[nodiscard]] double duration_us() const;  ///< of its launches, each cold, one after the other
  [[nodiscard]] std::string name() const;    ///< "nvjet_... + splitKreduce_kernel"
};

struct AutoChoice {
  std::size_t considered = 0;                 ///< candidates before pruning
  std::vector<SimulatedCandidate> simulated;  ///< fastest first; those that failed last
  std::string reason;                         ///< why there is no choice; empty where there is one

  [[nodiscard]] bool ok() const { return reason.empty(); }
};

/// Whether the row leaves the kernel to us: no name, or "auto".
[[nodiscard]] bool leaves_kernel_open(const LaunchRow& row);

/// Chooses for each job, all candidates simulated together. At the clock model's clock, or the job's.
[[nodiscard]] std::vector<AutoChoice> choose_kernels(LaunchPredictor& predictor, std::span<const LaunchJob> jobs);

/// One prediction per job, as LaunchPredictor::predict() gives; jobs that leave their kernel open get the sum over the
/// launches of the chosen one, which the prediction names.
[[nodiscard]] std::vector<std::shared_ptr<const Prediction>> predict_or_choose(LaunchPredictor& predictor,
                                                                               std::span<const LaunchJob> jobs);

/// "chose NAME, the fastest of 6 simulated and 812 possible kernels", and with `all` a line for each simulated one.
[[nodiscard]] std::vector<std::string> notes_of(const AutoChoice& choice, bool all);

}  // namespace strata::app
