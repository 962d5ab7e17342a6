#include "validation/compare/json_input.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/error.hpp"
#include "sim/base/shortened.hpp"

namespace strata {

void refuse_deep_json(int depth, const std::string& path, const std::string& key) {
  if (depth >= kMaxJsonDepth) {
    throw InputError(
        Diagnostic{path, 0, 0, key, fmt::format("nests deeper than {} levels; expected fewer", kMaxJsonDepth)});
  }
}

std::string shown(const nlohmann::json& value) {
  return shortened(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace strata
