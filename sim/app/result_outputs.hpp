/// --json, --csv, --html, --timeline: the outputs of a simulating command.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/output_file.hpp"
#include "sim/config/gpu_description.hpp"
#include "sim/observe/timeline.hpp"
#include "sim/result/result.hpp"

namespace strata::app {

struct ResultOutputs {
  std::string json;
  std::string csv;
  std::string html;
  std::string timeline;
  bool metrics = false;
};

void add_result_options(CLI::App& command, ResultOutputs& outputs);

/// The outputs asked for, opened before the simulation. Unless one of them is standard output, write() prints the
/// report too.
class OpenOutputs {
 public:
  explicit OpenOutputs(const ResultOutputs& outputs);
  /// Writes and commits every output, or none.
  void write(const GpuDescription& gpu, const std::vector<Result>& results);
  /// To be given to the simulation; null when no timeline is asked for.
  [[nodiscard]] ObserverSink* observer() { return timeline_file_ ? &timeline_ : nullptr; }

 private:
  OutputSet files_;
  std::optional<std::size_t> json_;
  std::optional<std::size_t> csv_;
  std::optional<std::size_t> html_;
  std::optional<std::size_t> timeline_file_;
  Timeline timeline_;
  bool metrics_;
};

}  // namespace strata::app
