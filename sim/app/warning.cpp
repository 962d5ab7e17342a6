#include "sim/app/warning.hpp"

#include <cstdio>

#include "sim/app/progress.hpp"
#include "sim/base/shortened.hpp"

namespace strata::app {

void say(const std::string& line) {
  clear_progress();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void warn(const std::string& text) {
  std::string line = shortened(text);
  for (std::size_t at = line.find('\n'); at != std::string::npos; at = line.find('\n', at)) {
    line.replace(at, 1, "; ");  // a warning is one line, whatever a name in it holds
  }
  say("strata: warning: " + line);
}

}  // namespace strata::app
