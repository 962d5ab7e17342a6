/// Streaming elementwise kernels: each thread loads its elements of every input, computes, stores.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/elementwise_functors.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

/// How an operand's index follows from the element's linear index i.
enum class OperandAccess : std::uint8_t {
  kFull,        ///< i
  kPeriodic,    ///< i mod `extent`: broadcast over leading dimensions
  kPerRow,      ///< i / `extent`: broadcast along rows of `extent` elements
  kTransposed,  ///< a matrix whose columns are the output's rows: element (i mod `extent`) * `inner` + i / `extent`
  kPermuted,    ///< runs of `extent` elements whose order is permuted: run r = (outer, middle, inner) in memory order
                ///< (outer, inner, middle), with `inner` and `middle` counts below
};

struct Operand {
  DataType type = DataType::kFp32;
  OperandAccess access = OperandAccess::kFull;
  std::uint64_t extent = 0;  ///< elements
  std::uint64_t inner = 1;   ///< kPermuted: runs along the fastest output dimension; kTransposed: row length in memory
  std::uint64_t middle = 1;  ///< kPermuted: runs along the next one
};

/// How a thread's elements lie.
enum class ThreadOrder : std::uint8_t {
  kVectorized,  ///< vectors of `vector` elements, a CTA's width of vectors apart
  kUnrolled,    ///< single elements, a CTA's width apart, with a dynamic type cast each where `casts`
  kStrided,  ///< single elements, a CTA's width apart, with an offset calculation of `dims` dimensions each. An element
             ///< is stored before the next is loaded: the compiler cannot know that they do not overlap.
};

inline constexpr std::size_t kMaxInputs = 8;

struct ElementwiseConfig {
  std::uint64_t elements = 0;
  std::vector<Operand> inputs;  ///< at most kMaxInputs
  Operand output;
  Functor functor = Functor::kCopy;
  ThreadOrder order = ThreadOrder::kVectorized;
  std::uint32_t block = 128;              ///< threads, a multiple of 32
  std::uint32_t vector = 4;               ///< elements
  std::uint32_t elements_per_thread = 8;  ///< a multiple of `vector`
  std::uint32_t dims = 1;                 ///< kStrided: dimensions after merging
  bool casts = false;                     ///< kUnrolled: types in memory are chosen at run time
  std::uint64_t ctas = 0;                 ///< 0 = as many as the elements need
  std::uint32_t registers = 32;
  std::optional<Arithmetic> counted;  ///< of a warp, accesses apart: from compiled code, in place of the functor's
  std::uint32_t counted_tensor = 0;   ///< of a warp: wide multiplies, which the tensor-pipe counter includes
  std::string name = "elementwise";
};

/// Loads of every input are issued before the first use, except as said above; the warps of a CTA run as one stream.
[[nodiscard]] std::unique_ptr<TraceSource> make_elementwise(const ElementwiseConfig& config);

}  // namespace strata
