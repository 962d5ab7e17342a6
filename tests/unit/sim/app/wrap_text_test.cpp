#include "sim/app/wrap_text.hpp"

#include <catch2/catch.hpp>

using namespace strata::app;

TEST_CASE("wrapped: lines end at spaces, within the width, after the indent", "[app][wrap]") {
  CHECK(wrapped("", 2, 10).empty());
  CHECK(wrapped("one", 2, 10) == "  one\n");
  CHECK(wrapped("one two three", 2, 10) == "  one two\n  three\n");
  CHECK(wrapped("one two", 2, 9) == "  one two\n");
  CHECK(wrapped("a word_longer_than_a_line stays", 0, 10) == "a\nword_longer_than_a_line\nstays\n");
}
