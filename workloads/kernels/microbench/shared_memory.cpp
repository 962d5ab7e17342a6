#include "workloads/kernels/microbench/shared_memory.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace strata::microbench {

namespace {

constexpr std::uint32_t kBanks = 32;
constexpr std::uint32_t kBankBytes = 4;
constexpr std::uint32_t kBufferBytes = 16384;
constexpr std::uint32_t kSmsps = 4;
constexpr std::uint32_t kSmemBytes = 64 * 1024;

struct Width {
  std::uint32_t lanes_per_pass;
  std::uint32_t bytes;
  std::uint32_t passes;
};
Width width_of(SharedOp op) {
  switch (op) {
    case SharedOp::kLoad32:
    case SharedOp::kStore32:
      return {32, 4, 1};
    case SharedOp::kLoad64:
      return {16, 8, 2};
    case SharedOp::kLoad128:
    case SharedOp::kStore128:
      return {8, 16, 4};
    case SharedOp::kMatrix1:
      return {8, 16, 1};
    case SharedOp::kMatrix2:
      return {8, 16, 2};
    case SharedOp::kMatrix4:
    case SharedOp::kStoreMatrix4:
      return {8, 16, 4};
  }
  return {32, 4, 1};
}

bool is_store(SharedOp op) {
  return op == SharedOp::kStore32 || op == SharedOp::kStore128 || op == SharedOp::kStoreMatrix4;
}

/// What the loop does beside each two accesses, from its SASS: the values of two 4-byte loads are combined by one LOP3,
/// of 8-byte ones by two, of 16-byte ones by four; each store has an addition that makes its value.
std::uint32_t others_per_pair(SharedOp op) { return is_store(op) ? 2 : width_of(op).passes; }

Operation access(const SharedAccessConfig& c, std::uint32_t instructions) {
  Operation op;
  op.kind = OpKind::kShared;
  op.pipe = Pipe::kLsu;
  op.pipe_work = instructions;
  set_instructions(op, instructions, 1);
  const std::uint32_t wavefronts = shared_wavefronts(c.op, c.pitch, c.mask) * instructions;
  (is_store(c.op) ? op.smem_write_wavefronts : op.smem_read_wavefronts) = wavefronts;
  op.smem_conflicts = wavefronts - width_of(c.op).passes * instructions;
  op.completes[0] = signal_scoreboard();
  return op;
}

/// The turn of a loop: three instructions, of which the branch waits for the comparison (alu.cu: 16 clk; here the last
/// values come meanwhile).
Operation turn() {
  Operation op;
  op.kind = OpKind::kCompute;
  set_instructions(op, 3, 1);
  op.dependent_latency = 3;
  return op;
}

/// 4- and 8-byte accesses: what combines the values goes between the loads, and the iteration before is awaited.
Section narrow_loop(const SharedAccessConfig& c) {
  Operation accesses = access(c, kSharedPerIteration);
  accesses.issue_slots += kSharedPerIteration * others_per_pair(c.op) / 2;
  accesses.warp_insts = accesses.issue_slots;
  const std::uint64_t parts = c.unrolled + 1;
  return Section{c.iterations / c.unrolled * parts,
                 [=](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                   op = i % parts == c.unrolled ? turn() : accesses;
                   const std::uint64_t iteration = i / parts * c.unrolled + i % parts;
                   if (i % parts != c.unrolled && iteration > 0) op.waits[0] = wait_scoreboard(iteration - 1);
                 }};
}

/// 16-byte accesses fill the registers: each LOP3 of the chain that combines the values waits for the one before, once
/// half of the iteration's values are there.
Section wide_loop(const SharedAccessConfig& c) {
  constexpr std::uint32_t kHalf = kSharedPerIteration / 2;
  constexpr std::uint64_t kParts = 4;
  const Operation accesses = access(c, kHalf);
  const std::uint32_t combine = kHalf * others_per_pair(c.op) / 2;
  const std::uint64_t parts = kParts * c.unrolled + 1;
  return Section{c.iterations / c.unrolled * parts,
                 [=](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                   if (i % parts == parts - 1) {
                     op = turn();
                     return;
                   }
                   const std::uint64_t iteration = i / parts * c.unrolled + i % parts / kParts;
                   const std::uint64_t part = i % parts % kParts;
                   if (part < 2) {
                     op = accesses;
                     return;
                   }
                   op = compute(Pipe::kAlu, combine, 1);
                   op.dependent_latency = combine;
                   op.waits[0] = wait_scoreboard(2 * iteration + part - 1);
                 }};
}

}  // namespace

