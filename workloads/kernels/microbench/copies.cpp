#include "workloads/kernels/microbench/copies.hpp"

#include <algorithm>
#include <iterator>

#include "workloads/kernels/gemm_common.hpp"

namespace strata::microbench {

namespace {

constexpr std::uint64_t kRegion = 256 * 1024;
constexpr std::uint8_t kStoreRead = 2;  ///< group slots of a stream: sources read, stores done
constexpr std::uint8_t kStoreDone = 3;

void shape_copy(std::uint32_t bytes, std::uint32_t rows, Operation& op) {
  op.kind = OpKind::kTma;
  op.mem.rows = std::max(1U, rows);
  op.mem.row_bytes = bytes / op.mem.rows;
  op.mem.row_pitch = op.mem.row_bytes;
}

Section ring(const CopyRingConfig& c, std::uint32_t warp) {
  return Section{c.copies, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                   shape_copy(c.bytes, c.rows, op);
                   set_instructions(op, 8, 1);
                   op.dependent_latency = c.thread_clocks / kAluLatency;
                   op.mem.address = kFirstAddress + id.cta * kRegion + (i * c.warps + warp) * c.bytes % kRegion;
                   if (c.store) {
                     op.mem.dir = MemDir::kStore;
                     // bulk.wait_group.read 3
                     if (i >= 4) op.waits[0] = wait_for(TokenClass::kAsyncGroup, kStoreRead, i - 3);
                     op.completes[0] = Signal{TokenClass::kAsyncGroup, kStoreRead, SignalAt::kOperandsRead, 1, 0};
                     op.completes[1] = signal(TokenClass::kAsyncGroup, kStoreDone);
                     return;
                   }
                   const auto slot = static_cast<std::uint8_t>(warp * c.stages + i % c.stages);
                   op.waits[0] = wait_for(TokenClass::kMbarrier, slot, i / c.stages);
                   op.completes[0] = signal(TokenClass::kMbarrier, slot);
                 }};
}

/// Waits for the last lap of a ring, one stage after the other.
Section drain(const CopyRingConfig& c, std::uint32_t warp) {
  return Section{c.store ? 1 : c.stages, [=](const StreamId&, std::uint64_t s, StreamCursor&, Operation& op) {
                   if (c.store) {
                     op = hold(wait_for(TokenClass::kAsyncGroup, kStoreDone, c.copies));
                     return;
                   }
                   op = hold(wait_for(TokenClass::kMbarrier, static_cast<std::uint8_t>(warp * c.stages + s),
                                      (c.copies + c.stages - 1 - s) / c.stages));
                   op.dependent_latency = c.drain_clocks / kAluLatency;
                 }};
}

void in_front(std::vector<Section>& sections, std::vector<Section> head) {
  sections.insert(sections.begin(), std::make_move_iterator(head.begin()), std::make_move_iterator(head.end()));
}

}  // namespace

