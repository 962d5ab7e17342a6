#include "workloads/kernels/microbench/hbm_shares.hpp"

#include <algorithm>

#include "workloads/kernels/microbench/ring.hpp"

namespace strata::microbench {

namespace {

constexpr std::uint32_t kChunk = 8192;

}  // namespace

std::unique_ptr<TraceSource> make_hbm_shares(const HbmSharesConfig& c) {
  Launch l = group_launch("hbm_shares_copies", c.group, 1);
  std::fill_n(l.mbarrier_arrivals.begin(), c.stages, std::uint16_t{1});
  const std::uint64_t chunks = c.bytes_each / kChunk;
  const Section run{chunks, [c, chunks](const StreamId& id, std::uint64_t n, StreamCursor&, Operation& op) {
                      const std::uint64_t rank = c.group.rank_of(id);
                      issue_in_ring(op, n, c.stages);
                      op.mem.address =
                          kFirstAddress + (c.in_turn ? n * c.group.active + rank : rank * chunks + n) * kChunk;
                      op.mem.rows = 1;
                      op.mem.row_bytes = kChunk;
                    }};
  std::vector<Section> sections{once(arrive_at_group()), once(stamp(group_passed(c.group, 1))), run,
                                drain_ring(chunks, c.stages), once(stamp())};
  return std::make_unique<Program>(std::move(l), std::move(sections), active_in(c.group));
}

}  // namespace strata::microbench
