/// Lines on standard error that go beside an answer.
#pragma once

#include <string>

namespace strata::app {

/// One line. Where standard error is closed or full the line is lost, never the answer that it goes with.
void say(const std::string& line);
/// The same, as a warning.
void warn(const std::string& text);

}  // namespace strata::app
