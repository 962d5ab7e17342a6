/// Rotary embedding as validation/kernels/block/rotary.cu writes it: a thread turns one vector of each half of a head
/// by angles of the token, whose cosines and sines come from fp32 tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/spec/trace_source.hpp"

namespace strata {

struct RotaryConfig {
  std::uint64_t tokens = 0;
  std::uint64_t heads = 0;
  std::uint64_t head_dim = 0;  ///< a multiple of twice the vector
  DataType type = DataType::kBf16;
  std::uint32_t vector = 8;
  std::uint32_t registers = 32;
  std::string name = "rotary";
};

/// Throws ModelBug for inconsistent configurations.
[[nodiscard]] std::unique_ptr<TraceSource> make_rotary(const RotaryConfig& config);

}  // namespace strata
