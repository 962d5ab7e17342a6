/// What the name of a PyTorch elementwise kernel says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/kernels/elementwise.hpp"

namespace strata {

struct ElementwiseName {
  ThreadOrder order = ThreadOrder::kVectorized;
  std::uint32_t vector = 1;               ///< vectorized: elements of an access
  std::uint32_t elements_per_thread = 0;  ///< unrolled, strided; 0 = the name does not say
  std::uint32_t threads = 0;              ///< strided: of a CTA; 0 = the name does not say
  Functor functor = Functor::kOther;
  std::vector<DataType> inputs;  ///< as the functor computes; a cast may load another type
  DataType output = DataType::kFp32;
  bool casts = false;        ///< LoadWithCast: the types in memory are chosen at run time
  bool knows_types = false;  ///< the functor names its types
};

[[nodiscard]] bool is_elementwise_name(std::string_view canonical);

/// Throws UnsupportedError when the name is malformed or the functor has more than three inputs.
[[nodiscard]] ElementwiseName parse_elementwise_name(std::string_view canonical);

}  // namespace strata
