#include "sim/config/gpu_description.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "sim/base/error.hpp"
#include "sim/config/gpu_fields.hpp"

using namespace strata;
namespace fs = std::filesystem;

namespace {

/// A folder of this test's own, gone afterwards.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "strata-config-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

std::vector<Diagnostic> problems_of(const std::string& path, const std::vector<std::string>& overrides = {}) {
  try {
    (void)load_gpu(path, overrides);
  } catch (const InputError& e) {
    return e.diagnostics();
  }
  return {};
}

bool any(const std::vector<Diagnostic>& problems, const std::string& key, const std::string& words) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const Diagnostic& d) { return d.key == key && d.message.find(words) != std::string::npos; });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// A whole description whose values these tests may rely on.
std::string h100_text() {
  return effective_config(load_gpu(
      "h100-sxm5-80gb", {"l2.ways=20", "l2.slices=80", "hbm.bank_groups=8", "hbm.banks_per_group=4", "hbm.trcd=19.4"}));
}

/// 1-based line of the first occurrence.
int line_of(const std::string& text, const std::string& what) {
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(what)), '\n'));
}

}  // namespace

TEST_CASE("GPU descriptions: all load, agree with the data sheet and lean on few fitted values", "[config][gpus]") {
  struct Expected {
    int sms;
    double gb_per_s;
    double tensor_16bit_tflops;  // at the clock behind the vendor's figure
    int peak_mhz;
    std::int64_t l2_mib;
  };
  const std::map<std::string, Expected> datasheet = {
      {"a100-pcie-80gb", {108, 1935, 312, 1410, 40}},   {"a100-sxm4-40gb", {108, 1555, 312, 1410, 40}},
      {"a100-sxm4-80gb", {108, 2039, 312, 1410, 40}},   {"h100-pcie-80gb", {114, 2039, 756, 1620, 50}},
      {"h100-sxm5-80gb", {132, 3352, 989.4, 1830, 50}}, {"h200-sxm-141gb", {132, 4800, 989.4, 1830, 60}}};
  const std::vector<std::string> names = list_gpus();
  for (const auto& [name, expected] : datasheet) {
    INFO(name);
    REQUIRE(std::find(names.begin(), names.end(), name) != names.end());
    const GpuDescription gpu = load_gpu(name);
    CHECK(gpu.config.chip.name == name);
    CHECK(gpu.config.num_sms() == expected.sms);
    CHECK(gpu.config.hbm_peak_gb_per_s() == Approx(expected.gb_per_s).epsilon(0.01));
    CHECK(2e-6 * gpu.config.tensor.fma_16bit * gpu.config.num_sms() * expected.peak_mhz ==
          Approx(expected.tensor_16bit_tflops).epsilon(0.01));
    CHECK(gpu.config.l2.size_bytes == expected.l2_mib << 20);
    CHECK(gpu.origins.size() == gpu_fields().size());
    CHECK_NOTHROW(validate_config(gpu.config));
  }
  for (const std::string& name : names) {
    INFO(name);
    std::map<std::string, int> by_origin;
    for (const auto& [key, origin] : load_gpu(name).origins) {
      ++by_origin[origin.origin];
    }
    // An A100 was never measured here: what no source says of it is taken from the H100.
    const int limit = name.starts_with("a100") ? 35 : 24;
    CHECK(by_origin["fitted"] <= 12);
    CHECK(by_origin["fitted"] + by_origin["inferred"] <= limit);
  }
}

TEST_CASE("GPU descriptions: the effective config reads back identically", "[config]") {
  const Folder folder;
  for (const std::string& name : list_gpus()) {
    const GpuDescription gpu = load_gpu(name, {"l2.dirty_limit=0.3"});
    const std::string text = effective_config(gpu);
    const GpuDescription back = load_gpu(folder.write("gpu.yaml", text));
    CHECK(effective_config(back) == text);
    CHECK(back.origins.at("l2.dirty_limit").origin == "given");
    for (const Field& field : gpu_fields()) {
      CHECK(field_text(field, back.config) == field_text(field, gpu.config));
    }
  }
}

