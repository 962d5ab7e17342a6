// The LSU's data path and what a store takes of the ports.
#include <catch2/catch.hpp>
#include <vector>

#include "models/hw/system/simulator.hpp"
#include "tests/support/h100.hpp"
#include "tests/unit/models/hw/support/script_source.hpp"

using namespace strata;
using namespace strata::test;

namespace {

constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

double cycles(const std::vector<Operation>& ops) {
  return simulate(h100(), ScriptSource(plain_launch(1), ops), SimulationOptions{1980, {}}).sm_cycles;
}

/// Cycles that each of many repetitions takes, once the first has brought the data.
double each(const std::vector<Operation>& ops) {
  constexpr std::uint32_t kFew = 500;
  constexpr std::uint32_t kMany = 1000;
  const auto repeated = [&](std::uint32_t times) {
    std::vector<Operation> all;
    for (std::uint32_t i = 0; i < times; ++i) {
      all.insert(all.end(), ops.begin(), ops.end());
    }
    return cycles(all);
  };
  return (repeated(kMany) - repeated(kFew)) / (kMany - kFew);
}

Operation shared_write(std::uint32_t wavefronts) {
  Operation op;
  op.kind = OpKind::kShared;
  op.smem_write_wavefronts = wavefronts;
  return op;
}

}  // namespace

TEST_CASE("LSU: loads that hit take a clock for each word of a bank", "[lsu]") {
  CHECK(each({access(MemDir::kLoad, kBase, 16, 4)}) == Approx(4).epsilon(0.05));
  CHECK(each({access(MemDir::kLoad, kBase, 128, 4)}) == Approx(32).epsilon(0.05));
}

TEST_CASE("LSU: rows of a box whose lanes lie apart meet in the banks", "[lsu]") {
  Operation column = access(MemDir::kLoad, kBase, 2, 2);  // 32 rows, a lane each
  column.mem.pattern = Pattern::kBox;
  column.mem.rows = 32;
  column.mem.row_bytes = 2;
  column.mem.row_pitch = 4096;
  CHECK(each({column}) == Approx(32).epsilon(0.05));
}

TEST_CASE("LSU: global loads and stores to shared memory share the data path", "[lsu]") {
  const Operation load = access(MemDir::kLoad, kBase, 32, 4);
  CHECK(each({load, shared_write(8)}) == Approx(16).epsilon(0.05));
}

TEST_CASE("Stores: all SMs store 46 lone sectors a clock within 9 %; 43 to 49 were measured", "[stores]") {
  constexpr std::uint32_t kLines = 32;
  const auto of_all = [](std::uint32_t times) {
    const ScriptSource source(plain_launch(132), [times](const StreamId& id) {
      Operation store = access(MemDir::kStore, 0, 0, 16);
      store.mem.pattern = Pattern::kBox;
      store.mem.rows = kLines;
      store.mem.row_bytes = 32;
      store.mem.row_pitch = 128;
      std::vector<Operation> ops(times, store);
      for (std::uint32_t i = 0; i < times; ++i) {
        // All lines of 4 MiB in turn, as the program does.
        ops[i].mem.address = kBase + (i % 8 * 132 + id.cta) * kLines * 128;
      }
      return ops;
    });
    return simulate(h100(), source, SimulationOptions{1980, {}}).sm_cycles;
  };
  CHECK(132 * kLines * 64 / (of_all(96) - of_all(32)) == Approx(46).epsilon(0.09));
}

TEST_CASE("Stores: a line with partial sectors takes a flit more of the SM's port", "[stores]") {
  const Operation whole = access(MemDir::kStore, kBase, 16, 16);        // four lines
  const Operation word_of_each = access(MemDir::kStore, kBase, 32, 4);  // eight lines
  const Operation one_sector = access(MemDir::kStore, kBase, 128, 4);   // 32 lines
  CHECK(each({whole}) == Approx(16).epsilon(0.05));
  CHECK(each({word_of_each}) == Approx(40).epsilon(0.05));
  CHECK(each({one_sector}) == Approx(64).epsilon(0.05));
}
