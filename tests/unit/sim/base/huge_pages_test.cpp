#include "sim/base/huge_pages.hpp"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

TEST_CASE("Huge pages: memory of every size and thread works as before", "[huge_pages]") {
  strata::prefer_huge_pages();
  const auto fill = [] {
    for (const std::size_t n : {std::size_t{1}, std::size_t{1} << 12, std::size_t{1} << 24}) {
      const std::vector<int> values(n, 7);
      if (values.front() + values.back() != 14) {
        return false;
      }
    }
    return true;
  };
  bool in_thread = false;
  std::thread([&] { in_thread = fill(); }).join();
  CHECK(in_thread);
  CHECK(fill());
}
