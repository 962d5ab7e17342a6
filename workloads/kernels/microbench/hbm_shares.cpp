#include "workloads/kernels/microbench/hbm_shares.hpp"

#include <algorithm>

namespace strata::microbench {

namespace {

constexpr std::uint32_t kAluLatency = 4;
constexpr std::uint32_t kChunk = 8192;
/// What a turn of the loop costs its thread: one SM alone gets 35.2 B/clk (series one_sm).
constexpr std::uint32_t kLoopClocks = 232;

}  // namespace

std::unique_ptr<TraceSource> make_hbm_shares(const HbmSharesConfig& c) {
  Launch l = group_launch("hbm_shares_copies", c.group, 1);
  std::fill_n(l.mbarrier_arrivals.begin(), c.stages, std::uint16_t{1});
  const std::uint64_t chunks = c.bytes_each / kChunk;
  const Section run{chunks, [c, chunks](const StreamId& id, std::uint64_t n, StreamCursor&, Operation& op) {
                      const std::uint64_t rank = c.group.rank_of(id);
                      op.kind = OpKind::kTma;
                      set_instructions(op, 8, 1);
                      // The first lap is issued without waiting.
                      op.dependent_latency = n < c.stages ? 0 : kLoopClocks / kAluLatency;
                      op.mem.address =
                          kFirstAddress + (c.in_turn ? n * c.group.active + rank : rank * chunks + n) * kChunk;
                      op.mem.rows = 1;
                      op.mem.row_bytes = kChunk;
                      const auto slot = static_cast<std::uint8_t>(n % c.stages);
                      op.waits[0] = wait_for(TokenClass::kMbarrier, slot, n / c.stages);
                      op.completes[0] = signal(TokenClass::kMbarrier, slot);
                    }};
  const Section drain{c.stages, [c, chunks](const StreamId&, std::uint64_t s, StreamCursor&, Operation& op) {
                        op = hold(wait_for(TokenClass::kMbarrier, static_cast<std::uint8_t>(s),
                                           (chunks + c.stages - 1 - s) / c.stages));
                      }};
  std::vector<Section> sections{once(arrive_at_group()), once(stamp(group_passed(c.group, 1))), run, drain,
                                once(stamp())};
  return std::make_unique<Program>(std::move(l), std::move(sections), active_in(c.group));
}

}  // namespace strata::microbench
