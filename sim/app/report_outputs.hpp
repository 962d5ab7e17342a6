/// --json and --html of the commands that compare: opened before the work, written and committed after it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/app/output_file.hpp"

namespace strata::app {

class ReportOutputs {
 public:
  /// Empty paths are not written. Throws InputError where a path cannot be.
  ReportOutputs(const std::string& json, const std::string& html)
      : json_(files_.open(json, "--json")), html_(files_.open(html, "--html")) {}

  using Text = std::function<std::string()>;
  /// `text` goes to standard output, unless one of the files does. Only what was asked for is made.
  void write(const Text& json, const Text& html, const Text& text);

 private:
  OutputSet files_;
  std::optional<std::size_t> json_;
  std::optional<std::size_t> html_;
};

}  // namespace strata::app
