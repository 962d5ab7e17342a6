// cuBLAS beside our matrix products.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "tensor.hpp"

namespace ladder {

/// D (M x N, row-major) = alpha A B, in cuBLAS's letters for that call: layout[0] is B's, layout[1] is A's
/// (see validation/kernels/gemm/layout.hpp). fp32 runs without TF32.
struct BlasProblem {
  long m = 0, n = 0, k = 0;
  const char* layout = "tn";
  Type input = Type::f32, output = Type::f32;
  const void *a = nullptr, *b = nullptr;
  void* d = nullptr;
};

/// @return a launch of the library's own choice of kernel, or an empty function where it has none for the types.
[[nodiscard]] std::function<void(cudaStream_t)> blas_gemm(const BlasProblem& problem);

}  // namespace ladder
