#include "workloads/kernels/arithmetic.hpp"

namespace strata {
namespace {
constexpr double kAluStepsOfMufu = 5.5;  ///< latency of a special function over that of an addition: 22 and 4 clk
}

std::uint32_t rounded(double value) { return static_cast<std::uint32_t>(value + 0.5); }

Arithmetic operator+(const Arithmetic& a, const Arithmetic& b) {
  return Arithmetic{a.fma + b.fma, a.alu + b.alu, a.mufu + b.mufu, a.other + b.other, a.chain + b.chain};
}

Arithmetic operator*(double factor, const Arithmetic& a) {
  return Arithmetic{factor * a.fma, factor * a.alu, factor * a.mufu, factor * a.other, factor * a.chain};
}

Operation compute_operation(const Arithmetic& work, std::uint32_t warps) {
  Operation op;
  op.kind = OpKind::kCompute;
  op.issue_slots = rounded(work.total());
  op.warp_insts = rounded(work.total() * warps);
  op.dependent_latency = rounded(work.chain);
  op.pipe = Pipe::kAlu;
  op.pipe_work = rounded(work.alu);
  if (4 * work.mufu > work.alu && 8 * work.mufu > work.fma) {
    op.pipe = Pipe::kMufu;
    op.dependent_latency = rounded(work.chain / kAluStepsOfMufu);  // counted in latencies of the operation's pipe
    op.pipe_work = rounded(work.mufu);
  } else if (work.fma > 2 * work.alu) {
    op.pipe = Pipe::kFma;
    op.pipe_work = rounded(work.fma);
  }
  return op;
}

}  // namespace strata
