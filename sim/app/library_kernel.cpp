#include "sim/app/library_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/error.hpp"

namespace strata::app {

namespace {

/// The option as given, else its default in the catalogue.
std::string option_text(const KernelChoice& choice, const std::string& name) {
  const auto it = choice.values.find(name);
  if (it != choice.values.end() && !it->second.empty()) {
    return it->second;
  }
  for (const OptionSpec& option : choice.spec->options) {
    if (option.name == name) {
      return option.default_value;
    }
  }
  return {};
}

/// What a row-wise or elementwise kernel computes; without a functor that follows from the number of inputs.
std::string operator_of(const KernelChoice& choice) {
  for (const char* option : {"operator", "functor"}) {
    if (std::string op = option_text(choice, option); !op.empty()) {
      return op == "negate" ? "neg" : op;
    }
  }
  const std::string inputs = option_text(choice, "inputs");
  return inputs == "0" ? "fill" : (inputs == "1" ? "copy" : (inputs == "2" ? "add" : choice.spec->name));
}

}  // namespace

void refuse_tile_options(const KernelChoice& choice) {
  constexpr std::array kOfTheOperator{"m",        "n",        "k",      "layout",  "batch",    "heads",
                                      "kv-heads", "q-len",    "kv-len", "dtype",   "head-dim", "causal",
                                      "rows",     "operator", "cols",   "functor", "inputs"};
  const bool gemm = choice.spec->name.rfind("gemm", 0) == 0;
  for (const OptionSpec& option : choice.spec->options) {
    const bool given = !choice.values.at(option.name).empty();
    // A product's row has no batch: one that is given would be dropped.
    const bool used = std::find(kOfTheOperator.begin(), kOfTheOperator.end(), option.name) != kOfTheOperator.end() &&
                      !(gemm && option.name == "batch");
    if (given && !used) {
      throw InputError(Diagnostic{
          {}, 0, 0, "--" + option.name, "does not go with --kernel, whose kernel sets it; leave out one of the two"});
    }
  }
}

LaunchRow library_row(const KernelChoice& choice) {
  const auto text = [&choice](const char* name) { return option_text(choice, name); };
  LaunchRow row;
  row.dtype = text("dtype");
  if (choice.spec->name.rfind("gemm", 0) == 0) {
    row.op = "gemm";
    row.shape = fmt::format("{},{},{},{}", text("m"), text("n"), text("k"), text("layout"));
  } else if (choice.spec->name.rfind("flash_attention", 0) == 0) {
    row.op = "attention";
    const std::string causal = text("causal");
    const std::string kv_heads = text("kv-heads");
    row.shape = fmt::format("{},{},{},{},{},{},{}", text("batch"), text("heads"),
                            kv_heads.empty() ? text("heads") : kv_heads, text("q-len"), text("kv-len"),
                            text("head-dim"), causal == "0" || causal == "off" || causal == "false" ? 0 : 1);
  } else {  // elementwise and row-wise kernels of a matrix
    row.op = operator_of(choice);
    row.shape = fmt::format("{},{}", text("rows"), text("cols"));
  }
  return row;
}

BuiltKernel build_library_kernel(const KernelChoice& choice, const std::string& kernel_name,
                                 const TargetFacts& target) {
  const std::string family = family_of(kernel_name);
  if (family.empty()) {
    throw InputError(
        Diagnostic{{}, 0, 0, "--kernel", fmt::format("'{}' is not a kernel name that Strata recognises", kernel_name)});
  }
  LaunchRow row = library_row(choice);
  row.kernel = kernel_name;
  return resolve_launch(row, target);
}

}  // namespace strata::app