TEST_CASE("--set: changes a value, its origin and nothing else", "[config][set]") {
  const GpuDescription plain = load_gpu("h100-sxm5-80gb");
  const GpuDescription gpu = load_gpu("h100-sxm5-80gb", {"l2.size=100MiB", "topology.tpcs_per_cpc=2"});
  CHECK(gpu.config.l2.size_bytes == 100 << 20);
  CHECK(gpu.origins.at("l2.size_bytes").origin == "given");
  CHECK(replaced_values(plain).empty());
  CHECK(replaced_values(gpu) == std::vector<std::string>{"l2.size_bytes = 100 MiB (described: 50 MiB)",
                                                         "topology.tpcs_per_cpc = 2 TPCs (described: 3 TPCs)"});
  for (const Field& field : gpu_fields()) {
    if (field.key != "l2.size_bytes" && field.key != "topology.tpcs_per_cpc") {
      CHECK(field_text(field, gpu.config) == field_text(field, plain.config));
    }
  }
}

TEST_CASE("--set: every bad override is reported with its key", "[config][set][error]") {
  const auto problems = problems_of("h100-sxm5-80gb", {"l2.wayz=4", "l2.ways=none", "l2.ways", "=3", "hbm.trfc=nan",
                                                       "topology.gpc_sms=[16,", "l2.near_copy=maybe"});
  CHECK(problems.size() == 7);
  CHECK(any(problems, "l2.wayz", "did you mean 'l2.ways'?"));
  CHECK(any(problems, "l2.ways", "not a whole number"));
  CHECK(any(problems, "", "expected key=value"));
  CHECK(any(problems, "hbm.trfc_ns", "not a finite number"));
  CHECK(any(problems, "topology.gpc_sms", "not a list"));
  CHECK(any(problems, "l2.near_copy", "one of none, first_fill, far_hit"));
}

TEST_CASE("--set: relations between keys are checked after all overrides", "[config][set][error]") {
  CHECK(problems_of("h100-sxm5-80gb", {"l2.slices=81"}).size() >= 1);
  CHECK(any(problems_of("h100-sxm5-80gb", {"topology.gpc_sms=[16,16]"}), "topology.gpc_partition", "as long as"));
  CHECK(any(problems_of("h100-sxm5-80gb", {"l2.ways=20", "l2.size=100MB"}), "l2.size_bytes", "99942400 or 100147200"));
  CHECK(any(problems_of("h100-sxm5-80gb", {"smem.max_cta_bytes=512KiB"}), "smem.max_cta_bytes", "must not exceed"));
  CHECK(any(problems_of("h100-sxm5-80gb", {"clocks.sm_loaded=1990"}), "clocks.sm_loaded_mhz", "sm_max_mhz"));
  CHECK(any(problems_of("h100-sxm5-80gb", {"l2.fetch_bytes=48"}), "l2.fetch_bytes", "must be 32 or 64"));
  CHECK(any(problems_of("h100-sxm5-80gb", {"hbm.trfc=3900"}), "hbm.trfc_ns", "between refreshes"));
  CHECK(problems_of("h100-sxm5-80gb",
                    {"topology.gpc_sms=[16,16]", "topology.gpc_partition=[0,1]", "topology.gpc_cluster_sms=[16,8]"})
            .empty());
}

TEST_CASE("GPU name: unknown ones suggest the nearest, files are told from names", "[config][error]") {
  const auto typo = problems_of("h100-sxm5-80bg");
  REQUIRE(typo.size() == 1);
  CHECK(typo[0].message.find("did you mean 'h100-sxm5-80gb'?") != std::string::npos);
  CHECK(problems_of("no/such/file.yaml")[0].message == "no such file");
  CHECK(problems_of("h100.yaml")[0].message == "no such file");
  CHECK(problems_of("./")[0].message.find("expected a regular file") != std::string::npos);
  CHECK(problems_of("").size() == 1);
}

