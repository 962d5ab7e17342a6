/// Every counter of the simulator, declared once: key, unit, sentence and the Nsight Compute metric that counts the
/// same thing. Text, JSON and CSV are views of this table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace strata {

/// Counters that the hardware models increment while they run. One 64-bit add each.
enum class Counter : std::uint8_t {
  kWarpInsts,
  kTensorInsts,
  kGlobalRequests,
  kSharedRequests,
  kSmemWavefronts,
  kBankConflicts,
  kL1GlobalLoadSectors,
  kL1GlobalLoadHitSectors,
  kDeliveredSectors,
  kStoredSectors,
  kLtsSectors,
  kLtsReadSectors,
  kLtsWriteSectors,
  kLtsFromSmSectors,
  kLtsFromSmHitSectors,
  kLtsFabricSectors,
  kLrcMergedSectors,
  kDramReadSectors,
  kDramWriteSectors,
  kDramRowActivations,
  kTmaBytes,
  kSmemFillBytes,
  kCtasLaunched,
  kCount
};
inline constexpr std::size_t kNumCounters = static_cast<std::size_t>(Counter::kCount);

struct CounterInfo {
  const char* key;
  const char* unit;
  const char* sentence;
  const char* ncu;  ///< Nsight Compute's name; empty when it has none
};

inline constexpr std::array<CounterInfo, kNumCounters> kCounterInfo{{
    {"warp_insts", "inst", "warp instructions executed", "sm__inst_executed.sum"},
    {"tensor_insts", "inst", "tensor-pipe instructions, counted per warp (4 a wgmma)",
     "sm__inst_executed_pipe_tensor.sum"},
    {"global_requests", "request", "warp memory instructions to global or local space that reached L1",
     "l1tex__t_requests.sum"},
    {"shared_requests", "request", "warp instructions that read or write shared memory",
     "smsp__inst_executed_op_shared.sum"},
    {"smem_wavefronts", "wavefront",
     "shared-memory data-stage passes, wgmma operand reads included, TMA fills excluded",
     "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
    {"bank_conflicts", "wavefront", "shared-memory passes beyond the minimum",
     "l1tex__data_bank_conflicts_pipe_lsu.sum"},
    {"l1_global_ld_sectors", "sector", "sectors looked up in L1 by global loads",
     "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    {"l1_global_ld_hit_sectors", "sector", "of those, sectors that hit",
     "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"},
    {"xbar2l1_read_sectors", "sector", "sectors delivered to SMs by the crossbar, multicast copies counted at each SM",
     "l1tex__m_xbar2l1tex_read_sectors.sum"},
    {"l12xbar_write_sectors", "sector", "sectors sent by SMs to the crossbar by stores, reductions and bulk stores",
     "l1tex__m_l1tex2xbar_write_sectors.sum"},
    {"lts_sectors", "sector", "sectors looked up in L2 slices, fabric included", "lts__t_sectors.sum"},
    {"lts_read_sectors", "sector", "of those, reads", "lts__t_sectors_op_read.sum"},
    {"lts_write_sectors", "sector", "of those, writes; a far-homed store counts at the near slice and at home",
     "lts__t_sectors_op_write.sum"},
    {"lts_from_sm_sectors", "sector", "sectors that reached L2 from SMs, after the request coalescer",
     "lts__t_sectors_srcunit_tex.sum"},
    {"lts_from_sm_hit_sectors", "sector", "of those, sectors that hit in the first slice looked up",
     "lts__t_sectors_srcunit_tex_lookup_hit.sum"},
    {"lts_fabric_sectors", "sector", "sectors that crossed the fabric between the L2 partitions",
     "lts__t_sectors_srcunit_ltcfabric.sum"},
    {"lrc_merged_sectors", "sector", "sectors that the request coalescer merged with an outstanding request", ""},
    {"dram_read_sectors", "sector", "sectors read from HBM", "dram__sectors_read.sum"},
    {"dram_write_sectors", "sector", "sectors written to HBM", "dram__sectors_write.sum"},
    {"dram_row_activations", "activation", "HBM rows opened", ""},
    {"tma_bytes", "byte", "bytes moved by TMA units, at the source", ""},
    {"smem_fill_bytes", "byte", "bytes written into shared memory by TMA and cp.async", ""},
    {"ctas_launched", "CTA", "CTAs launched", "sm__ctas_launched.sum"},
}};

struct Counters {
  std::array<std::uint64_t, kNumCounters> value{};
  void add(Counter c, std::uint64_t n) { value[static_cast<std::size_t>(c)] += n; }
  [[nodiscard]] std::uint64_t operator[](Counter c) const { return value[static_cast<std::size_t>(c)]; }
};

/// Why an SM was not doing something else: mutually exclusive, adds up to sm_cycles when averaged over SMs.
enum class StackReason : std::uint8_t {
  kLaunch,
  kTensor,
  kIssue,
  kFp32,
  kMufu,
  kSharedMemory,
  kL1,
  kCrossbar,
  kL2,
  kFabric,
  kHbm,
  kBarrier,
  kLatency,
  kDrain,
  kIdle,
  kCount
};
inline constexpr std::size_t kNumStackReasons = static_cast<std::size_t>(StackReason::kCount);
struct StackReasonInfo {
  const char* key;
  const char* sentence;
};
inline constexpr std::array<StackReasonInfo, kNumStackReasons> kStackReasonInfo{{
    {"launch", "from launch to the first CTA's first instruction, and from the last to the end of the kernel"},
    {"tensor", "tensor cores busy"},
    {"issue", "issue ports busy with other instructions"},
    {"fp32", "FMA pipe busy beyond issue"},
    {"mufu", "special-function pipe busy beyond issue"},
    {"shared_memory", "shared-memory port busy or its latency exposed"},
    {"l1", "waiting for L1 hits or the LSU"},
    {"crossbar", "waiting for data queued at crossbar ports"},
    {"l2", "waiting for L2 hits"},
    {"fabric", "waiting for the other L2 partition"},
    {"hbm", "waiting for HBM"},
    {"barrier", "waiting for other warps at barriers"},
    {"latency", "dependent-instruction latency exposed"},
    {"drain", "waiting for stores or for other CTAs of the cluster to finish"},
    {"idle", "no CTA resident: tail, imbalance or unusable SM"},
}};

}  // namespace strata
