/// Generators of the kernel ladder: traces that finish, and counts worked out by hand.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/support/recorded_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "tests/unit/workloads/kernels/untimed_run.hpp"
#include "workloads/kernels/gemm_mma_sync.hpp"
#include "workloads/kernels/gemm_plain.hpp"
#include "workloads/kernels/gemm_simt.hpp"
#include "workloads/kernels/gemm_tma_wgmma.hpp"
#include "workloads/kernels/gemm_wmma.hpp"
#include "workloads/kernels/gemv.hpp"
#include "workloads/kernels/rotary.hpp"
#include "workloads/kernels/row_pass.hpp"
#include "workloads/kernels/split_sum.hpp"
#include "workloads/kernels/transpose.hpp"

using namespace strata;

namespace {

GemmProblem fp32_problem(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout) {
  GemmProblem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.input = p.output = DataType::kFp32;
  REQUIRE(parse_gemm_layout(layout, p));
  return p;
}

}  // namespace

TEST_CASE("GEMM with one buffer: the trace ends, whatever the number of K tiles", "[workloads][gemm]") {
  for (const std::int64_t k : {8, 64, 200}) {
    GemmSimtConfig c;
    c.problem = fp32_problem(128, 128, k, "NN");
    c.tile_k = 32;
    c.warp_n = 64;
    c.stages = 1;
    c.staged_bytes = 0;
    CHECK(test::UntimedRun(*make_gemm_simt(c, test::hopper_facts()), 0).finishes());
  }
  GemmWmmaConfig w;
  w.problem = fp32_problem(128, 128, 96, "TN");
  w.problem.input = w.problem.output = DataType::kBf16;
  w.warp_m = 32;
  w.stages = 1;
  w.copy = GemmCopy::kRegisters;
  w.registers_per_thread = 128;
  w.insts_per_k_tile = 153;
  w.generic_loads = 48;
  CHECK(test::UntimedRun(*make_gemm_wmma(w, test::hopper_facts()), 0).finishes());
}

TEST_CASE("WMMA: patches of a row that is not aligned share sectors that go out twice", "[workloads][gemm]") {
  GemmWmmaConfig w;
  w.problem = fp32_problem(128, 136, 32, "TN");
  w.problem.input = w.problem.output = DataType::kBf16;
  w.warp_m = 32;
  w.stages = 1;
  w.copy = GemmCopy::kRegisters;
  w.registers_per_thread = 128;
  w.insts_per_k_tile = 153;
  w.store_patch_bytes = 32;
  // Rows of 272 B: the first tile's 256 B are eight sectors of even rows, of odd ones two for each of eight patches;
  // the second tile's 16 B lie in one sector.
  CHECK(test::trace_totals(*make_gemm_wmma(w, test::hopper_facts())).stored_sectors == 64 * 8 + 64 * 16 + 128);
}

TEST_CASE("GEMM: padded rows of 16-byte copies are delivered one and a half times", "[workloads][gemm]") {
  GemmSimtConfig c;
  c.problem = fp32_problem(128, 128, 32, "NT");
  c.tile_k = 32;
  c.warp_n = 64;
  c.stages = 2;
  c.odd_rows_twice = true;
  // Two operands of 32 rows of 512 B: 1024 sectors, half of the rows twice.
  CHECK(test::trace_totals(*make_gemm_simt(c, test::hopper_facts())).delivered_sectors == 1536);
}

TEST_CASE("grouped GEMM: a few CTAs walk over the tiles of all groups", "[workloads][gemm]") {
  GemmMmaSyncConfig c;
  c.problem = fp32_problem(256, 128, 64, "TN");
  c.problem.input = c.problem.output = DataType::kBf16;
  c.problem.batch = 2;
  c.tile_k = 64;
  c.warp_n = 32;
  c.stages = 3;
  c.group_rows = {0, 85, 256};  // one row of tiles and two
  c.walking_ctas = 2;
  const auto source = make_gemm_mma_sync(c, test::hopper_facts());
  CHECK(source->launch().grid == Dim3{2, 1, 1});
  CHECK(test::UntimedRun(*source, 0).finishes());
  CHECK(test::UntimedRun(*source, 1).finishes());
  const test::TraceTotals totals = test::trace_totals(*source);
  // 256 rows of A of 128 B once, 128 rows of B for each of three tiles; C is 256 x 128 elements of 2 B.
  CHECK(totals.delivered_sectors == 256 * 4 + 3 * 128 * 4);
  CHECK(totals.stored_sectors == 2048);
  CHECK(totals.tensor_insts == 3 * 8 * 64);  // 4 x 4 x 4 multiply-adds of eight warps a tile
}

