/// The `strata` program: parses the command line, runs one sub-command, turns exceptions into lines and exit codes.
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "models/hw/system/simulator.hpp"
#include "sim/app/command.hpp"
#include "sim/base/error.hpp"
#include "sim/base/huge_pages.hpp"

namespace {

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
  app.footer("exit codes: 0 done, 1 the answer is a failure, 2 bad usage or input, 3 a broken invariant of ours");
  Action action;
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
      return app.exit(e);  // --help
    }
    print_error(e.what());
    return kExitInput;
  }
  refuse_unknown_words(app);
  refuse_empty_values(app);
  if (!action) {
    throw strata::InputError("no command given; `strata --help` lists them");
  }
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  strata::prefer_huge_pages();
  try {
    return run_program(argc, argv);
  } catch (const strata::InputError& e) {
    for (const strata::Diagnostic& d : e.diagnostics()) {
      print_error(to_string(d));
    }
    return strata::app::kExitInput;
  } catch (const strata::UnsupportedError& e) {
    print_error(e.what());
    return strata::app::kExitInput;
  } catch (const strata::StalledError& e) {
    print_error(e.what());
    return strata::app::kExitFailure;
  } catch (const strata::ModelBug& e) {
    print_error(std::string("model bug: ") + e.what());
    return strata::app::kExitBug;
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
    return strata::app::kExitFailure;
  } catch (const std::exception& e) {
    print_error(std::string("internal error: ") + e.what());
    return strata::app::kExitBug;
  }
}
