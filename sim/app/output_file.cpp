#include "sim/app/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/base/error.hpp"

namespace strata::app {

void check_report() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw std::system_error(errno, std::generic_category(), "standard output cannot be written");
  }
}

OutputFile::OutputFile(std::string path, std::string option) : path_(std::move(path)), option_(std::move(option)) {
  if (is_stdout()) {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  target_ = path_;
  struct stat info {};
  const bool exists = stat(path_.c_str(), &info) == 0;
  if (!exists && errno == ENAMETOOLONG) {
    fail(fmt::format("cannot be written: {}", std::strerror(errno)));  // else known only when it is renamed, at the end
  }
  if (exists) {
    if (S_ISDIR(info.st_mode)) {
      fail("is a directory; expected a file name");
    }
    if (!S_ISREG(info.st_mode)) {
      open_in_place(S_ISFIFO(info.st_mode));
      return;
    }
    if (access(path_.c_str(), W_OK) != 0) {
      fail(fmt::format("cannot be written: {}", std::strerror(errno)));
    }
  }
  std::error_code none;  // what cannot be followed is opened as it is, and refused below
  if (const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(path_, none), none); !none) {
    target_ = place.string();  // a link stays one
  }
  // Not made of the target's own name, which may be as long as a name can be.
  static std::atomic<int> number{0};
  const auto beside = std::filesystem::path(target_).parent_path();
  TemporaryFile temporary((beside / fmt::format("strata.tmp.{}.{}", getpid(), ++number)).string());
  constexpr mode_t kMode = 0666;
  descriptor_ = ::open(temporary.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (descriptor_ < 0) {
    fail(fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  temporary_ = std::move(temporary);
  if (exists) {
    static_cast<void>(fchmod(descriptor_, info.st_mode));  // who may read it stays; where not ours to set, as new
  }
}

void OutputFile::open_in_place(bool is_pipe) {
  // Whoever opens a pipe waits for its reader, which may never come; without waiting, that is an error.
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | (is_pipe ? O_NONBLOCK : 0));
  if (descriptor_ < 0) {
    fail(is_pipe && errno == ENXIO ? std::string("is a pipe that nobody reads; an output needs a regular file")
                                   : fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  if (is_pipe) {
    static_cast<void>(fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK));
  }
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      option_(std::move(other.option_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) {
    close(descriptor_);
  }
}

bool OutputFile::is_stdout() const noexcept {
  constexpr std::array kNames{"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  return std::find(kNames.begin(), kNames.end(), path_) != kNames.end();
}

bool OutputFile::same_place(const OutputFile& other) const {
  return path_ == other.path_ || (is_stdout() && other.is_stdout()) ||
         (!temporary_.path().empty() && target_ == other.target_);
}

void OutputFile::fail(const std::string& message) const {
  throw InputError(Diagnostic{is_stdout() ? "standard output" : path_, 0, 0, option_, message});
}

void OutputFile::write(std::string_view text) {
  if (is_stdout()) {
    std::fflush(stdout);  // keep the order with what printf has buffered
  }
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      fail(fmt::format("cannot be written: {}", std::strerror(errno)));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::commit() {
  check_report();
  if (is_stdout()) {
    return;
  }
  if (close(std::exchange(descriptor_, -1)) != 0) {
    fail(fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  if (!temporary_.path().empty()) {
    if (std::rename(temporary_.path().c_str(), target_.c_str()) != 0) {
      fail(fmt::format("cannot be written: {}", std::strerror(errno)));
    }
    temporary_.renamed();
  }
}

std::optional<std::size_t> OutputSet::open(const std::string& path, const std::string& option) {
  if (path.empty()) {
    return std::nullopt;
  }
  OutputFile opened(path, option);
  for (const OutputFile& file : files_) {
    if (file.same_place(opened)) {
      throw InputError(Diagnostic{path, 0, 0, option, "is already the output of another option"});
    }
  }
  files_.push_back(std::move(opened));
  return files_.size() - 1;
}

bool OutputSet::uses_stdout() const {
  for (const OutputFile& file : files_) {
    if (file.is_stdout()) {
      return true;
    }
  }
  return false;
}

void OutputSet::commit() {
  for (OutputFile& file : files_) {
    file.commit();
  }
}

namespace {

namespace fs = std::filesystem;

bool same_file(const std::string& output, const std::string& input) {
  std::error_code none;  // one that does not exist is no other's equal
  return fs::is_regular_file(output, none) && fs::equivalent(output, input, none);
}

bool lies_in(const std::string& output, const std::string& folder) {
  std::error_code none;  // a path that cannot be followed lies nowhere, and cannot be written
  if (!fs::is_directory(folder, none)) {
    return false;
  }
  const fs::path file = fs::weakly_canonical(fs::absolute(output, none), none);
  const fs::path root = fs::canonical(folder, none);
  return !file.empty() && std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end();
}

}  // namespace

void refuse_overwriting_inputs(std::initializer_list<RequestedOutput> outputs, const std::vector<std::string>& inputs) {
  const auto refuse = [&](bool (*clash)(const std::string&, const std::string&), const auto& message) {
    for (const RequestedOutput& output : outputs) {
      for (const std::string& input : inputs) {
        if (!output.path.empty() && output.path != "-" && !input.empty() && clash(output.path, input)) {
          throw InputError(Diagnostic{output.path, 0, 0, output.option, message(input)});
        }
      }
    }
  };
  refuse(same_file, [](const std::string&) { return std::string("is also the input; expected another file"); });
  refuse(lies_in, [](const std::string& folder) {
    return fmt::format("lies in {}, which is read; expected a place outside it", folder);
  });
}

}  // namespace strata::app
