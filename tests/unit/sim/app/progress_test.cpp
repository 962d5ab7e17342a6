#include "sim/app/progress.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "sim/app/warning.hpp"

using namespace strata::app;

TEST_CASE("Progress: where there is no terminal plain lines, few of them, none in the first two seconds",
          "[progress]") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int saved = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  {
    Progress progress("validate", Progress::InLogs::kPlainLines);
    Progress silent("run");
    progress.show("too early");
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    progress.show("half of it");
    progress.show("half of it and one more");
    silent.show("nothing");
  }
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::rewind(file);
  std::string text(1024, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  CHECK(text == "strata: validate: half of it\n");
}

TEST_CASE("Progress: the line is gone from a terminal before anything else is printed", "[progress]") {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
    WARN("no pseudo-terminal here");
    return;
  }
  const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  const int saved = dup(STDERR_FILENO);
  dup2(terminal, STDERR_FILENO);
  {
    Progress progress("study");
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));  // it keeps quiet for two seconds
    progress.show("half of it");
    say("a line");
    say("another");
  }
  dup2(saved, STDERR_FILENO);
  close(saved);
  // What was written to a terminal arrives at the other end in pieces, some of them later.
  const std::string expected = "study: half of it\r\033[Ka line\r\nanother";
  constexpr int kPatienceMs = 2000;
  std::string text;
  pollfd arrival{master, POLLIN, 0};
  while (text.find(expected) == std::string::npos && poll(&arrival, 1, kPatienceMs) > 0) {
    std::array<char, 1024> piece{};
    const ssize_t n = read(master, piece.data(), piece.size());
    if (n <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  close(terminal);
  close(master);
  CHECK(text.find(expected) != std::string::npos);
}
