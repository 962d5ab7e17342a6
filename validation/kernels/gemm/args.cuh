// What every matrix product receives.
#pragma once

namespace ladder {

/// D = alpha A B + beta C; D and C are M x N row-major, A and B dense in one of the four layouts. C is read only if
/// beta is not zero.
template <class In, class Out>
struct GemmArgs {
  const In *a, *b;
  const Out* c;
  Out* d;
  int m, n, k;
  float alpha, beta;
};

__host__ __device__ constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

}  // namespace ladder
