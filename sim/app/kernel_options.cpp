#include "sim/app/kernel_options.hpp"

#include <utility>
#include <vector>

#include "sim/base/error.hpp"

namespace strata::app {

namespace {

constexpr const char* kOn = "on";

void add_option(CLI::App& kernel, const OptionSpec& option, KernelChoice& choice) {
  const std::string name = "--" + option.name;
  CLI::Option* added = kernel.add_option(name, choice.values[option.name], option.help);
  if (option.type == OptionType::kFlag) {
    // CLI11 reads an option without its value as default_str: a bare switch is on, whatever its default.
    added->expected(0, 1)->default_str(kOn)->option_text("[on|off]=" + option.default_value);
    return;
  }
  const std::string type = option.type == OptionType::kInt ? "INT" : "TEXT";
  // Not CLI11's own mark: the options of a kernel that is not chosen are not required, nor are they all with --kernel.
  added->type_name(is_required(option) ? type + " REQUIRED" : type);
  added->default_str(option.chosen ? "chosen" : option.default_value);
}

/// A line to copy, with a size for each option that has to be given.
std::string example_of(const CLI::App& command, const KernelSpec& spec) {
  const auto size = [](const std::string& option) {
    return option == "heads" ? "16" : (option == "rows" ? "8192" : "4096");
  };
  std::string words = "strata ";
  words += command.get_parent()->get_parent() != nullptr ? command.get_parent()->get_name() + " " : "";
  words += command.get_name() + " " + spec.name;
  for (const OptionSpec& option : spec.options) {
    words += is_required(option) ? " --" + option.name + " " + size(option.name) : "";
  }
  const bool records = command.get_option_no_throw("--out") != nullptr;
  return "example: " + words + (records ? " --out " + spec.name + ".trace" : "");
}

/// The command's own options, which a kernel's --help would leave out, but those that replace a kernel.
std::string options_of_every_kernel(const CLI::App& command) {
  const auto options = command.get_options([&command](const CLI::Option* option) {
    return option->nonpositional() && option != command.get_help_ptr() && option->get_group() != kInsteadOfKernel;
  });
  return CLI::Formatter().make_group("Options of every kernel", false, options);
}

}  // namespace

void add_kernel_commands(CLI::App& command, KernelChoice& choice) {
  for (const KernelSpec& spec : kernel_catalogue()) {
    CLI::App* kernel = command.add_subcommand(spec.name, spec.help);
    kernel->fallthrough();
    // Kernels share letters (--m of two GEMMs); only one of them is ever chosen, so they may share the storage.
    for (const OptionSpec& option : spec.options) {
      add_option(*kernel, option, choice);
    }
    kernel->footer([&command, &spec] { return options_of_every_kernel(command) + "\n" + example_of(command, spec); });
    kernel->callback([&choice, &spec] { choice.spec = &spec; });
  }
}

bool is_required(const OptionSpec& option) { return option.default_value.empty() && !option.chosen; }

KernelOptions given_options(const KernelChoice& choice) {
  KernelOptions options;
  for (const OptionSpec& option : choice.spec->options) {
    const std::string& value = choice.values.at(option.name);
    if (!value.empty()) {
      options[option.name] = value;
    }
  }
  return options;
}

InputError as_options(const InputError& error) {
  std::vector<Diagnostic> diagnostics = error.diagnostics();
  for (Diagnostic& d : diagnostics) {
    if (d.file.empty() && !d.key.empty() && d.key.rfind("--", 0) != 0) {
      d.key = "--" + d.key;
    }
  }
  return InputError(std::move(diagnostics));
}

BuiltKernel build_kernel(const KernelChoice& choice, const TargetFacts& target) {
  try {
    return choice.spec->make(given_options(choice), target);
  } catch (const InputError& e) {
    throw as_options(e);
  }
}

}  // namespace strata::app
