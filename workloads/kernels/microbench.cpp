#include "workloads/kernels/microbench.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "sim/base/error.hpp"

namespace strata {
namespace {

constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 32;
constexpr std::uint64_t kAlignment = std::uint64_t{2} << 20;
constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint32_t kAccessBytes = 16;

/// A source whose operation i of a stream is a pure function of (stream, i).
class Indexed final : public TraceSource {
 public:
  using Make = std::function<void(const StreamId&, std::uint64_t, Operation&)>;
  Indexed(Launch launch, std::uint64_t count, Make make)
      : launch_(std::move(launch)), count_(count), make_(std::move(make)) {}

  [[nodiscard]] const Launch& launch() const override { return launch_; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    std::uint32_t n = 0;
    while (n < 16 && cursor.state[0] < count_) {
      out[n] = Operation{};
      make_(id, cursor.state[0]++, out[n++]);
    }
    return n;
  }

 private:
  Launch launch_;
  std::uint64_t count_;
  Make make_;
};

Launch plain_launch(const char* name, std::uint32_t ctas, std::uint32_t warps) {
  if (ctas == 0 || warps == 0 || warps > 32) {
    throw InputError(Diagnostic{{}, 0, 0, name, "needs at least one CTA and 1 to 32 warps"});
  }
  Launch l;
  l.name = name;
  l.family = "microbench";
  l.grid = Dim3{ctas, 1, 1};
  l.block = Dim3{warps * kWarpLanes, 1, 1};
  l.streams = {StreamInfo{0, static_cast<std::uint16_t>(warps), "warps"}};
  l.code_bytes = 1024;
  return l;
}

void set_insts(Operation& op, std::uint32_t per_warp, std::uint32_t warps) {
  op.issue_slots = per_warp;
  op.warp_insts = per_warp * warps;
}

Wait scoreboard(std::uint64_t count) { return Wait{TokenClass::kScoreboard, 0, static_cast<std::uint32_t>(count)}; }
constexpr Signal kScoreboardSignal{TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};

}  // namespace

std::vector<std::uint64_t> strided_addresses(std::uint64_t base, std::uint64_t footprint_bytes,
                                             std::uint64_t stride_bytes) {
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t at = 0; at < footprint_bytes; at += std::max<std::uint64_t>(1, stride_bytes)) {
    addresses.push_back(base + at);
  }
  return addresses;
}

std::unique_ptr<TraceSource> make_load_chain(LoadChainConfig c) {
  if (c.addresses.empty() || c.passes == 0) {
    throw InputError(Diagnostic{{}, 0, 0, "load_chain", "needs at least one address and one pass"});
  }
  Launch l = plain_launch("load_chain", 1, 1);
  const auto [low, high] = std::minmax_element(c.addresses.begin(), c.addresses.end());
  l.buffers = {Buffer{"chain", *low, *high - *low + 4}};
  l.work.compulsory_read_bytes = 4.0 * static_cast<double>(c.addresses.size());
  const std::uint64_t count = c.addresses.size() * c.passes;
  return std::make_unique<Indexed>(std::move(l), count,
                                   [c = std::move(c)](const StreamId&, std::uint64_t i, Operation& op) {
                                     op.kind = OpKind::kMemory;
                                     op.pipe = Pipe::kLsu;
                                     op.pipe_work = 1;
                                     set_insts(op, 1, 1);
                                     if (i > 0) op.waits[0] = scoreboard(i);
                                     op.completes[0] = kScoreboardSignal;
                                     op.mem.pattern = Pattern::kLanes;
                                     op.mem.address = c.addresses[i % c.addresses.size()];
                                     op.mem.rows = 1;
                                     op.mem.lane_bytes = 4;
                                     op.mem.lanes = 1;
                                     op.mem.policy = c.policy;
                                   });
}

std::unique_ptr<TraceSource> make_shared_chain(std::uint32_t loads) {
  Launch l = plain_launch("shared_chain", 1, 1);
  l.smem_static_bytes = 4096;
  return std::make_unique<Indexed>(std::move(l), loads, [](const StreamId&, std::uint64_t i, Operation& op) {
    op.kind = OpKind::kShared;
    op.pipe = Pipe::kLsu;
    op.pipe_work = 1;
    set_insts(op, 1, 1);
    if (i > 0) op.waits[0] = scoreboard(i);
    op.completes[0] = kScoreboardSignal;
    op.smem_read_wavefronts = 1;
  });
}

