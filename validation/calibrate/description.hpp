/// Changing one value of a GPU description together with its origin.
#pragma once

#include <string>

#include "sim/config/gpu_description.hpp"

namespace strata {

/// Throws InputError when the text is out of the field's range, ModelBug when there is no such key.
void set_value(GpuDescription& description, const std::string& key, const std::string& text, const std::string& origin,
               const std::string& source);
/// The value of a numeric field. Throws ModelBug when there is none.
[[nodiscard]] double value_of(const GpuDescription& description, const std::string& key);

}  // namespace strata
