/// --json of the commands whose answer is a list or a table: "-" is standard output, without the text.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sim/app/output_file.hpp"

namespace strata::app {

void add_json_option(CLI::App& command, std::string& path);

/// {"schema", "version"}, to which a command adds its own keys.
[[nodiscard]] nlohmann::ordered_json json_document(const std::string& schema);

/// As files and standard output get it. Names come from files: bytes that are not UTF-8 are replaced, not refused.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& document);

/// Opened before the work; an empty path is none.
class JsonOutput {
 public:
  explicit JsonOutput(const std::string& path);
  [[nodiscard]] bool wanted() const noexcept { return file_.has_value(); }
  /// Whether the text for people has to go.
  [[nodiscard]] bool takes_stdout() const noexcept { return file_ && file_->is_stdout(); }
  /// Writes and commits, where it is wanted.
  void write(const nlohmann::ordered_json& document);

 private:
  std::optional<OutputFile> file_;
};

}  // namespace strata::app
