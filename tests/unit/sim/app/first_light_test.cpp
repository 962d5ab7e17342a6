#include "sim/app/first_light.hpp"

#include <catch2/catch.hpp>

using namespace strata;
using namespace strata::app;

TEST_CASE("first-light: numbers are grouped, and a line says how many bytes fusing saves", "[app][study]") {
  StudyColumn attention;
  attention.title = "FlashAttention";
  attention.gpu = "some-gpu";
  attention.result.sm_cycles = 1234567;
  attention.result.duration_us = 1000.06;
  attention.result.counters.add(Counter::kDramReadSectors, 4'000'000);
  attention.result.counters.add(Counter::kDramWriteSectors, 1'000'000);
  attention.unfused = UnfusedBound{4.3e9, 4.2e9, 2500};
  const std::string text = study_table(std::vector<StudyColumn>{attention});
  for (const char* part :
       {" 1,234,567\n", " 1,000.1\n", " 4,300.0\n",
        "apart, they are written and read twice; 160.00 MB through HBM instead of 8.50 GB on some-gpu."}) {
    INFO(part << "\n" << text);
    CHECK(text.find(part) != std::string::npos);
  }
}
