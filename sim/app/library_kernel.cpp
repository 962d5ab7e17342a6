#include "sim/app/library_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sim/base/error.hpp"
#include "workloads/kernels/options.hpp"

namespace strata::app {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// What a row-wise or elementwise kernel computes; without a functor that follows from the number of inputs.
std::string operator_of(const OptionReader& reader, const std::string& kernel) {
  for (const char* option : {"operator", "functor"}) {
    if (std::string op = reader.text(option); !op.empty()) {
      return op == "negate" ? "neg" : op;
    }
  }
  const std::string inputs = reader.text("inputs");
  return inputs == "0" ? "fill" : (inputs == "1" ? "copy" : (inputs == "2" ? "add" : kernel));
}

std::string gemm_shape(OptionReader& reader) {
  const std::int64_t m = reader.required_integer("m", 1, kMost);
  const std::int64_t n = reader.required_integer("n", 1, kMost);
  const std::int64_t k = reader.required_integer("k", 1, kMost);
  return fmt::format("{},{},{},{}", m, n, k, reader.choice("layout", {"NN", "NT", "TN", "TT"}));
}

std::string attention_shape(OptionReader& reader) {
  const std::int64_t batch = reader.integer("batch", 1, kMost);
  const std::int64_t heads = reader.required_integer("heads", 1, kMost);
  const std::int64_t kv_heads = reader.integer("kv-heads", 1, kMost, heads);
  const std::int64_t q_len = reader.required_integer("q-len", 1, kMost);
  const std::int64_t kv_len = reader.integer("kv-len", 1, kMost, q_len);
  const std::int64_t head_dim = reader.integer("head-dim", 1, kMost);
  return fmt::format("{},{},{},{},{},{},{}", batch, heads, kv_heads, q_len, kv_len, head_dim,
                     reader.flag("causal") ? 1 : 0);
}

bool is_one_of(const std::string& word, std::span<const char* const> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void refuse_ignored_options(const KernelChoice& choice, bool kernel_is_named) {
  constexpr std::array kOfTheShape{"m",     "n",      "k",     "layout",   "batch",  "heads", "kv-heads",
                                   "q-len", "kv-len", "dtype", "head-dim", "causal", "rows",  "cols"};
  constexpr std::array kOfTheOperator{"operator", "functor", "inputs"};
  const bool gemm = choice.spec->name.rfind("gemm", 0) == 0;
  for (const OptionSpec& option : choice.spec->options) {
    const bool given = !choice.values.at(option.name).empty();
    // A product's row has no batch: one that is given would be dropped.
    const bool used = (is_one_of(option.name, kOfTheShape) && !(gemm && option.name == "batch")) ||
                      (!kernel_is_named && is_one_of(option.name, kOfTheOperator));
    if (given && !used) {
      throw InputError(Diagnostic{
          {}, 0, 0, "--" + option.name, "does not go with --kernel, whose kernel sets it; leave out one of the two"});
    }
  }
}

LaunchRow library_row(const KernelChoice& choice) {
  const KernelOptions given = given_options(choice);
  OptionReader reader(given, choice.spec->options);
  LaunchRow row;
  row.dtype = reader.text("dtype");
  (void)reader.data_type("dtype", DataType::kBf16);
  if (choice.spec->name.rfind("gemm", 0) == 0) {
    row.op = "gemm";
    row.shape = gemm_shape(reader);
  } else if (choice.spec->name.rfind("flash_attention", 0) == 0) {
    row.op = "attention";
    row.shape = attention_shape(reader);
  } else {  // elementwise and row-wise kernels of a matrix
    row.op = operator_of(reader, choice.spec->name);
    const std::int64_t rows = reader.required_integer("rows", 1, kMost);
    row.shape = fmt::format("{},{}", rows, reader.required_integer("cols", 1, kMost));
  }
  try {
    reader.finish();
  } catch (const InputError& error) {
    throw as_options(error);
  }
  return row;
}

BuiltKernel build_library_kernel(const KernelChoice& choice, const std::string& kernel_name,
                                 const TargetFacts& target) {
  const KernelOptions given = given_options(choice);
  const auto asked = [&given](const char* option) {
    const auto it = given.find(option);
    return it == given.end() ? std::string{} : it->second;
  };
  LaunchRow row = library_row(choice);
  row.kernel = kernel_name;
  row.asked = {asked("dtype"), asked("layout")};
  try {
    return resolve_launch(row, target);
  } catch (const UnsupportedError& error) {
    throw InputError(Diagnostic{{}, 0, 0, "--kernel", error.what()});
  }
}

}  // namespace strata::app
