#include "sim/result/remarks.hpp"

#include <catch2/catch.hpp>

#include "tests/support/h100.hpp"

using namespace strata;

TEST_CASE("Remarks: a kernel faster than its roofline says what stays in the L2", "[remarks]") {
  Result r;
  r.sm_clock_mhz = 1980;
  r.work.compulsory_write_bytes = 16.78e6;  // 5 us at HBM's peak
  r.duration_us = 4;
  const std::vector<std::string> notes = remarks(r, test::h100());
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("16.78 MB of the output") != std::string::npos);
  r.duration_us = 6;
  CHECK(remarks(r, test::h100()).empty());
}