std::unique_ptr<TraceSource> make_stream(const StreamConfig& c) {
  if (c.bytes == 0 || c.reads + c.writes == 0 || c.reads + c.writes > 8 || c.unroll == 0 || c.unroll > 8 ||
      c.passes == 0) {
    throw InputError(
        Diagnostic{{}, 0, 0, "stream", "needs bytes, 1 to 8 arrays, an unroll of 1 to 8 and at least one pass"});
  }
  Launch l = plain_launch("stream", c.ctas, c.warps);
  l.registers_per_thread = c.registers;
  const std::uint64_t chunk = std::uint64_t{c.warps} * kWarpLanes * kAccessBytes * c.unroll;
  const std::uint64_t steps = (c.bytes + chunk * c.ctas - 1) / (chunk * c.ctas);
  const std::uint64_t array = steps * chunk * c.ctas;
  const std::uint64_t pitch = (array + kAlignment - 1) / kAlignment * kAlignment;
  const std::uint32_t arrays = c.reads + c.writes;
  for (std::uint32_t a = 0; a < arrays; ++a) {
    l.buffers.push_back(
        Buffer{(a < c.reads ? "read " : "write ") + std::to_string(a), kFirstAddress + a * pitch, array});
  }
  l.work.compulsory_read_bytes = static_cast<double>(array) * c.reads;
  l.work.compulsory_write_bytes = static_cast<double>(array) * c.writes;
  // A step: a load of every input, one addition per value, a store of every output.
  const std::uint32_t per_step = arrays + 1;
  return std::make_unique<Indexed>(
      std::move(l), steps * per_step * c.passes, [=](const StreamId& id, std::uint64_t i, Operation& op) {
        const std::uint64_t step = i / per_step;
        const auto part = static_cast<std::uint32_t>(i % per_step);
        if (part == c.reads) {
          op.kind = OpKind::kCompute;
          op.pipe = Pipe::kFma;
          op.pipe_work = 4 * c.unroll * std::max(1U, c.reads);
          set_insts(op, op.pipe_work + 4, c.warps);
          if (c.reads > 0) op.waits[0] = scoreboard((step + 1) * c.reads);
          return;
        }
        const std::uint32_t a = part < c.reads ? part : part - 1;
        op.kind = OpKind::kMemory;
        op.pipe = Pipe::kLsu;
        op.pipe_work = c.unroll;
        set_insts(op, c.unroll, c.warps);
        op.mem.address = kFirstAddress + a * pitch + (step % steps * c.ctas + id.cta) * chunk;
        op.mem.rows = 1;
        op.mem.row_bytes = static_cast<std::uint32_t>(chunk);
        op.mem.row_pitch = static_cast<std::int64_t>(chunk);
        op.mem.policy = c.policy;
        op.mem.dir = part < c.reads ? MemDir::kLoad : MemDir::kStore;
        if (part < c.reads) op.completes[0] = kScoreboardSignal;
      });
}

