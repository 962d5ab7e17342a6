/// Names of unfinished files, removed also where a signal ends the program.
#pragma once

#include <cstddef>
#include <string>

namespace strata {

/// A file that is under way: as long as this object lives, a signal that ends the program removes the file first. The
/// destructor removes it too, unless renamed() was called. Errors: what cannot be removed stays, silently; beyond
/// kMaxTemporaryFiles at a time, and for names longer than the system opens, signals leave the file behind.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  explicit TemporaryFile(std::string path);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Empty when there is none.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The file has its final name: nothing is left to remove.
  void renamed() noexcept;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::string path_;
  std::size_t slot_ = kNone;
};

inline constexpr std::size_t kMaxTemporaryFiles = 16;

/// From here on the signals that end a program, its own faults among them, remove its temporary files and then end it
/// as they would have. A limit on the size of files (`ulimit -f`) becomes an error of the write. Signals that the
/// parent ignores stay ignored (nohup).
void remove_temporary_files_on_signals();

}  // namespace strata
