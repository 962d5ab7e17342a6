/// GEMM and split-KV generators against the counters of recorded launches: counts that no timing changes.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/family_conformance.hpp"

using namespace strata;

namespace {

/// Tensor instructions exact; sectors asked of L1 within 1 %, or of TMA kernels those delivered; stored within 6 %.
void check_counts(const test::RecordedRow& row, const test::TraceTotals& t) {
  CHECK(t.tensor_insts == static_cast<std::uint64_t>(row.number("tensor_insts")));
  const double asked = std::max(row.number("l1_global_ld_sectors"), row.number("xbar2l1_read_sectors"));
  CHECK(std::abs(test::error_of(t.delivered_sectors, asked)) < 0.01);
  CHECK(std::abs(test::error_of(t.stored_sectors, row.number("l12xbar_write_sectors"))) < 0.06);
}

}  // namespace

TEST_CASE("GEMM families: counts of recorded launches", "[workloads][gemm][conformance]") {
  for (const char* family : {"cutlass_gemm", "sm80_xmma_gemm", "sm90_xmma_gemm"}) {
    INFO(family);
    const test::FamilyMeans means = test::check_family(family, check_counts);
    CHECK(means.instructions < 0.02);
    CHECK(means.wavefronts < 0.03);
  }
}

TEST_CASE("Attention with split keys: counts of recorded launches", "[workloads][attention][conformance]") {
  for (const char* family : {"flash_split_kv", "cudnn_sm80_attention"}) {
    INFO(family);
    const test::FamilyMeans means = test::check_family(family, check_counts);
    CHECK(means.instructions < 0.02);
    CHECK(means.wavefronts < 0.05);
  }
}
