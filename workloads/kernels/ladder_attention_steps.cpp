#include "workloads/kernels/ladder_attention_steps.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kCodeBytes = 16 * 1024;  ///< 16 B an instruction; the kernels have 600 to 2000

Operation issued(OpKind kind, std::uint16_t pc, std::uint32_t insts) {
  Operation op;
  op.kind = kind;
  op.pc = pc;
  op.issue_slots = insts;
  op.warp_insts = insts;
  return op;
}

/// Part g of `count` in `groups` parts.
std::uint32_t part_of(std::uint32_t count, std::uint32_t g, std::uint32_t groups) {
  return count * (g + 1) / groups - count * g / groups;
}

AttentionStep access_step(OpKind kind, MemDir dir, std::uint16_t pc, std::uint32_t insts, std::uint32_t requests,
                          const AttentionAccess& access) {
  AttentionStep step;
  step.op = issued(kind, pc, insts);
  step.op.pipe = Pipe::kLsu;
  step.op.pipe_work = requests;
  step.op.mem.dir = dir;
  step.access = access;
  return step;
}

}  // namespace

AttentionStep ladder_compute(std::uint16_t pc, const LadderWork& work) {
  AttentionStep step;
  step.op = issued(OpKind::kCompute, pc, work.insts);
  step.op.pipe = work.pipe;
  step.op.pipe_work = work.pipe_work;
  step.op.dependent_latency = work.chain;
  step.op.smem_read_wavefronts = work.read_wavefronts;
  step.op.smem_write_wavefronts = work.write_wavefronts;
  step.op.smem_conflicts = work.conflicts;
  step.op.tensor_insts = work.moves;
  return step;
}

void ladder_inner(std::uint16_t pc, const LadderInner& work, std::vector<AttentionStep>& steps) {
  for (std::uint32_t g = 0; g < work.groups; ++g) {
    const auto part = [&](std::uint32_t count) { return part_of(count, g, work.groups); };
    steps.push_back(ladder_shared(pc, part(work.reads), part(work.wavefronts), 0, part(work.conflicts)));
    steps.back().op.pipe_work = part(work.returns);
    steps.back().after_barrier = work.after_barrier;
    steps.push_back(ladder_compute(
        pc, {.insts = part(work.insts) - part(work.reads), .pipe = Pipe::kFma, .pipe_work = part(work.fma)}));
    steps.back().after_loads = true;
  }
}

void ladder_mma(std::uint16_t pc, const LadderMma& work, std::vector<AttentionStep>& steps) {
  for (std::uint32_t g = 0; g < work.groups; ++g) {
    const std::uint32_t ldmatrix = part_of(work.ldmatrix, g, work.groups);
    const std::uint32_t mmas = part_of(work.mmas, g, work.groups);
    const std::uint32_t others = part_of(work.other_wavefronts, g, work.groups);
    steps.push_back(ladder_shared(pc, ldmatrix, 4 * ldmatrix + others, 0));
    steps.back().after_barrier = work.after_barrier;
    AttentionStep step;
    step.op = issued(OpKind::kMmaSync, pc, mmas);
    step.op.pipe = Pipe::kTensor;
    step.op.pipe_work = mmas;
    step.op.mma_count = mmas;
    step.op.mma_m = 16;
    step.op.mma_n = 8;
    step.op.mma_k = 16;
    step.op.tensor_insts = mmas;
    step.after_loads = true;
    steps.push_back(step);
  }
}

AttentionStep ladder_shared(std::uint16_t pc, std::uint32_t insts, std::uint32_t reads, std::uint32_t writes,
                            std::uint32_t conflicts) {
  AttentionStep step;
  step.op = issued(OpKind::kShared, pc, insts);
  step.op.pipe = Pipe::kLsu;
  step.op.pipe_work = insts;
  step.op.smem_read_wavefronts = reads;
  step.op.smem_write_wavefronts = writes;
  step.op.smem_conflicts = conflicts;
  return step;
}

