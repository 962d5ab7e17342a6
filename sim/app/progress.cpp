#include "sim/app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace strata::app {

namespace {
constexpr std::chrono::seconds kQuiet{2};
constexpr std::chrono::milliseconds kInterval{200};
constexpr const char* kClearLine = "\r\033[K";
}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) {
    std::fputs(kClearLine, stderr);
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
  if (!terminal_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (now - start_ < kQuiet || (shown_ && now - last_ < kInterval)) {
    return;
  }
  last_ = now;
  shown_ = true;
  std::fprintf(stderr, "%s%s: %s", kClearLine, what_.c_str(), text.c_str());
  std::fflush(stderr);
}

}  // namespace strata::app
