/// Output files that appear whole or not at all.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/temporary_file.hpp"

namespace strata::app {

/// The report is part of the answer: throws std::system_error where standard output did not take it.
void check_report();

/// A file that is written beside its final place and renamed into it on commit. "-" and /dev/stdout are standard
/// output.
///
/// The constructor proves that the path can be written, so that a long simulation does not end in an error; it throws
/// InputError where it cannot. Without commit() nothing remains, not even
/// where a signal ends the program. Devices and pipes that somebody reads are written in place.
class OutputFile {
 public:
  explicit OutputFile(std::string path, std::string option = {});
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  /// Flushes, closes and renames, once the report on standard output is whole. Throws InputError when the disk refuses.
  void commit();
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Whether both end in one place, however their paths are spelt.
  [[nodiscard]] bool same_place(const OutputFile& other) const;
  [[nodiscard]] bool is_stdout() const noexcept;
  /// Where the bytes are until commit(), for writers that open files themselves.
  [[nodiscard]] const std::string& temporary_path() const noexcept { return temporary_.path(); }

 private:
  /// A device, or a pipe with a reader.
  void open_in_place(bool is_pipe);
  [[noreturn]] void fail(const std::string& message) const;

  std::string path_;
  std::string target_;  ///< path_ without links
  std::string option_;
  TemporaryFile temporary_;  ///< none when written in place
  int descriptor_ = -1;
};

/// The outputs a command was asked for, opened before it simulates and committed together at its end.
class OutputSet {
 public:
  /// Opens `path` unless it is empty; returns its place in the set. Two options may not name one file.
  std::optional<std::size_t> open(const std::string& path, const std::string& option);
  OutputFile& operator[](std::size_t i) { return files_[i]; }
  [[nodiscard]] bool uses_stdout() const;
  void commit();

 private:
  std::vector<OutputFile> files_;
};

/// An output as it was asked for; an empty path is none.
struct RequestedOutput {
  std::string path;
  std::string option;
};

/// Throws InputError where one of `outputs` is a file that is read, which writing would destroy, or lies in a folder
/// that is read, where it would be taken for one of the inputs. Empty inputs are none.
void refuse_overwriting_inputs(std::initializer_list<RequestedOutput> outputs, const std::vector<std::string>& inputs);

}  // namespace strata::app
