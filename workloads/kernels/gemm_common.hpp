/// What every GEMM generator shares: the problem, where its matrices lie, the boxes of a tile, the order of tiles.
///
/// C (M x N, row-major) = A (M x K) * B (K x N), as PyTorch calls it. The layout letters are those cuBLAS prints for
/// that call, where C is column-major N x M: the first letter is B's (T: K contiguous, stored N x K; N: N contiguous),
/// the second is A's (N: K contiguous, stored M x K; T: M contiguous). TN has K contiguous in both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/catalogue.hpp"
#include "workloads/spec/launch.hpp"
#include "workloads/spec/operation.hpp"

namespace strata {

inline constexpr std::int64_t kMaxGemmDim = 2147483647;  ///< highest M, N or K

struct GemmProblem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  DataType input = DataType::kBf16;
  DataType output = DataType::kBf16;
  bool a_k_contiguous = true;
  bool b_k_contiguous = true;
  std::int64_t batch = 1;  ///< independent products; their matrices follow one another in memory

  [[nodiscard]] std::string layout() const;  ///< "TN", ...
};

/// "TN" and so on to the two flags; false when the text is none of NN NT TN TT (either case).
[[nodiscard]] bool parse_gemm_layout(const std::string& text, GemmProblem& problem);

/// Output type the libraries use for an input type: fp8 -> bf16, tf32 -> fp32, int8 -> int32, others the same.
[[nodiscard]] DataType default_gemm_output(DataType input);

/// Problems of the dimensions and of the bytes on this target, keyed "m", "n", "k"; empty when there is none.
/// @param partials  number of full fp32 copies of C that split-K keeps beside it
[[nodiscard]] std::vector<Diagnostic> check_gemm_problem(const GemmProblem& problem, const TargetFacts& target,
                                                         std::int64_t partials);

/// Where a matrix lies and which dimension is contiguous.
struct OperandView {
  std::uint64_t base = 0;
  std::int64_t pitch_bytes = 0;  ///< between successive rows of the non-contiguous dimension
  std::uint32_t element_bytes = 0;
  bool k_contiguous = true;
  std::int64_t extent = 0;  ///< M for A, N for B
  std::int64_t k = 0;
  std::int64_t batch_bytes = 0;  ///< between the matrices of successive products of a batch

  /// Bytes between successive K tiles of `tile_k` elements.
  [[nodiscard]] std::int64_t k_step_bytes(std::uint32_t tile_k) const {
    return k_contiguous ? std::int64_t{tile_k} * element_bytes : tile_k * pitch_bytes;
  }

  /// The box of `rows` rows along M or N from `row0` and `tile_k` elements along K from `k0`.
  /// Rows out of range are requested and delivered (`oob_rows`) as the TMA does; a box wholly out of range folds onto
  /// the last valid row. Columns out of range are requested and delivered too (`oob_bytes`).
  void box(std::int64_t row0, std::uint32_t rows, std::int64_t k0, std::uint32_t tile_k, MemoryRef& out) const;
};

/// Addresses of the matrices. Buffers start at multiples of 2 MiB, as large allocations do.
struct GemmAddresses {
  OperandView a;
  OperandView b;
  std::uint64_t c_base = 0;  ///< output, or the first fp32 partial of split-K
  std::int64_t c_pitch_bytes = 0;
  std::uint32_t c_element_bytes = 0;
  std::int64_t c_slice_bytes = 0;  ///< between the partials of split-K
  std::int64_t c_batch_bytes = 0;  ///< between the results of successive products of a batch
  std::vector<Buffer> buffers;
};
/// @param partials       copies of C that split-K writes in place of C; 1 = the launch writes C itself
/// @param partial_bytes  of an element of such a copy
[[nodiscard]] GemmAddresses place_gemm(const GemmProblem& problem, std::uint32_t partials,
                                       std::uint32_t partial_bytes = 4);

/// FLOPs and compulsory bytes; `partials` as in place_gemm(), of fp32. fp32 and fp64 count as FMA-pipe work, others as
/// tensor.
[[nodiscard]] WorkTotals gemm_work(const GemmProblem& problem, std::uint32_t partials);

enum class RasterDirection : std::uint8_t { kAlongM, kAlongN };

/// Order of the tiles of a grid: bands of `group` tiles across the sweep direction; within a band the order runs
/// across the band first, then along the sweep. group = 1 is a plain sweep.
class TileOrder {
 public:
  TileOrder() = default;
  /// @param group  tiles across the sweep, in every band but the last
  /// @param serpentine  every other band is swept backwards
  TileOrder(std::uint32_t tiles_m, std::uint32_t tiles_n, RasterDirection direction, std::uint32_t group,
            bool serpentine = false);

  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{tiles_m_} * tiles_n_; }

  /// Tiles of a band: what the next band does again with other columns or rows.
  [[nodiscard]] std::uint64_t period() const {
    return std::uint64_t{group_} * (direction_ == RasterDirection::kAlongM ? tiles_m_ : tiles_n_);
  }

  struct Tile {
    std::uint32_t m = 0;
    std::uint32_t n = 0;
  };
  /// @param index  0 to count()-1
  [[nodiscard]] Tile at(std::uint64_t index) const;

 private:
  std::uint32_t tiles_m_ = 1;
  std::uint32_t tiles_n_ = 1;
  RasterDirection direction_ = RasterDirection::kAlongM;
  std::uint32_t group_ = 1;
  bool serpentine_ = false;
};

/// K range of one slice of split-K, in K tiles: the slices differ by at most one tile.
struct KRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};
[[nodiscard]] inline KRange split_k_range(std::uint32_t k_tiles, std::uint32_t split_k, std::uint32_t slice) {
  const auto cut = [&](std::uint64_t i) { return static_cast<std::uint32_t>(i * k_tiles / split_k); };
  return {cut(slice), cut(std::uint64_t{slice} + 1)};
}

}  // namespace strata
