// The only user of yaml-cpp.
#include "sim/config/gpu_reader.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/base/input_file.hpp"
#include "sim/config/config_dir.hpp"
#include "sim/config/gpu_fields.hpp"
#include "sim/config/text.hpp"

namespace strata {

namespace {

constexpr const char* kSchema = "strata.gpu/1";
constexpr std::size_t kMaxFileBytes = 1 << 20;
constexpr int kMaxExtends = 4;
const std::vector<std::string> kOrigins = {"datasheet", "measured", "literature", "inferred", "fitted", "given"};

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "" : ", ") + word;
  }
  return out;
}

class Reader {
 public:
  explicit Reader(GpuReadout& out) : out_(out) {}

  void read(const std::filesystem::path& path, int depth) {
    const std::string outer = std::exchange(file_, path.string());
    out_.gpu.files.push_back(path);
    try {
      read_root(parse(path), depth);
    } catch (const YAML::Exception& e) {
      problem(e.mark, {}, "not valid YAML: " + e.msg);
    }
    file_ = outer;
  }

  void report_missing() {
    for (const Field& field : gpu_fields()) {
      const std::string key(field.key);
      if (!seen_.contains(key)) {
        out_.problems.push_back(
            {file_, 0, 0, key, "missing: " + std::string(field.meaning) + " (" + field_range(field) + ")"});
      }
    }
  }
  void set_file(std::string file) { file_ = std::move(file); }

