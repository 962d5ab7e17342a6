#include "sim/app/library_kernel.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "workloads/library/families.hpp"

using namespace strata;

TEST_CASE("library kernels: every family belongs to a sub-command", "[app]") {
  const auto commands = kernel_catalogue();
  for (const FamilyParser& family : kernel_families()) {
    INFO(family.family);
    const std::string command = app::command_of_family(family.family);
    CHECK(std::any_of(commands.begin(), commands.end(), [&](const KernelSpec& spec) { return spec.name == command; }));
  }
  CHECK(app::command_of_family("nonsense").empty());
}
