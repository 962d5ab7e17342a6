/// Every number of one GPU. Plain values, no defaults: each comes from configs/gpus/*.yaml with its unit and origin.
/// The field tables in gpu_fields.cpp give key, unit, range and meaning; reader, checks, `describe` and `--set` are
/// made from them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace strata {

struct ChipConfig {
  std::string name;          ///< "h100-sxm5-80gb"
  std::string product;       ///< "NVIDIA H100 SXM5 80GB"
  std::string architecture;  ///< "ampere" or "hopper"
};

struct ClockConfig {
  int sm_max_mhz;     ///< highest SM clock
  int sm_loaded_mhz;  ///< SM clock with the tensor cores fully busy on random data (power limited)
  int sm_memory_mhz;  ///< SM clock while HBM is saturated and tensor cores are idle
  int l2_mhz;         ///< L2 and crossbar clock
  int hbm_mhz;        ///< HBM clock (data moves on both edges)
};

struct TopologyConfig {
  std::vector<int> gpc_sms;          ///< SMs of each GPC; their number is the number of GPCs
  std::vector<int> gpc_cluster_sms;  ///< SMs of each GPC that may hold clusters of more than two CTAs, the first ones
  int sms_per_tpc;                   ///< SMs sharing a TPC
  int tpcs_per_cpc;                  ///< TPCs sharing a CPC; 0 = the part has no CPC level
  std::vector<int> gpc_partition;    ///< L2 partition (0 or 1) each GPC sits beside
};

struct SmConfig {
  int smsps;      ///< sub-partitions
  int max_warps;  ///< resident warps
  int max_ctas;   ///< resident CTAs
  int max_threads;
  double fma_per_cycle_smsp;  ///< FP32 FMA warp instructions per cycle and SMSP (1.0 = 32 lanes)
  double alu_per_cycle_smsp;  ///< integer/logic warp instructions per cycle and SMSP
  double fp64_per_cycle_smsp;
  double fp16_per_cycle_smsp;     ///< packed half2 warp instructions per cycle and SMSP
  double mufu_per_cycle_smsp;     ///< special-function warp instructions per cycle and SMSP
  double uniform_per_cycle_smsp;  ///< uniform-datapath instructions per cycle and SMSP
  double lsu_per_cycle_sm;        ///< LSU (load, store, shuffle, shared) warp instructions per cycle and SM
  int alu_latency_cycles;         ///< dependent arithmetic instruction
  int fp16_latency_cycles;        ///< dependent half2 instruction
  int fp64_latency_cycles;
  int mufu_latency_cycles;
  double barrier_arrival_cycles;       ///< of the SM's barrier unit, per warp that arrives at a CTA or named barrier
  int barrier_latency_cycles;          ///< last arrival taken by that unit to the warps, the last one too, going on
  double mbarrier_arrival_cycles;      ///< per arrival of a thread or of bytes at an mbarrier
  int mbarrier_latency_cycles;         ///< last arrival at an mbarrier to the warps that wait for it going on
  int cluster_barrier_latency_cycles;  ///< of a cluster of two CTAs
  int cluster_barrier_level_cycles;    ///< more, each time the cluster doubles
  int cta_launch_cycles;               ///< CTA assigned to an SM to its first instruction
  double cta_interval_cycles;          ///< between starts of CTAs on an SM, beyond their warps
  double warp_interval_cycles;         ///< the same for each warp
  int cta_drain_cycles;                ///< last instruction of a CTA to its resources being free
  int setmaxnreg_cycles;
  double greedy_gap_cycles;   ///< a warp with shorter gaps keeps its issue port while it has instructions
  double oldest_first_share;  ///< of the turns of an SM's oldest CTA, those that come before what waits already
};

/// Instruction fetch: the cache that the sub-partitions of an SM share, and the wider one behind it.
struct InstructionCacheConfig {
  std::int64_t bytes;        ///< code that an SM executes again without fetching it
  double line_cycles;        ///< per 128-byte line that comes from the wider cache, and of code executed first
  std::int64_t outer_bytes;  ///< code that the wider cache holds
  double outer_line_cycles;  ///< per line that comes from the L2
};

struct RegisterFileConfig {
  int registers;        ///< 32-bit registers per SM
  int allocation_unit;  ///< registers per warp are rounded up to this
  int max_per_thread;
};

