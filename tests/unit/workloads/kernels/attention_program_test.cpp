/// Attention programs: where steps touch the tensors, and what they wait for.
#include "workloads/kernels/attention_program.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/support/trace_totals.hpp"

using namespace strata;

namespace {

constexpr std::uint64_t kBase = 1 << 20;
constexpr std::uint64_t kPitch = 256;

AttentionAccess rows_of(AttentionRows what, std::uint32_t rows) {
  AttentionAccess a;
  a.rows_of = what;
  a.base = kBase;
  a.pitch = kPitch;
  a.rows = rows;
  a.row_bytes = kPitch;
  return a;
}

AttentionStep step_of(OpKind kind, const AttentionAccess& access = {}) {
  AttentionStep s;
  s.op.kind = kind;
  s.op.warp_insts = 1;
  s.access = access;
  return s;
}

/// 2 batches, 4 heads on 2 key heads, 100 queries, 150 keys, tiles of 64; 8 warps in 2 streams.
AttentionProgram program(bool causal = false) {
  AttentionProgram p;
  p.launch.block = Dim3{256, 1, 1};
  p.shape.batch = 2;
  p.shape.heads = 4;
  p.shape.kv_heads = 2;
  p.shape.q_len = 100;
  p.shape.kv_len = 150;
  p.shape.causal = causal;
  p.query_rows = 64;
  return p;
}

std::vector<Operation> stream_of(const TraceSource& source, std::uint64_t cta, std::uint32_t stream) {
  std::vector<Operation> ops;
  test::walk_cta(source, cta, [&](const StreamId& id, const Operation& op) {
    if (id.stream == stream) ops.push_back(op);
  });
  return ops;
}

}  // namespace

TEST_CASE("attention program: streams share the rows of a tile, rows out of range are left out",
          "[workloads][attention]") {
  AttentionProgram p = program();
  AttentionPhase once;
  once.steps = {step_of(OpKind::kMemory, rows_of(AttentionRows::kQuery, 32))};
  p.phases = {once};
  const auto source = make_attention_program(p);
  REQUIRE(source->launch().grid == Dim3{2, 4, 2});
  REQUIRE(source->launch().streams.size() == 2);
  // CTA (1, 3, 1): the second tile of head 3 of batch 1 begins at row 7 * 100 + 64 and has 36 rows.
  const std::uint64_t cta = 1 + 2 * (3 + 4 * 1);
  const std::vector<Operation> first = stream_of(*source, cta, 0);
  REQUIRE(first.size() == 1);
  CHECK(first[0].mem.address == kBase + 764 * kPitch);
  CHECK(first[0].mem.rows == 32);
  CHECK(first[0].warp_insts == 4);  // of the stream's four warps
  const std::vector<Operation> second = stream_of(*source, cta, 1);
  CHECK(second[0].mem.address == kBase + 796 * kPitch);
  CHECK(second[0].mem.rows == 4);
}

TEST_CASE("attention program: key tiles follow the head's keys and stop where no query sees more",
          "[workloads][attention]") {
  AttentionProgram p = program(true);
  AttentionPhase loop;
  loop.over_keys = true;
  loop.key_tile = 64;
  loop.steps = {step_of(OpKind::kCpAsync, rows_of(AttentionRows::kKey, 32)), step_of(OpKind::kCompute)};
  loop.steps[1].masked_only = true;
  p.phases = {loop};
  const auto source = make_attention_program(p);
  // The first CTA has the last tile, rows 64 to 99, which see keys up to 150: three tiles, of which row 64 (115 keys)
  // does not see all of the second and third.
  const std::vector<Operation> last_tile = stream_of(*source, 0, 0);
  REQUIRE(last_tile.size() == 5);
  CHECK(last_tile[0].mem.address == kBase);
  CHECK(last_tile[1].mem.address == kBase + 64 * kPitch);
  CHECK(last_tile[2].kind == OpKind::kCompute);
  CHECK(last_tile[3].mem.address == kBase + 128 * kPitch);
  CHECK(last_tile[3].mem.rows == 22);
  // Rows 0 to 63 see 51 to 114 keys: two tiles, both masked. Head 2 uses key head 1.
  const std::vector<Operation> first_tile = stream_of(*source, 1 + 2 * 2, 0);
  REQUIRE(first_tile.size() == 4);
  CHECK(first_tile[0].mem.address == kBase + 150 * kPitch);
}

TEST_CASE("attention program: copies ahead may be pending, loads and barriers are waited for by count",
          "[workloads][attention]") {
  AttentionProgram p = program();
  AttentionPhase before;
  before.key_tile = 64;
  before.steps = {step_of(OpKind::kCpAsync, rows_of(AttentionRows::kKey, 32))};
  AttentionPhase loop;
  loop.over_keys = true;
  loop.key_tile = 64;
  loop.copies_of_block = 1;
  AttentionAccess next = rows_of(AttentionRows::kKey, 32);
  next.ahead = 1;
  loop.steps = {step_of(OpKind::kCpAsync, next), step_of(OpKind::kBarrier), step_of(OpKind::kCompute)};
  loop.steps[1].copies_ahead = 1;
  loop.steps[2].after_barrier = true;
  p.phases = {before, loop};
  const auto source = make_attention_program(p);
  std::vector<std::uint32_t> copies;
  std::vector<std::uint32_t> barriers;
  for (const Operation& op : stream_of(*source, 0, 1)) {  // of the last tile this stream's rows do not exist
    if (op.kind == OpKind::kBarrier) copies.push_back(op.waits[0].count);
    if (op.kind == OpKind::kCompute) barriers.push_back(op.waits[0].count);
  }
  CHECK(copies == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(barriers == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(source->launch().named_barrier_warps[0] == 8);
}

TEST_CASE("attention program: every second row, and tiles dealt to the streams", "[workloads][attention]") {
  AttentionProgram p = program();
  AttentionPhase loop;
  loop.over_keys = true;
  loop.own_tiles = true;
  loop.key_tile = 64;
  AttentionAccess odd = rows_of(AttentionRows::kKey, 64);
  odd.odd_rows = true;
  loop.steps = {step_of(OpKind::kCpAsync, odd)};
  p.phases = {loop};
  const auto source = make_attention_program(p);
  const std::vector<Operation> first = stream_of(*source, 0, 0);  // tiles 0 and 2
  REQUIRE(first.size() == 2);
  CHECK(first[0].mem.address == kBase + kPitch);
  CHECK(first[0].mem.rows == 32);
  CHECK(first[0].mem.row_pitch == 2 * kPitch);
  CHECK(first[1].mem.address == kBase + 129 * kPitch);
  CHECK(first[1].mem.rows == 11);
  CHECK(stream_of(*source, 0, 1).size() == 1);  // tile 1
}

TEST_CASE("attention program: warps that streams do not divide are a bug", "[workloads][attention]") {
  AttentionProgram p = program();
  p.stream_warps = 3;
  CHECK_THROWS_AS(make_attention_program(p), ModelBug);
}
