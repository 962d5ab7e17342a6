/// FlashAttention generators: what a tile loads, computes and stores, and that no stream can hang.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/recorded_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "tests/unit/workloads/kernels/untimed_run.hpp"
#include "workloads/kernels/attention_common.hpp"
#include "workloads/kernels/attention_spec.hpp"
#include "workloads/kernels/flash_attention_mma.hpp"
#include "workloads/kernels/flash_attention_wgmma.hpp"

using namespace strata;

namespace {

AttentionShape shape(std::uint32_t q, std::uint32_t k, bool causal, std::uint32_t d = 128) {
  AttentionShape s;
  s.heads = 4;
  s.kv_heads = 2;
  s.q_len = q;
  s.kv_len = k;
  s.head_dim = d;
  s.causal = causal;
  return s;
}

BuiltKernel build(KernelOptions options, const TargetFacts& target = test::hopper_facts()) {
  options.emplace("heads", "4");
  options.emplace("q-len", "1024");
  return flash_attention_spec().make(options, target);
}

std::string error_of(const KernelOptions& options, const TargetFacts& target = test::hopper_facts()) {
  try {
    (void)build(options, target);
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("attention: a causal tile visits the blocks up to its diagonal and no others", "[workloads][attention]") {
  CHECK(visible_kv_blocks(shape(1024, 1024, false), 0, 128, 128) == 8);
  CHECK(visible_kv_blocks(shape(1024, 1024, true), 0, 128, 128) == 1);
  CHECK(visible_kv_blocks(shape(1024, 1024, true), 896, 128, 128) == 8);
  CHECK(visible_kv_blocks(shape(1024, 1024, true), 0, 128, 64) == 2);
  CHECK(visible_kv_blocks(shape(128, 1024, true), 0, 128, 128) == 8);  // aligned to the lower right corner
  CHECK(visible_kv_blocks(shape(1024, 128, true), 0, 128, 128) == 0);
}

TEST_CASE("attention: traces of every shape finish", "[workloads][attention]") {
  const bool causal = GENERATE(false, true);
  const std::uint32_t q = GENERATE(1U, 127U, 128U, 129U, 1000U);
  const std::uint32_t k = GENERATE(1U, 64U, 300U, 1024U);
  for (const std::uint32_t d : {64U, 128U}) {
    INFO("q " << q << " k " << k << " d " << d << " causal " << causal);
    FlashMmaConfig mma;
    mma.shape = shape(q, k, causal, d);
    mma.block_n = d == 64 ? 128 : 64;
    mma.even_mn = false;
    const auto a = make_flash_attention_mma(mma);
    for (std::uint64_t cta = 0; cta < a->launch().num_ctas(); ++cta) CHECK(test::UntimedRun(*a, cta).finishes());
    FlashWgmmaConfig wgmma;
    wgmma.shape = shape(q, k, causal, d);
    wgmma.persistent_ctas = 3;
    for (const bool pipelined : {false, true}) {
      for (const std::uint32_t stages : {1U, 2U, 3U}) {
        for (const AttentionSchedule schedule : {AttentionSchedule::kPlain, AttentionSchedule::kDynamic}) {
          wgmma.pipelined = pipelined;
          wgmma.stages = stages;
          wgmma.schedule = schedule;
          const auto b = make_flash_attention_wgmma(wgmma);
          for (std::uint64_t cta = 0; cta < b->launch().num_ctas(); ++cta) {
            CHECK(test::UntimedRun(*b, cta).finishes());
          }
        }
      }
    }
  }
}

TEST_CASE("attention: both algorithms do the same tensor work and store the output once", "[workloads][attention]") {
  FlashMmaConfig mma;
  mma.shape = shape(1024, 1024, false);
  mma.block_n = 64;
  mma.registers = 240;  // no spills
  FlashWgmmaConfig wgmma;
  wgmma.shape = mma.shape;
  wgmma.schedule = AttentionSchedule::kPlain;
  const test::TraceTotals a = test::trace_totals(*make_flash_attention_mma(mma));
  const test::TraceTotals b = test::trace_totals(*make_flash_attention_wgmma(wgmma));
  const std::uint64_t flops = std::uint64_t{4} * 4 * 1024 * 1024 * 128;
  CHECK(a.tensor_insts * 16 * 8 * 16 * 2 == flops);
  CHECK(b.tensor_insts / 4 * 64 * 128 * 16 * 2 == flops);
  const std::uint64_t output = std::uint64_t{4} * 1024 * 128 * 2 / 32;
  CHECK(a.stored_sectors == output + 4 * 1024 * 4 / 32);  // and the log-sum-exp
  CHECK(b.stored_sectors == output);
  const std::uint64_t loaded = std::uint64_t{4} * 8 * (1 + 2 * 8) * 128 * 128 * 2 / 32;
  CHECK(a.delivered_sectors == loaded);
  CHECK(b.delivered_sectors == loaded);
  CHECK(make_flash_attention_mma(mma)->launch().work.tensor_flops == Approx(static_cast<double>(flops)));
}

TEST_CASE("attention: every tile is dealt once, whatever the number of CTAs", "[workloads][attention]") {
  FlashWgmmaConfig c;
  c.shape = shape(1024, 1024, true);
  c.persistent_ctas = GENERATE(1U, 5U, 32U, 200U);
  const auto source = make_flash_attention_wgmma(c);
  std::map<std::uint64_t, int> stores;
  std::uint64_t fetches = 0;
  for (std::uint64_t cta = 0; cta < source->launch().num_ctas(); ++cta) {
    test::walk_cta(*source, cta, [&](const StreamId&, const Operation& op) {
      if (op.kind == OpKind::kTma && op.mem.dir == MemDir::kStore) ++stores[op.mem.address];
      if (op.kind == OpKind::kFetchTile) ++fetches;
    });
  }
  CHECK(stores.size() == 4 * 8 * 2);
  for (const auto& [address, times] : stores) CHECK(times == 1);
  CHECK(fetches == 4 * 8 + c.persistent_ctas);
}

TEST_CASE("attention: what is stored beyond the output are spills", "[workloads][attention]") {
  FlashMmaConfig c;
  c.shape = shape(1024, 1024, GENERATE(false, true));
  c.block_n = 64;
  const auto source = make_flash_attention_mma(c);
  const double stored = 32.0 * static_cast<double>(test::trace_totals(*source).stored_sectors);
  CHECK(stored - source->launch().work.compulsory_write_bytes == Approx(flash_mma_spilled_bytes(c)).epsilon(0.01));
  CHECK(flash_mma_spilled_bytes(c) > 0);
}

TEST_CASE("attention: queries that see no key are not compulsory", "[workloads][attention]") {
  const auto read = [](std::uint32_t q, std::uint32_t k, bool causal) {
    FlashMmaConfig c;
    c.shape = shape(q, k, causal);
    return make_flash_attention_mma(c)->launch().work.compulsory_read_bytes;
  };
  constexpr double kRow = 128 * 2;
  CHECK(read(1024, 256, false) == kRow * (4 * 1024 + 2 * 2 * 256));
  CHECK(read(1024, 256, true) == kRow * (4 * 256 + 2 * 2 * 256));
  CHECK(read(256, 1024, true) == kRow * (4 * 256 + 2 * 2 * 1024));
}

TEST_CASE("attention: query heads of a group read the same keys", "[workloads][attention]") {
  FlashMmaConfig c;
  c.shape = shape(128, 64, false);
  c.block_n = 64;
  const auto source = make_flash_attention_mma(c);
  std::vector<std::vector<std::uint64_t>> loads(4);
  for (std::uint64_t head = 0; head < 4; ++head) {
    test::walk_cta(*source, head, [&](const StreamId&, const Operation& op) {
      if (op.kind == OpKind::kCpAsync) loads[head].push_back(op.mem.address);
    });
    REQUIRE(loads[head].size() == 3);
  }
  CHECK(loads[0][1] == loads[1][1]);
  CHECK(loads[2][1] == loads[3][1]);
  CHECK(loads[0][1] != loads[2][1]);
  CHECK(loads[0][0] != loads[1][0]);
}

TEST_CASE("attention: memory operations stay inside the buffers", "[workloads][attention]") {
  FlashWgmmaConfig c;
  c.shape = shape(1000, 777, true);
  c.writes_lse = true;
  FlashMmaConfig m;
  m.shape = c.shape;
  m.block_n = 64;
  m.even_mn = false;
  std::vector<std::unique_ptr<TraceSource>> sources;
  sources.push_back(make_flash_attention_wgmma(c));
  sources.push_back(make_flash_attention_mma(m));
  for (const auto& source : sources) {
    for (std::uint64_t cta = 0; cta < source->launch().num_ctas(); ++cta) {
      test::walk_cta(*source, cta, [&](const StreamId&, const Operation& op) {
        if (op.mem.rows == 0) return;
        const std::uint64_t end =
            op.mem.address + (op.mem.rows - 1) * static_cast<std::uint64_t>(op.mem.row_pitch) + op.mem.row_bytes;
        bool inside = false;
        for (const Buffer& b : source->launch().buffers) inside |= op.mem.address >= b.base && end <= b.base + b.bytes;
        if (!inside) FAIL("operation at " << op.mem.address << " of pc " << op.pc);
      });
    }
  }
}

TEST_CASE("attention: the algorithm follows the target unless it is given", "[workloads][attention]") {
  CHECK(build({}).source->launch().family == "flash_attention_wgmma");
  CHECK(build({{"algorithm", "mma"}}).source->launch().family == "flash_attention_mma");
  CHECK(build({}, test::ampere_facts()).source->launch().family == "flash_attention_mma");
  CHECK(build({{"head-dim", "256"}, {"block-n", "32"}}).source->launch().family == "flash_attention_mma");
  CHECK(build({}).notes.size() == 1);
  CHECK_THROWS_AS(build({{"algorithm", "wgmma"}}, test::ampere_facts()), UnsupportedError);
}

TEST_CASE("attention: bad options name the option, the value and what is allowed", "[workloads][attention]") {
  CHECK_THAT(error_of({{"q-len", "0"}}), Catch::Contains("q-len") && Catch::Contains("0 is out of range"));
  CHECK_THAT(error_of({{"q-len", "-5"}}), Catch::Contains("q-len") && Catch::Contains("-5"));
  CHECK_THAT(error_of({{"q-len", "99999999999999999999"}}), Catch::Contains("q-len"));
  CHECK_THAT(error_of({{"kv-heads", "3"}}), Catch::Contains("kv-heads") && Catch::Contains("divide"));
  CHECK_THAT(error_of({{"head-dim", "80"}}), Catch::Contains("head-dim") && Catch::Contains("80"));
  CHECK_THAT(error_of({{"dtype", "fp32"}}), Catch::Contains("dtype") && Catch::Contains("fp16 or bf16"));
  CHECK_THAT(error_of({{"dtype", "bf61"}}), Catch::Contains("bf16"));
  CHECK_THAT(error_of({{"stages", "8"}}), Catch::Contains("shared memory"));
  CHECK_THAT(error_of({{"stagse", "2"}}), Catch::Contains("stages"));
  CHECK_THAT(error_of({{"batch", "60000"}, {"q-len", "1000000"}}), Catch::Contains("GiB"));
  CHECK_THAT(error_of({{"algorithm", "mma"}, {"block-m", "96"}}), Catch::Contains("block-m"));
}
