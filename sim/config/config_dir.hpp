/// Finding files under configs/.
#pragma once

#include <filesystem>
#include <string>

namespace strata {

/// True when the text of --gpu names a file rather than a GPU.
[[nodiscard]] bool names_a_file(const std::string& name_or_path);

/// The description file of a GPU name, or of a path. Throws InputError with the nearest name.
[[nodiscard]] std::filesystem::path find_gpu_file(const std::string& name_or_path);

}  // namespace strata
