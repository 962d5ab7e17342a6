/// What a run of arithmetic costs, as one operation.
#pragma once

#include <cstdint>

#include "workloads/spec/operation.hpp"

namespace strata {

/// Instructions of one warp by the pipe that executes them. `other` takes issue slots only: branches, barriers, moves
/// between register files, shuffles, accesses to shared memory.
struct Arithmetic {
  double fma = 0;
  double alu = 0;
  double mufu = 0;
  double other = 0;
  double chain = 0;  ///< dependent steps of one ALU latency that the warp cannot overlap with its own instructions
  [[nodiscard]] double total() const { return fma + alu + mufu + other; }
};

[[nodiscard]] Arithmetic operator+(const Arithmetic& a, const Arithmetic& b);
[[nodiscard]] Arithmetic operator*(double factor, const Arithmetic& a);

/// Index and address arithmetic, predicates and branches, in the mix of compiled code.
[[nodiscard]] Arithmetic integer_code(double instructions);

/// Steps of ALU latency that a run of instructions takes a warp that has the SMSP to itself; `clocks` each, where that
/// was measured, else what the control bits of compiled code say.
[[nodiscard]] double issue_chain(double instructions);
[[nodiscard]] double issue_chain(double instructions, double clocks);

/// The compute operation of `warps` warps in step, on the slowest of its pipes (MUFU issues at an eighth, ALU at half
/// the rate of FMA). Its chain is at least issue_chain() of its instructions, at `clocks` each where they are known.
[[nodiscard]] Operation compute_operation(const Arithmetic& work, std::uint32_t warps, double clocks = 0);

[[nodiscard]] constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// `value` to the nearest integer.
[[nodiscard]] std::uint32_t rounded(double value);

}  // namespace strata
