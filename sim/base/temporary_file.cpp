#include "sim/base/temporary_file.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

namespace strata {

namespace {

enum class SlotState : int { kFree, kChanging, kUsed };

/// Fixed storage: a handler may run between any two instructions of any thread and must not meet freed memory.
struct Slot {
  std::atomic<SlotState> state{SlotState::kFree};
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<SlotState>::is_always_lock_free);

std::array<Slot, kMaxTemporaryFiles>& slots() {
  static std::array<Slot, kMaxTemporaryFiles> all;
  return all;
}

/// Only async-signal-safe calls: unlink and raise.
void remove_all_and_end(int signal) {
  for (const Slot& slot : slots()) {
    if (slot.state.load() == SlotState::kUsed) {
      unlink(slot.path.data());
    }
  }
  raise(signal);  // pending until this handler returns; then the default action, which SA_RESETHAND restored
}

}  // namespace

TemporaryFile::TemporaryFile(std::string path) : path_(std::move(path)) {
  if (path_.size() >= PATH_MAX) {
    return;
  }
  for (std::size_t i = 0; i < kMaxTemporaryFiles; ++i) {
    Slot& slot = slots()[i];
    SlotState expected = SlotState::kFree;
    if (slot.state.compare_exchange_strong(expected, SlotState::kChanging)) {
      std::memcpy(slot.path.data(), path_.c_str(), path_.size() + 1);
      slot.state = SlotState::kUsed;
      slot_ = i;
      return;
    }
  }
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) {
    unlink(path_.c_str());
    renamed();
  }
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), slot_(std::exchange(other.slot_, kNone)) {}

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(slot_, other.slot_);
  return *this;
}

void TemporaryFile::renamed() noexcept {
  path_.clear();
  if (slot_ != kNone) {
    slots()[std::exchange(slot_, kNone)].state = SlotState::kFree;
  }
}

void remove_temporary_files_on_signals() {
  static_cast<void>(slots());  // constructed before a handler can ask for it
  static std::array<std::byte, std::size_t{64} << 10> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  sigaltstack(&other, nullptr);  // the main thread's own may be what overflowed
  for (const int signal :
       {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction old {};
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_DFL) {
      struct sigaction action {};
      action.sa_handler = &remove_all_and_end;
      action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
      sigaction(signal, &action, nullptr);
    }
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace strata