struct SharedMemoryConfig {
  std::int64_t unified_bytes;  ///< L1 and shared memory together, per SM
  std::int64_t max_bytes;      ///< shared memory per SM
  std::int64_t max_cta_bytes;
  std::int64_t reserved_cta_bytes;  ///< taken by the system from each CTA
  int read_bytes_per_cycle;         ///< read port: LDS, ldmatrix, wgmma operands
  int fill_bytes_per_cycle;         ///< write port: TMA, cp.async, STS
  double fill_read_coupling;  ///< share of a fill cycle that also takes the read port (0 = independent, 1 = one port)
  int latency_cycles;         ///< LDS to use
  double load_issue_cycles;   ///< of a sub-partition, per shared-memory load
  double store_issue_cycles;  ///< of a sub-partition, per shared-memory store of 32 bits
  double store_register_cycles;    ///< the same for each further register that is stored
  double warp_issue_cycles;        ///< between shared-memory instructions of one warp
  double conflict_latency_cycles;  ///< latency per wavefront beyond the first, the port's cycle included
  int dsmem_latency_cycles;        ///< load from another SM of the cluster
  int dsmem_bytes_per_cycle;       ///< per SM, by loads
  int dsmem_bulk_bytes_per_cycle;  ///< per SM, by bulk copies
  int dsmem_gpc_bytes_per_cycle;   ///< all SMs of a GPC, by loads
};

struct L1Config {
  int line_bytes;
  int latency_cycles;  ///< hit, load to use
  int bytes_per_cycle;
  double tags_per_cycle;     ///< distinct lines looked up per cycle
  int outstanding_sectors;   ///< sector misses in flight per SM (LDG and cp.async)
  int store_queue_sectors;   ///< store sectors in flight per SM before the LSU stalls
  double async_copy_cycles;  ///< per cp.async of 16 bytes a lane
};

struct TmaConfig {
  int present;                 ///< 0 or 1
  int issue_cycles;            ///< per instruction
  double row_cycles;           ///< per box row
  int bytes_per_cycle;         ///< request generation
  int latency_cycles;          ///< added to a plain L2 access
  int outstanding_bytes;       ///< in flight per SM
  int descriptor_miss_cycles;  ///< first use of a tensor map on an SM
  int store_latency_cycles;
};

struct TensorConfig {
  // dense multiply-adds per cycle and SM on the fastest path
  int fma_16bit;
  int fma_tf32;
  int fma_8bit;
  int fma_fp64;
  int fma_4bit;
  int wgmma_present;                     ///< 0 or 1
  double wgmma_operand_bytes_per_cycle;  ///< shared-memory operand rate of wgmma
  double wgmma_overhead_cycles;          ///< per instruction beyond max(compute, operands)
  int wgmma_latency_cycles;              ///< issue and drain beyond the compute cycles
  int wgmma_register_latency_cycles;     ///< the same with A in registers
  double wgmma_min_cycles;               ///< shortest interval between instructions
  double wgmma_fill_stretch;             ///< of a wgmma while copies fill shared memory, at least 1
  double wgmma_beside_cycles;            ///< issue interval of other instructions of an SMSP while wgmma runs
  double wgmma_beside_mufu_cycles;       ///< the same for special functions
  double mma_sync_overhead_cycles;       ///< of the interval between mma.sync instructions, beyond the multiply-adds
  double mma_sync_issue_hold;   ///< share of the mma.sync interval for which the SMSP cannot issue other instructions
  int mma_sync_latency_cycles;  ///< m16n8k16
  int mma_sync_base_latency_cycles;  ///< what is left of it when there is nothing to multiply
};

struct XbarConfig {
  int sm_read_bytes_per_cycle;        ///< L2 to SM, per SM, SM clock
  int tpc_read_bytes_per_cycle;       ///< per TPC
  int cpc_read_bytes_per_cycle;       ///< per CPC, 0 = no limit
  int gpc_read_bytes_per_cycle;       ///< per GPC, L2 clock
  int sm_write_bytes_per_cycle;       ///< SM to L2
  int cpc_write_bytes_per_cycle;      ///< SMs of a CPC to L2, SM clock, 0 = no limit
  int gpc_write_bytes_per_cycle;      ///< SMs of a GPC to L2, L2 clock
  int gpc_delivered_bytes_per_cycle;  ///< to the SMs of a GPC with what the coalescer and multicast replicate, L2 clock
  int cpc_outstanding_bytes;          ///< of L2 misses that the SMs of a CPC have under way, 0 = no limit
  int request_latency_cycles;         ///< SM to slice, L2 cycles
  int reply_latency_cycles;           ///< slice to SM, L2 cycles
  int hop_spread_cycles;              ///< largest extra latency by distance between GPC and slice, L2 cycles
};

