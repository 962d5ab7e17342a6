/// Reductions of one tensor, as PyTorch's reduce_kernel: which threads share an output is worked out from the shape.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/spec/trace_source.hpp"

namespace strata {

/// What combining two values costs.
enum class ReduceOperator : std::uint8_t {
  kSum,      ///< sum, mean, product, norm: one instruction
  kLogical,  ///< and, or: compare and select
  kExtreme,  ///< min, max; with an index (argmax) twice as much
  kIndexed,  ///< value and index: argmax, argmin, min or max with indices
  kWelford,  ///< variance: a division per value
};

struct ReduceShape {
  std::uint64_t outputs = 1;
  std::uint64_t inputs = 1;  ///< per output
  bool contiguous = true;    ///< the inputs of an output lie side by side; else the outputs do
};

struct ReduceConfig {
  ReduceShape shape;
  DataType input = DataType::kFp32;
  DataType output = DataType::kFp32;
  ReduceOperator op = ReduceOperator::kSum;
  std::uint32_t max_threads = 512;
  std::uint32_t unroll = 4;         ///< loads in flight of a thread where accesses are not vectors (vt0)
  std::uint32_t input_vector = 4;   ///< elements of an access along the inputs
  std::uint32_t output_vector = 1;  ///< elements of an access along the outputs
  std::uint32_t num_sms = 132;      ///< the launch fills the GPU with them
  std::uint32_t threads_per_sm = 2048;
  std::uint32_t registers = 32;
  std::string name = "reduce";
};

/// Threads and CTAs of a launch: lanes along x, then y, then CTAs of grid y share an output or take different ones.
struct ReducePlan {
  std::uint32_t block_x = 1;
  std::uint32_t block_y = 1;
  bool vector_input = false;
  bool x_reduces = false;
  bool y_reduces = false;
  std::uint32_t ctas_per_output = 1;
  std::uint64_t grid_x = 1;
};

/// PyTorch's own rules (ReduceConfig of Reduce.cuh).
[[nodiscard]] ReducePlan plan_reduce(const ReduceConfig& config);

[[nodiscard]] std::unique_ptr<TraceSource> make_tensor_reduce(const ReduceConfig& config);

}  // namespace strata
