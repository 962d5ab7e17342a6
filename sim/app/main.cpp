/// The `strata` program: parses the command line, runs one sub-command, turns exceptions into lines and exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "models/hw/system/simulator.hpp"
#include "sim/app/command.hpp"
#include "sim/app/output_file.hpp"
#include "sim/base/error.hpp"
#include "sim/base/huge_pages.hpp"
#include "sim/base/shortened.hpp"
#include "sim/base/temporary_file.hpp"
#include "sim/base/version.hpp"

namespace {

/// A parent may start us with standard streams closed: an output file opened later would get their number, and a report
/// meant for the user would land in it. What is written to such a stream fails instead.
void fill_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != stream) {
      return;
    }
  }
}

int checked_stdout(int code) {
  strata::app::check_report();
  return code;
}

/// One line to stderr; line ends inside the text become "; ".
void print_error(std::string text) {
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) {
    text.replace(at, 1, "; ");
  }
  std::fprintf(stderr, "strata: error: %s\n", text.c_str());
}

int run_program(int argc, char** argv) {
  using namespace strata::app;
  CLI::App app{"Strata: a cycle-approximate simulator of a GPU's memory hierarchy", "strata"};
  app.allow_extras();
  app.set_version_flag("--version", std::string("strata ") + strata::version(), "shows the version");
  app.footer(kExitCodes);
  Action action;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  add_list(app, action);
  add_describe(app, action);
  add_run(app, action);
  add_predict(app, action);
  add_validate(app, action);
  add_calibrate(app, action);
  add_trace(app, action);
  add_study(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      return checked_stdout(app.exit(e));  // --help, --version
    }
    refuse_misplaced_options(app, words);
    print_error(in_our_words(e));
    return kExitInput;
  }
  refuse_misplaced_options(app, words);
  refuse_unknown_words(app);
  refuse_empty_values(app);
  if (!action) {
    throw strata::InputError("no command given; `strata --help` lists them");
  }
  return checked_stdout(action());
}

}  // namespace

int main(int argc, char** argv) {
  fill_closed_streams();
  strata::prefer_huge_pages();
  strata::remove_temporary_files_on_signals();
  try {
    return run_program(argc, argv);
  } catch (const strata::InputError& e) {
    for (const strata::Diagnostic& d : e.diagnostics()) {
      print_error(to_string(d));
    }
    return strata::app::kExitInput;
  } catch (const strata::UnsupportedError& e) {
    print_error(strata::shortened(e.what()));
    return strata::app::kExitInput;
  } catch (const strata::StalledError& e) {
    print_error(e.what());
    return strata::app::kExitFailure;
  } catch (const strata::ModelBug& e) {
    print_error(std::string("model bug: ") + e.what());
    return strata::app::kExitBug;
  } catch (const std::system_error& e) {  // fmt::print's too
    print_error(e.what());
    return strata::app::kExitInput;
  } catch (const std::bad_alloc&) {
    print_error("out of memory; this machine is too small for the input");
    return strata::app::kExitInput;
  } catch (const std::exception& e) {
    print_error(std::string("internal error: ") + e.what());
    return strata::app::kExitBug;
  }
}