std::unique_ptr<TraceSource> make_copy_ring(const CopyRingConfig& c) {
  Launch l = bench_launch("copy_ring", c.ctas, c.warps);
  l.smem_dynamic_bytes = kWholeSmBytes;
  l.num_descriptors = c.rows > 0 ? 1 : 0;
  if (c.warps > 1) one_stream_per_warp(l);
  std::fill_n(l.mbarrier_arrivals.begin(), std::min<std::size_t>(c.warps * c.stages, l.mbarrier_arrivals.size()),
              std::uint16_t{1});
  std::vector<std::vector<Section>> streams;
  for (std::uint32_t w = 0; w < c.warps; ++w) {
    streams.push_back(timed(l, {ring(c, w), drain(c, w)})[w == 0 ? 0 : l.streams.size() - 1]);
  }
  if (!c.store) {
    in_front(streams.front(), bring_in([](const StreamId& id) { return kFirstAddress + id.cta * kRegion; },
                                       static_cast<std::uint32_t>(kRegion)));
  }
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

std::unique_ptr<TraceSource> make_copy_burst(std::uint32_t bytes, std::uint32_t rows, std::uint32_t laps) {
  constexpr std::uint64_t kBurst = 8;
  Launch l = bench_launch("copy_burst", 1, 1);
  l.smem_dynamic_bytes = 128 * 1024;
  l.mbarrier_arrivals[0] = kBurst;
  const Section body{laps * kBurst, [=](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                       shape_copy(bytes, rows, op);
                       set_instructions(op, 2, 1);
                       op.mem.address = kFirstAddress + i % kBurst * bytes;
                       op.waits[0] = wait_for(TokenClass::kMbarrier, 0, i / kBurst);
                       op.completes[0] = signal(TokenClass::kMbarrier, 0);
                     }};
  auto streams = timed(l, {body}, wait_for(TokenClass::kMbarrier, 0, laps));
  in_front(streams.front(),
           bring_in([](const StreamId&) { return kFirstAddress; }, static_cast<std::uint32_t>(kBurst * bytes)));
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

std::unique_ptr<TraceSource> make_multicast(const MulticastConfig& c) {
  constexpr std::uint32_t kStages = 8;
  // From the last tile's arrival to the cluster's barrier: the wait's second look, the warp's lanes that join it and
  // the expectation. Stamps in a lap on an H200: 276 clk to the release of the barrier, which takes about 90.
  constexpr std::uint32_t kLapClocks = 184;
  constexpr std::uint32_t kBarrierOfOne = 60;  ///< that of a cluster of one CTA, beyond the joint wait of its warps
  Launch l = bench_launch("multicast", c.ctas, kStages);
  l.cluster = Dim3{c.cluster, 1, 1};
  l.smem_dynamic_bytes = kStages * kMulticastTileBytes + 1024;
  one_stream_per_warp(l);
  // A tile is complete when the share of every CTA of the cluster has arrived.
  std::fill_n(l.mbarrier_arrivals.begin(), kStages, static_cast<std::uint16_t>(c.cluster));
  l.cluster_barrier_arrivals = static_cast<std::uint16_t>(kStages * c.cluster);
  // barrier.cluster in a cluster of one CTA joins its warps.
  constexpr std::uint8_t kOwnWarps = 1;
  l.named_barrier_warps[kOwnWarps] = kStages;
  const TokenClass all = c.cluster > 1 ? TokenClass::kClusterBarrier : TokenClass::kNamedBarrier;
  const std::uint8_t barrier = c.cluster > 1 ? 0 : kOwnWarps;
  const std::uint32_t share = kMulticastTileBytes / c.cluster;
  const auto mask = static_cast<std::uint16_t>(c.cluster == 1 ? 0 : (1U << c.cluster) - 1);
  std::vector<std::vector<Section>> streams;
  for (std::uint32_t w = 0; w < kStages; ++w) {
    const auto slot = static_cast<std::uint8_t>(w);
    const Section body{
        2 * std::uint64_t{c.tiles / kStages}, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
          const std::uint64_t lap = i / 2;
          if (i % 2 == 0) {  // every CTA expects before anyone sends
            op = arrive(signal(all, barrier));
            op.dependent_latency = (c.cluster > 1 ? kLapClocks : kLapClocks + kBarrierOfOne) / kAluLatency;
            op.waits[0] = wait_for(TokenClass::kMbarrier, slot, lap);
            return;
          }
          shape_copy(share, 0, op);
          set_instructions(op, 8, 1);
          op.mem.address = kFirstAddress + id.cta / c.cluster * kRegion +
                           (lap * kStages + w) % kStages * kMulticastTileBytes + id.cluster_rank * share;
          op.mem.multicast = mask;
          op.waits[0] = wait_for(all, barrier, lap + 1);
          op.completes[0] = signal(TokenClass::kMbarrier, slot);
        }};
    const Wait last = wait_for(TokenClass::kMbarrier, slot, c.tiles / kStages);
    streams.push_back(timed(l, {body}, last)[w]);
  }
  in_front(streams.front(), bring_in([c](const StreamId& id) { return kFirstAddress + id.cta / c.cluster * kRegion; },
                                     kStages * kMulticastTileBytes));
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

std::unique_ptr<TraceSource> make_edge_boxes(const EdgeBoxesConfig& c) {
  constexpr std::uint32_t kColumns = 64;
  constexpr std::uint32_t kElementBytes = 2;
  Launch l = bench_launch("edge_boxes", c.cluster, 1);
  l.cluster = Dim3{c.cluster, 1, 1};
  l.smem_dynamic_bytes = kWholeSmBytes;
  l.num_descriptors = 1;
  l.mbarrier_arrivals[0] = 1;
  OperandView tensor;
  tensor.base = kFirstAddress;
  tensor.pitch_bytes = c.pitch;
  tensor.element_bytes = kElementBytes;
  tensor.extent = c.height;
  tensor.k = c.width;
  const Section body{c.boxes, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                       const Wait before = wait_for(TokenClass::kMbarrier, 0, i);
                       if (id.cluster_rank != 0) {
                         op = hold(before);
                         return;
                       }
                       op.kind = OpKind::kTma;
                       set_instructions(op, 8, 1);
                       tensor.box(c.y, c.rows, c.x + static_cast<std::int64_t>(i) * kColumns, kColumns, op.mem);
                       op.mem.multicast = static_cast<std::uint16_t>(c.cluster == 1 ? 0 : (1U << c.cluster) - 1);
                       op.waits[0] = before;
                       op.completes[0] = signal(TokenClass::kMbarrier, 0);
                     }};
  auto streams = timed(l, {body}, wait_for(TokenClass::kMbarrier, 0, c.boxes));
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

}  // namespace strata::microbench
