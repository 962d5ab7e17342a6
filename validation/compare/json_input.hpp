/// JSON that somebody gave us: how deep it may nest, and how messages show its values.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace strata {

/// Deeper than any file that we read; each level takes stack when a value is copied or printed.
inline constexpr int kMaxJsonDepth = 64;

/// For callbacks of the parser: throws InputError that names `path` and `key` where `depth` is beyond kMaxJsonDepth.
void refuse_deep_json(int depth, const std::string& path, const std::string& key);

/// A value as messages show it: its text, cut where it is long.
[[nodiscard]] std::string shown(const nlohmann::json& value);

}  // namespace strata
