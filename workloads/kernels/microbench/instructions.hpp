/// Thread instructions and mma.sync: latency of a chain, rate of one warp, rate of many.
/// validation/microbench/alu.cu and mma_sync.cu.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

/// How a thread instruction of alu.cu appears in traces.
struct ThreadInstruction {
  std::string_view name;  ///< as alu.cu names it
  Pipe pipe = Pipe::kAlu;
  bool through_lsu = false;  ///< a shuffle: it crosses the shared-memory datapath
  Pipe first = Pipe::kNone;  ///< of an instruction that each one needs the result of, from its SASS
  std::uint32_t steps = 1;   ///< its latency in latencies of its pipe
};
/// The instruction of that name, or nothing.
[[nodiscard]] std::optional<ThreadInstruction> thread_instruction(std::string_view name);

struct InstructionConfig {
  ThreadInstruction instruction;
  std::uint32_t chains = 1;  ///< independent chains of each warp
  std::uint32_t warps = 1;
  std::uint32_t iterations = 32;
  bool turns = true;  ///< an iteration ends in the turn of a loop, as in alu.cu; issue_slots.cu has longer ones
};
inline constexpr std::uint32_t kPerInstructionLoop = 128;  ///< instructions of a warp in an iteration
[[nodiscard]] std::unique_ptr<TraceSource> make_instructions(const InstructionConfig& config);

struct MmaShape {
  std::uint16_t k = 16;
  std::uint8_t bits = 16;
};
/// The shape in a series' name, "bf16_m16n8k16" and so on, or nothing.
[[nodiscard]] std::optional<MmaShape> mma_shape(std::string_view name);

struct MmaSyncConfig {
  MmaShape shape;
  std::uint32_t chains = 1;
  std::uint32_t warps = 1;
  std::uint32_t iterations = 64;
};
inline constexpr std::uint32_t kMmaPerChain = 16;  ///< instructions of a chain in an iteration
[[nodiscard]] std::unique_ptr<TraceSource> make_mma_sync(const MmaSyncConfig& config);

/// Warps that multiply beside as many that run one other kind of instruction without end.
struct MmaPartnerConfig {
  MmaShape shape;
  std::uint32_t mma_warps = 4;
  std::uint32_t partner_warps = 4;
  Pipe pipe = Pipe::kFma;
  std::uint32_t partner_chains = 8;  ///< independent chains of each partner warp
  std::uint32_t iterations = 64;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_mma_beside(const MmaPartnerConfig& config);

/// Warpgroups that issue groups of wgmma.
struct WgmmaConfig {
  std::uint32_t n = 64;
  std::uint16_t k = 16;
  std::uint8_t bits = 16;
  bool a_in_registers = false;
  std::uint32_t per_group = 4;
  bool drain = false;  ///< each group is awaited before the next; else one stays in flight
  std::uint32_t warpgroups = 1;
  std::uint32_t groups = 128;
  std::uint32_t fill_warps = 0;  ///< producer warps that keep bulk copies of 16 KiB coming
};
[[nodiscard]] std::unique_ptr<TraceSource> make_wgmma(const WgmmaConfig& config);

}  // namespace strata::microbench