 private:
  static YAML::Node parse(const std::filesystem::path& path) {
    require_regular_file(path.string());
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      throw InputError(Diagnostic{path.string(), 0, 0, {}, cannot_be_opened()});
    }
    std::string text(kMaxFileBytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMaxFileBytes) {
      throw InputError(Diagnostic{path.string(), 0, 0, {}, "larger than 1 MiB; a GPU description is a few dozen KiB"});
    }
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      const YAML::Mark second = documents[1].Mark();
      throw InputError(
          Diagnostic{path.string(), second.line + 1, second.column + 1, {}, "begins a second document; expected one"});
    }
    return documents.empty() ? YAML::Node() : documents.front();
  }

  void problem(const YAML::Mark& mark, std::string key, std::string message) {
    // yaml-cpp counts from zero and marks "nowhere" with -1.
    out_.problems.push_back({file_, mark.is_null() ? 0 : mark.line + 1, mark.is_null() ? 0 : mark.column + 1,
                             std::move(key), std::move(message)});
  }

  /// Calls visit(name, key node, value node) for each entry with a plain, unrepeated key.
  template <typename Visit>
  void for_each_entry(const YAML::Node& map, const std::string& prefix, Visit visit) {
    std::set<std::string> names;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) {
        problem(entry.first.Mark(), prefix, "a key must be a plain word");
        continue;
      }
      const std::string name = entry.first.Scalar();
      if (!names.insert(name).second) {
        problem(entry.first.Mark(), prefix.empty() ? name : prefix + "." + name, "duplicate key");
        continue;
      }
      visit(name, entry.first, entry.second);
    }
  }

  void read_root(const YAML::Node& root, int depth) {
    if (!root.IsMap()) {
      problem(root.Mark(), {}, "expected a map with 'schema: " + std::string(kSchema) + "' and sections such as 'l2:'");
      return;
    }
    if (const YAML::Node schema = root["schema"]; !schema || !schema.IsScalar() || schema.Scalar() != kSchema) {
      problem(root.Mark(), "schema", "missing or not understood: expected " + std::string(kSchema));
    }
    if (const YAML::Node base = root["extends"]) {
      read_base(base, depth);
    }
    for_each_entry(root, {}, [&](const std::string& name, const YAML::Node& key, const YAML::Node& value) {
      if (name == "schema" || name == "extends") {
        return;
      }
      if (!is_section(name)) {
        problem(key.Mark(), name, "unknown section" + did_you_mean(name, sections()));
      } else if (!value.IsMap()) {
        problem(value.Mark(), name, "expected a map of keys");
      } else {
        for_each_entry(value, name, [&](const std::string& member, const YAML::Node& k, const YAML::Node& v) {
          read_entry(name + "." + member, k, v);
        });
      }
    });
  }

  void read_base(const YAML::Node& base, int depth) {
    if (!base.IsScalar() || names_a_file(base.Scalar())) {
      problem(base.Mark(), "extends", "expected the name of a GPU");
      return;
    }
    if (depth >= kMaxExtends) {
      problem(base.Mark(), "extends", "too deep: descriptions extend each other in a circle?");
      return;
    }
    std::filesystem::path path;
    const std::filesystem::path sibling = std::filesystem::path(file_).parent_path() / (base.Scalar() + ".yaml");
    std::error_code none;  // a name that no file can have is none
    try {
      path = std::filesystem::exists(sibling, none) ? sibling : find_gpu_file(base.Scalar());
    } catch (const InputError& e) {
      problem(base.Mark(), "extends", e.what());
      return;
    }
    read(path, depth + 1);
  }

  void read_entry(const std::string& key, const YAML::Node& key_node, const YAML::Node& node) {
    const Field* field = find_field(key);
    if (field == nullptr || field->key != key) {
      problem(key_node.Mark(), key, "unknown key" + did_you_mean(key, gpu_field_keys()));
      return;
    }
    seen_.insert(key);
    if (!node.IsMap()) {
      problem(node.Mark(), key, "expected {value: ..., origin: ..., source: \"...\"}");
      return;
    }
    YAML::Node value;
    YAML::Node origin;
    YAML::Node source;
    for_each_entry(node, key, [&](const std::string& name, const YAML::Node& k, const YAML::Node& v) {
      if (name == "value") {
        value.reset(v);
      } else if (name == "origin") {
        origin.reset(v);
      } else if (name == "source") {
        source.reset(v);
      } else {
        problem(k.Mark(), key, "unknown word '" + name + "': expected value, origin and source");
      }
    });
    read_value(*field, node, value);
    read_origin(*field, node, origin, source);
  }

  void read_value(const Field& field, const YAML::Node& node, const YAML::Node& value) {
    const std::string key(field.key);
    if (value.IsNull()) {
      problem(node.Mark(), key, "value is missing: expected " + field_range(field));
      return;
    }
    std::string text;
    if (value.IsScalar()) {
      text = value.Scalar();
    } else if (value.IsSequence()) {
      for (const auto& item : value) {
        text += (text.empty() ? "[" : ", ") + (item.IsScalar() ? item.Scalar() : std::string("?"));
      }
      text += text.empty() ? "[]" : "]";
    } else {
      problem(value.Mark(), key, "expected a number, a word or a list");
      return;
    }
    out_.places[key] = {file_, value.Mark().line + 1, value.Mark().column + 1};
    if (auto wrong = parse_field(field, text, out_.gpu.config)) {
      problem(value.Mark(), key, *wrong);
    }
  }

  void read_origin(const Field& field, const YAML::Node& node, const YAML::Node& origin, const YAML::Node& source) {
    const std::string key(field.key);
    if (!origin.IsScalar()) {
      problem(node.Mark(), key, "origin is missing: expected one of " + join(kOrigins));
      return;
    }
    if (std::find(kOrigins.begin(), kOrigins.end(), origin.Scalar()) == kOrigins.end()) {
      problem(origin.Mark(), key,
              "origin '" + origin.Scalar() + "': expected one of " + join(kOrigins) +
                  did_you_mean(origin.Scalar(), kOrigins));
      return;
    }
    if (!source.IsScalar() || source.Scalar().empty()) {
      problem(node.Mark(), key, "source is missing: say in a few words where the value comes from");
      return;
    }
    out_.gpu.origins[key] = {origin.Scalar(), source.Scalar()};
  }

  static std::vector<std::string> sections() {
    std::vector<std::string> names;
    for (const Field& field : gpu_fields()) {
      std::string name(field.key.substr(0, field.key.find('.')));
      if (names.empty() || names.back() != name) {
        names.push_back(std::move(name));
      }
    }
    return names;
  }
  static bool is_section(const std::string& name) {
    const std::vector<std::string> names = sections();
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  GpuReadout& out_;
  std::string file_;
  std::set<std::string> seen_;
};

}  // namespace

GpuReadout read_gpu_file(const std::filesystem::path& path) {
  GpuReadout out;
  Reader reader(out);
  reader.read(path, 0);
  // A file that is not YAML at all has one problem, not two hundred.
  if (out.problems.empty() || !out.places.empty()) {
    reader.set_file(path.string());
    reader.report_missing();
  }
  return out;
}

}  // namespace strata
