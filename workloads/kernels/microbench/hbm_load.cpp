#include "workloads/kernels/microbench/hbm_load.hpp"

#include <algorithm>

#include "workloads/kernels/microbench/ring.hpp"

namespace strata::microbench {

namespace {

constexpr std::uint32_t kPitch = 8192;

}  // namespace

std::unique_ptr<TraceSource> make_hbm_load(const HbmLoadConfig& c) {
  Launch l = bench_launch("hbm_load", c.ctas, 1);
  l.smem_dynamic_bytes = kWholeSmBytes;
  l.num_descriptors = 1;
  std::fill_n(l.mbarrier_arrivals.begin(), c.stages, std::uint16_t{1});
  const std::uint32_t rows = kLoadBoxBytes / c.row_bytes;
  const std::uint32_t across = kPitch / c.row_bytes;
  const auto boxes = [=](std::uint32_t first, std::uint32_t count) {
    return Section{count, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                     const std::uint64_t n = first + i;
                     issue_in_ring(op, n, c.stages);
                     op.mem.address =
                         kFirstAddress + (id.cta + n / across * c.ctas) * rows * kPitch + n % across * c.row_bytes;
                     op.mem.rows = rows;
                     op.mem.row_bytes = c.row_bytes;
                     op.mem.row_pitch = kPitch;
                   }};
  };
  // A stamp waits for the box that was issued a lap before the next one.
  const auto stamp_before = [=](std::uint32_t n) {
    return once(stamp(wait_for(TokenClass::kMbarrier, static_cast<std::uint8_t>(n % c.stages), n / c.stages)));
  };
  constexpr std::uint32_t kQuarter = kLoadBoxes / 4;
  return std::make_unique<Program>(
      std::move(l),
      std::vector<Section>{boxes(0, kQuarter + c.stages), stamp_before(kQuarter + c.stages),
                           boxes(kQuarter + c.stages, 2 * kQuarter), stamp_before(3 * kQuarter + c.stages),
                           boxes(3 * kQuarter + c.stages, kQuarter - c.stages), drain_ring(kLoadBoxes, c.stages)});
}

}  // namespace strata::microbench
