/// Predicts launches on several threads, each distinct launch once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/app/launch_table.hpp"
#include "sim/config/gpu_config.hpp"
#include "sim/result/result.hpp"

namespace strata::app {

/// What became of one launch.
struct Prediction {
  bool ok = false;
  bool model_bug = false;     ///< not ok because an invariant of ours broke
  std::string reason;         ///< why not ok, in words on one line
  std::string warning;        ///< ok, but cells of the launch contradict each other or leave something open; what held
  std::string ignored_words;  ///< ok, but these of the kernel's name have no effect
  std::string family;         ///< ok: of the kernel, as family_of() names it
  std::string kernel;         ///< what was chosen, where the launch left it open
  Result result;              ///< valid when ok
  double host_seconds = 0;
};

/// Resolves and simulates one launch. Never throws for what a launch may hold: every failure is a reason.
/// @param alive  called now and then while a simulation runs; may be empty.
[[nodiscard]] Prediction predict_launch(const GpuConfig& gpu, const LaunchJob& job, bool exact = false,
                                        const std::function<void()>& alive = {});

/// Remembers what it has predicted. Answers do not depend on the number of threads.
class LaunchPredictor {
 public:
  /// `exact`: long launches are simulated whole.
  LaunchPredictor(GpuConfig gpu, int threads, bool exact = false);
  /// Called with the number of distinct launches done since construction, also while a long one runs; may run on any
  /// thread.
  void on_progress(std::function<void(std::size_t done)> progress) { progress_ = std::move(progress); }

  /// One prediction per job, in order; equal launches share one.
  [[nodiscard]] std::vector<std::shared_ptr<const Prediction>> predict(std::span<const LaunchJob> jobs);
  [[nodiscard]] const GpuConfig& gpu() const noexcept { return gpu_; }

 private:
  GpuConfig gpu_;
  int threads_;
  bool exact_;
  std::function<void(std::size_t)> progress_;
  std::size_t done_ = 0;
  std::unordered_map<std::string, std::shared_ptr<const Prediction>> known_;  ///< looked up, never iterated
  std::size_t known_bytes_ = 0;                                               ///< of its keys
};

}  // namespace strata::app
