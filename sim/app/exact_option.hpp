/// --exact: simulate long launches whole instead of measuring their middle (models/hw/system/sampling.hpp).
#pragma once

#include <CLI/CLI.hpp>

#include "sim/app/command.hpp"

namespace strata::app {

inline void add_exact_option(CLI::App& command, bool& exact) {
  add_switch(command, "--exact", exact, "simulate all of a long launch; otherwise its middle is measured and extended");
}

}  // namespace strata::app
