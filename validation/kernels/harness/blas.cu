#include <cublas_v2.h>

#include <cstdio>
#include <cstdlib>

#include "../../microbench/bench.cuh"
#include "blas.hpp"

namespace ladder {

namespace {

cublasHandle_t handle() {
  static cublasHandle_t h = [] {
    cublasHandle_t made = nullptr;
    if (cublasCreate(&made) != CUBLAS_STATUS_SUCCESS) {
      std::fprintf(stderr, "cuBLAS does not start\n");
      std::exit(1);
    }
    // The workspace that PyTorch gives on this chip: enough for the library's split-K kernels.
    constexpr std::size_t kWorkspaceBytes = 32 * bench::MiB;
    static bench::Buffer<char> workspace(kWorkspaceBytes);
    cublasSetWorkspace(made, workspace.p, kWorkspaceBytes);
    return made;
  }();
  return h;
}

cudaDataType_t data_type(Type type) {
  switch (type) {
    case Type::f16:
      return CUDA_R_16F;
    case Type::bf16:
      return CUDA_R_16BF;
    case Type::s8:
      return CUDA_R_8I;
    case Type::s32:
      return CUDA_R_32I;
    case Type::f32:
      break;
  }
  return CUDA_R_32F;
}

}  // namespace

std::function<void(cudaStream_t)> blas_gemm(const BlasProblem& p) {
  const bool whole = p.input == Type::s8;
  const cublasOperation_t op_b = p.layout[0] == 't' ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t op_a = p.layout[1] == 't' ? CUBLAS_OP_T : CUBLAS_OP_N;
  const long ld_b = op_b == CUBLAS_OP_T ? p.k : p.n, ld_a = op_a == CUBLAS_OP_T ? p.m : p.k;
  if (whole && (ld_a % 4 != 0 || ld_b % 4 != 0 || p.n % 4 != 0)) return {};
  return [=](cudaStream_t stream) {
    const float one = 1, zero = 0;
    const int one_i = 1, zero_i = 0;
    cublasSetStream(handle(), stream);
    const cublasStatus_t status =
        cublasGemmEx(handle(), op_b, op_a, static_cast<int>(p.n), static_cast<int>(p.m), static_cast<int>(p.k),
                     whole ? static_cast<const void*>(&one_i) : &one, p.b, data_type(p.input), static_cast<int>(ld_b),
                     p.a, data_type(p.input), static_cast<int>(ld_a), whole ? static_cast<const void*>(&zero_i) : &zero,
                     p.d, data_type(p.output), static_cast<int>(p.n), whole ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F,
                     CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS) std::fprintf(stderr, "cublasGemmEx: status %d\n", static_cast<int>(status));
  };
}

}  // namespace ladder
