// What a family of kernels gives to the harness: names, keys, and a problem for every shape.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plan.hpp"
#include "shape.hpp"
#include "tensor.hpp"

namespace ladder {

/// One output, seen as rows x cols, and how to compute any part of one row in double precision.
struct Output {
  TensorPtr tensor;
  std::size_t rows = 0, cols = 0;
  std::size_t pitch = 0;  // elements from one row to the next; 0 = cols
  /// Writes the reference of row `row` at columns `cols` to `values`. Called from several threads at once.
  std::function<void(std::size_t row, std::span<const std::size_t> cols, double* values)> reference;
  /// Multiply-adds for one element (and for what a row costs once): the harness samples rows and columns by it.
  double cost_per_element = 1, cost_per_row = 0;
  double tolerance = 0;  // 0 = type_tolerance(tensor->type())
};

/// One case ready to run: tensors allocated and filled.
struct Problem {
  std::string shape;  // the cell `shape` of the CSV: gemm "M,N,K,TN"; attention "b,h,hkv,q,kv,d,causal,backend"; else
                      // "rows,cols"
  Plan plan;
  std::vector<Output> outputs;
  std::vector<TensorPtr> tensors;  // anything else the launches use: kept alive
  /// Runs before every run of the plan, outside the timed part (zeroing of counters, say). May be empty.
  std::function<void(cudaStream_t)> reset;
  /// The vendor library's kernel for the same problem, timed beside ours. May be empty.
  std::function<void(cudaStream_t)> vendor;
  double flops = 0;
  double bytes = 0;  // compulsory: each input read once, each output written once
  std::string op;    // the cell `op` where it is not the kernel's; empty = the kernel's
};

struct Kernel {
  std::string name;     // of the case's main kernel, or of the sequence when there are several launches
  std::string op;       // the cell `op`: gemm, attention, softmax, ...
  std::string dtype;    // the cell `dtype`
  std::string teaches;  // one line for `list`
  std::vector<Key> keys;
  std::function<Problem(const Shape&)> make;  // throws Refusal with a reason for what the kernel does not take
};

/// Every kernel, in the order of the ladder. Families append theirs: `void add_attention(Catalogue&)`.
using Catalogue = std::vector<Kernel>;

}  // namespace ladder
