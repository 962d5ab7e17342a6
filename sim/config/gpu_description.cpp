#include "sim/config/gpu_description.hpp"

#include <fmt/format.h>

#include <set>

#include "sim/base/error.hpp"
#include "sim/config/config_dir.hpp"
#include "sim/config/gpu_checks.hpp"
#include "sim/config/gpu_fields.hpp"
#include "sim/config/gpu_reader.hpp"
#include "sim/config/text.hpp"

namespace strata {

namespace {

/// `given`: keys that earlier overrides named.
void apply_override(const std::string& text, GpuDescription& gpu, std::set<std::string_view>& given,
                    std::vector<Diagnostic>& problems) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    problems.push_back({{}, 0, 0, {}, "--set '" + text.substr(0, 200) + "': expected key=value, e.g. l2.size=100MiB"});
    return;
  }
  const std::string key = text.substr(0, equals);
  const Field* field = find_field(key);
  if (field == nullptr) {
    problems.push_back({{}, 0, 0, key.substr(0, 200), "unknown key" + did_you_mean(key, gpu_field_keys())});
    return;
  }
  if (!given.insert(field->key).second) {
    problems.push_back({{}, 0, 0, std::string(field->key), "is given twice with --set; expected one value"});
    return;
  }
  const std::string described = field_words(*field, gpu.config);
  if (auto wrong = parse_field(*field, std::string_view(text).substr(equals + 1), gpu.config)) {
    problems.push_back({{}, 0, 0, std::string(field->key), *wrong});
    return;
  }
  gpu.origins[std::string(field->key)] = {"given", "--set", described};
}

/// Adds file, line and column to problems about values that a file gave.
void locate(std::vector<Diagnostic>& problems, const std::map<std::string, Place>& places) {
  for (Diagnostic& d : problems) {
    if (const auto it = places.find(d.key); it != places.end()) {
      d.file = it->second.file;
      d.line = it->second.line;
      d.column = it->second.column;
    }
  }
}

std::string yaml_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

GpuDescription load_gpu(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  GpuReadout read = read_gpu_file(find_gpu_file(name_or_path));
  std::set<std::string_view> given;
  for (const std::string& text : overrides) {
    const std::size_t before = read.problems.size();
    apply_override(text, read.gpu, given, read.problems);
    if (read.problems.size() == before) {
      read.places.erase(std::string(find_field(text.substr(0, text.find('=')))->key));
    }
  }
  if (read.problems.empty()) {
    read.problems = relation_problems(read.gpu.config);
    locate(read.problems, read.places);
  }
  if (!read.problems.empty()) {
    throw InputError(std::move(read.problems));
  }
  return std::move(read.gpu);
}

std::vector<FieldDescription> describe(const GpuDescription& gpu, const std::string& key_prefix) {
  std::vector<FieldDescription> out;
  const Field* one = find_field(key_prefix);
  for (const Field& field : gpu_fields()) {
    const bool under = key_prefix.empty() || field.key.starts_with(key_prefix + ".");
    if (!under && &field != one) {
      continue;
    }
    const std::string key(field.key);
    const auto origin = gpu.origins.find(key);
    const FieldOrigin from = origin == gpu.origins.end() ? FieldOrigin{} : origin->second;
    out.push_back({key, std::string(field.unit), field.min, field.max, field_range(field), std::string(field.meaning),
                   field_text(field, gpu.config), from.origin, from.source});
  }
  if (out.empty()) {
    std::vector<std::string> names = gpu_field_keys();
    for (const Field& field : gpu_fields()) {
      names.emplace_back(field.key.substr(0, field.key.find('.')));
    }
    throw InputError(Diagnostic{{}, 0, 0, key_prefix.substr(0, 200), "unknown key" + did_you_mean(key_prefix, names)});
  }
  return out;
}

std::vector<std::string> replaced_values(const GpuDescription& gpu) {
  std::vector<std::string> out;
  for (const auto& [key, from] : gpu.origins) {
    if (!from.described.empty()) {
      out.push_back(
          fmt::format("{} = {} (described: {})", key, field_words(*find_field(key), gpu.config), from.described));
    }
  }
  return out;
}

std::string effective_config(const GpuDescription& gpu) {
  std::string out = "schema: strata.gpu/1\n";
  std::string section;
  for (const Field& field : gpu_fields()) {
    const std::size_t dot = field.key.find('.');
    if (field.key.substr(0, dot) != section) {
      section = std::string(field.key.substr(0, dot));
      out += section + ":\n";
    }
    const auto origin = gpu.origins.find(std::string(field.key));
    const FieldOrigin from = origin == gpu.origins.end() ? FieldOrigin{"given", "set by a program"} : origin->second;
    const std::string value = field_text(field, gpu.config);
    out += fmt::format("  {}: {{value: {}, origin: {}, source: {}}}\n", field.key.substr(dot + 1),
                       field.unit == "words" ? yaml_quoted(value) : value, from.origin, yaml_quoted(from.source));
  }
  return out;
}

}  // namespace strata