TEST_CASE("YAML: missing, unknown, duplicate and mistyped keys are all reported with their place", "[config][error]") {
  const Folder folder;
  std::string text = h100_text();
  text = replaced(text, "  ways: {value: 20", "  wayz: {value: 20");
  text = replaced(text, "  banks_per_group: {value: 4", "  banks_per_group: {value: four");
  text = replaced(text, "  trcd_ns: {value: 19.4", "  trcd_ns: {value: .nan");
  text = replaced(text, "  bank_groups: {value: 8", "  bank_groups: {value: 0");
  text += "launch:\n  cluster_cycles: {value: 1, origin: given, source: x}\n";
  const auto problems = problems_of(folder.write("gpu.yaml", text));
  CHECK(any(problems, "l2.wayz", "did you mean 'l2.ways'?"));
  CHECK(any(problems, "l2.ways", "missing"));
  CHECK(any(problems, "hbm.banks_per_group", "'four' is not a whole number"));
  CHECK(any(problems, "hbm.trcd_ns", "not a finite number"));
  CHECK(any(problems, "hbm.bank_groups", "out of range: expected 1 to 64 bank group"));
  CHECK(any(problems, "launch", "duplicate key"));
  CHECK(problems.size() == 6);
  for (const Diagnostic& d : problems) {
    if (d.key == "l2.wayz") {
      CHECK(d.line == line_of(text, "wayz"));
      CHECK(d.column == 3);
      CHECK(d.file.ends_with("gpu.yaml"));
    }
  }
}

TEST_CASE("YAML: relations broken in a file point at the value", "[config][error]") {
  const Folder folder;
  const std::string text = replaced(h100_text(), "slices: {value: 80", "slices: {value: 79");
  const auto problems = problems_of(folder.write("gpu.yaml", text));
  REQUIRE_FALSE(problems.empty());
  CHECK(problems[0].key == "l2.slices");
  CHECK(problems[0].line == line_of(text, "slices: {value: 79"));
  CHECK(problems[0].column == 19);
}

TEST_CASE("YAML: entries without value, origin or source, or with other words, are refused", "[config][error]") {
  const Folder folder;
  const std::string text = h100_text();
  const std::string entry = text.substr(text.find("cluster_cycles"));
  const auto with = [&](const std::string& other) {
    return problems_of(folder.write("gpu.yaml", replaced(text, entry, "cluster_cycles: " + other + "\n")));
  };
  CHECK(any(with("700"), "launch.cluster_cycles", "expected {value"));
  CHECK(any(with("[1, 2]"), "launch.cluster_cycles", "expected {value"));
  CHECK(any(with("{origin: given, source: x}"), "launch.cluster_cycles", "value is missing"));
  CHECK(any(with("{value: , origin: given, source: x}"), "launch.cluster_cycles", "value is missing"));
  CHECK(any(with("{value: {a: 1}, origin: given, source: x}"), "launch.cluster_cycles", "expected a number"));
  CHECK(any(with("{value: [1, [2]], origin: given, source: x}"), "launch.cluster_cycles", "not a whole number"));
  CHECK(any(with("{value: 700, source: x}"), "launch.cluster_cycles", "origin is missing"));
  CHECK(any(with("{value: 700, origin: guess, source: x}"), "launch.cluster_cycles", "expected one of datasheet"));
  CHECK(any(with("{value: 700, origin: measurd, source: x}"), "launch.cluster_cycles", "did you mean 'measured'?"));
  CHECK(any(with("{value: 700, origin: given}"), "launch.cluster_cycles", "source is missing"));
  CHECK(any(with("{value: 700, value: 1, origin: given, source: x}"), "launch.cluster_cycles.value", "duplicate"));
  CHECK(any(with("{value: 700, origin: given, source: x, unit: W}"), "launch.cluster_cycles", "unknown word 'unit'"));
}

