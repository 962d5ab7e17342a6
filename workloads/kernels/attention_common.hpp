/// What the attention generators share: the shape, its checks, where the tensors lie and how many blocks a tile visits.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/kernels/catalogue.hpp"
#include "workloads/spec/launch.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

/// Steps over the keys that a sampled launch leaves out of every tile's loop.
struct KeyGap {
  std::uint32_t after = 0;
  std::uint32_t size = 0;

  KeyGap() = default;
  /// @param first,count  steps of all loops together
  KeyGap(std::uint64_t loops, std::uint64_t first, std::uint64_t count)
      : after(static_cast<std::uint32_t>(first / loops) + 1), size(static_cast<std::uint32_t>(count / loops)) {}

  /// The step of the whole launch that step i = 1.. of the shortened one is.
  [[nodiscard]] std::uint32_t original(std::uint32_t i) const { return i > after ? i + size : i; }
};

/// softmax(Q K^T / sqrt(d)) V with Q [batch, heads, q_len, d] and K, V [batch, kv_heads, kv_len, d], all contiguous in
/// that order. Lengths in elements. A causal mask is aligned to the lower right corner, as FlashAttention's is.
struct AttentionShape {
  std::uint32_t batch = 1;
  std::uint32_t heads = 1;
  std::uint32_t kv_heads = 1;  ///< divides `heads`
  std::uint32_t q_len = 1;
  std::uint32_t kv_len = 1;
  std::uint32_t head_dim = 128;
  bool causal = false;
  DataType dtype = DataType::kBf16;
};

/// Base addresses of the tensors, in bytes, each on a 2 MiB boundary as a framework's allocator gives them.
struct AttentionLayout {
  std::uint64_t q = 0;
  std::uint64_t k = 0;
  std::uint64_t v = 0;
  std::uint64_t o = 0;
  std::uint64_t lse = 0;      ///< log-sum-exp, fp32, one per row
  std::uint64_t scratch = 0;  ///< spilled registers, tile counter
  std::uint64_t element_bytes = 2;
};

/// Throws InputError naming the option, its value and what is allowed: zero sizes, heads that kv_heads does not divide,
/// head dims outside `lowest_dim`..`highest_dim` or not a multiple of 32, types other than 16-bit floats (and fp32
/// where `fp32` says so), tensors that exceed the target's memory.
void check_attention_shape(const AttentionShape& shape, const TargetFacts& target, std::uint32_t lowest_dim,
                           std::uint32_t highest_dim, bool fp32 = false);

[[nodiscard]] AttentionLayout lay_out(const AttentionShape& shape);

/// Appends the tensors to `launch.buffers` and fills `launch.work`. FLOPs of a causal mask count the visible half only.
void describe_attention(const AttentionShape& shape, const AttentionLayout& layout, bool writes_lse,
                        std::uint64_t scratch_bytes, Launch& launch);

/// K/V blocks of `block_n` rows that the query tile [first_row, first_row + block_m) visits; blocks past the diagonal
/// are skipped. 0 when causal hides everything.
[[nodiscard]] std::uint32_t visible_kv_blocks(const AttentionShape& shape, std::uint32_t first_row,
                                              std::uint32_t block_m, std::uint32_t block_n);

/// "b1 h16/16 q8192 k8192 d128 causal bf16"
[[nodiscard]] std::string to_string(const AttentionShape& shape);

/// Whether a decode launch can be taken as the steps of its loops: one query tile to a head, so that no CTA reads
/// another tile's keys again, and so many steps that a start and an end of them are a small part.
[[nodiscard]] constexpr bool repeats_by_keys(const AttentionShape& shape, std::uint32_t q_tiles, std::uint32_t blocks) {
  constexpr std::uint32_t kManySteps = 64;
  return q_tiles == 1 && !shape.causal && blocks >= kManySteps;
}

/// @param loops   tiles and splits, each with `blocks` steps
/// @param marks   operations of a step with `ends_piece`
[[nodiscard]] constexpr Repetition key_steps(std::uint64_t loops, std::uint32_t blocks, std::uint32_t marks) {
  return Repetition{loops * blocks, 1, 0, loops, marks, false};
}

}  // namespace strata