struct LrcConfig {
  int present;        ///< 0 or 1
  int sms_per_group;  ///< SMs whose requests meet in one coalescer; 0 = all SMs of the GPC
  int merge_limit;    ///< requests merged with one outstanding line
  int window_cycles;  ///< L2 cycles an entry stays open after its request has left; 0 = until the data returns
  int outside_units;  ///< of a side, those before the slices that serve rows outside a tensor, 0 = no limit
};

struct L2Config {
  std::int64_t size_bytes;
  double data_share;  ///< of the lines that keep data
  int partitions;
  int slices;  ///< total
  int ways;
  int line_bytes;
  int fetch_bytes;              ///< least that a miss brings from HBM, 32 or 64, aligned
  double slice_tags_per_cycle;  ///< look-ups
  int slice_bytes_per_cycle;    ///< read
  int slice_write_bytes_per_cycle;
  int hit_latency_cycles;      ///< L2 cycles inside the slice
  int home_interleave_bytes;   ///< addresses alternate between partitions at this grain (hashed)
  std::string near_copy;       ///< "none", "first_fill" or "far_hit"
  double dirty_limit;          ///< share of the L2 that may be dirty before write-back starts
  int store_leaves_near_copy;  ///< 0 or 1: a far-homed store keeps a line in the near partition
};

struct FabricConfig {
  int bytes_per_cycle;  ///< each direction, L2 clock
  int latency_cycles;   ///< one crossing, L2 cycles
};

struct HbmConfig {
  std::int64_t size_bytes;
  int stacks;
  int channels_per_stack;
  int pseudo_channels_per_channel;
  int pseudo_channel_bits;
  int bank_groups;
  int banks_per_group;
  int row_bytes;
  int burst_bytes;  ///< one column access
  // timings in ns
  double trcd_ns;
  double trp_ns;
  double tras_ns;
  double tcl_ns;
  double tfaw_ns;                ///< window that may hold four row openings
  double twtr_ns;                ///< write to read turnaround
  double trtw_ns;                ///< read to write turnaround
  double trfc_ns;                ///< refresh busy time of the ranks or banks refreshed at once
  double trefi_ns;               ///< between refreshes
  std::string refresh;           ///< "all_bank" or "per_bank"
  int write_queue_lines;         ///< per pseudo-channel, drained when full
  int write_drain_lines;         ///< lines written per drain
  double controller_latency_ns;  ///< slice miss to command, and data to slice, beyond the DRAM timings
};

struct TlbConfig {
  std::int64_t page_bytes;
  int gpc_entries;  ///< reach of the translation cache beside each GPC
  int miss_cycles;  ///< L2 cycles of a GPC miss that hits the shared level
};

struct LaunchConfig {
  int overhead_before_cycles;  ///< launch to the first CTA, counted in sm__cycles_elapsed
  int overhead_after_cycles;   ///< last CTA to the end of the kernel
  int traffic_cycles;          ///< more at the end of a kernel that has moved more than a few KiB, SM clock
  double ctas_per_cycle;       ///< CTAs whose end the whole GPU deals with, and CTAs of clusters handed out, SM clock
  double sm_interval_cycles;   ///< between the first CTAs of SMs of a GPC
  double cluster_interval_cycles;  ///< between clusters handed out, beyond their CTAs
  int cluster_cycles;              ///< more than a CTA alone that a cluster needs to start, SM clock
};

struct GpuConfig {
  ChipConfig chip;
  ClockConfig clocks;
  TopologyConfig topology;
  SmConfig sm;
  InstructionCacheConfig icache;
  RegisterFileConfig registers;
  SharedMemoryConfig smem;
  L1Config l1;
  TmaConfig tma;
  TensorConfig tensor;
  XbarConfig xbar;
  LrcConfig lrc;
  L2Config l2;
  FabricConfig fabric;
  HbmConfig hbm;
  TlbConfig tlb;
  LaunchConfig launch;

  [[nodiscard]] int num_sms() const {
    int n = 0;
    for (const int sms : topology.gpc_sms) {
      n += sms;
    }
    return n;
  }
  [[nodiscard]] int num_pseudo_channels() const {
    return hbm.stacks * hbm.channels_per_stack * hbm.pseudo_channels_per_channel;
  }
  /// Peak HBM bandwidth in GB/s from clock, width and channels.
  [[nodiscard]] double hbm_peak_gb_per_s() const {
    return static_cast<double>(num_pseudo_channels()) * hbm.pseudo_channel_bits / 8.0 * 2.0 * clocks.hbm_mhz / 1000.0;
  }
};

}  // namespace strata
