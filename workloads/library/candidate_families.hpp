/// Which candidates each kind of operator has; kernel_candidates() calls one of these.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workloads/library/candidates.hpp"

namespace strata {

/// The kernels that could run, and why others could not.
class CandidateList {
 public:
  void add(KernelCandidate candidate) { found_.push_back(std::move(candidate)); }
  void refuse(const std::string& reason) { ++refused_[reason]; }
  [[nodiscard]] bool empty() const { return found_.empty(); }
  [[nodiscard]] std::vector<KernelCandidate> take() { return std::move(found_); }
  /// What most kernels were refused for: what is wrong with a shape concerns more of them than what is wrong with a
  /// tile. Empty when none was tried.
  [[nodiscard]] std::string commonest_reason() const;

 private:
  std::vector<KernelCandidate> found_;
  std::map<std::string, std::size_t> refused_;
};

/// Hopper: nvjet with every tile, cluster and consumer mode, with and without split-K; sm90_xmma for tf32.
void add_wgmma_gemm_candidates(const LaunchRow& row, const TargetFacts& target, CandidateList& out);
/// Kernels of a plain grid: CUTLASS, SASS and xmma, on tensor cores and on FMA pipes.
void add_cta_gemm_candidates(const LaunchRow& row, const TargetFacts& target, CandidateList& out);
/// FlashAttention-2 with and without split KV, cuDNN for Hopper and for Ampere.
void add_attention_candidates(const LaunchRow& row, const TargetFacts& target, CandidateList& out);
/// PyTorch's kernels over rows and elements: its own rules leave one for each operator.
void add_row_candidates(const LaunchRow& row, const TargetFacts& target, CandidateList& out);

/// The row with a kernel's name and without launch columns, which belong to whatever was recorded.
[[nodiscard]] LaunchRow candidate_row(const LaunchRow& row, std::string kernel);

/// Time on the SMs and time on HBM together: the longer, and a fifth of the shorter, which never hides wholly.
/// @param sm_cycles  what the SMs need with their operands in L2
[[nodiscard]] double estimate_with_memory(double sm_cycles, double bytes, const TargetFacts& target);

/// A CTA's share of a launch, for an estimate of any kernel of a plain grid.
struct CtaWork {
  double math_cycles = 0;  ///< of one CTA, alone on its SM
  double fill_bytes = 0;   ///< that one CTA reads
};
/// Rounds of resident CTAs times the slower of arithmetic and fills.
[[nodiscard]] double estimate_cta_cycles(const Launch& launch, const CtaWork& work, const TargetFacts& target);

/// The launch of cuBLAS that adds up what `product`'s slices of K left, fp32 each.
/// @param output   of the operator, as C++ spells it
/// @param compute  a template argument that tells nvjet's sums ("float") from other kernels' (the output's type)
[[nodiscard]] LaunchRow split_sum_row(const LaunchRow& product, const char* output, const char* compute);
[[nodiscard]] double estimate_split_sum_cycles(double elements, double slices);

}  // namespace strata
