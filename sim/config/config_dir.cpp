#include "sim/config/config_dir.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/config/gpu_description.hpp"
#include "sim/config/text.hpp"

namespace strata {

namespace fs = std::filesystem;

namespace {

fs::path& chosen_dir() {
  static fs::path dir;
  return dir;
}

bool holds_gpus(const fs::path& dir) {
  std::error_code ignored;
  return !dir.empty() && fs::is_directory(dir / "gpus", ignored);
}

fs::path beside_executable() {
  std::error_code error;
  fs::path dir = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) {
    return {};
  }
  for (int level = 0; level < 6 && !dir.empty(); ++level, dir = dir.parent_path()) {
    for (const fs::path& candidate : {dir / "configs", dir / "share" / "strata" / "configs"}) {
      if (holds_gpus(candidate)) {
        return candidate;
      }
    }
    if (dir == dir.root_path()) {
      break;
    }
  }
  return {};
}

}  // namespace

void set_config_dir(const fs::path& path) { chosen_dir() = path; }

fs::path config_dir() {
  if (const char* env = std::getenv("STRATA_CONFIG_DIR"); env != nullptr && *env != '\0') {
    return env;  // what the user asked for, even if it turns out to be empty: the error then names it
  }
  if (holds_gpus(chosen_dir())) {
    return chosen_dir();
  }
  if (fs::path found = beside_executable(); !found.empty()) {
    return found;
  }
#ifdef STRATA_SOURCE_CONFIG_DIR
  if (holds_gpus(STRATA_SOURCE_CONFIG_DIR)) {
    return STRATA_SOURCE_CONFIG_DIR;
  }
#endif
  return {};
}

std::vector<std::string> list_gpus() {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(config_dir() / "gpus", error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".yaml") {
      names.push_back(it->path().stem().string());
    }
  }
  if (names.empty()) {
    throw InputError("no GPU descriptions found in '" + (config_dir() / "gpus").string() +
                     "'; set STRATA_CONFIG_DIR to the folder that holds gpus/");
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool names_a_file(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".yaml") ||
         name_or_path.ends_with(".yml");
}

fs::path find_gpu_file(const std::string& name_or_path) {
  std::error_code ignored;
  if (names_a_file(name_or_path)) {
    if (!fs::exists(name_or_path, ignored)) {
      throw InputError(Diagnostic{name_or_path, 0, 0, {}, "no such file"});
    }
    return name_or_path;
  }
  const std::vector<std::string> names = list_gpus();
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return config_dir() / "gpus" / (name_or_path + ".yaml");
  }
  std::string known;
  for (const std::string& name : names) {
    known += (known.empty() ? "" : ", ") + name;
  }
  // Of several that begin as was typed, the one on a board of its own is the one that is meant more often than a card.
  std::vector<std::string> likely = names;
  std::stable_partition(likely.begin(), likely.end(),
                        [](const std::string& name) { return name.find("-sxm") != std::string::npos; });
  throw InputError("unknown GPU '" + name_or_path.substr(0, 200) + "'" + did_you_mean(name_or_path, likely) +
                   " (known: " + known + ")");
}

}  // namespace strata
