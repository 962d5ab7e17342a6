#include "models/hw/system/sampling.hpp"

#include <catch2/catch.hpp>

#include "tests/support/h100.hpp"
#include "tests/unit/models/hw/support/script_source.hpp"

using namespace strata;
using namespace strata::test;

namespace {

/// CTAs of 1024 threads with 32 registers: two on an SM, 264 at once.
ScriptSource grid(std::uint32_t ctas, std::uint64_t period, double bytes) {
  Launch l = plain_launch(ctas, 32);
  l.repeats_every = period;
  l.work.compulsory_read_bytes = bytes;
  return ScriptSource(l, [](const StreamId& id) {
    Operation op;
    op.warp_insts = static_cast<std::uint32_t>(id.cta);
    return std::vector<Operation>{op};
  });
}

/// Of a hundred pieces, of which ten are measured.
SamplingPlan six_tenths_left_out() {
  SamplingPlan plan;
  plan.pieces = 100;
  plan.count = 60;
  plan.window = 10;
  return plan;
}

}  // namespace

TEST_CASE("Sampling: rounds before, during and after the gap, by hand", "[sampling]") {
  const auto plan = plan_sampling(h100(), grid(26400, 1, 0));
  REQUIRE(plan.has_value());
  CHECK(plan->window == 528);                      // two rounds of 264
  CHECK(plan->first == 1056);                      // 1.5 rounds + 2, rounded up to 4
  CHECK(plan->count == 26400 - 1056 - 264 - 132);  // a round under way and half a round to drain
  CHECK(plan->mark_end == 1056 - 132);
  CHECK(plan->mark_begin == 1056 - 132 - 528);
}

TEST_CASE("Sampling: bytes that fill the L2 come before the measurement", "[sampling]") {
  // 26400 CTAs move ten times the L2: one and a half fills are 3960 CTAs, three quarters are 1980.
  const auto plan = plan_sampling(h100(), grid(26400, 1, 10.0 * static_cast<double>(h100().l2.size_bytes)));
  REQUIRE(plan.has_value());
  CHECK(plan->window >= 1980);
  CHECK(plan->window <= 1980 + 264);
  CHECK(plan->first - plan->window >= 3960);
}

TEST_CASE("Sampling: what is left out is whole periods", "[sampling]") {
  const auto plan = plan_sampling(h100(), grid(26400, 100, 0));
  REQUIRE(plan.has_value());
  CHECK(plan->count % 100 == 0);
  CHECK(plan->window % 100 == 0);
}

TEST_CASE("Sampling: a window that is no whole number of rounds ends between two of them, by hand", "[sampling]") {
  const auto plan = plan_sampling(h100(), grid(26400, 330, 0));
  REQUIRE(plan.has_value());
  CHECK(plan->window == 660);  // two and a half rounds of 264
  CHECK(plan->mark_end - plan->mark_before == 264);
  CHECK(plan->mark_end - plan->mark_begin == 3 * 264);
  CHECK(plan->last_round == Approx(0.5));
  SamplingPlan half = six_tenths_left_out();
  half.last_round = 0.5;
  SampleMarks at;
  at.begin.sm_cycles = 1000;
  at.before.sm_cycles = 1300;
  at.end.sm_cycles = 1500;
  Result shortened;
  shortened.sm_cycles = 3000;
  CHECK(extrapolate(shortened, {at, at}, half).sm_cycles == Approx(3000 + 6 * 400));
}

TEST_CASE("Sampling: short launches and those that do not repeat run whole", "[sampling]") {
  CHECK_FALSE(plan_sampling(h100(), grid(1500, 1, 0)).has_value());
  CHECK_FALSE(plan_sampling(h100(), grid(26400, 0, 0)).has_value());
}

TEST_CASE("Sampling: a grid with a gap keeps the other CTAs' work", "[sampling]") {
  const ScriptSource whole = grid(100, 1, 0);
  const auto shortened = whole.without(40, 30);
  CHECK(shortened->launch().num_ctas() == 70);
  CHECK(shortened->repetition().pieces == 0);
  for (const auto& [cta, original] : {std::pair{0U, 0U}, {39U, 39U}, {40U, 70U}, {69U, 99U}}) {
    StreamCursor cursor;
    std::array<Operation, TraceSource::kMinFetch> ops;
    REQUIRE(shortened->fetch(StreamId{cta, 0, 0}, cursor, ops) == 1);
    CHECK(ops[0].warp_insts == original);
  }
}

