#include "workloads/kernels/microbench/instructions.hpp"

#include <algorithm>
#include <array>

namespace strata::microbench {

namespace {

// What each runs on, from its SASS: FFMA FADD FMUL on the FMA pipe, HFMA2 and HADD2 on the half pipe, MUFU, F2I and
// POPC on the special-function pipe, SHFL through the shared-memory datapath, the rest on the integer pipe. A sine is a
// multiplication and MUFU.SIN; a ballot is a comparison and VOTE, which takes three steps of the integer pipe (17 clk
// with the comparison's 4).
constexpr std::array<ThreadInstruction, 25> kInstructions{{
    {"ffma", Pipe::kFma},
    {"fadd", Pipe::kFma},
    {"fmul", Pipe::kFma},
    {"iadd3", Pipe::kAlu},
    {"imad", Pipe::kAlu},
    {"lop3", Pipe::kAlu},
    {"shf", Pipe::kAlu},
    {"hfma2", Pipe::kFp16},
    {"hadd2", Pipe::kFp16},
    {"bf16_hfma2", Pipe::kFp16},
    {"mufu_ex2", Pipe::kMufu},
    {"mufu_rsq", Pipe::kMufu},
    {"mufu_sin", Pipe::kMufu, false, Pipe::kFma},
    {"mufu_tanh", Pipe::kMufu},
    {"cvt_bf16x2", Pipe::kAlu},
    {"cvt_f16x2", Pipe::kAlu},
    {"cvt_i2f", Pipe::kAlu},
    {"cvt_f2i", Pipe::kMufu},
    {"shfl_bfly", Pipe::kLsu, true},
    {"shfl_idx", Pipe::kLsu, true},
    {"fmnmx", Pipe::kAlu},
    {"dfma", Pipe::kFp64},
    {"prmt", Pipe::kAlu},
    {"popc", Pipe::kMufu},
    {"vote", Pipe::kAlu, false, Pipe::kAlu, 3},
}};

struct NamedShape {
  std::string_view name;
  MmaShape shape;
};
constexpr std::array<NamedShape, 8> kShapes{{{"bf16_m16n8k16", {16, 16}},
                                             {"fp16_m16n8k16", {16, 16}},
                                             {"bf16_m16n8k8", {8, 16}},
                                             {"tf32_m16n8k8", {8, 19}},
                                             {"tf32_m16n8k4", {4, 19}},
                                             {"int8_m16n8k32", {32, 8}},
                                             {"int8_m16n8k16", {16, 8}},
                                             {"fp16acc_m16n8k16", {16, 16}}}};

Operation mma(const MmaShape& shape, std::uint32_t count, std::uint32_t chain) {
  Operation op;
  op.kind = OpKind::kMmaSync;
  op.pipe = Pipe::kTensor;
  op.pipe_work = count;
  set_instructions(op, count, 1);
  op.mma_m = 16;
  op.mma_n = 8;
  op.mma_k = shape.k;
  op.mma_bits = shape.bits;
  op.mma_count = count;
  op.tensor_insts = count;
  op.dependent_latency = chain;
  return op;
}

/// An addition, a comparison and a branch. A warp alone has its next instruction 16 clk after its last one (alu.cu,
/// ffma_latency and ffma_one_warp: 16 and 18 clk beyond 128 instructions), 4 of them a step.
Operation loop_end() {
  Operation op;
  op.kind = OpKind::kCompute;
  set_instructions(op, 3, 1);
  op.dependent_latency = 4;
  return op;
}

Section repeat(const Operation& op, std::uint64_t count) {
  return Section{count, [op](const StreamId&, std::uint64_t, StreamCursor&, Operation& out) { out = op; }};
}

}  // namespace

std::optional<ThreadInstruction> thread_instruction(std::string_view name) {
  const auto* at =
      std::find_if(kInstructions.begin(), kInstructions.end(), [&](const auto& i) { return i.name == name; });
  return at == kInstructions.end() ? std::nullopt : std::optional(*at);
}

std::unique_ptr<TraceSource> make_instructions(const InstructionConfig& c) {
  Launch l = bench_launch("instructions", 1, c.warps);
  if (c.warps > 1) one_stream_per_warp(l);
  const ThreadInstruction& instruction = c.instruction;
  const std::uint32_t rounds = kPerInstructionLoop / c.chains;
  // The operations of one round of all chains, or of a whole iteration where a chain needs nothing in between.
  std::vector<Operation> parts;
  const auto part = [&](Pipe pipe, std::uint32_t instructions, std::uint32_t steps) {
    parts.push_back(compute(pipe, instructions, 1));
    parts.back().dependent_latency = steps;
  };
  const bool by_round = instruction.through_lsu || instruction.first != Pipe::kNone;
  if (instruction.through_lsu) {
    // One wavefront per shuffle; a chain waits for each round of its chains.
    part(Pipe::kLsu, c.chains, 0);
    parts.back().kind = OpKind::kShared;
    parts.back().smem_read_wavefronts = c.chains;
    parts.back().completes[0] = signal_scoreboard();
  } else if (by_round) {
    part(instruction.first, c.chains, 1);
    part(instruction.pipe, c.chains, instruction.steps);
  } else {
    part(instruction.pipe, kPerInstructionLoop, rounds);
  }
  const std::uint64_t in_iteration = by_round ? rounds * parts.size() : 1;
  const bool shuffles = instruction.through_lsu;
  const std::uint64_t whole = in_iteration + (c.turns ? 1 : 0);
  const Section body{c.iterations * whole, [=](const StreamId&, std::uint64_t i, StreamCursor&, Operation& out) {
                       const std::uint64_t iteration = i / whole;
                       const std::uint64_t at = i % whole;
                       out = at < in_iteration ? parts[at % parts.size()] : loop_end();
                       if (shuffles && at < in_iteration) out.waits[0] = wait_scoreboard(iteration * in_iteration + at);
                     }};
  const Wait last = shuffles ? wait_scoreboard(c.iterations * in_iteration) : Wait{};
  auto streams = timed(l, {body}, last);
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

std::optional<MmaShape> mma_shape(std::string_view name) {
  const auto* at = std::find_if(kShapes.begin(), kShapes.end(), [&](const auto& s) { return s.name == name; });
  return at == kShapes.end() ? std::nullopt : std::optional(at->shape);
}

std::unique_ptr<TraceSource> make_mma_sync(const MmaSyncConfig& c) {
  Launch l = bench_launch("mma_sync", 1, c.warps);
  if (c.warps > 1) one_stream_per_warp(l);
  auto streams = timed(l, {repeat(mma(c.shape, c.chains * kMmaPerChain, kMmaPerChain), c.iterations)});
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

std::unique_ptr<TraceSource> make_mma_beside(const MmaPartnerConfig& c) {
  constexpr std::uint32_t kChains = 4;
  // Long enough to outlast the multiplications at the slowest pace measured, 100 clocks an instruction.
  constexpr std::uint32_t kSlowest = 100;
  constexpr std::uint32_t kPartnerBlock = 64;
  Launch l = bench_launch("mma_beside", 1, c.mma_warps + c.partner_warps);
  one_stream_per_warp(l);
  l.named_barrier_warps[kCtaBarrier] = static_cast<std::uint16_t>(c.mma_warps);
  std::vector<std::vector<Section>> streams =
      timed(l, {repeat(mma(c.shape, kChains * kMmaPerChain, kMmaPerChain), c.iterations)});
  Operation partner = compute(c.pipe, kPartnerBlock, 1);
  partner.dependent_latency = kPartnerBlock / c.partner_chains;
  const std::uint64_t instructions = std::uint64_t{c.iterations} * kChains * kMmaPerChain * kSlowest;
  for (std::uint32_t w = c.mma_warps; w < c.mma_warps + c.partner_warps; ++w) {
    streams[w] = {repeat(partner, instructions / kPartnerBlock / 4)};
  }
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

namespace {

constexpr std::uint8_t kWgmmaGroup = 1;
constexpr std::uint32_t kFillBytes = 16 * 1024;
constexpr std::uint32_t kFillStages = 8;

Section wgmma_groups(const WgmmaConfig& c) {
  Operation op;
  op.kind = OpKind::kWgmma;
  op.pipe = Pipe::kTensor;
  op.pipe_work = c.per_group;
  set_instructions(op, c.per_group + 2, 4);  // fence and commit beside the instructions
  op.mma_m = 64;
  op.mma_n = static_cast<std::uint16_t>(c.n);
  op.mma_k = c.k;
  op.mma_bits = c.bits;
  op.mma_a_in_registers = c.a_in_registers;
  op.mma_count = c.per_group;
  op.tensor_insts = 4 * c.per_group;
  op.completes[0] = signal(TokenClass::kAsyncGroup, kWgmmaGroup);
  const std::uint64_t in_flight = c.drain ? 0 : 1;
  return Section{c.groups, [=](const StreamId&, std::uint64_t i, StreamCursor&, Operation& out) {
                   out = op;
                   if (i > in_flight) out.waits[0] = wait_for(TokenClass::kAsyncGroup, kWgmmaGroup, i - in_flight);
                 }};
}

/// A producer of wgmma.cu: it looks at the stop flag and the clock between copies, which costs its thread about 490
/// clocks a copy (16 KiB at the 33 B/clk measured for one warp).
Section fills(const WgmmaConfig& c, std::uint32_t warp, std::uint64_t copies) {
  constexpr std::uint32_t kThreadSteps = 490 / 4;
  const std::uint32_t stages = kFillStages / c.fill_warps;
  return Section{copies, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                   op.kind = OpKind::kTma;
                   set_instructions(op, 8, 1);
                   op.dependent_latency = kThreadSteps;
                   op.mem.address =
                       kFirstAddress + id.cta * 8 * kFillBytes + (i * c.fill_warps + warp) % 8 * kFillBytes;
                   op.mem.rows = 1;
                   op.mem.row_bytes = kFillBytes;
                   const auto slot = static_cast<std::uint8_t>(warp * stages + i % stages);
                   op.waits[0] = wait_for(TokenClass::kMbarrier, slot, i / stages);
                   op.completes[0] = signal(TokenClass::kMbarrier, slot);
                 }};
}

}  // namespace

std::unique_ptr<TraceSource> make_wgmma(const WgmmaConfig& c) {
  Launch l = bench_launch("wgmma", 1, 4 * c.warpgroups + c.fill_warps);
  l.registers_per_thread = 168;
  l.smem_dynamic_bytes = 48 * 1024 + kFillStages * kFillBytes;
  l.streams.clear();
  for (std::uint32_t g = 0; g < c.warpgroups; ++g) {
    l.streams.push_back(StreamInfo{static_cast<std::uint16_t>(4 * g), 4, "warpgroup " + std::to_string(g)});
  }
  l.named_barrier_warps[kCtaBarrier] = static_cast<std::uint16_t>(c.warpgroups);
  auto streams = timed(l, {wgmma_groups(c)}, wait_for(TokenClass::kAsyncGroup, kWgmmaGroup, c.groups));
  std::fill_n(l.mbarrier_arrivals.begin(), kFillStages, std::uint16_t{1});
  // Enough copies to outlast the multiplications at the port's 107 B/clk.
  constexpr std::uint64_t kPortBytes = 107;
  const std::uint64_t cycles = std::uint64_t{c.groups} * c.per_group * c.warpgroups * std::max(18U, c.n * 5 / 8);
  for (std::uint32_t w = 0; w < c.fill_warps; ++w) {
    l.streams.push_back(StreamInfo{static_cast<std::uint16_t>(4 * c.warpgroups + w), 1, "producer"});
    streams.push_back({fills(c, w, cycles * kPortBytes / kFillBytes / c.fill_warps + 1)});
  }
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

}  // namespace strata::microbench
