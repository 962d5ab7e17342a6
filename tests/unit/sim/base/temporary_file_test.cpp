#include "sim/base/temporary_file.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

using strata::TemporaryFile;
namespace fs = std::filesystem;

namespace {

std::string name(int i) { return "temporary_file_test." + std::to_string(getpid()) + "." + std::to_string(i); }

TemporaryFile make(int i) {
  TemporaryFile file(name(i));
  std::ofstream(file.path()) << "x";
  return file;
}

}  // namespace

TEST_CASE("temporary file: removed at the end, unless it was renamed") {
  std::string path;
  {
    const TemporaryFile file = make(0);
    path = file.path();
    CHECK(fs::exists(path));
  }
  CHECK_FALSE(fs::exists(path));
  {
    TemporaryFile file = make(0);
    file.renamed();
    CHECK(file.path().empty());
  }
  CHECK(fs::remove(path));
}

TEST_CASE("temporary file: moving keeps one owner") {
  TemporaryFile first = make(1);
  TemporaryFile second = std::move(first);
  TemporaryFile third;
  third = std::move(second);
  CHECK(fs::exists(name(1)));
  CHECK(third.path() == name(1));
}

TEST_CASE("temporary file: a signal that ends the program removes those that are under way, and those alone") {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGSEGV, SIGFPE, SIGBUS, SIGABRT}) {
    const std::string prefix = "temporary_file_test." + std::to_string(getpid()) + ".child";
    const std::string kept = prefix + ".kept";
    const std::string gone = prefix + ".gone";
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      std::signal(signal, SIG_DFL);  // Catch2 has handlers of its own
      strata::remove_temporary_files_on_signals();
      TemporaryFile done(kept);
      std::ofstream(kept) << "x";
      done.renamed();
      const TemporaryFile under_way(gone);
      std::ofstream(gone) << "x";
      raise(signal);
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(fs::remove(kept));
    CHECK_FALSE(fs::exists(gone));
  }
}

TEST_CASE("temporary file: more than there is room for are still removed at the end") {
  {
    std::vector<TemporaryFile> many;
    for (std::size_t i = 0; i < strata::kMaxTemporaryFiles + 2; ++i) {
      many.push_back(make(static_cast<int>(100 + i)));
    }
  }
  CHECK_FALSE(fs::exists(name(100)));
  CHECK_FALSE(fs::exists(name(100 + static_cast<int>(strata::kMaxTemporaryFiles) + 1)));
}
