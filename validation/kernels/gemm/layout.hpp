// The four ways to store the operands of D (M x N, row-major) = A (M x K) B (K x N).
//
// The letters are those that cuBLAS prints for this call, where D is column-major N x M: the first is B's
// (t: K contiguous, stored N x K; n: N contiguous), the second A's (n: K contiguous, stored M x K; t: M contiguous).
#pragma once

namespace ladder {

struct LayoutNn {
  static constexpr bool kAKContiguous = true, kBKContiguous = false;
  static constexpr const char* kName = "nn";
};
struct LayoutNt {
  static constexpr bool kAKContiguous = false, kBKContiguous = false;
  static constexpr const char* kName = "nt";
};
struct LayoutTn {
  static constexpr bool kAKContiguous = true, kBKContiguous = true;
  static constexpr const char* kName = "tn";
};
struct LayoutTt {
  static constexpr bool kAKContiguous = false, kBKContiguous = true;
  static constexpr const char* kName = "tt";
};

/// Calls X(suffix, Layout, ...) for every layout.
#define STRATA_FOR_LAYOUTS(X, ...) \
  X(nn, LayoutNn, __VA_ARGS__)     \
  X(nt, LayoutNt, __VA_ARGS__)     \
  X(tn, LayoutTn, __VA_ARGS__)     \
  X(tt, LayoutTt, __VA_ARGS__)

}  // namespace ladder
