#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/app/command.hpp"
#include "sim/base/error.hpp"
#include "sim/base/shortened.hpp"
#include "sim/config/text.hpp"
#include "workloads/kernels/options.hpp"

namespace strata::app {

namespace {

/// Long option names that `app` takes, dashes included; those of its parents too where it falls through to them.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App* s) { return !s->get_group().empty(); })) {
    names.push_back(sub->get_name());
  }
  return names;
}

/// The program and the commands chosen, outermost first.
std::vector<const CLI::App*> chosen(const CLI::App& app) {
  std::vector<const CLI::App*> chain{&app};
  while (!chain.back()->get_subcommands().empty()) {
    chain.push_back(chain.back()->get_subcommands().front());
  }
  return chain;
}

/// Every option that the commands take, by each of its names, dashes included.
std::map<std::string, const CLI::Option*> options_by_name(const std::vector<const CLI::App*>& chain) {
  std::map<std::string, const CLI::Option*> out;
  for (const CLI::App* app : chain) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        out["--" + name] = option;
      }
      for (const std::string& name : option->get_snames()) {
        out["-" + name] = option;
      }
    }
  }
  return out;
}

[[noreturn]] void refuse(const std::vector<const CLI::App*>& chain, const std::string& word) {
  const CLI::App& last = *chain.back();
  const std::string where = last.get_parent() == nullptr ? "strata" : "strata " + [&chain] {
    std::string path;
    for (std::size_t i = 1; i < chain.size(); ++i) {
      path += (i > 1 ? " " : "") + chain[i]->get_name();
    }
    return path;
  }();
  if (word.size() > 1 && word.front() == '-') {
    std::vector<std::string> names;
    for (const CLI::App* app : chain) {
      for (std::string& name : option_names(*app)) {
        names.push_back(std::move(name));
      }
    }
    const std::string name = word.substr(0, word.find('='));
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      throw InputError(fmt::format("{} does not go with a command; give it alone: `strata {}`", name, name));
    }
    throw InputError(
        fmt::format("unknown option '{}'{}; `{} --help` lists them", name, did_you_mean(name, names), where));
  }
  const std::vector<std::string> names = command_names(last);
  if (names.empty()) {
    throw InputError(fmt::format("unexpected argument '{}'; `{} --help` shows the usage", word, where));
  }
  const char* what = last.get_name() == "run" ? "kernel" : "command";
  throw InputError(
      fmt::format("unknown {} '{}'{}; valid are {}", what, word, did_you_mean(word, names), fmt::join(names, ", ")));
}

/// One command at each level, once: a second one would take the place of the first in silence.
void refuse_second_command(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) {
    return;
  }
  const std::string first = chosen.front()->get_name();
  if (chosen.front()->count() > 1) {
    throw InputError(fmt::format("'{}' is given twice; expected it once", first));
  }
  if (chosen.size() > 1) {
    throw InputError(fmt::format("give either '{}' or '{}', not both", first, chosen[1]->get_name()));
  }
}

}  // namespace

void add_example(CLI::App& command, const std::string& example) {
  command.footer("example: " + example + "\n\n" + kExitCodes);
}

void require_choice(CLI::App& command, Action& action, const std::string& choices) {
  command.callback([&command, &action, choices] {
    if (command.get_subcommands().empty()) {
      action = [name = command.get_name(), choices]() -> int {
        throw InputError(fmt::format("`strata {}` needs one of: {}", name, choices));
      };
    }
  });
}

void refuse_misplaced_options(const CLI::App& app, const std::vector<std::string>& words) {
  const auto known = options_by_name(chosen(app));
  const auto option_of = [&known](const std::string& word) {
    const bool is_long = word.starts_with("--");
    const auto at = known.find(is_long ? word.substr(0, word.find('=')) : word.substr(0, 2));
    return at == known.end() ? nullptr : at->second;
  };
  for (const CLI::App* command : chosen(app)) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& value : option->results()) {
        if (option_of(value) != nullptr) {
          throw InputError(fmt::format("{}: its value is missing; found the option {}", option->get_name(), value));
        }
      }
    }
  }
  std::set<const CLI::Option*> seen;
  for (const std::string& word : words) {
    const CLI::Option* option = option_of(word);
    const bool may_repeat = option != nullptr && option->get_expected_max() >= CLI::detail::expected_max_vector_size;
    if (option != nullptr && !may_repeat && !seen.insert(option).second) {
      throw InputError(fmt::format("{} is given twice; expected it once", option->get_name()));
    }
  }
}

std::string in_our_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.ends_with(" missing")) {
    return text.substr(0, text.find(": ")) + ": its value is missing";
  }
  return shortened(text);
}

void refuse_unknown_words(const CLI::App& app) {
  const std::vector<const CLI::App*> chain = chosen(app);
  for (const CLI::App* command : chain) {
    refuse_second_command(*command);
  }
  const std::vector<std::string> words = app.remaining(true);
  if (!words.empty()) {
    refuse(chain, words.front());
  }
}

void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (value.empty()) {
        throw InputError(Diagnostic{{}, 0, 0, option->get_name(), "the value is empty; leave the option out instead"});
      }
    }
  }
  for (const CLI::App* sub : app.get_subcommands()) {
    refuse_empty_values(*sub);
  }
}

void require_with(bool given, const std::string& option, bool has, const std::string& needed) {
  if (given && !has) {
    throw InputError(fmt::format("{} needs {}", option, needed));
  }
}

void refuse_both(bool first_given, const std::string& first, bool second_given, const std::string& second) {
  if (first_given && second_given) {
    throw InputError(fmt::format("{} does not go with {}", first, second));
  }
}

CLI::Option* add_switch(CLI::App& command, const std::string& name, bool& on, const std::string& help) {
  const auto check = [](const std::string& text) {
    return parse_switch(text) ? std::string{} : fmt::format("'{}' is not a switch; expected on or off", text);
  };
  return command.add_flag(name, on, help)->check(check);
}

std::string check_positive(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value <= 0) {
    return fmt::format("'{}': expected a number above 0", text);
  }
  return {};
}

}  // namespace strata::app
