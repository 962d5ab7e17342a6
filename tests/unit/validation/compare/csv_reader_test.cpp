#include "validation/compare/csv_reader.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/temporary_file.hpp"

using namespace strata;
using strata::test::TemporaryFile;

namespace {

std::string error_of(const std::string& text) {
  const TemporaryFile file(text);
  try {
    CsvReader reader(file.path());
    CsvRecord record;
    while (reader.next(record)) {
    }
  } catch (const InputError& e) {
    REQUIRE(e.diagnostics().size() == 1);
    return std::to_string(e.diagnostics()[0].line) + ": " + e.diagnostics()[0].message;
  }
  return "no error";
}

}  // namespace

TEST_CASE("CSV: quotes, doubled quotes, embedded line ends, CRLF, empty cells, blank lines and a byte-order mark") {
  const TemporaryFile file(
      "\xEF\xBB\xBF"
      "a, b ,c\r\n\"x,\"\"y\"\"\",,\"two\nlines\"\r\n\r\n1,2,3");
  CsvReader reader(file.path());
  CHECK(reader.header() == std::vector<std::string>{"a", "b", "c"});
  CsvRecord record;
  REQUIRE(reader.next(record));
  CHECK(record.cells == std::vector<std::string>{"x,\"y\"", "", "two\nlines"});
  CHECK(record.line == 2);
  REQUIRE(reader.next(record));
  CHECK(record.cells == std::vector<std::string>{"1", "2", "3"});
  CHECK(record.line == 5);
  CHECK_FALSE(reader.next(record));
}

TEST_CASE("CSV: what is wrong is said with its line") {
  CHECK(error_of("").find("is empty") != std::string::npos);
  CHECK(error_of("a,a\n").find("appears twice") != std::string::npos);
  CHECK(error_of("a,b\n1,2\n1\n") == "3: has 1 cells; the header has 2");
  CHECK(error_of("a,b\n1,2\n1,2,3\n") ==
        "3: has 3 cells; the header has 2; a cell that holds commas needs quotes, as the shape "
        "\"4096,4096,4096,TN\" does");
  CHECK(error_of("a,b\n\"1,2\n").find("2: a quoted cell does not end") == 0);
  CHECK(error_of("a,b\n\"1\"x,2\n").find("2: text follows a closing quote") == 0);
  CHECK(error_of(std::string("a,b\n1,\0\n", 8)).find("2: holds a zero byte") == 0);
  CHECK(error_of("a\n" + std::string(2'000'000, 'x')).find("2: record is longer") == 0);
  CHECK_THROWS_AS(CsvReader("no/such/file.csv"), InputError);
  CHECK_THROWS_AS(CsvReader("."), InputError);
}

TEST_CASE("CSV: numbers are finite and not negative; empty is unknown") {
  const TemporaryFile file("n\n12.5\n \nnan\n-1\ninf\n1x\n");
  CsvReader reader(file.path());
  CsvRecord record;
  REQUIRE(reader.next(record));
  CHECK(csv_number(reader, record, 0) == 12.5);
  REQUIRE(reader.next(record));
  CHECK_FALSE(csv_number(reader, record, 0));
  while (reader.next(record)) {
    CHECK_THROWS_AS(csv_number(reader, record, 0), InputError);
  }
}

TEST_CASE("CSV: every missing column is named at once") {
  const TemporaryFile file("case,op\n");
  const CsvReader reader(file.path());
  CHECK_NOTHROW(reader.require({"case", "op"}));
  CHECK_THROWS_WITH(reader.require({"case", "seq", "shape"}), Catch::Contains("'seq', 'shape'"));
}

TEST_CASE("CSV: a missing column is missed where the header stands") {
  const TemporaryFile file("==PROF== text\nmore\n\"ID\",\"b\"\n1,2\n");
  CsvSurroundings surroundings;
  surroundings.header_begins = "ID";
  const CsvReader reader(file.path(), surroundings);
  try {
    reader.require({"c"});
    FAIL("the column is not there");
  } catch (const InputError& e) {
    CHECK(e.diagnostics().at(0).line == 3);
  }
}