TEST_CASE("YAML: text that is no description at all gives one clear problem", "[config][error]") {
  const Folder folder;
  for (const char* text : {"", "just words", "[1, 2]", "a: [1", "{", "\xff\xfe\x00", "%YAML 9.9\n---\n!!x",
                           "a: &a [*a]", "a: *nowhere", "\t- x"}) {
    INFO(text);
    const auto problems = problems_of(folder.write("gpu.yaml", text));
    CHECK_FALSE(problems.empty());
    CHECK(problems.size() <= 3);
  }
  CHECK(any(problems_of(folder.write("gpu.yaml", "schema: strata.gpu/2\n")), "schema", "expected strata.gpu/1"));
  CHECK(problems_of(folder.write("gpu.yaml", std::string(2 << 20, ' ')))[0].message.find("larger than") == 0);
}

TEST_CASE("YAML: sections have to be known maps", "[config][error]") {
  const Folder folder;
  CHECK(any(problems_of(folder.write("gpu.yaml", h100_text() + "l3:\n  ways: 1\n")), "l3", "unknown section"));
  CHECK(any(problems_of(folder.write("gpu.yaml", "schema: strata.gpu/1\nextends: h100-sxm5-80gb\nl2: 4\n")), "l2",
            "expected a map"));
}

TEST_CASE("extends: takes what a file does not give from another, and finds siblings first", "[config]") {
  const Folder folder;
  const std::string path = folder.write(
      "mine.yaml",
      "schema: strata.gpu/1\nextends: h100-sxm5-80gb\nl2:\n  size_bytes: {value: 100MiB, origin: given, source: x}\n");
  const GpuDescription mine = load_gpu(path);
  CHECK(mine.config.l2.size_bytes == 100 << 20);
  CHECK(mine.config.num_sms() == 132);
  folder.write("loop.yaml", "schema: strata.gpu/1\nextends: loop\n");
  CHECK(any(problems_of(folder.write("user.yaml", "schema: strata.gpu/1\nextends: loop\n")), "extends", "circle"));
  const std::string long_name(300, 'n');
  CHECK(any(problems_of(folder.write("user.yaml", "schema: strata.gpu/1\nextends: " + long_name + "\n")), "extends",
            "unknown GPU"));
  CHECK(any(problems_of(folder.write("user.yaml", "schema: strata.gpu/1\nextends: h100-sxm\n")), "extends",
            "did you mean"));
  CHECK(any(problems_of(folder.write("user.yaml", "schema: strata.gpu/1\nextends: /etc/passwd\n")), "extends",
            "expected the name"));
}

TEST_CASE("describe: gives unit, range, value and origin of a key or of all keys under one", "[config][describe]") {
  const GpuDescription gpu = load_gpu("h100-sxm5-80gb", {"l2.ways=20"});
  const auto one = describe(gpu, "l2.ways");
  REQUIRE(one.size() == 1);
  CHECK(one[0].value == "20");
  CHECK(one[0].unit == "way");
  CHECK(one[0].origin == "given");
  CHECK(one[0].max == 64);
  CHECK(describe(gpu, "l2").size() > 10);
  CHECK(describe(gpu, "").size() == gpu_fields().size());
  CHECK(describe(gpu, "l2.size")[0].key == "l2.size_bytes");
  CHECK_THROWS_WITH(describe(gpu, "l2.wayz"), Catch::Contains("did you mean 'l2.ways'?"));
  CHECK_THROWS_AS(describe(gpu, "l2."), InputError);
}

TEST_CASE("validate_config: refuses values out of range and broken relations set by a program", "[config][error]") {
  GpuConfig config = load_gpu("h100-sxm5-80gb").config;
  config.l2.ways = 0;
  config.l2.near_copy = "perhaps";
  config.l2.dirty_limit = -1;
  try {
    validate_config(config);
    FAIL("no problem found");
  } catch (const InputError& e) {
    CHECK(e.diagnostics().size() == 3);
  }
}
