// What every attention rung shares on the host: the words it takes, its tensors, its reference.
#pragma once

#include <string>
#include <vector>

#include "../harness/kernel.hpp"
#include "arguments.hpp"

namespace ladder {

/// Q [batch, heads, q_len, d], K and V [batch, kv_heads, kv_len, d], O like Q; lengths in elements, all contiguous.
struct AttentionCase {
  long batch = 1, heads = 1, kv_heads = 1, q_len = 1, kv_len = 1;
  int head_dim = 64;
  bool causal = false;
  Type type = Type::f32;
  TensorPtr q, k, v, o;

  [[nodiscard]] long rows() const { return batch * heads * q_len; }
  /// Arguments that every kernel takes; rungs with a workspace fill in the rest.
  [[nodiscard]] AttentionArguments arguments() const;
};

/// The keys `batch heads kv-heads q kv`. A kernel for decoding has no `q`.
[[nodiscard]] std::vector<Key> attention_keys(bool decode = false);

/// Reads the keys, checks them and fills the tensors with random values.
/// Errors: Refusal for heads that kv_heads does not divide, a causal mask with more queries than keys, lengths or grids
/// beyond what 32-bit indices hold.
[[nodiscard]] AttentionCase make_attention_case(const Shape& shape, int head_dim, Type type, bool causal,
                                                bool decode = false);

/// The problem without its launches: shape cell, output with its double-precision reference, FLOPs, bytes.
/// @param backend what stands at the end of the shape cell: the rung's name.
[[nodiscard]] Problem make_attention_problem(const AttentionCase& c, const std::string& backend);

[[nodiscard]] inline unsigned blocks_of(long length, long tile) {
  return static_cast<unsigned>((length + tile - 1) / tile);
}

/// The cell `dtype` of a type: fp32, fp16, bf16.
[[nodiscard]] std::string dtype_cell(Type type);

/// A rung with one launch of grid (query tiles, heads, batch) for each case.
struct Rung {
  const char* name;
  const char* teaches;
  const char* backend;
  int head_dim;
  Type type;
  bool causal;
  int tile_rows;
  int threads;
  /// Dynamic shared memory in bytes. Errors: Refusal where a case does not fit.
  std::function<std::size_t(const AttentionCase&)> shared_bytes;

  [[nodiscard]] Geometry geometry(const AttentionCase& c) const {
    return {dim3(blocks_of(c.q_len, tile_rows), static_cast<unsigned>(c.heads), static_cast<unsigned>(c.batch)),
            dim3(static_cast<unsigned>(threads)), shared_bytes(c)};
  }
};

/// Adds a rung whose kernel takes AttentionArguments and then `more`.
template <class... P, class... A>
void add_rung(Catalogue& catalogue, const Rung& rung, void (*kernel)(P...), A... more) {
  auto make = [=](const Shape& shape) {
    const AttentionCase c = make_attention_case(shape, rung.head_dim, rung.type, rung.causal);
    Problem p = make_attention_problem(c, rung.backend);
    p.plan.add(rung.name, kernel, rung.geometry(c), c.arguments(), more...);
    return p;
  };
  catalogue.push_back({rung.name, "attention", dtype_cell(rung.type), rung.teaches, attention_keys(), make});
}

}  // namespace ladder
