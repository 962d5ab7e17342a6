#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/recorded_rows.hpp"
#include "workloads/kernels/catalogue.hpp"

using namespace strata;

namespace {

const KernelSpec& spec(const std::string& name) {
  const auto all = kernel_catalogue();
  return *std::find_if(all.begin(), all.end(), [&](const KernelSpec& s) { return s.name == name; });
}

/// Keys of the problems that a set of options has; empty when the kernel is built.
std::vector<std::string> problems(const std::string& kernel, const KernelOptions& options,
                                  const TargetFacts& target = test::hopper_facts()) {
  try {
    (void)spec(kernel).make(options, target);
  } catch (const InputError& error) {
    std::vector<std::string> keys;
    for (const Diagnostic& d : error.diagnostics()) {
      CHECK_FALSE(d.message.empty());
      keys.push_back(d.key);
    }
    return keys;
  }
  return {};
}

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("gemm: a shape alone is enough and the choice is told", "[workloads][options]") {
  const BuiltKernel hopper = spec("gemm").make({{"m", "4096"}, {"n", "4096"}, {"k", "4096"}}, test::hopper_facts());
  CHECK(hopper.source->launch().family == "gemm_tma_wgmma");
  REQUIRE_FALSE(hopper.notes.empty());
  CHECK(hopper.notes.front().find("tile") != std::string::npos);
  const BuiltKernel ampere = spec("gemm").make({{"m", "4096"}, {"n", "4096"}, {"k", "4096"}}, test::ampere_facts());
  CHECK(ampere.source->launch().family == "gemm_mma_sync");
}

TEST_CASE("gemm: rows that the TMA cannot load are left to mma.sync", "[workloads][options]") {
  const BuiltKernel ragged = spec("gemm").make({{"m", "4097"}, {"n", "4097"}, {"k", "4097"}}, test::hopper_facts());
  CHECK(ragged.source->launch().family == "gemm_mma_sync");
}

TEST_CASE("gemm: options of clusters are refused where mma.sync runs, with the reason", "[workloads][options]") {
  const auto message = [](KernelOptions options, const TargetFacts& target) {
    options.insert({{"m", "256"}, {"n", "256"}});
    try {
      (void)spec("gemm").make(options, target);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string{};
  };
  for (const char* option : {"cluster-m", "cluster-n", "multicast", "consumers", "wgmma-rows", "serpentine"}) {
    CHECK_THAT(message({{"k", "256"}, {option, "1"}}, test::ampere_facts()),
               Catch::Contains(option) && Catch::Contains("an option of gemm_tma_wgmma") &&
                   Catch::Contains("gemm_mma_sync runs here: the target has no wgmma"));
  }
  CHECK_THAT(message({{"k", "257"}, {"cluster-m", "1"}}, test::hopper_facts()),
             Catch::Contains("rows are not aligned for the TMA"));
  CHECK_THAT(message({{"k", "256"}, {"cluster-m", "1"}, {"dtype", "fp8"}, {"layout", "NN"}}, test::hopper_facts()),
             Catch::Contains("wgmma takes fp8 operands in layout TN alone"));
  CHECK(message({{"k", "256"}, {"cluster-m", "1"}}, test::hopper_facts()).empty());
  CHECK(message({{"k", "256"}, {"raster-group", "2"}}, test::ampere_facts()).empty());
}

TEST_CASE("gemm: few rows get a tile of few rows", "[workloads][options]") {
  const BuiltKernel decode = spec("gemm").make({{"m", "8"}, {"n", "8192"}, {"k", "8192"}}, test::hopper_facts());
  CHECK(decode.description.find("tile 8x") == 0);
}

TEST_CASE("gemm: every type and layout builds", "[workloads][options]") {
  for (const char* dtype : {"fp16", "bf16", "tf32", "fp8", "int8"}) {
    CHECK(problems("gemm", {{"m", "512"}, {"n", "512"}, {"k", "512"}, {"dtype", dtype}}).empty());
  }
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    CHECK(problems("gemm", {{"m", "512"}, {"n", "512"}, {"k", "512"}, {"layout", layout}}).empty());
    CHECK(problems("gemm_mma_sync", {{"m", "512"}, {"n", "512"}, {"k", "512"}, {"layout", layout}, {"dtype", "int8"}})
              .empty());
  }
}

TEST_CASE("gemm: every tile parameter is taken as given", "[workloads][options]") {
  const BuiltKernel built = spec("gemm_tma_wgmma")
                                .make({{"m", "4096"},
                                       {"n", "4096"},
                                       {"k", "4096"},
                                       {"tile-m", "64"},
                                       {"tile-n", "96"},
                                       {"tile-k", "128"},
                                       {"stages", "3"},
                                       {"consumers", "pingpong"},
                                       {"cluster-m", "2"},
                                       {"cluster-n", "2"},
                                       {"multicast", "off"},
                                       {"raster", "n"},
                                       {"raster-group", "5"},
                                       {"split-k", "2"}},
                                      test::hopper_facts());
  CHECK(built.description ==
        "tile 64x96x128 (MxNxK), 3 stages, ping-pong, cluster 2x2 without multicast, raster along N by 5, split-K 2");
}

TEST_CASE("gemm: bad input is refused by key, all of it at once", "[workloads][options]") {
  CHECK(problems("gemm", {}) == Keys{"m", "n", "k"});
  CHECK(problems("gemm", {{"m", "0"}, {"n", "-1"}, {"k", "99999999999999999999"}}) == Keys{"m", "n", "k"});
  CHECK(problems("gemm", {{"m", "4k"}, {"n", "64"}, {"k", "64"}}) == Keys{"m"});
  CHECK(problems("gemm", {{"m", "64"}, {"n", "64"}, {"k", "64"}, {"dtype", "bf17"}}) == Keys{"dtype"});
  CHECK(problems("gemm", {{"m", "64"}, {"n", "64"}, {"k", "64"}, {"tile-q", "64"}}) == Keys{"tile-q"});
  CHECK(problems("gemm", {{"m", "64"}, {"n", "64"}, {"k", "64"}, {"layout", "XY"}}) == Keys{"layout"});
  CHECK(problems("gemm", {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}, {"stages", "30"}}) == Keys{"stages"});
  CHECK(problems("gemm", {{"m", "2147483647"}, {"n", "2147483647"}, {"k", "64"}}) == Keys{"m"});
  CHECK(problems("gemm_mma_sync", {{"m", "512"}, {"n", "512"}, {"k", "512"}, {"warp-m", "40"}}) == Keys{"warp-m"});
  CHECK_THROWS_AS(spec("gemm_tma_wgmma").make({{"m", "64"}, {"n", "64"}, {"k", "64"}}, test::ampere_facts()),
                  UnsupportedError);
}
