#include "workloads/kernels/arithmetic.hpp"

#include <algorithm>

namespace strata {
namespace {
/// Fixed stall counts in the control bits of compiled code (sm_90, softmax, layer norm) average 3.1 to 3.5 clk per
/// instruction: a warp alone issues no faster.
constexpr double kIssueClocks = 3.3;
constexpr double kAluClocks = 4;
constexpr double kAluStepsOfMufu = 5.5;  ///< latency of a special function over that of an addition: 22 and 4 clk
}  // namespace

std::uint32_t rounded(double value) { return static_cast<std::uint32_t>(value + 0.5); }

Arithmetic operator+(const Arithmetic& a, const Arithmetic& b) {
  return Arithmetic{a.fma + b.fma, a.alu + b.alu, a.mufu + b.mufu, a.other + b.other, a.chain + b.chain};
}

Arithmetic operator*(double factor, const Arithmetic& a) {
  return Arithmetic{factor * a.fma, factor * a.alu, factor * a.mufu, factor * a.other, factor * a.chain};
}

// Counted in the compiled code of softmax, layer norm and RMS norm (sm_90): IADD3, ISETP, LOP3, SHF, LEA, MOV, SEL,
// PRMT; IMAD; branches, barriers, constants.
Arithmetic integer_code(double instructions) {
  return instructions * Arithmetic{.fma = 0.25, .alu = 0.55, .mufu = 0, .other = 0.2, .chain = 0};
}

double issue_chain(double instructions) { return issue_chain(instructions, kIssueClocks); }
double issue_chain(double instructions, double clocks) { return instructions * clocks / kAluClocks; }

Operation compute_operation(const Arithmetic& work, std::uint32_t warps, double clocks) {
  Operation op;
  op.kind = OpKind::kCompute;
  op.issue_slots = rounded(work.total());
  op.warp_insts = rounded(work.total() * warps);
  const double chain = std::max(work.chain, issue_chain(work.total(), clocks > 0 ? clocks : kIssueClocks));
  op.dependent_latency = rounded(chain);
  op.pipe = Pipe::kAlu;
  op.pipe_work = rounded(work.alu);
  if (4 * work.mufu > work.alu && 8 * work.mufu > work.fma) {
    op.pipe = Pipe::kMufu;
    op.dependent_latency = rounded(chain / kAluStepsOfMufu);  // counted in latencies of the operation's pipe
    op.pipe_work = rounded(work.mufu);
  } else if (work.fma > 2 * work.alu) {
    op.pipe = Pipe::kFma;
    op.pipe_work = rounded(work.fma);
  }
  return op;
}

}  // namespace strata
