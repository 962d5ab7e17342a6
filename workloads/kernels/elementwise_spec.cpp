#include "workloads/kernels/elementwise_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "workloads/kernels/elementwise.hpp"
#include "workloads/kernels/options.hpp"

namespace strata {
namespace {

constexpr std::int64_t kMaxSide = std::int64_t{1} << 40;
constexpr std::initializer_list<const char*> kFunctors = {
    "copy", "fill", "add", "mul", "fma", "compare", "negate", "silu", "gelu", "gelu_tanh", "relu", "sigmoid", "tanh"};

std::vector<OptionSpec> options() {
  return {
      {"rows", OptionType::kInt, "", false, "rows of every tensor, 1 to 2^40"},
      {"cols", OptionType::kInt, "", false, "columns of every tensor, 1 to 2^40"},
      {"inputs", OptionType::kInt, "1", false, "tensors read, 0 to 3; with a functor, as many as it has operands"},
      {"dtype", OptionType::kText, "bf16", false, "type of the inputs"},
      {"out-dtype", OptionType::kText, "", true, "type of the output (default: the inputs')"},
      {"functor", OptionType::kText, "", true,
       "copy, fill, add, mul, fma, compare, negate, silu, gelu, gelu_tanh, relu, sigmoid or tanh"},
      {"vector", OptionType::kInt, "", true, "elements of a vector access, 1 to 16 (default: 16 bytes of the input)"},
      {"unroll", OptionType::kInt, "", true, "vectors of a thread, 1 to 16 (default: 8 elements per thread)"},
      {"block", OptionType::kInt, "128", false, "threads of a CTA, a multiple of 32 up to 1024"},
  };
}

/// As many tensors as the functor has operands, where nothing else is said; a number may take the place of one.
/// @param functor  empty: chosen by the number of inputs
std::int64_t inputs_of(OptionReader& reader, const std::string& functor) {
  const std::int64_t inputs = reader.integer("inputs", 0, 3);
  if (functor.empty()) return inputs;
  const bool binary = functor == "add" || functor == "mul" || functor == "compare";
  const std::int64_t operands = functor == "fill" ? 0 : functor == "fma" ? 3 : binary ? 2 : 1;
  if (!reader.given("inputs")) return operands;
  const std::int64_t least = std::min<std::int64_t>(operands, 1);
  if (inputs < least || inputs > operands) {
    reader.problem("inputs", fmt::format("{}: {} reads {} to {} tensors", inputs, functor, least, operands));
  }
  return inputs;
}

BuiltKernel make(const KernelOptions& given, const TargetFacts& target) {
  static const std::vector<OptionSpec> kOptions = options();
  OptionReader reader(given, kOptions);
  ElementwiseConfig c;
  const std::int64_t rows = reader.required_integer("rows", 1, kMaxSide);
  const std::int64_t cols = reader.required_integer("cols", 1, kMaxSide);
  const bool chosen = !reader.given("functor");
  const std::string asked = chosen ? std::string{} : reader.choice("functor", kFunctors);
  const std::int64_t inputs = inputs_of(reader, asked);
  const DataType in_type = reader.data_type("dtype", DataType::kBf16);
  const DataType out_type = reader.data_type("out-dtype", in_type);
  static constexpr const char* kByInputs[] = {"fill", "copy", "add", "fma"};
  const std::string functor = chosen ? kByInputs[inputs] : asked;
  const std::uint32_t bits = bits_of(inputs > 0 ? in_type : out_type);
  c.vector = static_cast<std::uint32_t>(reader.integer("vector", 1, 16, std::min(16U, 128 / bits)));
  if (!std::has_single_bit(c.vector)) reader.problem("vector", fmt::format("{}: must be a power of two", c.vector));
  const auto unroll =
      static_cast<std::uint32_t>(reader.integer("unroll", 1, 16, std::max(1U, 8 / std::max(1U, c.vector))));
  c.block = static_cast<std::uint32_t>(reader.integer("block", 32, 1024));
  if (c.block % 32 != 0) reader.problem("block", fmt::format("{}: must be a multiple of 32", c.block));
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  const double bytes = elements * (static_cast<double>(inputs) * bits_of(in_type) + bits_of(out_type)) / 8;
  const double limit = target.memory_bytes > 0 ? static_cast<double>(target.memory_bytes) : 0x1p46;
  if (bytes > limit) {
    reader.problem("rows",
                   fmt::format("the tensors need {:.1f} GiB; the GPU has {:.1f} GiB", bytes / 0x1p30, limit / 0x1p30));
  }
  c.elements_per_thread = c.vector * unroll;
  if (reader.ok() && elements / c.block / c.elements_per_thread > 0x7fffffff) {
    reader.problem("rows", "needs more than 2^31 - 1 CTAs; take a larger --unroll or --block");
  }
  reader.finish();
  c.elements = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols);
  for (std::int64_t i = 0; i < inputs; ++i) c.inputs.push_back(Operand{.type = in_type});
  c.output.type = out_type;
  c.functor = functor_class(functor);
  c.name = "elementwise_" + functor;
  BuiltKernel built;
  built.description = fmt::format("{}, {} of {}, output {}, {} elements, vector {}, {} per thread, {} threads", functor,
                                  counted(inputs, "input"), to_string(in_type), to_string(out_type), c.elements,
                                  c.vector, c.elements_per_thread, c.block);
  if (chosen) built.notes.push_back("functor " + functor + " chosen by the number of inputs");
  if (!reader.given("vector")) built.notes.push_back(fmt::format("vector of {} elements chosen", c.vector));
  built.source = make_elementwise(c);
  return built;
}

}  // namespace

KernelSpec elementwise_spec() {
  return KernelSpec{"elementwise", "streaming elementwise kernel: inputs read once, output written once", options(),
                    &make};
}

}  // namespace strata
