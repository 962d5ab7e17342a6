#include "workloads/kernels/microbench/program.hpp"

#include <algorithm>
#include <string>

#include "sim/base/error.hpp"

namespace strata::microbench {

namespace {
constexpr std::uint32_t kFetchAtOnce = 16;
constexpr std::uint32_t kMaxWarps = 32;
constexpr std::uint32_t kAccessBytes = 16;
constexpr std::uint32_t kCodeBytes = 2048;  ///< about what these kernels compile to
}  // namespace

Section once(const Operation& op) {
  return Section{1, [op](const StreamId&, std::uint64_t, StreamCursor&, Operation& out) { out = op; }};
}

std::uint32_t Program::fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const {
  if (active_ && !active_(id.cta)) {
    return 0;
  }
  const std::vector<Section>& sections = streams_[std::min<std::size_t>(id.stream, streams_.size() - 1)];
  std::uint64_t& section = cursor.state[0];
  std::uint64_t& index = cursor.state[1];
  std::uint32_t n = 0;
  while (n < kFetchAtOnce && section < sections.size()) {
    if (index == sections[section].count) {
      cursor = StreamCursor{{section + 1}};
      continue;
    }
    out[n] = Operation{};
    sections[section].make(id, index++, cursor, out[n++]);
  }
  return n;
}

Launch bench_launch(const char* name, std::uint32_t ctas, std::uint32_t warps) {
  if (ctas == 0 || warps == 0 || warps > kMaxWarps) {
    throw InputError(Diagnostic{{}, 0, 0, name, "needs at least one CTA and 1 to 32 warps"});
  }
  Launch l;
  l.name = name;
  l.family = "microbench";
  l.grid = Dim3{ctas, 1, 1};
  l.block = Dim3{warps * kWarpLanes, 1, 1};
  l.streams = {StreamInfo{0, static_cast<std::uint16_t>(warps), "warps"}};
  l.code_bytes = kCodeBytes;
  return l;
}

void one_stream_per_warp(Launch& launch) {
  const auto warps = static_cast<std::uint16_t>(launch.warps_per_cta());
  launch.streams.clear();
  for (std::uint16_t w = 0; w < warps; ++w) {
    launch.streams.push_back(StreamInfo{w, 1, "warp " + std::to_string(w)});
  }
  launch.named_barrier_warps[kCtaBarrier] = warps;
}

void few_streams(Launch& launch) {
  const auto each = static_cast<std::uint16_t>(launch.warps_per_cta() / kLoadStreams);
  launch.streams.clear();
  for (std::uint32_t s = 0; s < kLoadStreams; ++s) {
    launch.streams.push_back(StreamInfo{static_cast<std::uint16_t>(s * each), each, "warps"});
  }
  launch.named_barrier_warps[kCtaBarrier] = kLoadStreams;
}

void set_instructions(Operation& op, std::uint32_t per_warp, std::uint32_t warps) {
  op.issue_slots = per_warp;
  op.warp_insts = per_warp * warps;
}

Wait wait_for(TokenClass cls, std::uint8_t slot, std::uint64_t count) {
  return Wait{cls, slot, static_cast<std::uint32_t>(count)};
}
Wait wait_scoreboard(std::uint64_t count) { return wait_for(TokenClass::kScoreboard, 0, count); }
Signal signal(TokenClass cls, std::uint8_t slot, std::uint8_t arrivals) {
  return Signal{cls, slot, SignalAt::kDataVisible, arrivals, 0};
}
Signal signal_scoreboard() { return signal(TokenClass::kScoreboard, 0); }

Operation stamp(Wait wait) {
  Operation op;
  op.kind = OpKind::kNop;
  op.waits[0] = wait;
  set_instructions(op, 1, 1);
  return op;
}

Operation arrive(const Signal& signal, Wait wait) {
  Operation op = hold(wait);
  op.completes[0] = signal;
  return op;
}

Operation hold(Wait wait) {
  Operation op = compute(Pipe::kAlu, 1, 1);
  op.waits[0] = wait;
  return op;
}

Operation compute(Pipe pipe, std::uint32_t instructions, std::uint32_t warps) {
  Operation op;
  op.kind = OpKind::kCompute;
  op.pipe = pipe;
  op.pipe_work = instructions;
  set_instructions(op, instructions, warps);
  return op;
}

Operation contiguous(MemDir dir, std::uint64_t address, std::uint32_t bytes, std::uint32_t warps) {
  Operation op;
  op.kind = OpKind::kMemory;
  op.pipe = Pipe::kLsu;
  op.pipe_work = std::max(1U, bytes / (kAccessBytes * kWarpLanes * warps));
  set_instructions(op, op.pipe_work, warps);
  op.mem.dir = dir;
  op.mem.policy = CachePolicy::kBypassL1;
  op.mem.address = address;
  op.mem.rows = 1;
  op.mem.row_bytes = bytes;
  op.mem.row_pitch = bytes;
  return op;
}

void by_one_warp(Operation& op) {
  op.issue_slots = 0;
  op.pipe = Pipe::kNone;
  op.pipe_work = 0;
  op.warp_insts = 1;
}

std::vector<Section> bring_in(const std::function<std::uint64_t(const StreamId&)>& base, std::uint32_t bytes) {
  constexpr std::uint32_t kStep = 16384;
  constexpr std::uint8_t kSlot = 6;
  const std::uint64_t steps = (bytes + kStep - 1) / kStep;
  const Section loads{steps, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                        op = contiguous(MemDir::kLoad, base(id) + i * kStep, std::min(kStep, bytes), 1);
                        by_one_warp(op);
                        op.completes[0] = signal(TokenClass::kScoreboard, kSlot);
                      }};
  return {loads, once(hold(wait_for(TokenClass::kScoreboard, kSlot, steps)))};
}

std::vector<std::vector<Section>> timed(const Launch& launch, const std::vector<Section>& body, Wait last) {
  const auto add = [&](std::vector<Section> head, const std::vector<Section>& tail) {
    head.insert(head.end(), body.begin(), body.end());
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
  };
  if (launch.streams.size() == 1) {
    return {add({once(stamp())}, {once(stamp(last))})};
  }
  const Signal barrier = signal(TokenClass::kNamedBarrier, kCtaBarrier);
  const auto phase = [](std::uint64_t n) { return wait_for(TokenClass::kNamedBarrier, kCtaBarrier, n); };
  const Section first = once(arrive(barrier));
  const Section closing = once(arrive(barrier, last));
  std::vector<std::vector<Section>> streams(launch.streams.size(), add({first, once(hold(phase(1)))}, {closing}));
  streams[0] = add({first, once(stamp(phase(1)))}, {closing, once(stamp(phase(2)))});
  return streams;
}

}  // namespace strata::microbench