TEST_CASE("naive GEMM: a trip loads four elements of K, lanes a row apart where K is contiguous", "[workloads][gemm]") {
  GemmPlainConfig c;
  c.problem = fp32_problem(16, 16, 33, "TN");
  std::vector<MemoryRef> loads;
  test::walk_cta(*make_gemm_plain(c, test::hopper_facts()), 0, [&](const StreamId&, const Operation& op) {
    if (op.kind == OpKind::kMemory && op.mem.dir == MemDir::kLoad) loads.push_back(op.mem);
  });
  REQUIRE(loads.size() == 2 * 9);  // eight trips of four, one of one
  for (const MemoryRef& m : loads) {
    CHECK(m.pattern == Pattern::kLanes);
    CHECK(m.lane_pitch == 33 * 4);
  }
  CHECK(loads[0].rows == 4);
  CHECK(loads[0].lanes == 2);  // of A: the rows of a warp's halves
  CHECK(loads[0].warp_pitch == 2 * 33 * 4);
  CHECK(loads[1].lanes == 16);  // of B: the same for all warps
  CHECK(loads[1].warp_pitch == 0);
  CHECK(loads[17].rows == 1);
}

TEST_CASE("GEMM without copies in flight: loads and stores of a small product", "[workloads][gemm]") {
  GemmPlainConfig tiled;
  tiled.problem = fp32_problem(32, 64, 64, "NN");
  tiled.tiled = true;
  const auto source = make_gemm_plain(tiled, test::hopper_facts());
  CHECK(source->launch().grid == Dim3{2, 1, 1});
  // Two CTAs, two steps, two tiles of 32 rows of 128 B; C is 32 x 64 words.
  const test::TraceTotals totals = test::trace_totals(*source);
  CHECK(totals.delivered_sectors == 2 * 2 * 2 * 128);
  CHECK(totals.stored_sectors == 256);

  GemmPlainConfig strided;
  strided.problem = fp32_problem(16, 16, 8, "NN");
  strided.strided = true;
  // Each of eight warps stores two neighbouring words in 16 rows: a sector each in eight of them; in the others those
  // of four warps merge.
  CHECK(test::trace_totals(*make_gemm_plain(strided, test::hopper_facts())).stored_sectors == 8 * 8 + 8 * 2);
}

TEST_CASE("mma.sync: pieces that are exchanged part the sectors of rows that begin 16 B off one", "[workloads][gemm]") {
  GemmMmaSyncConfig c;
  c.problem.m = c.problem.n = 128;
  c.problem.k = 72;  // rows of 144 B
  c.problem.a_k_contiguous = c.problem.b_k_contiguous = true;
  c.tile_m = c.tile_n = 128;
  c.tile_k = 64;
  c.warp_m = 64;
  c.warp_n = 32;
  c.copy = GemmCopy::kAsync;
  // 128 B of even rows are four sectors, of odd ones five; then 16 B of each.
  const auto delivered = [&] {
    return test::trace_totals(*make_gemm_mma_sync(c, test::hopper_facts())).delivered_sectors;
  };
  CHECK(delivered() == 2 * (64 * 4 + 64 * 5 + 128));
  c.exchanged_pieces = true;  // of odd rows three sectors more
  CHECK(delivered() == 2 * (64 * 4 + 64 * 8 + 128));
}

TEST_CASE("wgmma: C is read where it is added", "[workloads][gemm]") {
  GemmTmaConfig c;
  c.problem.m = 256;
  c.problem.n = 256;
  c.problem.k = 64;
  c.tile_m = 128;
  c.tile_n = 256;
  const test::TraceTotals without = test::trace_totals(*make_gemm_tma(c, test::hopper_facts()));
  c.reads_c = true;
  const test::TraceTotals with = test::trace_totals(*make_gemm_tma(c, test::hopper_facts()));
  CHECK(with.delivered_sectors == without.delivered_sectors + 256 * 256 * 2 / 32);
  CHECK(with.stored_sectors == without.stored_sectors);
}

TEST_CASE("transposes: word by word every sector is stored eight times", "[workloads][transpose]") {
  TransposeConfig c;
  c.rows = 64;
  c.cols = 96;
  const std::uint64_t sectors = c.rows * c.cols / 8;
  CHECK(test::trace_totals(*make_transpose(c)).stored_sectors == sectors);
  c.way = TransposeWay::kNaive;
  CHECK(test::trace_totals(*make_transpose(c)).stored_sectors == 8 * sectors);
  c.way = TransposeWay::kTile;
  // Per tile 32 wavefronts in, 32 x 32 out, four for each of eight warps that reads its indices twice.
  CHECK(test::trace_totals(*make_transpose(c)).smem_wavefronts == 6 * (32 + 1024 + 32));
}

