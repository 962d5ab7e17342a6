#include "models/hw/sm/l1_passes.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

using namespace strata;

namespace {

/// `per_row` lanes 16 B apart in each of the rows that 32 lanes take.
std::vector<std::uint64_t> rows_of_lanes(std::uint64_t pitch, std::uint32_t per_row) {
  std::vector<std::uint64_t> lanes;
  for (std::uint32_t l = 0; l < 32; ++l) lanes.push_back((1 << 21) + l / per_row * pitch + l % per_row * 16);
  return lanes;
}

}  // namespace

TEST_CASE("L1 passes: lines of different tag banks share a pass", "[l1]") {
  // Eight lines 4096 B apart lie two in each bank, as measured: two passes of four rows in the same four data banks.
  const L1Passes same = l1_passes(rows_of_lanes(4096, 4), 2, 0);
  CHECK(same.together == 8);
  CHECK(same.apart == 8);
  // Four lines 2176 B apart: two passes. The lanes of a row are a wavefront, the rows are in the same banks.
  CHECK(l1_passes(rows_of_lanes(2176, 8), 4, 0).apart == 4);
  CHECK(l1_passes(rows_of_lanes(2176, 8), 4, 8).apart == 4);
}

TEST_CASE("L1 passes: tag passes of a request by row pitch are those counted on an H200", "[l1]") {
  // l1tex__t_output_wavefronts over l1tex__t_requests of loads (validation/microbench/l1_rows.cu, 2026-11-30): 2 B
  // lanes, four a row, element after element of 16 B, over the K tiles of 64 B of 256 rows in each of eight blocks.
  struct Counted {
    std::uint64_t pitch;
    double passes;
  };
  constexpr std::array kCounted{Counted{8192, 2.002}, Counted{1536, 3.803}, Counted{4096, 2.001}, Counted{2048, 2.003},
                                Counted{1024, 2.010}, Counted{8190, 3.476}, Counted{4094, 3.503}, Counted{666, 4.613},
                                Counted{6002, 4.683}, Counted{4112, 3.679}, Counted{4160, 3.389}, Counted{8194, 2.860},
                                Counted{8256, 3.347}, Counted{6144, 3.798}, Counted{5120, 3.330}, Counted{768, 3.583},
                                Counted{2064, 3.614}, Counted{1538, 4.197}, Counted{2046, 3.321}, Counted{2080, 3.707},
                                Counted{2112, 3.713}, Counted{1600, 3.682}, Counted{4224, 4.070}, Counted{8320, 3.257},
                                Counted{2002, 4.429}, Counted{3110, 4.212}};
  for (const Counted& c : kCounted) {
    const std::uint64_t tiles = std::min<std::uint64_t>(c.pitch / 64, 24);
    double passes = 0;
    std::size_t requests = 0;
    for (std::uint64_t first = 0; first < 8 * 256; first += 8) {
      for (std::uint64_t tile = 0; tile < tiles; ++tile) {
        for (const std::uint64_t element : {0, 2, 5}) {
          std::array<std::uint64_t, 4> in_bank{};
          std::set<std::uint64_t> lines;
          for (std::uint64_t l = 0; l < 32; ++l) {
            lines.insert(((first + l / 4) * c.pitch + l % 4 * 16 + tile * 64 + element * 2) / 128);
          }
          for (const std::uint64_t line : lines) ++in_bank[l1_tag_bank(line)];
          passes += static_cast<double>(*std::max_element(in_bank.begin(), in_bank.end()));
          ++requests;
        }
      }
    }
    INFO("rows " << c.pitch << " B apart");
    CHECK(passes / static_cast<double>(requests) == Approx(c.passes).margin(0.15));
  }
}

TEST_CASE("L1 passes: a request of one line is one pass", "[l1]") {
  std::vector<std::uint64_t> lanes;
  for (std::uint64_t l = 0; l < 32; ++l) lanes.push_back(l * 4);
  CHECK(l1_passes(lanes, 4, 0).together == 1);
  CHECK(l1_passes(lanes, 4, 0).apart == 1);
  CHECK(l1_passes(lanes, 4, 8).apart == 4);  // into four rows of eight chunks
}
