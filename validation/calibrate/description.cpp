#include "validation/calibrate/description.hpp"

#include <cstdlib>

#include "sim/base/error.hpp"
#include "sim/config/gpu_fields.hpp"

namespace strata {

namespace {
const Field& field_of(const std::string& key) {
  const Field* field = find_field(key);
  if (field == nullptr) {
    throw ModelBug("calibrate: no configuration key " + key);
  }
  return *field;
}
}  // namespace

void set_value(GpuDescription& d, const std::string& key, const std::string& text, const std::string& origin,
               const std::string& source) {
  const Field& field = field_of(key);
  if (const auto problem = parse_field(field, text, d.config)) {
    throw InputError(Diagnostic{{}, 0, 0, key, *problem});
  }
  d.origins[std::string(field.key)] = FieldOrigin{origin, source};
}

double value_of(const GpuDescription& d, const std::string& key) {
  GpuConfig config = d.config;
  return std::strtod(field_text(field_of(key), config).c_str(), nullptr);
}

}  // namespace strata
