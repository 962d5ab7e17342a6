#include "workloads/kernels/attention_common.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"

namespace strata {
namespace {

constexpr std::uint64_t kAlignment = std::uint64_t{2} << 20;  ///< bytes; a device allocation's granularity
constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 32;
constexpr std::uint64_t kLseElementBytes = 4;

std::uint64_t align_up(std::uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::uint64_t q_rows(const AttentionShape& s) { return std::uint64_t{s.batch} * s.heads * s.q_len; }
std::uint64_t kv_rows(const AttentionShape& s) { return std::uint64_t{s.batch} * s.kv_heads * s.kv_len; }

Diagnostic problem(const char* key, std::string message) { return Diagnostic{{}, 0, 0, key, std::move(message)}; }

/// (query row, key row) pairs that the mask leaves, for one head.
double visible_pairs(const AttentionShape& s) {
  const double q = s.q_len;
  const double k = s.kv_len;
  if (!s.causal) return q * k;
  if (k >= q) return q * (k - q) + q * (q + 1) / 2;
  return k * (k + 1) / 2;
}

}  // namespace

void check_attention_shape(const AttentionShape& s, const TargetFacts& target, std::uint32_t lowest_dim,
                           std::uint32_t highest_dim, bool fp32) {
  std::vector<Diagnostic> problems;
  const auto positive = [&](const char* key, std::uint32_t value) {
    if (value == 0) problems.push_back(problem(key, "0: must be at least 1"));
  };
  positive("batch", s.batch);
  positive("heads", s.heads);
  positive("kv-heads", s.kv_heads);
  positive("q-len", s.q_len);
  positive("kv-len", s.kv_len);
  if (s.kv_heads != 0 && s.heads % s.kv_heads != 0) {
    problems.push_back(problem("kv-heads", fmt::format("{}: must divide heads (= {})", s.kv_heads, s.heads)));
  }
  if (s.head_dim < lowest_dim || s.head_dim > highest_dim || s.head_dim % 32 != 0) {
    problems.push_back(problem(
        "head-dim", fmt::format("{}: must be a multiple of 32 from {} to {}", s.head_dim, lowest_dim, highest_dim)));
  }
  if (s.dtype != DataType::kFp16 && s.dtype != DataType::kBf16 && !(fp32 && s.dtype == DataType::kFp32)) {
    problems.push_back(
        problem("dtype", fmt::format("{}: must be fp16 or bf16{}", to_string(s.dtype), fp32 ? " or fp32" : "")));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  const double bytes = (2.0 * static_cast<double>(s.batch) * s.heads * s.q_len +
                        2.0 * static_cast<double>(s.batch) * s.kv_heads * s.kv_len) *
                       s.head_dim * (bits_of(s.dtype) / 8.0);
  if (target.memory_bytes > 0 && bytes > static_cast<double>(target.memory_bytes)) {
    throw InputError(
        problem("q-len", fmt::format("Q, K, V and O need {:.1f} GiB; the GPU has {:.1f} GiB", bytes / (1 << 30),
                                     static_cast<double>(target.memory_bytes) / (1 << 30))));
  }
  if (bytes > static_cast<double>(std::uint64_t{1} << 46)) {
    throw InputError(problem("q-len", fmt::format("Q, K, V and O need {:.3g} bytes, beyond any address space", bytes)));
  }
}

AttentionLayout lay_out(const AttentionShape& s) {
  AttentionLayout l;
  l.element_bytes = bits_of(s.dtype) / 8;
  const std::uint64_t row_bytes = s.head_dim * l.element_bytes;
  l.q = kFirstAddress;
  l.k = l.q + align_up(q_rows(s) * row_bytes);
  l.v = l.k + align_up(kv_rows(s) * row_bytes);
  l.o = l.v + align_up(kv_rows(s) * row_bytes);
  l.lse = l.o + align_up(q_rows(s) * row_bytes);
  l.scratch = l.lse + align_up(q_rows(s) * kLseElementBytes);
  return l;
}

void describe_attention(const AttentionShape& s, const AttentionLayout& l, bool writes_lse, std::uint64_t scratch_bytes,
                        Launch& launch) {
  const std::uint64_t row_bytes = s.head_dim * l.element_bytes;
  const std::uint64_t q_bytes = q_rows(s) * row_bytes;
  const std::uint64_t kv_bytes = kv_rows(s) * row_bytes;
  const std::uint64_t lse_bytes = writes_lse ? q_rows(s) * kLseElementBytes : 0;
  launch.buffers.push_back(Buffer{"q", l.q, q_bytes});
  launch.buffers.push_back(Buffer{"k", l.k, kv_bytes});
  launch.buffers.push_back(Buffer{"v", l.v, kv_bytes});
  launch.buffers.push_back(Buffer{"o", l.o, q_bytes});
  if (writes_lse) launch.buffers.push_back(Buffer{"lse", l.lse, lse_bytes});
  if (scratch_bytes > 0) launch.buffers.push_back(Buffer{"scratch", l.scratch, scratch_bytes});
  const double pairs = visible_pairs(s) * s.batch * s.heads;
  launch.work.tensor_flops = 4.0 * pairs * s.head_dim;
  launch.work.tensor_type = s.dtype;
  launch.work.mufu_ops = pairs;
  launch.work.fp32_flops = 4.0 * pairs;  // scale and subtract (2), maximum, sum
  // A query that sees no key is never read.
  const std::uint64_t q_read_bytes = s.causal && s.kv_len < s.q_len ? q_bytes / s.q_len * s.kv_len : q_bytes;
  launch.work.compulsory_read_bytes = static_cast<double>(q_read_bytes) + 2.0 * static_cast<double>(kv_bytes);
  launch.work.compulsory_write_bytes = static_cast<double>(q_bytes) + static_cast<double>(lse_bytes);
}

std::uint32_t visible_kv_blocks(const AttentionShape& s, std::uint32_t first_row, std::uint32_t block_m,
                                std::uint32_t block_n) {
  std::int64_t columns = s.kv_len;
  if (s.causal) {
    const std::int64_t diagonal = std::int64_t{first_row} + block_m + s.kv_len - s.q_len;
    columns = std::clamp<std::int64_t>(diagonal, 0, s.kv_len);
  }
  return static_cast<std::uint32_t>((columns + block_n - 1) / block_n);
}

std::string to_string(const AttentionShape& s) {
  return fmt::format("b{} h{}/{} q{} k{} d{}{} {}", s.batch, s.heads, s.kv_heads, s.q_len, s.kv_len, s.head_dim,
                     s.causal ? " causal" : "", to_string(s.dtype));
}

}  // namespace strata
