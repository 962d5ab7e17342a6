#include "workloads/kernels/microbench/beyond.hpp"

#include <algorithm>

#include "workloads/kernels/gemm_common.hpp"

namespace strata::microbench {

namespace {

constexpr std::uint32_t kStages = 3;
constexpr std::uint32_t kAtOnce = 4;
constexpr std::uint32_t kTurns = kBeyondBoxes / kAtOnce;
constexpr std::uint32_t kColumns = 64;
constexpr std::uint32_t kElementBytes = 2;
constexpr std::uint32_t kPitch = 8192;
constexpr std::uint32_t kTall = 512;
constexpr std::uint64_t kEach = std::uint64_t{4} << 20;
/// Clocks of a turn of the loop less its four issues: two SMs whose boxes are rows beyond alone take 279 a box, pairs
/// 352 (rows_tpc).
constexpr std::uint32_t kTurnClocks = 1000;
constexpr std::uint32_t kPairTurnClocks = 1280;
constexpr std::uint32_t kIssueClocks = 28;

std::uint8_t full(std::uint64_t turn) { return static_cast<std::uint8_t>(turn % kStages); }

Section turns(const BeyondConfig& c, std::uint32_t lap) {
  const std::uint32_t part = c.rows / c.cluster;
  OperandView tensor;
  tensor.pitch_bytes = kPitch;
  tensor.element_bytes = kElementBytes;
  tensor.extent = c.inside < c.rows ? std::max(1U, c.inside) : kTall;
  const bool edge = c.columns < kColumns;
  tensor.k = edge ? 8 * kColumns + c.columns : kPitch / kElementBytes;
  const std::int64_t y = c.inside == 0 ? 1 : 0;
  constexpr std::uint64_t kParts = 1 + kAtOnce;
  return Section{kTurns * kParts, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                   const std::uint64_t n = i / kParts;
                   const std::uint64_t turn = std::uint64_t{lap} * kTurns + n;
                   if (i % kParts == 0) {
                     op = hold(wait_for(TokenClass::kMbarrier, full(turn), turn / kStages));
                     op.dependent_latency = (c.cluster > 1 ? kPairTurnClocks : kTurnClocks) / kAluLatency;
                     return;
                   }
                   const std::uint64_t box = n * kAtOnce + i % kParts - 1;
                   op.kind = OpKind::kTma;
                   set_instructions(op, 2, 1);
                   op.dependent_latency = kIssueClocks / kAluLatency;
                   OperandView from = tensor;
                   from.base = kFirstAddress + (c.own ? c.group.rank_of(id) / c.cluster * kEach : 0);
                   const std::int64_t x = edge ? 8 * kColumns : static_cast<std::int64_t>(box) * kColumns;
                   from.box(y + std::int64_t{id.cluster_rank} * part, part, x, kColumns, op.mem);
                   op.mem.multicast = static_cast<std::uint16_t>(c.cluster == 1 ? 0 : (1U << c.cluster) - 1);
                   op.completes[0] = signal(TokenClass::kMbarrier, full(turn));
                 }};
}

/// Waits for the last use of every stage.
Section drain(std::uint32_t lap) {
  return Section{kStages, [=](const StreamId&, std::uint64_t s, StreamCursor&, Operation& op) {
                   const std::uint64_t turn = std::uint64_t{lap + 1} * kTurns - kStages + s;
                   op = hold(wait_for(TokenClass::kMbarrier, full(turn), turn / kStages + 1));
                 }};
}

}  // namespace

std::unique_ptr<TraceSource> make_beyond(const BeyondConfig& c) {
  Launch l = group_launch("beyond", c.group, 1);
  l.cluster = Dim3{c.cluster, 1, 1};
  l.num_descriptors = 1;
  std::fill_n(l.mbarrier_arrivals.begin(), kStages, static_cast<std::uint16_t>(kAtOnce * c.cluster));
  std::vector<Section> sections{
      turns(c, 0), drain(0),     once(arrive_at_group()), once(stamp(group_passed(c.group, 1))), turns(c, 1),
      drain(1),    once(stamp())};
  return std::make_unique<Program>(std::move(l), std::move(sections), active_in(c.group));
}

}  // namespace strata::microbench
