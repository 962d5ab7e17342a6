/// Recorded launches of validation/data as LaunchRows with their counters, for conformance tests.
#pragma once

#include <charconv>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "workloads/library/resolve.hpp"
#include "workloads/library/split_producer.hpp"

namespace strata::test {

/// An H100 SXM5 80 GB as a kernel's author sees it.
inline TargetFacts hopper_facts() {
  TargetFacts facts;
  facts.architecture = "hopper";
  facts.has_tma = true;
  facts.has_wgmma = true;
  facts.num_sms = 132;
  facts.gpcs = {{16, 8}, {16, 16}, {16, 16}, {16, 16}, {16, 16}, {16, 16}, {18, 18}, {18, 18}};
  facts.smem_per_cta_bytes = 227 * 1024;
  facts.smem_per_sm_bytes = 228 * 1024;
  facts.memory_bytes = std::int64_t{80} << 30;
  return facts;
}

/// An A100 SXM4 40 GB.
inline TargetFacts ampere_facts() {
  TargetFacts facts;
  facts.architecture = "ampere";
  facts.num_sms = 108;
  facts.smem_per_cta_bytes = 163 * 1024;
  facts.smem_per_sm_bytes = 164 * 1024;
  facts.memory_bytes = std::int64_t{40} << 30;
  return facts;
}

struct RecordedRow {
  LaunchRow launch;
  std::string split;
  std::map<std::string, std::string> cells;
  [[nodiscard]] double number(const std::string& column) const { return std::stod(cells.at(column)); }
};

/// Every row of a file below validation/data. Quoted cells may hold commas; a test file has no quotes within quotes.
class RecordedRows {
 public:
  explicit RecordedRows(const std::string& file) {
    std::ifstream in(std::string(STRATA_SOURCE_DIR) + "/validation/data/" + file);
    if (!in) {
      throw std::runtime_error("cannot open validation/data/" + file);
    }
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> header = cells_of(line);
    while (std::getline(in, line)) {
      const std::vector<std::string> cells = cells_of(line);
      RecordedRow row;
      for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i) {
        row.cells[header[i]] = cells[i];
      }
      fill(row);
      if (!rows_.empty()) link_producer(rows_.back().launch, row.launch);
      rows_.push_back(row);
    }
  }
  [[nodiscard]] const std::vector<RecordedRow>& all() const { return rows_; }

 private:
  static std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else if (c != '\r') {
        cells.back() += c;
      }
    }
    return cells;
  }

  static std::optional<Dim3> dim_of(const std::string& text) {
    Dim3 dim;
    char x = 0;
    std::istringstream in(text);
    if (!(in >> dim.x >> x >> dim.y >> x >> dim.z)) {
      return std::nullopt;
    }
    return dim.x == 0 ? Dim3{1, 1, 1} : dim;
  }

  static void fill(RecordedRow& row) {
    const auto cell = [&](const char* name) { return row.cells[name]; };
    const auto integer = [&](const char* name) -> std::optional<std::uint32_t> {
      const std::string text = cell(name);
      return text.empty() ? std::nullopt : std::optional(static_cast<std::uint32_t>(std::stoul(text)));
    };
    LaunchRow& launch = row.launch;
    launch.case_name = cell("case");
    launch.seq = cell("seq");
    launch.op = cell("op");
    launch.dtype = cell("dtype");
    launch.shape = cell("shape");
    launch.kernel = cell("kernel");
    launch.grid = dim_of(cell("grid_dim"));
    launch.block = dim_of(cell("block_dim"));
    launch.cluster = dim_of(cell("cluster_dim"));
    launch.registers = integer("regs");
    launch.smem_dynamic = integer("smem_dyn");
    launch.smem_static = integer("smem_static");
    row.split = cell("split");
  }

  std::vector<RecordedRow> rows_;
};

}  // namespace strata::test
