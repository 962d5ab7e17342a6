/// A trace written down in a test: every stream of every CTA is a short list of operations.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "workloads/spec/trace_source.hpp"

namespace strata::test {

/// A launch of `ctas` CTAs of one stream of `warps` warps.
inline Launch plain_launch(std::uint32_t ctas, std::uint32_t warps = 1) {
  Launch l;
  l.name = "script";
  l.family = "test";
  l.grid = Dim3{ctas, 1, 1};
  l.block = Dim3{warps * 32, 1, 1};
  l.streams = {StreamInfo{0, static_cast<std::uint16_t>(warps), "warps"}};
  l.code_bytes = 128;
  return l;
}

class ScriptSource final : public TraceSource {
 public:
  using Script = std::function<std::vector<Operation>(const StreamId&)>;
  ScriptSource(Launch launch, Script script) : launch_(std::move(launch)), script_(std::move(script)) {}
  /// The same operations for every stream.
  ScriptSource(Launch launch, std::vector<Operation> ops)
      : ScriptSource(std::move(launch), [ops = std::move(ops)](const StreamId&) { return ops; }) {}

  [[nodiscard]] const Launch& launch() const override { return launch_; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    // Scripts are cheap to make again, and a source may not keep state between calls.
    const std::vector<Operation> ops = script_(id);
    std::uint32_t n = 0;
    while (n < kMinFetch && n < out.size() && cursor.state[0] < ops.size()) {
      out[n++] = ops[cursor.state[0]++];
    }
    return n;
  }

  [[nodiscard]] std::span<const std::uint64_t, 32> lane_addresses(std::uint32_t /*table_index*/) const override {
    return table;
  }

  std::array<std::uint64_t, 32> table{};  ///< the one address table of kTable operations

 private:
  Launch launch_;
  Script script_;
};

inline Operation compute(std::uint32_t instructions, Pipe pipe = Pipe::kAlu) {
  Operation op;
  op.kind = OpKind::kCompute;
  op.pipe = pipe;
  op.pipe_work = instructions;
  op.issue_slots = instructions;
  op.warp_insts = instructions;
  return op;
}

/// One instruction of `lanes` lanes, `lane_pitch` apart.
inline Operation access(MemDir dir, std::uint64_t address, std::int32_t lane_pitch, std::uint8_t lane_bytes,
                        std::uint8_t lanes = 32) {
  Operation op;
  op.kind = OpKind::kMemory;
  op.pipe = Pipe::kLsu;
  op.pipe_work = 1;
  op.warp_insts = 1;
  op.mem.pattern = Pattern::kLanes;
  op.mem.dir = dir;
  op.mem.address = address;
  op.mem.lane_pitch = lane_pitch;
  op.mem.lane_bytes = lane_bytes;
  op.mem.lanes = lanes;
  op.mem.rows = 1;
  return op;
}

/// A TMA load of `rows` rows that arrives at mbarrier 0 of the CTAs in `multicast` (0: this one).
inline Operation tma_load(std::uint64_t address, std::uint32_t rows, std::uint32_t row_bytes, std::int64_t row_pitch,
                          std::uint16_t multicast = 0) {
  Operation op;
  op.kind = OpKind::kTma;
  op.warp_insts = 1;
  op.mem.pattern = Pattern::kBox;
  op.mem.dir = MemDir::kLoad;
  op.mem.address = address;
  op.mem.rows = rows;
  op.mem.row_bytes = row_bytes;
  op.mem.row_pitch = row_pitch;
  op.mem.multicast = multicast;
  op.completes[0] = Signal{TokenClass::kMbarrier, 0, SignalAt::kDataVisible, 1, 0};
  return op;
}

/// Waits until mbarrier `slot` has completed `phases` phases.
inline Operation wait_mbarrier(std::uint32_t phases, std::uint8_t slot = 0) {
  Operation op;
  op.kind = OpKind::kNop;
  op.warp_insts = 1;
  op.waits[0] = Wait{TokenClass::kMbarrier, slot, phases};
  return op;
}

}  // namespace strata::test
