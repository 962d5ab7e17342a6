#include "sim/app/wrap_text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace strata::app {

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::string line;
  const auto end_line = [&] {
    out += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (!line.empty() && indent + line.size() + 1 + (end - at) > width) {
      end_line();
    }
    line += (line.empty() ? "" : " ") + text.substr(at, end - at);
    at = end + 1;
  }
  if (!line.empty()) {
    end_line();
  }
  return out;
}

std::size_t terminal_width() {
  winsize size{};
  return isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace strata::app
