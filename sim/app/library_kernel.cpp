#include "sim/app/library_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/error.hpp"
#include "workloads/kernels/options.hpp"

namespace strata::app {

namespace {

constexpr std::int64_t kMost = 0x7fffffff;                 ///< of a product's or an attention's sizes
constexpr std::int64_t kMostSide = std::int64_t{1} << 40;  ///< of a tensor's rows or columns

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

constexpr const char* kAnyGemm = "gemm";  ///< the sub-command that leaves the generator open

bool is_gemm(const KernelSpec& spec) { return spec.name.rfind(kAnyGemm, 0) == 0; }

[[noreturn]] void refuse_kernel(const std::string& what, const std::string& command) {
  throw InputError(Diagnostic{{}, 0, 0, "--kernel", fmt::format("{}; expected `strata run {}`", what, command)});
}

/// A kernel of another operator than the sub-command's would take its sizes for something else.
void expect_operator(const KernelSpec& spec, const std::string& kernel_name) {
  const std::string family = family_of(kernel_name);
  const std::string command = command_of_family(family);
  if (!command.empty() && command != (is_gemm(spec) ? kAnyGemm : spec.name)) {
    refuse_kernel(fmt::format("is a kernel of {}, not of {}", family, spec.name), command);
  }
}

/// Nor does a sub-command that names a generator run another one's kernel.
void expect_generator(const KernelSpec& spec, const Launch& launch) {
  if (is_gemm(spec) && spec.name != kAnyGemm && launch.family != spec.name) {
    const auto specs = kernel_catalogue();
    const bool named = std::any_of(specs.begin(), specs.end(), [&](const auto& s) { return s.name == launch.family; });
    refuse_kernel(fmt::format("is a kernel of {}, not of {}", launch.family, spec.name),
                  named ? launch.family + "` or `strata run gemm" : kAnyGemm);
  }
}

bool is_one_of(const std::string& word, std::span<const char* const> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void refuse_ignored_options(const KernelChoice& choice, bool kernel_is_named) {
  constexpr std::array kOfTheShape{"m",     "n",      "k",     "layout",   "batch",  "heads", "kv-heads",
                                   "q-len", "kv-len", "dtype", "head-dim", "causal", "rows",  "cols"};
  constexpr std::array kOfTheOperator{"operator", "functor", "inputs"};
  const bool gemm = is_gemm(*choice.spec);
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

std::string command_of_family(std::string_view family) {
  struct Home {
    std::string_view family;
    const char* command;
  };
  static constexpr std::array<Home, 29> kHomes{{{"nvjet", "gemm"},
                                                {"sm90_xmma_gemm", "gemm"},
                                                {"sm80_xmma_gemm", "gemm"},
                                                {"cutlass_gemm", "gemm"},
                                                {"ampere_gemm", "gemm"},
                                                {"splitk_sum", "gemm"},
                                                {"ladder_simt", "gemm"},
                                                {"ladder_mma", "gemm"},
                                                {"ladder_wmma", "gemm"},
                                                {"ladder_wgmma", "gemm"},
                                                {"ladder_plain_gemm", "gemm"},
                                                {"ladder_gemv", "gemm"},
                                                {"ladder_splitk_sum", "gemm"},
                                                {"flash_attention_2", "flash_attention"},
                                                {"flash_split_kv", "flash_attention"},
                                                {"flash_combine", "flash_attention"},
                                                {"cudnn_sm90_attention", "flash_attention"},
                                                {"cudnn_sm80_attention", "flash_attention"},
                                                {"lean_reduction", "flash_attention"},
                                                {"ladder_attention", "flash_attention"},
                                                {"softmax", "rowwise"},
                                                {"layer_norm", "rowwise"},
                                                {"reduce", "rowwise"},
                                                {"ladder_rows", "rowwise"},
                                                {"elementwise", "elementwise"},
                                                {"triangle", "elementwise"},
                                                {"ladder_elementwise", "elementwise"},
                                                {"ladder_transpose", "elementwise"},
                                                {"ladder_rotary", "elementwise"}}};
  const auto* home = std::find_if(kHomes.begin(), kHomes.end(), [&](const Home& h) { return h.family == family; });
  return home == kHomes.end() ? std::string{} : home->command;
}

void expect_open_generator(const KernelChoice& choice) {
  if (is_gemm(*choice.spec) && choice.spec->name != kAnyGemm) {
    refuse_kernel(fmt::format("auto chooses among the kernels of every generator, not of {} alone", choice.spec->name),
                  kAnyGemm);
  }
}

LaunchRow library_row(const KernelChoice& choice) {
  const KernelOptions given = given_options(choice);
  OptionReader reader(given, choice.spec->options);
  LaunchRow row;
  row.dtype = reader.text("dtype");
  (void)reader.data_type("dtype", DataType::kBf16);
  if (is_gemm(*choice.spec)) {
    row.op = "gemm";
    row.shape = gemm_shape(reader);
  } else if (choice.spec->name.rfind("flash_attention", 0) == 0) {
    row.op = "attention";
    row.shape = attention_shape(reader);
  } else {  // elementwise and row-wise kernels of a matrix
    row.op = operator_of(reader, choice.spec->name);
    const std::int64_t rows = reader.required_integer("rows", 1, kMostSide);
    row.shape = fmt::format("{},{}", rows, reader.required_integer("cols", 1, kMostSide));
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
  expect_operator(*choice.spec, kernel_name);
  const KernelOptions given = given_options(choice);
  const auto asked = [&given](const char* option) {
    const auto it = given.find(option);
    return it == given.end() ? std::string{} : it->second;
  };
  LaunchRow row = library_row(choice);
  row.kernel = kernel_name;
  row.asked = {asked("dtype"), asked("layout")};
  if (given.contains("causal")) row.asked.causal = OptionReader(given, choice.spec->options).flag("causal");
  try {
    BuiltKernel built = resolve_launch(row, target);
    expect_generator(*choice.spec, built.source->launch());
    return built;
  } catch (const UnsupportedError& error) {
    throw InputError(Diagnostic{{}, 0, 0, "--kernel", error.what()});
  }
}

}  // namespace strata::app
