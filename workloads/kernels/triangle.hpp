/// Upper or lower triangles of matrices (triu, tril): elements on the wrong side become zero without being read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/spec/trace_source.hpp"

namespace strata {

struct TriangleConfig {
  std::uint64_t matrices = 1;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  DataType type = DataType::kBool;
  bool upper = false;
  std::int64_t diagonal = 0;              ///< the last (lower) or first (upper) one that is kept
  std::uint32_t elements_per_thread = 8;  ///< neighbours, accessed one by one
  std::uint32_t threads = 128;
  std::uint32_t registers = 30;
  std::string name = "triangle";
};

/// One CTA takes threads x elements consecutive elements; rows are padded to whole threads.
[[nodiscard]] std::unique_ptr<TraceSource> make_triangle(const TriangleConfig& config);

}  // namespace strata
