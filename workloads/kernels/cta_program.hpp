/// Kernels whose CTAs run one short program each: loops of accesses and arithmetic over a block of rows and columns.
/// Row-wise kernels (softmax, norms, reductions, split-K sums) are such programs; the warps of a CTA run in step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/kernels/arithmetic.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

enum class CtaAxis : std::uint8_t { kX, kY, kZ, kYZ, kNone };  ///< kYZ: all of y, then the next z

/// The elements of one trip of a loop, the same for all its accesses. Rows and columns out of range are left out.
struct CtaTile {
  std::uint32_t rows = 1;             ///< rows of a CTA
  std::uint64_t rows_total = 1;       ///< rows of the tensor
  CtaAxis row_axis = CtaAxis::kX;     ///< CTA coordinate that counts blocks of rows
  std::uint32_t row_parts = 1;        ///< CTAs along z that share a block, each with `rows` of it
  std::uint64_t z_rows = 0;           ///< rows from one of the tensors along z to the next, `row_parts` CTAs each
  std::uint64_t cols = 1;             ///< columns of a trip
  std::uint64_t cols_total = 1;       ///< columns of a row
  CtaAxis col_axis = CtaAxis::kNone;  ///< CTA coordinate that counts blocks of columns; kNone: each CTA starts at 0
  std::uint64_t from_col = 0;         ///< columns that loops before this one have walked over
  std::uint64_t trip_cols = 0;        ///< columns from one trip to the next; 0 = `cols`, or none where rows advance
  std::uint64_t trip_rows = 0;        ///< rows from one trip to the next
  std::uint32_t warp_cols = 32;       ///< columns of one warp in a trip: warps with none in range skip the trip
};

/// One operation of every trip.
struct CtaStep {
  Operation op;            ///< costs of a whole tile, summed over all warps where Operation says so
  std::uint64_t base = 0;  ///< memory: address of row 0, column 0
  std::uint32_t bits = 0;  ///< memory: bits of an element; 0 = no memory
  /// memory: bytes between rows; 0 = all rows are the same row (weights), an element's = a vector with one for each row
  std::uint64_t pitch = 0;
  std::uint32_t sweeps = 1;  ///< memory: instructions that each touch the whole width, one element of a vector each
  /// memory: bytes of a lane where every warp's part of a whole trip counts as a request of its own, because rows do
  /// not begin on a sector; 0 = the trip's bytes are one run
  std::uint32_t lane_bytes = 0;
  /// memory: of the transposed tensor, whose rows are the tile's columns. Each warp takes a row of the tile, its lanes
  /// one element in each row of the tensor
  bool turned = false;
  bool waits = false;  ///< after every load issued so far
  bool whole = false;  ///< warps without rows or columns in range take it too
};

struct CtaLoop {
  CtaTile tile;
  std::uint32_t trips = 1;
  std::vector<CtaStep> steps;  ///< at most TraceSource::kMinFetch
};

struct CtaProgram {
  Launch launch;  ///< streams are filled in
  std::vector<CtaLoop> loops;
  /// Groups of warps that wait for each other at barriers only, each with its part of the rows: a divisor of every
  /// tile's rows and of the warps. Tiles of one row are everybody's, but the first group alone accesses memory for
  /// them.
  std::uint32_t groups = 1;
};

/// Throws ModelBug for programs that cannot be walked.
[[nodiscard]] std::unique_ptr<TraceSource> make_cta_program(CtaProgram program);

/// Adds a tensor behind those that the launch has, on a page of its own; returns its address.
std::uint64_t add_buffer(Launch& launch, std::string name, std::uint64_t bytes);

/// An access of `instructions` instructions per warp to the rows of a tensor at `base`, `pitch` bytes apart.
[[nodiscard]] CtaStep access_step(MemDir dir, std::uint64_t base, std::uint32_t bits, std::uint64_t pitch,
                                  double instructions, std::uint32_t warps);

/// Arithmetic; waits for the loads before it unless told otherwise. `clocks`: that a warp alone takes per instruction,
/// 0 = what compiled code takes on average.
[[nodiscard]] CtaStep compute_step(const Arithmetic& work, std::uint32_t warps, bool waits = true, double clocks = 0);

}  // namespace strata
