/// --exact: simulate long launches whole instead of measuring their middle (models/hw/system/sampling.hpp).
#pragma once

#include <CLI/CLI.hpp>

namespace strata::app {

inline void add_exact_option(CLI::App& command, bool& exact) {
  command.add_flag("--exact", exact, "simulate all of a long launch; otherwise its middle is measured and extended");
}

}  // namespace strata::app
