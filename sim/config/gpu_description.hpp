/// GPU descriptions on disk: configs/gpus/*.yaml to GpuConfig with the origin of every value.
///
///   schema: strata.gpu/1
///   extends: h100-sxm5-80gb          # optional: values not given here come from that description
///   l2:
///     ways: {value: 20, origin: literature, source: "..."}
///
/// origin: datasheet | measured | literature | inferred | fitted ("given" after --set).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/config/gpu_config.hpp"

namespace strata {

struct FieldOrigin {
  std::string origin;       ///< datasheet, measured, literature, inferred, fitted or given
  std::string source;       ///< where the value comes from, in a few words
  std::string described{};  ///< with --set: the value that was replaced, with its unit
};

struct GpuDescription {
  GpuConfig config{};
  std::map<std::string, FieldOrigin> origins;  ///< by full key, one entry per field
  std::vector<std::filesystem::path> files;    ///< it was read from, those that others extend last
};

struct FieldDescription {
  std::string key;
  std::string unit;
  double min = 0;
  double max = 0;
  std::string range;  ///< in words
  std::string meaning;
  std::string value;
  std::string origin;
  std::string source;
};

/// Where GPU descriptions are looked for after the environment variable STRATA_CONFIG_DIR: a folder that holds
/// gpus/*.yaml. Call it before the first load_gpu.
void set_config_dir(const std::filesystem::path& path);
/// The folder in use: STRATA_CONFIG_DIR, set_config_dir, configs/ above the executable, share/strata/configs beside
/// it, or the source tree this was built from; empty when none of them holds gpus/.
[[nodiscard]] std::filesystem::path config_dir();

/// Reads a GPU by name, or by path when the text contains '/' or ends in .yaml or .yml, and applies overrides
/// "key=value" ("l2.size=100MiB", "topology.gpc_sms=[16,16]").
/// Throws InputError with every problem found: file, line, column, key, what was expected, the nearest name.
[[nodiscard]] GpuDescription load_gpu(const std::string& name_or_path, const std::vector<std::string>& overrides = {});

/// Names of the GPUs in config_dir(), sorted.
[[nodiscard]] std::vector<std::string> list_gpus();

/// Fields whose key is `key_prefix`, lies under it ("l2", "hbm.trcd_ns"), or all when it is empty.
/// Throws InputError with the nearest key when there are none.
[[nodiscard]] std::vector<FieldDescription> describe(const GpuDescription& gpu, const std::string& key_prefix);

/// What --set replaced, a line per key: "l2.size_bytes = 100 MiB (described: 50 MiB)".
[[nodiscard]] std::vector<std::string> replaced_values(const GpuDescription& gpu);

/// The description as YAML that load_gpu reads back identically, origins included, without `extends`.
[[nodiscard]] std::string effective_config(const GpuDescription& gpu);

/// Ranges of all fields and the relations between them. Throws InputError with every problem.
void validate_config(const GpuConfig& config);

}  // namespace strata