AttentionStep ladder_barrier(std::uint16_t pc, std::uint32_t insts) {
  AttentionStep step;
  step.op = issued(OpKind::kBarrier, pc, insts);
  return step;
}

AttentionStep ladder_load(std::uint16_t pc, std::uint32_t insts, std::uint32_t requests,
                          const AttentionAccess& access) {
  return access_step(OpKind::kMemory, MemDir::kLoad, pc, insts, requests, access);
}

AttentionStep ladder_store(std::uint16_t pc, std::uint32_t insts, std::uint32_t requests,
                           const AttentionAccess& access) {
  return access_step(OpKind::kMemory, MemDir::kStore, pc, insts, requests, access);
}

AttentionStep ladder_copy(std::uint16_t pc, std::uint32_t insts, std::uint32_t requests,
                          const AttentionAccess& access) {
  AttentionStep step = access_step(OpKind::kCpAsync, MemDir::kLoad, pc, insts, requests, access);
  step.op.mem.policy = CachePolicy::kBypassL1;
  step.op.smem_write_wavefronts = 4 * requests;  // 32 lanes of 16 B
  return step;
}

AttentionAccess ladder_rows(AttentionRows rows_of, std::uint64_t base, const AttentionShape& shape, std::uint32_t rows,
                            std::uint32_t ahead) {
  AttentionAccess a;
  a.rows_of = rows_of;
  a.base = base;
  a.pitch = shape.head_dim * (bits_of(shape.dtype) / 8);
  a.rows = rows;
  a.row_bytes = static_cast<std::uint32_t>(a.pitch);
  a.ahead = ahead;
  return a;
}

AttentionProgram ladder_program(const LadderAttentionConfig& c, std::uint32_t threads, std::uint32_t registers,
                                std::uint32_t smem_dynamic_bytes, std::uint32_t smem_static_bytes) {
  AttentionProgram p;
  p.shape = c.shape;
  p.query_rows = c.query_rows;
  p.launch.name = c.name;
  p.launch.family = "ladder_attention";
  p.launch.block = Dim3{threads, 1, 1};
  p.launch.registers_per_thread = c.registers != 0 ? c.registers : registers;
  p.launch.smem_dynamic_bytes = smem_dynamic_bytes;
  p.launch.smem_static_bytes = smem_static_bytes;
  p.launch.code_bytes = kCodeBytes;
  describe_attention(c.shape, lay_out(c.shape), false, 0, p.launch);
  if (c.shape.dtype == DataType::kFp32 || c.kernel == LadderAttentionKernel::kDecodeSplit) {
    p.launch.work.fp32_flops += p.launch.work.tensor_flops;
    p.launch.work.tensor_flops = 0;
  }
  return p;
}

std::unique_ptr<TraceSource> make_ladder_attention(const LadderAttentionConfig& c) {
  switch (c.kernel) {
    case LadderAttentionKernel::kUnfusedScores:
    case LadderAttentionKernel::kUnfusedSoftmax:
    case LadderAttentionKernel::kUnfusedValues:
      return make_attention_program(ladder_unfused_program(c));
    case LadderAttentionKernel::kNaiveStrided:
    case LadderAttentionKernel::kNaiveCoalesced:
      return make_attention_program(ladder_naive_program(c));
    case LadderAttentionKernel::kTiled:
      return make_attention_program(ladder_tiled_program(c));
    case LadderAttentionKernel::kFlash:
      return make_attention_program(ladder_flash_program(c));
    case LadderAttentionKernel::kMma:
      return make_attention_program(ladder_mma_program(c));
    case LadderAttentionKernel::kDecodeSplit:
    case LadderAttentionKernel::kDecodeGrouped:
    case LadderAttentionKernel::kDecodeCombine:
      break;
  }
  return make_attention_program(ladder_decode_program(c));
}

}  // namespace strata
