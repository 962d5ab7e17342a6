/// The sub-commands of `strata`. Each adds its options to the program and, when chosen, sets the action to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace strata::app {

/// Runs the chosen sub-command and returns its exit code; throws InputError and the like.
using Action = std::function<int()>;

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailure = 1;  ///< the answer is a failure
inline constexpr int kExitInput = 2;    ///< bad usage or input
inline constexpr int kExitBug = 3;      ///< a broken invariant of ours

void add_list(CLI::App& app, Action& action);
void add_describe(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);
void add_study(CLI::App& app, Action& action);

inline constexpr const char* kExitCodes =
    "exit codes: 0 done, 1 the answer is a failure, 2 bad usage or input, 3 a broken invariant of ours";

/// Ends the command's --help with a line to copy. Call it after its sub-commands have been added: they have their own.
void add_example(CLI::App& command, const std::string& example);

/// The action of a command that needs one of its sub-commands and got none: an InputError that names them.
void require_choice(CLI::App& command, Action& action, const std::string& choices);

/// Throws InputError for an option given twice, and for one that stands where another's value should: the parser takes
/// it for that value. `words` is the command line without the program's name.
void refuse_misplaced_options(const CLI::App& app, const std::vector<std::string>& words);
/// What the parser found wrong, as our messages put it.
[[nodiscard]] std::string in_our_words(const CLI::ParseError& error);
/// Throws InputError for words on the command line that nothing took, with the nearest valid name.
void refuse_unknown_words(const CLI::App& app);
/// Throws InputError for an option given an empty value, which would otherwise count as not given.
void refuse_empty_values(const CLI::App& app);
/// Throws InputError where `option` was given (`given`) without what it acts on: never an option that is ignored.
void require_with(bool given, const std::string& option, bool has, const std::string& needed);
/// Throws InputError where both were given and one would be ignored.
void refuse_both(bool first_given, const std::string& first, bool second_given, const std::string& second);
/// Adds an option that is on where it is given, also as NAME=on, and off as NAME=off; any other value is refused.
CLI::Option* add_switch(CLI::App& command, const std::string& name, bool& on, const std::string& help);
/// For CLI::Option::check: a finite number above zero.
[[nodiscard]] std::string check_positive(const std::string& text);

}  // namespace strata::app
