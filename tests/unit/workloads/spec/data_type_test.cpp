#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "workloads/spec/launch.hpp"

using namespace strata;

TEST_CASE("data type: every name that is printed parses back", "[workloads][spec]") {
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(DataType::kBool); ++i) {
    const auto type = static_cast<DataType>(i);
    CHECK(parse_data_type(to_string(type)) == type);
  }
  CHECK(parse_data_type("BFloat16") == DataType::kBf16);
  CHECK(parse_data_type("half") == DataType::kFp16);
  CHECK(parse_data_type("e4m3") == DataType::kFp8);
}

TEST_CASE("data type: an unknown name is refused with the valid ones and the nearest", "[workloads][spec]") {
  CHECK_THROWS_WITH(parse_data_type("bf61"),
                    Catch::Contains("'bf61'") && Catch::Contains("fp64") && Catch::Contains("did you mean 'bf16'"));
  CHECK_THROWS_AS(parse_data_type(""), InputError);
}
