#include "sim/app/kernel_options.hpp"

#include <catch2/catch.hpp>

using namespace strata;
using namespace strata::app;

TEST_CASE("kernel options: --help marks what has to be given and ends with a line that can be run", "[app]") {
  for (const KernelSpec& spec : kernel_catalogue()) {
    CAPTURE(spec.name);
    KernelChoice choice;
    CLI::App app{"test", "strata"};
    CLI::App* run = app.add_subcommand("run", "");
    add_kernel_commands(*run, choice);
    const std::string help = run->get_subcommand(spec.name)->help();
    CHECK(help.find("INT REQUIRED") != std::string::npos);
    const std::size_t at = help.find("example: strata ");
    REQUIRE(at != std::string::npos);
    const std::string line = help.substr(at + std::string("example: strata ").size());
    app.parse(line.substr(0, line.find('\n')));
    REQUIRE(choice.spec != nullptr);
    CHECK(choice.spec->name == spec.name);
    for (const OptionSpec& option : spec.options) {
      CHECK((!is_required(option) || given_options(choice).contains(option.name)));
    }
  }
}
