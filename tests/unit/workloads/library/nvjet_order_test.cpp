/// The order in which nvjet kernels take their tiles, against the parameters of recorded launches.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/launch_rows.hpp"
#include "tests/support/recorded_rows.hpp"
#include "workloads/kernels/cluster_places.hpp"
#include "workloads/kernels/gemm_common.hpp"
#include "workloads/library/nvjet.hpp"

using namespace strata;

namespace {

std::vector<std::uint32_t> numbers_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t n = 0; in >> n;) {
    numbers.push_back(n);
  }
  return numbers;
}

std::uint32_t tiles_along(std::int64_t extent, std::uint32_t tile) {
  return static_cast<std::uint32_t>(ceil_div(static_cast<std::uint64_t>(extent), tile));
}

}  // namespace

TEST_CASE("nvjet: bands and first tiles are those of the parameters of every recorded launch",
          "[workloads][nvjet][conformance]") {
  const test::RecordedRows rows("h200-sxm-141gb/nvjet_tile_order.csv");
  const TargetFacts target = test::hopper_facts();  // the recorded card's GPCs are those of the H100's description
  REQUIRE(rows.all().size() == 175);
  for (const test::RecordedRow& row : rows.all()) {
    const auto& cell = row.cells;
    INFO(cell.at("kernel") << " " << cell.at("m") << "x" << cell.at("n") << "x" << cell.at("k"));
    const auto cluster = static_cast<std::uint32_t>(row.number("cluster"));
    const auto clusters = static_cast<std::uint32_t>(row.number("clusters"));
    LaunchRow launch = test::launch_row("gemm", cell.at("kernel"),
                                        fmt::format("{},{},{},TN", cell.at("m"), cell.at("n"), cell.at("k")));
    launch.grid = Dim3{cluster, clusters, 1};
    const GemmTmaConfig config = nvjet_config(launch, target);
    CHECK(config.serpentine);
    CHECK(config.raster_group == static_cast<std::uint32_t>(row.number("width")));
    const std::uint32_t along_m = tiles_along(config.problem.m, config.tile_m * config.cluster_m);
    const std::uint32_t along_n = tiles_along(config.problem.n, config.tile_n * config.cluster_n);
    const bool sweeps_m = config.raster == RasterDirection::kAlongM;
    const std::uint32_t across = sweeps_m ? along_n : along_m;
    CHECK((sweeps_m ? along_m : along_n) == static_cast<std::uint32_t>(row.number("steps")));
    CHECK(across / config.raster_group == static_cast<std::uint32_t>(row.number("bands")));
    CHECK(clusters_by_gpc(target, cluster, clusters) == numbers_of(cell.at("first_tiles")));
  }
}

TEST_CASE("a serpentine raster turns at the end of every band", "[workloads][gemm]") {
  const TileOrder order(3, 5, RasterDirection::kAlongM, 2, true);
  std::string walk;
  for (std::uint64_t i = 0; i < order.count(); ++i) {
    const TileOrder::Tile tile = order.at(i);
    walk += fmt::format("{}{} ", tile.m, tile.n);
  }
  CHECK(walk == "00 01 10 11 20 21 22 23 12 13 02 03 04 14 24 ");
}

TEST_CASE("clusters that are resident at once: measured 66, 30, 15 and 7", "[workloads][gemm]") {
  const TargetFacts target = test::hopper_facts();
  CHECK(resident_clusters(target, 2) == 66);
  CHECK(resident_clusters(target, 4) == 30);
  CHECK(resident_clusters(target, 8) == 15);
  CHECK(resident_clusters(target, 16) == 7);
  CHECK(clusters_by_gpc(TargetFacts{}, 2, 3) == std::vector<std::uint32_t>{0, 1, 2});
}
