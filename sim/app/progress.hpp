/// A progress line on stderr: only on a terminal, only for what takes longer than two seconds.
#pragma once

#include <chrono>
#include <string>

namespace strata::app {

/// Takes the line away, if there is one, so that what is printed next does not run into it. Any thread.
void clear_progress();

/// May be called from several threads.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `text` follows the name: "37 of 161 launches".
  void show(const std::string& text);
  /// The same, with the time that the rest will take at the pace so far.
  void show(const std::string& text, double done_share);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  bool terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace strata::app
