#include "sim/app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <utility>

namespace strata::app {

namespace {
constexpr std::chrono::seconds kQuiet{2};
constexpr std::chrono::milliseconds kInterval{200};
constexpr std::chrono::seconds kPlainInterval{10};  ///< of lines in a log
constexpr const char* kClearLine = "\r\033[K";

/// Of the one line that a terminal has, whoever shows something there.
std::mutex line_mutex;
bool line_shown = false;
}  // namespace

Progress::Progress(std::string what, InLogs in_logs)
    : what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) == 1),
      plain_lines_(!terminal_ && in_logs == InLogs::kPlainLines) {}

Progress::~Progress() { clear_progress(); }

void clear_progress() {
  const std::lock_guard lock(line_mutex);
  if (line_shown) {
    std::fputs(kClearLine, stderr);
    std::fflush(stderr);
    line_shown = false;
  }
}

void Progress::show(const std::string& text, double done_share) {
  constexpr double kLeast = 1e-3;  // below this share the pace is not known
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (done_share < kLeast || done_share >= 1) {
    show(text);
    return;
  }
  show(fmt::format("{}, about {:.0f} s left", text, seconds * (1 - done_share) / done_share));
}

void Progress::show(const std::string& text) {
  if (!terminal_ && !plain_lines_) {
    return;
  }
  const std::lock_guard lock(line_mutex);
  const auto now = Clock::now();
  if (now - start_ < kQuiet) {
    return;
  }
  if (plain_lines_) {
    if (last_ == start_ || now - last_ >= kPlainInterval) {
      last_ = now;
      std::fprintf(stderr, "strata: %s: %s\n", what_.c_str(), text.c_str());
    }
    return;
  }
  if (line_shown && now - last_ < kInterval) {
    return;
  }
  last_ = now;
  line_shown = true;
  std::fprintf(stderr, "%s%s: %s", kClearLine, what_.c_str(), text.c_str());
  std::fflush(stderr);
}

}  // namespace strata::app
