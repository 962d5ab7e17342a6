#include <cctype>

#include "../harness/blas.hpp"
#include "problem.hpp"

namespace ladder {

namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  return text;
}

void require_multiple(long value, int of, const char* what) {
  require(value % of == 0, std::string(what) + " = " + std::to_string(value) + ": must be a multiple of " +
                               std::to_string(of) + ", rows are copied in 16-byte pieces");
}

void require_alignment(const GemmCase& c, const GemmKind& kind) {
  require_multiple(c.a_k_contiguous ? c.k : c.m, kind.align, c.a_k_contiguous ? "k" : "m");
  require_multiple(c.b_k_contiguous ? c.k : c.n, kind.align, c.b_k_contiguous ? "k" : "n");
  if (kind.align_d) require_multiple(c.n, kind.align, "n");
}

GemmCase make_case(const Shape& shape, const GemmKind& kind) {
  GemmCase c;
  c.m = shape.size("m");
  c.n = shape.size("n");
  c.k = shape.size("k");
  c.b_k_contiguous = kind.layout[0] == 't';
  c.a_k_contiguous = kind.layout[1] == 'n';
  require_alignment(c, kind);
  if (kind.takes_alpha_beta) {
    c.alpha = static_cast<float>(shape.real("alpha"));
    c.beta = static_cast<float>(shape.real("beta"));
  }
  const double scale = kind.input == Type::s8 ? 100 : 1;
  c.a = Tensor::random(kind.input, static_cast<std::size_t>(c.m * c.k), scale);
  c.b = Tensor::random(kind.input, static_cast<std::size_t>(c.n * c.k), scale);
  if (c.beta != 0) c.c = Tensor::random(kind.output, static_cast<std::size_t>(c.m * c.n));
  c.d = Tensor::output(kind.output, static_cast<std::size_t>(c.m * c.n));
  return c;
}

double reference_at(const GemmCase& c, std::size_t row, std::size_t col) {
  const auto m = static_cast<std::size_t>(c.m), n = static_cast<std::size_t>(c.n), k = static_cast<std::size_t>(c.k);
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i)
    sum += c.a->value(c.a_k_contiguous ? row * k + i : i * m + row) *
           c.b->value(c.b_k_contiguous ? col * k + i : i * n + col);
  return c.alpha * sum + (c.beta != 0 ? c.beta * c.c->value(row * n + col) : 0.0);
}

std::function<void(cudaStream_t)> vendor_of(const GemmCase& c, const GemmKind& kind, const TensorPtr& result) {
  BlasProblem blas;
  blas.m = c.m;
  blas.n = c.n;
  blas.k = c.k;
  blas.layout = kind.layout;
  blas.input = kind.input;
  blas.output = kind.output;
  blas.a = c.a->data<void>();
  blas.b = c.b->data<void>();
  blas.d = result->data<void>();
  return blas_gemm(blas);
}

}  // namespace

Kernel gemm_kernel(const std::string& name, const GemmKind& kind) {
  std::vector<Key> keys = {{"m", 1024, "rows of D"}, {"n", 1024, "columns of D"}, {"k", 1024, "depth"}};
  if (kind.takes_alpha_beta) {
    keys.push_back({"alpha", 1, "factor of A B"});
    keys.push_back({"beta", 0, "factor of C"});
  }
  keys.insert(keys.end(), kind.extra_keys.begin(), kind.extra_keys.end());
  auto make = [kind](const Shape& shape) {
    const GemmCase c = make_case(shape, kind);
    Problem problem;
    problem.shape =
        std::to_string(c.m) + "," + std::to_string(c.n) + "," + std::to_string(c.k) + "," + upper(kind.layout);
    if (c.beta != 0) problem.op = "gemm_beta";  // neither name nor shape says that C is read
    problem.tensors = {c.a, c.b, c.c};
    problem.flops = 2.0 * double(c.m) * double(c.n) * double(c.k);
    problem.bytes = double(c.m * c.k + c.n * c.k) * double(type_bytes(kind.input)) +
                    double(c.m * c.n) * double(type_bytes(kind.output)) * (c.beta != 0 ? 2 : 1);
    problem.vendor = vendor_of(c, kind, c.d);
    Output output;
    output.tensor = c.d;
    output.rows = static_cast<std::size_t>(c.m);
    output.cols = static_cast<std::size_t>(c.n);
    output.cost_per_element = double(c.k);
    output.reference = [c](std::size_t row, std::span<const std::size_t> cols, double* values) {
      for (std::size_t i = 0; i < cols.size(); ++i) values[i] = reference_at(c, row, cols[i]);
    };
    problem.outputs.push_back(output);
    kind.add_launches(shape, c, problem);
    return problem;
  };
  return {name, "gemm", type_name(kind.input), kind.teaches, keys, make};
}

}  // namespace ladder