std::uint32_t shared_wavefronts(SharedOp op, std::uint32_t pitch, std::uint32_t mask) {
  const Width w = width_of(op);
  std::uint32_t wavefronts = 0;
  for (std::uint32_t pass = 0; pass < w.passes; ++pass) {
    std::array<std::set<std::uint32_t>, kBanks> words;
    for (std::uint32_t l = 0; l < w.lanes_per_pass; ++l) {
      const std::uint32_t address = ((pass * w.lanes_per_pass + l) & mask) * pitch % kBufferBytes;
      for (std::uint32_t b = 0; b < w.bytes; b += kBankBytes) {
        const std::uint32_t word = (address + b) / kBankBytes;
        words[word % kBanks].insert(word);
      }
    }
    std::size_t deepest = 0;
    for (const auto& bank : words) {
      deepest = std::max(deepest, bank.size());
    }
    wavefronts += static_cast<std::uint32_t>(deepest);
  }
  return wavefronts;
}

std::uint32_t working_warps(const SharedAccessConfig& c) {
  return c.warps / kSmsps * std::min(c.smsps, kSmsps) + std::min(c.warps % kSmsps, c.smsps);
}

std::unique_ptr<TraceSource> make_shared_access(const SharedAccessConfig& c) {
  Launch l = bench_launch("shared_access", 1, c.warps);
  l.smem_dynamic_bytes = kSmemBytes;
  one_stream_per_warp(l);
  std::erase_if(l.streams, [&](const StreamInfo& s) { return s.first_warp % kSmsps >= c.smsps; });
  l.named_barrier_warps[kCtaBarrier] = static_cast<std::uint16_t>(l.streams.size());
  if (c.chained) {
    const Operation one = access(c, 1);
    const std::uint64_t hops = std::uint64_t{c.iterations} * kSharedPerIteration;
    // The address of the next access: an addition on the value just read.
    const Section body{2 * hops, [one](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                         op = i % 2 == 0 ? one : compute(Pipe::kAlu, 1, 1);
                         if (i % 2 == 0) return;
                         op.dependent_latency = 1;
                         op.waits[0] = wait_scoreboard(i / 2 + 1);
                       }};
    auto streams = timed(l, {body});
    return std::make_unique<Program>(std::move(l), std::move(streams));
  }
  const bool wide = !is_store(c.op) && width_of(c.op).bytes == 16;
  const Wait last = wait_scoreboard(wide ? 2 * c.iterations : c.iterations);
  auto streams = timed(l, {wide ? wide_loop(c) : narrow_loop(c)}, last);
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

std::unique_ptr<TraceSource> make_l1_access(bool cp_async, std::uint32_t warps, std::uint32_t iterations) {
  Launch l = bench_launch("l1_access", 1, warps);
  l.smem_dynamic_bytes = kSmemBytes;
  one_stream_per_warp(l);
  // Eight places 1 KiB apart, visited in turn.
  const Section body{std::uint64_t{iterations} * kSharedPerIteration,
                     [=](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                       op = contiguous(MemDir::kLoad, kFirstAddress + i % 8 * 1024, 512, 1);
                       op.mem.policy = cp_async ? CachePolicy::kBypassL1 : CachePolicy::kDefault;
                       op.completes[0] = signal_scoreboard();
                       const std::uint64_t iteration = i / kSharedPerIteration;
                       if (!cp_async) {
                         // Lanes read 4 bytes, 16 bytes apart; an iteration's values are used at its end.
                         op.mem.pattern = Pattern::kLanes;
                         op.mem.lane_bytes = 4;
                         op.mem.lane_pitch = 16;
                         op.waits[0] = wait_scoreboard(iteration * kSharedPerIteration);
                         return;
                       }
                       op.kind = OpKind::kCpAsync;
                       op.smem_write_wavefronts = 4;
                       op.waits[0] = wait_scoreboard(iteration > 0 ? (iteration - 1) * kSharedPerIteration : 0);
                     }};
  auto streams = timed(l, {body}, wait_scoreboard(std::uint64_t{iterations} * kSharedPerIteration));
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

}  // namespace strata::microbench