TEST_CASE("transposes: a tile at the edge executes what a whole one does", "[workloads][transpose]") {
  TransposeConfig c;
  c.way = TransposeWay::kCopy;
  c.rows = c.cols = 64;
  const test::TraceTotals whole = test::trace_totals(*make_transpose(c));
  CHECK(whole.warp_insts == 4 * 8 * 120);
  c.rows = 40;  // eight rows of the lower tiles: three of their four rows of a warp load and store nothing
  const test::TraceTotals edge = test::trace_totals(*make_transpose(c));
  CHECK(edge.warp_insts == whole.warp_insts - 2 * 3 * 8 * 2);
  CHECK(edge.delivered_sectors == 40 * 8);
  CHECK(edge.stored_sectors == 40 * 8);
}

TEST_CASE("row pass: reads, residual, parameters and results of a row", "[workloads][rows]") {
  RowPassConfig c;
  c.rows = 3;
  c.cols = 1024;
  c.vector = 4;
  c.kind = RowPassKind::kLayerNorm;
  c.residual = true;
  const test::TraceTotals totals = test::trace_totals(*make_row_pass(c));
  CHECK(totals.delivered_sectors == 3 * 4 * 128);  // input, residual, gain, shift
  CHECK(totals.stored_sectors == 3 * 2 * 128);     // sum, result

  RowPassConfig softmax;
  softmax.rows = 2;
  softmax.cols = 1024;
  softmax.vector = 4;
  softmax.in_shared = false;
  CHECK(test::trace_totals(*make_row_pass(softmax)).delivered_sectors == 2 * 3 * 128);  // three passes
}

TEST_CASE("row pass: trips that unrolled loops leave over go first, then groups of four", "[workloads][rows]") {
  RowPassConfig c;
  c.rows = 1;
  c.cols = std::uint64_t{256} * 4 * 9;  // nine trips: one, then two groups
  c.vector = 4;
  const auto source = make_row_pass(c);
  StreamCursor cursor;
  std::vector<std::uint32_t> loads;  // instructions of a warp that are issued together
  std::vector<Operation> out(TraceSource::kMinFetch);
  std::uint64_t next = 0;  // bytes of the row
  while (const std::uint32_t n = source->fetch(StreamId{}, cursor, out)) {
    for (std::uint32_t i = 0; i < n; ++i) {
      if (out[i].kind != OpKind::kMemory || out[i].mem.dir != MemDir::kLoad) continue;
      loads.push_back(out[i].issue_slots);
      CHECK(out[i].mem.address == source->launch().buffers[0].base + next);
      next += out[i].mem.row_bytes;
    }
  }
  CHECK(loads == std::vector<std::uint32_t>{1, 4, 4});
  CHECK(next == c.cols * 4);
}

TEST_CASE("row pass: rows that begin off a sector are stored warp by warp", "[workloads][rows]") {
  RowPassConfig c;
  c.rows = 2;
  c.cols = 257;  // row 1 begins 4 B into a sector
  c.vector = 1;
  // Row 0: eight warps of four sectors and one word. Row 1: eight warps of five sectors, and one word.
  CHECK(test::trace_totals(*make_row_pass(c)).stored_sectors == 8 * 4 + 1 + 8 * 5 + 1);
}

TEST_CASE("GEMV, rotary embedding and sums of parts touch what they must", "[workloads]") {
  GemvConfig gemv;
  gemv.n = 64;
  gemv.k = 1024;
  const test::TraceTotals product = test::trace_totals(*make_gemv(gemv));
  CHECK(product.delivered_sectors == 64 * 64 + 64 * 64);  // weights, and the vector for each of 64 warps
  CHECK(product.stored_sectors == 64);                    // each warp stores its word by itself

  gemv.k_contiguous = false;
  const test::TraceTotals columns = test::trace_totals(*make_gemv(gemv));
  // Two CTAs of 32 columns: their weights, and all of the vector. 64 parts of sums leave 16 B a lane, two ways, and are
  // read by one warp.
  CHECK(columns.delivered_sectors == 64 * 64 + 2 * 64);
  CHECK(columns.smem_wavefronts == 2 * (128 + 64 + 10));

  RotaryConfig rotary;
  rotary.tokens = 4;
  rotary.heads = 32;
  rotary.head_dim = 128;
  const test::TraceTotals turned = test::trace_totals(*make_rotary(rotary));
  CHECK(turned.stored_sectors == 4 * 32 * 8);
  CHECK(turned.delivered_sectors == 4 * 32 * 8 + 4 * 2 * 8);

  PartsSumConfig sum;
  sum.parts = 3;
  sum.elements = 4096;
  const test::TraceTotals added = test::trace_totals(*make_parts_sum(sum));
  CHECK(added.delivered_sectors == 3 * 512);
  CHECK(added.stored_sectors == 256);
}
