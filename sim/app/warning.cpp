#include "sim/app/warning.hpp"

#include <cstdio>

#include "sim/app/progress.hpp"
#include "sim/base/shortened.hpp"

namespace strata::app {

void say(const std::string& line) {
  clear_progress();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void warn(const std::string& text) { say("strata: warning: " + shortened(text)); }

}  // namespace strata::app
