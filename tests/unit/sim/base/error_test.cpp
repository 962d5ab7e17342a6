#include "sim/base/error.hpp"

#include <catch2/catch.hpp>

using strata::Diagnostic;

TEST_CASE("Diagnostic: shows the parts that are known and leaves out the others", "[error]") {
  CHECK(to_string(Diagnostic{"a.yaml", 3, 7, "l2.ways", "bad"}) == "a.yaml:3:7: l2.ways: bad");
  CHECK(to_string(Diagnostic{"a.yaml", 3, 0, "", "bad"}) == "a.yaml:3: bad");
  CHECK(to_string(Diagnostic{"", 0, 0, "l2.ways", "bad"}) == "l2.ways: bad");
}

TEST_CASE("InputError: shows every problem, one a line", "[error]") {
  const strata::InputError e(std::vector<Diagnostic>{{"", 0, 0, "a", "x"}, {"", 0, 0, "b", "y"}});
  CHECK(std::string(e.what()) == "a: x\nb: y");
  CHECK(e.diagnostics().size() == 2);
}
