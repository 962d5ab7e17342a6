#include "case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ladder {
namespace {

constexpr double kLog2E = 1.4426950408889634;
constexpr long kLargestGridSide = 65535;  // of y and z

/// Scores of one query row against its visible keys, turned into weights that add up to one.
std::vector<double> weights_of(const AttentionCase& c, std::size_t row, std::size_t first_kv_row) {
  const long query = static_cast<long>(row) % c.q_len;
  const long visible = c.causal ? c.kv_len - c.q_len + query + 1 : c.kv_len;
  const auto d = static_cast<std::size_t>(c.head_dim);
  std::vector<double> q(d);
  for (std::size_t i = 0; i < d; ++i) q[i] = c.q->value(row * d + i);
  std::vector<double> weights(static_cast<std::size_t>(visible));
  double peak = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < weights.size(); ++j) {
    double score = 0;
    for (std::size_t i = 0; i < d; ++i) score += q[i] * c.k->value((first_kv_row + j) * d + i);
    weights[j] = score / std::sqrt(static_cast<double>(d));
    peak = std::max(peak, weights[j]);
  }
  double sum = 0;
  for (double& w : weights) {
    w = std::exp(w - peak);
    sum += w;
  }
  for (double& w : weights) w /= sum;
  return weights;
}

void reference_row(const AttentionCase& c, std::size_t row, std::span<const std::size_t> cols, double* values) {
  const std::size_t head = row / static_cast<std::size_t>(c.q_len);
  const std::size_t batch = head / static_cast<std::size_t>(c.heads);
  const std::size_t kv_head = head % static_cast<std::size_t>(c.heads) / static_cast<std::size_t>(c.heads / c.kv_heads);
  const std::size_t first_kv_row =
      (batch * static_cast<std::size_t>(c.kv_heads) + kv_head) * static_cast<std::size_t>(c.kv_len);
  const std::vector<double> weights = weights_of(c, row, first_kv_row);
  const auto d = static_cast<std::size_t>(c.head_dim);
  for (std::size_t n = 0; n < cols.size(); ++n) {
    double sum = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) sum += weights[j] * c.v->value((first_kv_row + j) * d + cols[n]);
    values[n] = sum;
  }
}

/// Query-key pairs that are not masked, of one head.
double visible_pairs(const AttentionCase& c) {
  const double all = static_cast<double>(c.q_len) * static_cast<double>(c.kv_len);
  return c.causal ? all - static_cast<double>(c.q_len) * static_cast<double>(c.q_len - 1) / 2 : all;
}

}  // namespace

AttentionArguments AttentionCase::arguments() const {
  AttentionArguments a{};
  a.q = q->data<void>();
  a.k = k->data<void>();
  a.v = v->data<void>();
  a.o = o->data<void>();
  a.scale_log2 = static_cast<float>(kLog2E / std::sqrt(static_cast<double>(head_dim)));
  a.heads = static_cast<int>(heads);
  a.kv_heads = static_cast<int>(kv_heads);
  a.q_len = static_cast<int>(q_len);
  a.kv_len = static_cast<int>(kv_len);
  return a;
}

std::string dtype_cell(Type type) { return type == Type::f32 ? "fp32" : type == Type::f16 ? "fp16" : "bf16"; }

std::vector<Key> attention_keys(bool decode) {
  std::vector<Key> keys{{"batch", 1, "sequences"},
                        {"heads", 16, "query heads"},
                        {"kv-heads", 0, "key and value heads; divides heads; 0 = as many"}};
  if (!decode) keys.push_back({"q", 2048, "query rows of a sequence"});
  keys.push_back({"kv", decode ? 4096.0 : 0.0, decode ? "keys of a sequence" : "keys of a sequence; 0 = as many as q"});
  return keys;
}

AttentionCase make_attention_case(const Shape& shape, int head_dim, Type type, bool causal, bool decode) {
  AttentionCase c;
  c.batch = shape.size("batch");
  c.heads = shape.size("heads");
  c.kv_heads = shape.flag("kv-heads") ? shape.size("kv-heads") : c.heads;
  c.q_len = decode ? 1 : shape.size("q");
  c.kv_len = shape.flag("kv") ? shape.size("kv") : c.q_len;
  c.head_dim = head_dim;
  c.type = type;
  c.causal = causal;
  require(c.heads % c.kv_heads == 0, "kv-heads must divide heads");
  require(!causal || c.kv_len >= c.q_len, "a causal mask needs at least as many keys as queries");
  require(c.batch <= kLargestGridSide && c.heads <= kLargestGridSide, "batch and heads may be at most 65535");
  require(c.q_len <= (1L << 30) && c.kv_len <= (1L << 30), "lengths may be at most 2^30");
  const auto q_count = static_cast<std::size_t>(c.rows() * head_dim);
  const auto kv_count = static_cast<std::size_t>(c.batch * c.kv_heads * c.kv_len * head_dim);
  // Scores of uniform inputs in [-s, s) have a deviation of s * s / 3 whatever d is: 2.5 gives sharp, varied weights.
  constexpr double kScale = 2.5;
  c.q = Tensor::random(type, q_count, kScale);
  c.k = Tensor::random(type, kv_count, kScale);
  c.v = Tensor::random(type, kv_count, 1);
  c.o = Tensor::output(type, q_count);
  return c;
}

Problem make_attention_problem(const AttentionCase& c, const std::string& backend) {
  Problem p;
  for (long cell : {c.batch, c.heads, c.kv_heads, c.q_len, c.kv_len, static_cast<long>(c.head_dim)}) {
    p.shape += std::to_string(cell) + ",";
  }
  p.shape += std::string(c.causal ? "1" : "0") + "," + backend;
  Output out;
  out.tensor = c.o;
  out.rows = static_cast<std::size_t>(c.rows());
  out.cols = static_cast<std::size_t>(c.head_dim);
  out.reference = [c](std::size_t row, std::span<const std::size_t> cols, double* values) {
    reference_row(c, row, cols, values);
  };
  out.cost_per_element = static_cast<double>(c.kv_len);
  out.cost_per_row = static_cast<double>(c.kv_len) * c.head_dim;
  p.outputs.push_back(std::move(out));
  p.tensors = {c.q, c.k, c.v};
  p.flops = 4.0 * static_cast<double>(c.batch * c.heads) * visible_pairs(c) * c.head_dim;
  p.bytes = static_cast<double>(type_bytes(c.type) * 2 * (c.q->count() + c.k->count()));
  return p;
}

}  // namespace ladder
