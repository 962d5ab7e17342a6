#include "sim/app/json_output.hpp"

#include <nlohmann/json.hpp>

#include "sim/app/progress.hpp"
#include "sim/base/version.hpp"

namespace strata::app {

void add_json_option(CLI::App& command, std::string& path) {
  command.add_option("--json", path, "the same as JSON, with units; - is standard output");
}

nlohmann::ordered_json json_document(const std::string& schema) { return {{"schema", schema}, {"version", version()}}; }

std::string json_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

JsonOutput::JsonOutput(const std::string& path) {
  if (!path.empty()) {
    file_.emplace(path, "--json");
  }
}

void JsonOutput::write(const nlohmann::ordered_json& document) {
  if (!file_) {
    return;
  }
  clear_progress();
  file_->write(json_text(document));
  file_->commit();
}

}  // namespace strata::app
