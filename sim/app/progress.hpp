/// Progress on stderr, only for what takes longer than two seconds: one line that is written over on a terminal;
/// elsewhere nothing, or a plain line every ten seconds.
#pragma once

#include <chrono>
#include <string>

namespace strata::app {

/// Takes the line away, if there is one, so that what is printed next does not run into it. Any thread.
void clear_progress();

/// May be called from several threads.
class Progress {
 public:
  enum class InLogs { kNothing, kPlainLines };
  explicit Progress(std::string what, InLogs in_logs = InLogs::kNothing);
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
  bool plain_lines_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace strata::app
