// shared_memory.cu, alu.cu, mma_sync.cu, wgmma.cu: what runs inside one SM.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/instructions.hpp"
#include "workloads/kernels/microbench/shared_memory.hpp"

namespace strata::app {

namespace {

using namespace microbench;

struct NamedSharedOp {
  const char* name;
  SharedOp op;
};
constexpr std::array<NamedSharedOp, 10> kSharedOps{{{"lds32", SharedOp::kLoad32},
                                                    {"lds64", SharedOp::kLoad64},
                                                    {"lds128", SharedOp::kLoad128},
                                                    {"sts32", SharedOp::kStore32},
                                                    {"sts128", SharedOp::kStore128},
                                                    {"ldmatrix_x1", SharedOp::kMatrix1},
                                                    {"ldmatrix_x2", SharedOp::kMatrix2},
                                                    {"ldmatrix_x4_trans", SharedOp::kMatrix4},
                                                    {"ldmatrix_x4", SharedOp::kMatrix4},
                                                    {"stmatrix_x4", SharedOp::kStoreMatrix4}}};

Mapping shared(const char* benchmark, PointKind kind, const SharedAccessConfig& c) {
  const double instructions =
      c.iterations * static_cast<double>(kSharedPerIteration) * (c.chained ? 1U : working_warps(c));
  return one_trace(
      benchmark, kind,
      fmt::format("shared {} {} {} {} {} {} {} {}", static_cast<int>(c.op), c.pitch, c.mask, c.warps, c.smsps,
                  c.iterations, c.chained, c.unrolled),
      [c] { return make_shared_access(c); },
      [instructions](const MicrobenchRun& run) { return run.slowest_cycles() / instructions; });
}

Mapping l1_rate(bool cp_async, std::uint32_t warps) {
  constexpr std::uint32_t kIterations = 64;
  const double instructions = static_cast<double>(kIterations) * kSharedPerIteration * warps;
  return one_trace(
      "L1 and cp.async instructions by warps", PointKind::kRate, fmt::format("l1 {} {}", cp_async, warps),
      [=] { return make_l1_access(cp_async, warps, kIterations); },
      [instructions](const MicrobenchRun& run) { return run.slowest_cycles() / instructions; });
}

}  // namespace

Mapping map_shared_memory(const MicrobenchRow& row) {
  std::string name = row.series;
  const auto x = static_cast<std::uint32_t>(row.x);
  if (name == "ldg32_l1_rate_warps" || name == "cp_async16_l1_rate_warps") return l1_rate(name[0] == 'c', x);
  const auto* op =
      std::find_if(kSharedOps.begin(), kSharedOps.end(), [&](const auto& o) { return take_prefix(name, o.name); });
  if (op == kSharedOps.end()) return not_simulated("an unknown instruction");
  SharedAccessConfig c;
  c.op = op->op;
  const bool words = c.op == SharedOp::kLoad32 || c.op == SharedOp::kStore32;
  c.pitch = words ? 4 : c.op == SharedOp::kLoad64 ? 8 : 16;
  if (name == "_latency") {
    c.pitch = x;
    c.warps = 1;
    c.chained = true;
    return shared("shared-memory latency by conflicts and width", PointKind::kLatency, c);
  }
  if (name == "_rate_stride" || name == "_rate_pitch") {
    c.pitch = row.x_unit == "words" ? 4 * x : x;
    return shared(name == "_rate_pitch" ? "matrix loads and stores by row pitch" : "shared-memory cost by stride",
                  PointKind::kRate, c);
  }
  if (name == "_rate_broadcast") {
    c.mask = x == 2 ? 30 : 0;
    return shared("shared-memory cost by stride", PointKind::kRate, c);
  }
  // As the compiler unrolls, from the SASS: 32 or 64 accesses a turn, of the kernel by sub-partitions 16 wide ones.
  const bool wide = c.op != SharedOp::kLoad32 && c.op != SharedOp::kLoad64;
  if (name == "_rate_warps") {
    c.warps = x;
    c.unrolled = wide ? 4 : 2;
    return shared("shared-memory instructions by warps", PointKind::kRate, c);
  }
  if (const auto each = number_after(name, "_by_smsp_")) {
    c.warps = 4 * *each;
    c.smsps = x;
    c.unrolled = words ? 4 : 1;
    return shared("shared-memory instructions by sub-partitions", PointKind::kRate, c);
  }
  return not_simulated("an unknown series");
}

Mapping map_alu(const MicrobenchRow& row) {
  std::string name = row.series;
  InstructionConfig c;
  PointKind kind = PointKind::kRate;
  const char* benchmark = "thread instructions: rate of one warp";
  if (take_suffix(name, "_latency")) {
    kind = PointKind::kLatency;
    benchmark = "thread instructions: latency";
  } else if (take_suffix(name, "_one_warp")) {
    c.chains = 4;
  } else if (take_suffix(name, "_interval")) {
    c.chains = 8;
    c.warps = 16;
    benchmark = "thread instructions: rate of sixteen warps";
  } else {
    return not_simulated("an unknown series");
  }
  const std::optional<ThreadInstruction> instruction = thread_instruction(name);
  if (!instruction) return not_simulated("an unknown instruction");
  c.instruction = *instruction;
  const double each = static_cast<double>(c.iterations) * kPerInstructionLoop * std::max(1.0, c.warps / 4.0);
  return one_trace(
      benchmark, kind, "alu " + row.series, [c] { return make_instructions(c); },
      [each](const MicrobenchRun& run) { return run.slowest_cycles() / each; });
}

namespace {

struct Partner {
  const char* name;
  Pipe pipe;
  std::uint32_t chains;
  std::uint32_t warps;
};
constexpr std::array<Partner, 11> kPartners{{{"ffma", Pipe::kFma, 8, 4},
                                             {"ffma_2warps", Pipe::kFma, 8, 8},
                                             {"iadd3", Pipe::kAlu, 8, 4},
                                             {"mufu", Pipe::kMufu, 8, 4},
                                             {"lop3", Pipe::kAlu, 8, 4},
                                             {"imad", Pipe::kAlu, 8, 4},
                                             {"ffma_1dep", Pipe::kFma, 1, 4},
                                             {"ffma_2dep", Pipe::kFma, 2, 4},
                                             {"ffma_3dep", Pipe::kFma, 3, 4},
                                             {"iadd3_1dep", Pipe::kAlu, 1, 4},
                                             {"iadd3_2dep", Pipe::kAlu, 2, 4}}};

Mapping beside(const MicrobenchRow& row, const MmaShape& shape, const std::string& partner) {
  const auto* p = std::find_if(kPartners.begin(), kPartners.end(), [&](const Partner& k) { return partner == k.name; });
  if (p == kPartners.end()) return not_simulated("the partner's own rate, or a partner without a trace");
  MmaPartnerConfig c;
  c.shape = shape;
  c.mma_warps = static_cast<std::uint32_t>(row.x);
  c.partner_warps = p->warps;
  c.pipe = p->pipe;
  c.partner_chains = p->chains;
  const double each = 4.0 * kMmaPerChain * c.iterations * std::max(1.0, c.mma_warps / 4.0);
  return one_trace(
      "mma.sync beside other warps", PointKind::kRate, "mma " + row.series + fmt::format(" {}", row.x),
      [c] { return make_mma_beside(c); }, [each](const MicrobenchRun& run) { return run.slowest_cycles() / each; });
}

}  // namespace

Mapping map_mma_sync(const MicrobenchRow& row) {
  if (starts_with(row.series, "alone_"))
    return not_simulated("a partner on another sub-partition: the chain's latency");
  const std::size_t cut = row.series.find('_', row.series.find("_m16") + 1);
  const std::optional<MmaShape> shape = mma_shape(row.series.substr(0, cut));
  if (!shape || cut == std::string::npos) return not_simulated("an unknown shape");
  std::string rest = row.series.substr(cut + 1);
  if (take_prefix(rest, "with_")) return beside(row, *shape, rest);
  MmaSyncConfig c;
  c.shape = *shape;
  const auto x = static_cast<std::uint32_t>(row.x);
  if (rest == "chains") {
    c.chains = x;
  } else {
    if (rest.empty() || rest.front() < '1' || rest.front() > '9') return not_simulated("an unknown series");
    c.chains = static_cast<std::uint32_t>(rest.front() - '0');
    c.warps = x;
  }
  const double each = static_cast<double>(kMmaPerChain) * c.chains * c.iterations * std::max(1.0, c.warps / 4.0);
  const bool latency = c.chains == 1 && c.warps <= 4;
  return one_trace(
      latency ? "mma.sync latency" : "mma.sync interval by chains and warps",
      latency ? PointKind::kLatency : PointKind::kRate, fmt::format("mma {} {}", row.series, row.x),
      [c] { return make_mma_sync(c); }, [each](const MicrobenchRun& run) { return run.slowest_cycles() / each; });
}

namespace {

struct WgmmaType {
  const char* name;
  std::uint16_t k;
  std::uint8_t bits;
};
constexpr std::array<WgmmaType, 5> kWgmmaTypes{
    {{"bf16_", 16, 16}, {"fp16_", 16, 16}, {"fp8_", 32, 8}, {"tf32_", 8, 19}, {"int8_", 32, 8}}};

/// "ss_4inflight", "rs_drained_n64", "ss_wait1_n8", "ss_2wg", "ss_fill_1sm_2warps": fills the configuration.
const char* wgmma_series(const std::string& rest, std::uint32_t x, WgmmaConfig& c) {
  c.n = number_after(rest, "_n").value_or(x);
  if (rest == "4inflight") return "wgmma interval by N, type and source of A";
  if (rest == "2wg") {
    c.warpgroups = 2;
    return "wgmma interval by N, type and source of A";
  }
  c.per_group = x;
  if (starts_with(rest, "drained_")) {
    c.drain = true;
    return "wgmma by depth in flight";
  }
  if (starts_with(rest, "wait1_")) return "wgmma by depth in flight";
  if (const auto warps = number_after(rest, "fill_1sm_")) {
    if (*warps == 0 || *warps > 4) return nullptr;
    c.per_group = 4;
    c.fill_warps = *warps;
    return "wgmma beside TMA fills";
  }
  return nullptr;
}

}  // namespace

Mapping map_wgmma(const MicrobenchRow& row) {
  std::string name = row.series;
  if (starts_with(name, "clock_")) return not_simulated("the clock under load: the clock model's business");
  if (take_suffix(name, "_fill_rate")) return not_simulated("the producers' own rate, a property of their loop");
  const auto* type =
      std::find_if(kWgmmaTypes.begin(), kWgmmaTypes.end(), [&](const auto& t) { return take_prefix(name, t.name); });
  if (type == kWgmmaTypes.end() || name.size() < 3) return not_simulated("an unknown type");
  WgmmaConfig c;
  c.k = type->k;
  c.bits = type->bits;
  c.a_in_registers = name[0] == 'r';
  const char* benchmark = wgmma_series(name.substr(3), static_cast<std::uint32_t>(row.x), c);
  if (benchmark == nullptr) return not_simulated("fills by all SMs at once, or a producer that does nothing");
  if (c.n < 8 || c.n > 256 || c.n % 8 != 0) return not_simulated("an unknown series");
  const double each = static_cast<double>(c.groups) * c.per_group * c.warpgroups;
  return one_trace(
      benchmark, c.drain && c.per_group == 1 ? PointKind::kLatency : PointKind::kRate,
      fmt::format("wgmma {} {}", row.series, row.x), [c] { return make_wgmma(c); },
      [each](const MicrobenchRun& run) { return run.slowest_cycles() / each; });
}

}  // namespace strata::app
