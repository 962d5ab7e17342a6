#include "sim/app/repeated_rows.hpp"

#include <catch2/catch.hpp>

using strata::app::RepeatedRows;

TEST_CASE("repeated rows: counted wherever the earlier row stands") {
  RepeatedRows rows;
  for (const char* name : {"a", "b", "c", "a", "b", "c"}) rows.see(name, "1");
  CHECK(rows.text() == "3 rows repeat the case and seq of an earlier one; the first: case 'a', seq '1'");
  RepeatedRows other;
  for (const char* seq : {"1", "2", ""}) other.see("a", seq);
  other.see("a", "");
  other.see("", "1");
  other.see("", "1");
  CHECK(other.text().empty());
  other.see("a", "1");
  CHECK(other.text() == "1 row repeats the case and seq of an earlier one: case 'a', seq '1'");
}
