#include "sim/app/report_outputs.hpp"

#include <fmt/format.h>

#include "sim/app/progress.hpp"

namespace strata::app {

void ReportOutputs::write(const Text& json, const Text& html, const Text& text) {
  if (json_) {
    files_[*json_].write(json());
  }
  if (html_) {
    files_[*html_].write(html());
  }
  clear_progress();
  if (!files_.uses_stdout()) {
    fmt::print("{}", text());
  }
  files_.commit();
}

}  // namespace strata::app
