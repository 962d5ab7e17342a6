// Operands, reference and vendor counterpart of a matrix product.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../harness/kernel.hpp"
#include "args.cuh"

namespace ladder {

/// One product with its operands on the device.
struct GemmCase {
  long m = 0, n = 0, k = 0;
  bool a_k_contiguous = true, b_k_contiguous = true;
  float alpha = 1, beta = 0;
  TensorPtr a, b, c, d;

  template <class In, class Out>
  [[nodiscard]] GemmArgs<In, Out> args() const {
    return {a->data<In>(),
            b->data<In>(),
            c ? c->data<Out>() : nullptr,
            d->data<Out>(),
            static_cast<int>(m),
            static_cast<int>(n),
            static_cast<int>(k),
            alpha,
            beta};
  }
};

/// What one instantiation takes, and how it launches.
struct GemmKind {
  const char* layout = "tn";
  Type input = Type::f32, output = Type::f32;
  const char* teaches = "";
  /// Elements that the contiguous dimension of A, B and D must be a multiple of (16-byte copies); 1 = any.
  int align = 1;
  /// Also D's: false where stores go element by element.
  bool align_d = true;
  bool takes_alpha_beta = true;
  std::vector<Key> extra_keys;
  std::function<void(const Shape&, const GemmCase&, Problem&)> add_launches;
};

[[nodiscard]] Kernel gemm_kernel(const std::string& name, const GemmKind& kind);

}  // namespace ladder
