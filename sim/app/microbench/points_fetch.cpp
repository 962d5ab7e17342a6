// instruction_fetch.cu and issue_slots.cu: when code comes, and which issue slots stay empty.
#include <fmt/format.h>

#include <algorithm>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/instruction_fetch.hpp"
#include "workloads/kernels/microbench/instructions.hpp"

namespace strata::app {

namespace {

using namespace microbench;

PointTrace code_trace(const StraightCodeConfig& c) {
  return PointTrace{fmt::format("code {} {} {} {}", c.kib, c.warps, c.laps, c.apart),
                    [c] { return make_repeated_code(c); }};
}

/// Instructions of a lap on each sub-partition.
double lap_of(const StraightCodeConfig& c) {
  return static_cast<double>(c.kib) * kInstructionsPerKib * std::max(1.0, c.warps / 4.0);
}

Mapping first_lap(const StraightCodeConfig& c) {
  const double instructions = lap_of(c);
  PointTrace trace = code_trace(c);
  return one_trace("code that no cache holds, by size and warps", PointKind::kCold, std::move(trace.key),
                   std::move(trace.make),
                   [instructions](const MicrobenchRun& run) { return run.slowest_cycles() / instructions; });
}

/// As the program does: the difference of a long and a short run, once all warps have started.
Mapping later_laps(StraightCodeConfig c) {
  const std::uint32_t laps = std::max(2U, 64 / c.kib);
  MicrobenchPoint p;
  p.benchmark = "code executed again and again, by size and warps";
  p.kind = PointKind::kRate;
  for (const std::uint32_t times : {1U, 2U}) {
    c.laps = times * laps;
    p.traces.push_back(code_trace(c));
  }
  p.value = [instructions = laps * lap_of(c)](std::span<const MicrobenchRun* const> runs) {
    return (runs[1]->slowest_cycles() - runs[0]->slowest_cycles()) / instructions;
  };
  return Mapping{std::move(p), {}};
}

}  // namespace

Mapping map_instruction_fetch(const MicrobenchRow& row, const Placement& placement) {
  std::string name = row.series;
  take_prefix(name, "one_sm_");  // an SM's code does not depend on what others execute
  StraightCodeConfig c;
  c.kib = static_cast<std::uint32_t>(row.x);
  c.alu_latency = placement.alu_latency();
  c.apart = number_after(name, "_apart_").value_or(0);
  const std::optional<std::uint32_t> warps = number_after(name, "_warps_");
  if (!warps || c.kib == 0) return not_simulated("an unknown series");
  c.warps = *warps;
  if (starts_with(name, "cold_")) return first_lap(c);
  return starts_with(name, "steady_") ? later_laps(c) : not_simulated("an unknown series");
}

Mapping map_issue_slots(const MicrobenchRow& row) {
  const std::optional<std::uint32_t> chains = number_after(row.series, "chains_");
  if (!chains || *chains == 0 || *chains > 16) return not_simulated("an unknown series");
  const auto warps = static_cast<std::uint32_t>(row.x);
  InstructionConfig c;
  c.instruction = ThreadInstruction{"ffma", Pipe::kFma};
  c.chains = *chains;
  c.warps = 4 * warps;
  c.turns = false;
  const double each = static_cast<double>(c.iterations) * kPerInstructionLoop * warps;
  return one_trace(
      "issue slots that waiting warps leave empty", PointKind::kRate, fmt::format("slots {} {}", *chains, warps),
      [c] { return make_instructions(c); }, [each](const MicrobenchRun& run) { return run.slowest_cycles() / each; });
}

}  // namespace strata::app
