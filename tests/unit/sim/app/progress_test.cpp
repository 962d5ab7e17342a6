#include "sim/app/progress.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <thread>

#include "sim/app/warning.hpp"

using namespace strata::app;

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
  std::string text(1024, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(master, text.data(), text.size()))));
  close(terminal);
  close(master);
  CHECK(text.find("study: half of it\r\033[Ka line\r\nanother") != std::string::npos);
}