std::unique_ptr<TraceSource> make_wgmma_stream(const WgmmaStreamConfig& c) {
  if (c.n < 8 || c.n > 256 || c.n % 8 != 0 || c.per_group == 0 || c.groups == 0 || c.depth == 0 || c.warpgroups == 0 ||
      c.warpgroups > 8) {
    throw InputError(Diagnostic{{},
                                0,
                                0,
                                "wgmma_stream",
                                "needs n in steps of 8 up to 256, 1 to 8 warpgroups, groups, instructions and depth"});
  }
  Launch l = plain_launch("wgmma_stream", c.ctas, 4 * c.warpgroups);
  l.registers_per_thread = 168;
  l.smem_dynamic_bytes = 64 * 1024;
  l.streams.clear();
  for (std::uint32_t w = 0; w < c.warpgroups; ++w) {
    l.streams.push_back(StreamInfo{static_cast<std::uint16_t>(4 * w), 4, "warpgroup " + std::to_string(w)});
  }
  const double instructions = static_cast<double>(c.per_group) * c.groups * c.warpgroups * c.ctas;
  l.work.tensor_flops = 2.0 * 64 * c.n * c.mma_k * instructions;
  l.work.tensor_type = c.bits == 8 ? DataType::kFp8 : DataType::kBf16;
  return std::make_unique<Indexed>(std::move(l), c.groups + 1, [c](const StreamId&, std::uint64_t i, Operation& op) {
    constexpr std::uint8_t kWgmmaGroup = 1;
    if (i == c.groups) {
      op.kind = OpKind::kNop;
      set_insts(op, 1, 4);
      op.waits[0] = Wait{TokenClass::kAsyncGroup, kWgmmaGroup, c.groups};
      return;
    }
    op.kind = OpKind::kWgmma;
    op.pipe = Pipe::kTensor;
    op.pipe_work = c.per_group;
    set_insts(op, c.per_group + 2, 4);
    op.mma_m = 64;
    op.mma_n = static_cast<std::uint16_t>(c.n);
    op.mma_k = static_cast<std::uint16_t>(c.mma_k);
    op.mma_bits = c.bits;
    op.mma_a_in_registers = c.a_in_registers;
    op.mma_count = c.per_group;
    op.tensor_insts = 4 * c.per_group;
    if (i >= c.depth) {
      op.waits[0] = Wait{TokenClass::kAsyncGroup, kWgmmaGroup, static_cast<std::uint32_t>(i - c.depth + 1)};
    }
    op.completes[0] = Signal{TokenClass::kAsyncGroup, kWgmmaGroup, SignalAt::kDataVisible, 1, 0};
  });
}

std::unique_ptr<TraceSource> make_mma_stream(const MmaStreamConfig& c) {
  Launch l = plain_launch("mma_stream", c.ctas, c.warps);
  l.registers_per_thread = 128;
  l.work.tensor_flops = 2.0 * 16 * 8 * c.mma_k * c.per_operation * c.operations * c.warps * c.ctas;
  return std::make_unique<Indexed>(std::move(l), c.operations, [c](const StreamId&, std::uint64_t, Operation& op) {
    op.kind = OpKind::kMmaSync;
    op.pipe = Pipe::kTensor;
    op.pipe_work = c.per_operation;
    set_insts(op, c.per_operation, c.warps);
    op.mma_m = 16;
    op.mma_n = 8;
    op.mma_k = c.mma_k;
    op.mma_bits = c.bits;
    op.mma_count = c.per_operation;
    op.tensor_insts = c.per_operation * c.warps;
  });
}

std::unique_ptr<TraceSource> make_bank_conflicts(const BankConflictConfig& c) {
  if (c.ways == 0 || c.ways > kWarpLanes) {
    throw InputError(Diagnostic{{}, 0, 0, "bank_conflicts", "ways must be 1 to 32"});
  }
  Launch l = plain_launch("bank_conflicts", c.ctas, c.warps);
  l.smem_static_bytes = 32 * 1024;
  return std::make_unique<Indexed>(std::move(l), c.operations, [c](const StreamId&, std::uint64_t i, Operation& op) {
    op.kind = OpKind::kShared;
    op.pipe = Pipe::kLsu;
    op.pipe_work = c.per_operation;
    set_insts(op, c.per_operation, c.warps);
    op.smem_read_wavefronts = c.per_operation * c.warps * c.ways;
    op.smem_conflicts = c.per_operation * c.warps * (c.ways - 1);
    op.completes[0] = kScoreboardSignal;
    if (i >= 2) op.waits[0] = scoreboard(i - 1);
  });
}

std::unique_ptr<TraceSource> make_compute_stream(const ComputeStreamConfig& c) {
  Launch l = plain_launch("compute_stream", c.ctas, c.warps);
  return std::make_unique<Indexed>(std::move(l), c.operations, [c](const StreamId&, std::uint64_t, Operation& op) {
    op.kind = OpKind::kCompute;
    op.pipe = c.pipe;
    op.pipe_work = c.per_operation;
    set_insts(op, c.per_operation, c.warps);
  });
}

std::unique_ptr<TraceSource> make_empty_kernel(std::uint32_t ctas, std::uint32_t warps) {
  return std::make_unique<Indexed>(plain_launch("empty", ctas, warps), 1,
                                   [warps](const StreamId&, std::uint64_t, Operation& op) {
                                     op.kind = OpKind::kCompute;
                                     op.pipe = Pipe::kAlu;
                                     op.pipe_work = 1;
                                     set_insts(op, 2, warps);
                                   });
}

}  // namespace strata