TEST_CASE("Sampling: the rest is added by proportion, by hand", "[sampling]") {
  const SamplingPlan plan = six_tenths_left_out();
  Result begin;
  Result end;
  Result shortened;
  begin.sm_cycles = 1000;
  end.sm_cycles = 1500;
  shortened.sm_cycles = 3000;
  begin.counters.add(Counter::kDramReadSectors, 100);
  end.counters.add(Counter::kDramReadSectors, 150);
  shortened.counters.add(Counter::kDramReadSectors, 400);
  shortened.counters.add(Counter::kWarpInsts, 4000);
  begin.utilization.hbm = 0.5;
  end.utilization.hbm = 0.6;
  shortened.utilization.hbm = 0.7;
  const Result r = extrapolate(shortened, {{begin, begin, end}, {begin, begin, end}}, plan);
  CHECK(r.sm_cycles == Approx(3000 + 6 * 500));
  CHECK(r.counters[Counter::kDramReadSectors] == 400 + 6 * 50);
  CHECK(r.counters[Counter::kWarpInsts] == 10000);  // 40 pieces have 4000
  CHECK(r.utilization.hbm == Approx((0.7 * 3000 + 6 * (0.6 * 1500 - 0.5 * 1000)) / 6000));
  REQUIRE(r.notes.size() == 1);
  CHECK(r.notes[0].rfind("40 % of the work was simulated", 0) == 0);
}

TEST_CASE("Sampling: reads are measured before the pieces that made them end, by hand", "[sampling]") {
  const auto plan = plan_sampling(h100(), grid(26400, 100, 0));
  REQUIRE(plan.has_value());
  CHECK(plan->read_lead > 0);
  CHECK(plan->mark_end + 264 - plan->read_lead <= plan->first + 264 / 16);  // those under way lie before the gap
  CHECK(plan_sampling(h100(), grid(26400, 1, 0))->read_lead == 0);
  const SamplingPlan tenth = six_tenths_left_out();
  Result shortened;
  SampleMarks reads;
  reads.end.counters.add(Counter::kDramReadSectors, 70);
  SampleMarks all;
  all.end.counters.add(Counter::kDramReadSectors, 90);
  all.end.counters.add(Counter::kDramWriteSectors, 90);
  const Result r = extrapolate(shortened, {all, reads}, tenth);
  CHECK(r.counters[Counter::kDramReadSectors] == 6 * 70);
  CHECK(r.counters[Counter::kDramWriteSectors] == 6 * 90);
}

TEST_CASE("Sampling: of pieces that are alike as many have read as sectors were delivered, by hand", "[sampling]") {
  SamplingPlan plan = six_tenths_left_out();
  plan.alike = true;
  Result shortened;
  shortened.counters.add(Counter::kDeliveredSectors, 400);  // ten a piece
  SampleMarks at;
  at.end.sm_cycles = 900;
  at.end.counters.add(Counter::kDeliveredSectors, 80);  // ten pieces have ended, eight have read
  at.end.counters.add(Counter::kDramReadSectors, 160);
  const Result r = extrapolate(shortened, {at, at}, plan);
  CHECK(r.counters[Counter::kDramReadSectors] == 160 / 8 * 60);
  CHECK(r.sm_cycles == Approx(900.0 / 9 * 60));
}

TEST_CASE("Sampling: bytes that are read and stored once are conserved, by hand", "[sampling]") {
  SamplingPlan plan = six_tenths_left_out();
  plan.alike = true;
  Result shortened;  // 40 pieces of 10 sectors each way, of which 30 are still dirty
  shortened.sm_cycles = 3000;
  shortened.work.compulsory_read_bytes = 1000 * 32;
  shortened.work.compulsory_write_bytes = 1000 * 32;
  shortened.counters.add(Counter::kDramReadSectors, 400);
  shortened.counters.add(Counter::kStoredSectors, 400);
  shortened.counters.add(Counter::kDramWriteSectors, 370);
  SampleMarks at;  // reads lag behind, and a wave of dirty lines leaves
  at.end.sm_cycles = 900;
  at.end.counters.add(Counter::kDramReadSectors, 90);
  at.end.counters.add(Counter::kDramWriteSectors, 130);
  Result r = extrapolate(shortened, {at, at}, plan);
  CHECK(r.counters[Counter::kDramReadSectors] == 1000);
  CHECK(r.counters[Counter::kStoredSectors] == 1000);
  CHECK(r.counters[Counter::kDramWriteSectors] == 1000 - 30);
  CHECK(r.sm_cycles == Approx(3000 + 60 / 9.5 * 900));  // ten pieces have ended, nine have read
  at.end.utilization.hbm = 0.99;
  r = extrapolate(shortened, {at, at}, plan);
  CHECK(r.sm_cycles == Approx(3000 + 60 / 11.0 * 900));  // HBM moved what eleven pieces read and write
}
