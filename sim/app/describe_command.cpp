/// strata describe: configuration keys with unit, range, value and origin; or the topology.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/command.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/json_output.hpp"
#include "sim/app/output_file.hpp"
#include "sim/app/wrap_text.hpp"
#include "sim/base/error.hpp"
#include "sim/topology/topology.hpp"

namespace strata::app {

namespace {

struct DescribeOptions {
  GpuChoice gpu;
  std::string key;
  std::string dot;
  std::string json;
};

constexpr std::size_t kPageWidth = 120;  ///< where standard output is no terminal

/// What the short words of keys and sources stand for, as far as they occur.
std::string legend(const std::vector<FieldDescription>& fields) {
  std::string out = "A key may lack its unit: l2.size is l2.size_bytes.";
  const auto any = [&fields](const char* text) {
    return std::any_of(fields.begin(), fields.end(),
                       [text](const FieldDescription& f) { return f.source.find(text) != std::string::npos; });
  };
  if (any("[")) {
    out += " Sources in brackets, such as [HUT], are listed in configs/gpus/SOURCES.md.";
  }
  return out;
}

void print_fields(const GpuDescription& gpu, const std::string& key) {
  const std::vector<FieldDescription> fields = describe(gpu, key);
  const auto widest = [&fields](auto member, std::size_t least) {
    for (const FieldDescription& field : fields) {
      least = std::max(least, (field.*member).size());
    }
    return least;
  };
  const std::size_t key_width = widest(&FieldDescription::key, 3);
  const std::size_t value_width = widest(&FieldDescription::value, 5);
  const std::size_t unit_width = widest(&FieldDescription::unit, 4);
  const std::size_t range_width = widest(&FieldDescription::range, 5);
  const std::size_t origin_width = widest(&FieldDescription::origin, 6);
  const std::size_t screen = terminal_width() > 0 ? terminal_width() : kPageWidth;
  const auto print = [&](const FieldDescription& f, const std::string& words) {
    const std::string cells =
        fmt::format("{:<{}}  {:>{}}  {:<{}}  {:<{}}  {:<{}}", f.key, key_width, f.value, value_width, f.unit,
                    unit_width, f.range, range_width, f.origin, origin_width);
    const std::string whole = cells + "  " + words;
    // Long meanings and sources get lines of their own; what a script may look for stays on the key's.
    constexpr std::size_t kIndent = 4;
    if (whole.size() <= screen) {
      fmt::print("{}\n", whole);
    } else {
      fmt::print("{}\n{}", cells.substr(0, cells.find_last_not_of(' ') + 1), wrapped(words, kIndent, screen));
    }
  };
  FieldDescription head;
  head.key = "key";
  head.value = "value";
  head.unit = "unit";
  head.range = "range";
  head.origin = "origin";
  print(head, "meaning [source]");
  for (const FieldDescription& f : fields) {
    print(f, f.meaning + (f.source.empty() ? std::string() : fmt::format(" [{}]", f.source)));
  }
  fmt::print("\n{}", wrapped(legend(fields), 0, screen));
}

nlohmann::ordered_json fields_json(const GpuDescription& gpu, const std::string& key) {
  nlohmann::ordered_json out = json_document("strata.describe/1");
  out["gpu"] = gpu.config.chip.name;
  out["keys"] = nlohmann::ordered_json::array();
  for (const FieldDescription& f : describe(gpu, key)) {
    out["keys"].push_back({{"key", f.key},
                           {"value", f.value},
                           {"unit", f.unit},
                           {"range", f.range},
                           {"origin", f.origin},
                           {"meaning", f.meaning},
                           {"source", f.source}});
  }
  return out;
}

int describe_gpu(const DescribeOptions& options) {
  const GpuDescription gpu = load_gpu(options.gpu);
  refuse_overwriting_inputs({{options.json, "--json"}}, inputs_with(gpu));
  if (options.key != "topology") {
    if (!options.dot.empty()) {
      throw InputError("--dot needs `strata describe topology`");
    }
    JsonOutput json(options.json);
    if (!json.takes_stdout()) {
      print_fields(gpu, options.key);
    }
    if (json.wanted()) {
      json.write(fields_json(gpu, options.key));
    }
    return kExitDone;
  }
  refuse_both(!options.json.empty(), "--json", true, "topology: --dot FILE has its graph");
  refuse_overwriting_inputs({{options.dot, "--dot"}}, inputs_with(gpu));
  OutputSet outputs;
  const auto dot = outputs.open(options.dot, "--dot");
  const Topology topology = build_topology(gpu.config);
  if (dot) {
    outputs[*dot].write(topology_dot(topology));
  }
  if (!outputs.uses_stdout()) {
    fmt::print("{}", topology_text(topology));
  }
  outputs.commit();
  return kExitDone;
}

}  // namespace

void add_describe(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("describe", "shows configuration keys with unit, range, value and origin, or the topology");
  auto options = std::make_shared<DescribeOptions>();
  add_gpu_options(*command, options->gpu);
  command->add_option("KEY", options->key, "a key, a section such as l2, or the word topology; all keys when left out");
  command->add_option("--dot", options->dot, "with topology: writes it as a Graphviz file");
  add_json_option(*command, options->json);
  add_example(*command, "strata describe l2 --gpu a100-sxm4-80gb");
  command->callback([options, &action] { action = [options] { return describe_gpu(*options); }; });
}

}  // namespace strata::app
