#include "sim/base/error.hpp"

#include <catch2/catch.hpp>

using strata::Diagnostic;

TEST_CASE("Diagnostic: shows the parts that are known and leaves out the others", "[error]") {
  CHECK(to_string(Diagnostic{"a.yaml", 3, 7, "l2.ways", "bad"}) == "a.yaml:3:7: l2.ways: bad");
  CHECK(to_string(Diagnostic{"a.yaml", 3, 0, "", "bad"}) == "a.yaml:3: bad");
  CHECK(to_string(Diagnostic{"", 0, 0, "l2.ways", "bad"}) == "l2.ways: bad");
}

TEST_CASE("Diagnostic: long words of others are cut, the file's name and what was expected stay", "[error]") {
  const std::string path(2000, 'p');
  const std::string text =
      to_string(Diagnostic{path, 3, 0, std::string(9000, 'k'), std::string(1 << 20, 'v') + " is bad"});
  CHECK(text.starts_with(path + ":3: kkk"));
  CHECK(text.ends_with("v is bad"));
  CHECK(text.size() < 2000 + 1000);
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "word ";
  CHECK(to_string(Diagnostic{{}, 0, 0, {}, many + "end"}).size() < 4100);
}

TEST_CASE("Diagnostic: control characters of others are shown, not sent to the terminal", "[error]") {
  CHECK(to_string(Diagnostic{"a\x1b[31m.csv", 3, 0, "k\x07", "'\x7f': expected\ta\nb"}) ==
        "a\\x1b[31m.csv:3: k\\x07: '\\x7f': expected\ta\nb");
}

TEST_CASE("InputError: shows every problem, one a line", "[error]") {
  const strata::InputError e(std::vector<Diagnostic>{{"", 0, 0, "a", "x"}, {"", 0, 0, "b", "y"}});
  CHECK(std::string(e.what()) == "a: x\nb: y");
  CHECK(e.diagnostics().size() == 2);
}
