// Transpose of an fp32 matrix, 32 x 32 tiles by 32 x 8 threads.
//
// Teaches: `naive` reads rows and writes columns: a sector per thread on the way out. `tile` turns the tile in shared
// memory, with 32-way bank conflicts; `padded` has a word of padding in each row; `swizzled` keeps 32-word rows and
// exchanges columns by XOR with the row. `copy` moves the same bytes without turning anything: the ceiling.
#include "block.hpp"
#include "rows.hpp"

namespace ladder {

namespace {

constexpr int kSide = 32, kRowsAtOnce = 8;

struct TransposeArgs {
  const float* x;
  float* out;
  int rows, cols;  // of x
};

enum class Way { copy, naive, tile, padded, swizzled };

template <Way WAY>
__device__ __forceinline__ void transpose(const TransposeArgs& p) {
  constexpr int kPitch = WAY == Way::padded ? kSide + 1 : kSide;
  constexpr bool kDirect = WAY == Way::copy || WAY == Way::naive;
  __shared__ float tile[kDirect ? 1 : kSide * kPitch];
  const int row0 = blockIdx.y * kSide, col0 = blockIdx.x * kSide, x = threadIdx.x;
  auto place = [](int r, int c) { return r * kPitch + (WAY == Way::swizzled ? c ^ r : c); };
#pragma unroll
  for (int y = threadIdx.y; y < kSide; y += kRowsAtOnce) {
    const int row = row0 + y, col = col0 + x;
    if (row >= p.rows || col >= p.cols) continue;
    const float value = p.x[size_t(row) * p.cols + col];
    if constexpr (WAY == Way::copy)
      p.out[size_t(row) * p.cols + col] = value;
    else if constexpr (WAY == Way::naive)
      p.out[size_t(col) * p.rows + row] = value;
    else
      tile[place(y, x)] = value;
  }
  if constexpr (!kDirect) {
    __syncthreads();
#pragma unroll
    for (int y = threadIdx.y; y < kSide; y += kRowsAtOnce) {
      const int row = row0 + x, col = col0 + y;
      if (row < p.rows && col < p.cols) p.out[size_t(col) * p.rows + row] = tile[place(x, y)];
    }
  }
}

Problem make_transpose(const char* name, bool turns, void (*kernel)(TransposeArgs), const Shape& shape) {
  const RowsCols rc = rows_cols(shape);
  const dim3 grid(unsigned((rc.cols + kSide - 1) / kSide), unsigned((rc.rows + kSide - 1) / kSide));
  require(grid.y < 65536, "too many rows of tiles for a grid");
  Problem problem = rows_problem(rc, Type::f32, 2);
  const TensorPtr x = Tensor::random(Type::f32, rc.count()), out = Tensor::output(Type::f32, rc.count());
  problem.tensors = {x};
  const RowsCols result = turns ? RowsCols{rc.cols, rc.rows} : rc;
  auto value = [=](std::size_t row, std::size_t col) {
    return x->value(turns ? col * rc.cols + row : row * rc.cols + col);
  };
  problem.outputs.push_back(element_output(out, result, value, 1));
  problem.outputs.back().tolerance = 1e-30;  // nothing is computed: bit for bit
  problem.plan.add(name, kernel, Geometry{grid, dim3(kSide, kRowsAtOnce)},
                   TransposeArgs{x->data<float>(), out->data<float>(), int(rc.rows), int(rc.cols)});
  return problem;
}

}  // namespace

#define TRANSPOSE_ALL(X)                                       \
  X(copy, "the same bytes without turning anything")           \
  X(naive, "rows in, columns out: a sector per thread stored") \
  X(tile, "turned in shared memory, 32-way bank conflicts")    \
  X(padded, "turned in shared memory, rows padded by a word")  \
  X(swizzled, "turned in shared memory, columns exchanged by XOR with the row")
#define TRANSPOSE(way, teaches)                                    \
  extern "C" __global__ void __launch_bounds__(kSide* kRowsAtOnce) \
      strata_transpose_##way##_32x32_f32(TransposeArgs p) {        \
    transpose<Way::way>(p);                                        \
  }
TRANSPOSE_ALL(TRANSPOSE)

void add_transpose(Catalogue& catalogue) {
#define ADD(way, teaches)                                                                                              \
  catalogue.push_back(                                                                                                 \
      {"strata_transpose_" #way "_32x32_f32", "transpose", "fp32", teaches, rows_cols_keys(), [](const Shape& shape) { \
         return make_transpose("strata_transpose_" #way "_32x32_f32", Way::way != Way::copy,                           \
                               strata_transpose_##way##_32x32_f32, shape);                                             \
       }});
  TRANSPOSE_ALL(ADD)
#undef ADD
}

}  // namespace ladder
