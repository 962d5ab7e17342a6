#include "sim/config/gpu_fields.hpp"

#include <array>

namespace strata {

namespace {

using G = GpuConfig;

/// The member of a section as a FieldRef.
template <auto Section, auto Member>
FieldRef at(GpuConfig& config) {
  return &(config.*Section.*Member);
}

constexpr double kGiB = 1024.0 * 1024 * 1024;

// key, member, unit, lowest, highest, meaning
// clang-format off
constexpr Field kFields[] = {
    {"chip.name", at<&G::chip, &ChipConfig::name>, "words", 0, 0, "name used by --gpu"},
    {"chip.product", at<&G::chip, &ChipConfig::product>, "words", 0, 0, "the vendor's name of the part"},
    {"chip.architecture", at<&G::chip, &ChipConfig::architecture>, "words", 0, 0, "instruction set family", "ampere|hopper"},

    {"clocks.sm_max_mhz", at<&G::clocks, &ClockConfig::sm_max_mhz>, "MHz", 100, 3999, "highest SM clock"},
    {"clocks.sm_loaded_mhz", at<&G::clocks, &ClockConfig::sm_loaded_mhz>, "MHz", 100, 3999, "SM clock with the tensor cores fully busy on random data (power limited)"},
    {"clocks.sm_memory_mhz", at<&G::clocks, &ClockConfig::sm_memory_mhz>, "MHz", 100, 3999, "SM clock while HBM is saturated and the tensor cores are idle"},
    {"clocks.l2_mhz", at<&G::clocks, &ClockConfig::l2_mhz>, "MHz", 100, 3999, "L2 and crossbar clock"},
    {"clocks.hbm_mhz", at<&G::clocks, &ClockConfig::hbm_mhz>, "MHz", 100, 3999, "HBM clock; data moves on both edges"},

    {"topology.gpc_sms", at<&G::topology, &TopologyConfig::gpc_sms>, "SM", 1, 64, "SMs of each GPC; the length of the list is the number of GPCs"},
    {"topology.gpc_cluster_sms", at<&G::topology, &TopologyConfig::gpc_cluster_sms>, "SM", 0, 64, "SMs of each GPC that may hold clusters of more than two CTAs, the first ones of the GPC"},
    {"topology.sms_per_tpc", at<&G::topology, &TopologyConfig::sms_per_tpc>, "SM", 1, 8, "SMs sharing a TPC"},
    {"topology.tpcs_per_cpc", at<&G::topology, &TopologyConfig::tpcs_per_cpc>, "TPC", 0, 16, "TPCs sharing a CPC; 0 = the part has no CPC level"},
    {"topology.gpc_partition", at<&G::topology, &TopologyConfig::gpc_partition>, "index", 0, 1, "L2 partition each GPC sits beside"},

    {"sm.smsps", at<&G::sm, &SmConfig::smsps>, "SMSP", 1, 8, "sub-partitions of an SM, each issuing one warp instruction per cycle"},
    {"sm.max_warps", at<&G::sm, &SmConfig::max_warps>, "warp", 1, 128, "warps resident on an SM"},
    {"sm.max_ctas", at<&G::sm, &SmConfig::max_ctas>, "CTA", 1, 64, "CTAs resident on an SM"},
    {"sm.max_threads", at<&G::sm, &SmConfig::max_threads>, "thread", 32, 4096, "threads resident on an SM"},
    {"sm.fma_per_cycle_smsp", at<&G::sm, &SmConfig::fma_per_cycle_smsp>, "inst/SM cycle", 0.01, 4, "FP32 multiply-add warp instructions per cycle and SMSP (1 = 32 lanes)"},
    {"sm.alu_per_cycle_smsp", at<&G::sm, &SmConfig::alu_per_cycle_smsp>, "inst/SM cycle", 0.01, 4, "integer and logic warp instructions per cycle and SMSP"},
    {"sm.fp64_per_cycle_smsp", at<&G::sm, &SmConfig::fp64_per_cycle_smsp>, "inst/SM cycle", 0.001, 4, "FP64 warp instructions per cycle and SMSP"},
    {"sm.fp16_per_cycle_smsp", at<&G::sm, &SmConfig::fp16_per_cycle_smsp>, "inst/SM cycle", 0.01, 4, "packed half2 warp instructions per cycle and SMSP"},
    {"sm.mufu_per_cycle_smsp", at<&G::sm, &SmConfig::mufu_per_cycle_smsp>, "inst/SM cycle", 0.001, 4, "special-function warp instructions per cycle and SMSP"},
    {"sm.uniform_per_cycle_smsp", at<&G::sm, &SmConfig::uniform_per_cycle_smsp>, "inst/SM cycle", 0.01, 4, "uniform-datapath warp instructions per cycle and SMSP"},
    {"sm.lsu_per_cycle_sm", at<&G::sm, &SmConfig::lsu_per_cycle_sm>, "inst/SM cycle", 0.01, 4, "load, store, shuffle and shared-memory warp instructions per cycle and SM"},
    {"sm.alu_latency_cycles", at<&G::sm, &SmConfig::alu_latency_cycles>, "SM cycle", 1, 100, "dependent arithmetic instruction"},
    {"sm.fp16_latency_cycles", at<&G::sm, &SmConfig::fp16_latency_cycles>, "SM cycle", 1, 200, "dependent half2 instruction"},
    {"sm.fp64_latency_cycles", at<&G::sm, &SmConfig::fp64_latency_cycles>, "SM cycle", 1, 200, "dependent FP64 instruction"},
    {"sm.mufu_latency_cycles", at<&G::sm, &SmConfig::mufu_latency_cycles>, "SM cycle", 1, 200, "dependent special-function instruction"},
    {"sm.barrier_arrival_cycles", at<&G::sm, &SmConfig::barrier_arrival_cycles>, "SM cycle", 0, 100, "of the SM's barrier unit, per warp that arrives at a CTA or named barrier"},
    {"sm.barrier_latency_cycles", at<&G::sm, &SmConfig::barrier_latency_cycles>, "SM cycle", 0, 1000, "last arrival taken by the barrier unit to all warps, the last one too, going on"},
    {"sm.mbarrier_arrival_cycles", at<&G::sm, &SmConfig::mbarrier_arrival_cycles>, "SM cycle", 0, 100, "per arrival of a thread or of bytes at an mbarrier"},
    {"sm.mbarrier_latency_cycles", at<&G::sm, &SmConfig::mbarrier_latency_cycles>, "SM cycle", 0, 1000, "last arrival at an mbarrier to the warps that wait for it going on"},
    {"sm.cluster_barrier_latency_cycles", at<&G::sm, &SmConfig::cluster_barrier_latency_cycles>, "SM cycle", 0, 5000, "last arrival at the barrier of a cluster of two CTAs to the release of its waiters"},
    {"sm.cluster_barrier_level_cycles", at<&G::sm, &SmConfig::cluster_barrier_level_cycles>, "SM cycle", 0, 1000, "more, each time the cluster doubles"},
    {"sm.cta_launch_cycles", at<&G::sm, &SmConfig::cta_launch_cycles>, "SM cycle", 0, 10000, "CTA assigned to an SM to its first instruction"},
    {"sm.cta_interval_cycles", at<&G::sm, &SmConfig::cta_interval_cycles>, "SM cycle", 0, 10000, "between starts of CTAs on an SM, beyond their warps"},
    {"sm.warp_interval_cycles", at<&G::sm, &SmConfig::warp_interval_cycles>, "SM cycle", 0, 1000, "the same for each warp"},
    {"sm.cta_drain_cycles", at<&G::sm, &SmConfig::cta_drain_cycles>, "SM cycle", 0, 10000, "last instruction of a CTA to its resources being free"},
    {"sm.setmaxnreg_cycles", at<&G::sm, &SmConfig::setmaxnreg_cycles>, "SM cycle", 0, 1000, "moving registers between the warpgroups of a CTA"},
    {"sm.greedy_gap_cycles", at<&G::sm, &SmConfig::greedy_gap_cycles>, "cycles", 0, 1000, "a warp with shorter gaps between its instructions, alone, keeps its issue port as long as it has any; 0: none does"},
    {"sm.oldest_first_share", at<&G::sm, &SmConfig::oldest_first_share>, "ratio", 0, 1, "of the turns of an SM's oldest CTA at issue ports and pipes, those that come before what waits already"},

    {"icache.bytes", at<&G::icache, &InstructionCacheConfig::bytes>, "byte", 1024, 16777216, "code that an SM executes again without fetching it"},
    {"icache.line_cycles", at<&G::icache, &InstructionCacheConfig::line_cycles>, "SM cycle", 0, 1000, "per 128-byte line of code from the cache behind the SM's, and of code executed for the first time"},
    {"icache.outer_bytes", at<&G::icache, &InstructionCacheConfig::outer_bytes>, "byte", 1024, 1073741824, "code that the cache behind the SM's holds"},
    {"icache.outer_line_cycles", at<&G::icache, &InstructionCacheConfig::outer_line_cycles>, "SM cycle", 0, 10000, "per 128-byte line of code from the L2"},

    {"registers.registers", at<&G::registers, &RegisterFileConfig::registers>, "register", 1024, 1048576, "32-bit registers of an SM"},
    {"registers.allocation_unit", at<&G::registers, &RegisterFileConfig::allocation_unit>, "register", 1, 4096, "registers of a warp are rounded up to this"},
    {"registers.max_per_thread", at<&G::registers, &RegisterFileConfig::max_per_thread>, "register", 16, 1024, "most registers one thread may have"},

    {"smem.unified_bytes", at<&G::smem, &SharedMemoryConfig::unified_bytes>, "byte", 16384, 16777216, "L1 and shared memory of an SM together"},
    {"smem.max_bytes", at<&G::smem, &SharedMemoryConfig::max_bytes>, "byte", 8192, 16777216, "most shared memory an SM can give to its CTAs"},
    {"smem.max_cta_bytes", at<&G::smem, &SharedMemoryConfig::max_cta_bytes>, "byte", 8192, 16777216, "most shared memory of one CTA"},
    {"smem.reserved_cta_bytes", at<&G::smem, &SharedMemoryConfig::reserved_cta_bytes>, "byte", 0, 65536, "taken by the system from each CTA"},
    {"smem.read_bytes_per_cycle", at<&G::smem, &SharedMemoryConfig::read_bytes_per_cycle>, "byte/SM cycle", 1, 4096, "read port: LDS, ldmatrix and wgmma operands"},
    {"smem.fill_bytes_per_cycle", at<&G::smem, &SharedMemoryConfig::fill_bytes_per_cycle>, "byte/SM cycle", 1, 4096, "write port: TMA, cp.async and STS"},
    {"smem.fill_read_coupling", at<&G::smem, &SharedMemoryConfig::fill_read_coupling>, "ratio", 0, 1, "share of a fill cycle that also takes the read port (0 = independent, 1 = one port)"},
    {"smem.latency_cycles", at<&G::smem, &SharedMemoryConfig::latency_cycles>, "SM cycle", 1, 500, "LDS to use, without conflicts"},
    {"smem.load_issue_cycles", at<&G::smem, &SharedMemoryConfig::load_issue_cycles>, "SM cycle", 0, 100, "of a sub-partition, per shared-memory load"},
    {"smem.store_issue_cycles", at<&G::smem, &SharedMemoryConfig::store_issue_cycles>, "SM cycle", 0, 100, "of a sub-partition, per shared-memory store of 32 bits: its address and what is stored"},
    {"smem.store_register_cycles", at<&G::smem, &SharedMemoryConfig::store_register_cycles>, "SM cycle", 0, 100, "the same for each further register that is stored"},
    {"smem.warp_issue_cycles", at<&G::smem, &SharedMemoryConfig::warp_issue_cycles>, "SM cycle", 0, 100, "between shared-memory instructions of one warp"},
    {"smem.conflict_latency_cycles", at<&G::smem, &SharedMemoryConfig::conflict_latency_cycles>, "SM cycle", 0, 100, "latency per wavefront beyond the first, the port\'s cycle included"},
    {"smem.dsmem_latency_cycles", at<&G::smem, &SharedMemoryConfig::dsmem_latency_cycles>, "SM cycle", 0, 5000, "load from another SM of the cluster to use; 0 = no clusters"},
    {"smem.dsmem_bytes_per_cycle", at<&G::smem, &SharedMemoryConfig::dsmem_bytes_per_cycle>, "byte/SM cycle", 0, 4096, "distributed shared memory, loads of an SM; 0 = no clusters"},
    {"smem.dsmem_bulk_bytes_per_cycle", at<&G::smem, &SharedMemoryConfig::dsmem_bulk_bytes_per_cycle>, "byte/SM cycle", 0, 4096, "the same by bulk copies"},
    {"smem.dsmem_gpc_bytes_per_cycle", at<&G::smem, &SharedMemoryConfig::dsmem_gpc_bytes_per_cycle>, "byte/SM cycle", 0, 65536, "the same, loads of all SMs of a GPC"},

    {"l1.line_bytes", at<&G::l1, &L1Config::line_bytes>, "byte", 32, 1024, "unit of tag"},
    {"l1.latency_cycles", at<&G::l1, &L1Config::latency_cycles>, "SM cycle", 1, 1000, "hit, load to use"},
    {"l1.bytes_per_cycle", at<&G::l1, &L1Config::bytes_per_cycle>, "byte/SM cycle", 1, 4096, "hit bandwidth of an SM"},
    {"l1.tags_per_cycle", at<&G::l1, &L1Config::tags_per_cycle>, "line/SM cycle", 0.1, 64, "distinct lines looked up per cycle"},
    {"l1.outstanding_sectors", at<&G::l1, &L1Config::outstanding_sectors>, "sector", 64, 65536, "sector misses in flight per SM, of plain loads and cp.async"},
    {"l1.store_queue_sectors", at<&G::l1, &L1Config::store_queue_sectors>, "sector", 64, 65536, "store sectors in flight per SM before the LSU stalls"},
    {"l1.async_copy_cycles", at<&G::l1, &L1Config::async_copy_cycles>, "SM cycle", 0, 100, "per cp.async instruction of 16 bytes a lane"},

    {"tma.present", at<&G::tma, &TmaConfig::present>, "flag", 0, 1, "1 if the SM has a bulk-copy engine"},
    {"tma.issue_cycles", at<&G::tma, &TmaConfig::issue_cycles>, "SM cycle", 0, 5000, "engine time per instruction"},
    {"tma.row_cycles", at<&G::tma, &TmaConfig::row_cycles>, "SM cycle", 0, 1000, "engine time per box row"},
    {"tma.bytes_per_cycle", at<&G::tma, &TmaConfig::bytes_per_cycle>, "byte/SM cycle", 0, 4096, "rate at which the engine makes requests; 0 = no engine"},
    {"tma.latency_cycles", at<&G::tma, &TmaConfig::latency_cycles>, "SM cycle", 0, 5000, "added to a plain L2 access"},
    {"tma.outstanding_bytes", at<&G::tma, &TmaConfig::outstanding_bytes>, "byte", 0, 16777216, "bytes in flight per SM; 0 = no engine"},
    {"tma.descriptor_miss_cycles", at<&G::tma, &TmaConfig::descriptor_miss_cycles>, "SM cycle", 0, 10000, "first use of a tensor map on an SM"},
    {"tma.store_latency_cycles", at<&G::tma, &TmaConfig::store_latency_cycles>, "SM cycle", 0, 10000, "bulk store issued to its shared memory being read"},

    {"tensor.fma_16bit", at<&G::tensor, &TensorConfig::fma_16bit>, "FMA/SM cycle", 0, 65536, "dense fp16 and bf16 multiply-adds of an SM on the fastest path"},
    {"tensor.fma_tf32", at<&G::tensor, &TensorConfig::fma_tf32>, "FMA/SM cycle", 0, 65536, "dense tf32 multiply-adds of an SM"},
    {"tensor.fma_8bit", at<&G::tensor, &TensorConfig::fma_8bit>, "FMA/SM cycle", 0, 65536, "dense int8 (and fp8 where present) multiply-adds of an SM"},
    {"tensor.fma_fp64", at<&G::tensor, &TensorConfig::fma_fp64>, "FMA/SM cycle", 0, 65536, "dense fp64 multiply-adds of an SM"},
    {"tensor.fma_4bit", at<&G::tensor, &TensorConfig::fma_4bit>, "FMA/SM cycle", 0, 65536, "dense int4 multiply-adds of an SM; 0 = none"},
    {"tensor.wgmma_present", at<&G::tensor, &TensorConfig::wgmma_present>, "flag", 0, 1, "1 if warpgroup MMA exists"},
    {"tensor.wgmma_operand_bytes_per_cycle", at<&G::tensor, &TensorConfig::wgmma_operand_bytes_per_cycle>, "byte/SM cycle", 0, 4096, "shared-memory operand rate of wgmma; 0 = none"},
    {"tensor.wgmma_overhead_cycles", at<&G::tensor, &TensorConfig::wgmma_overhead_cycles>, "SM cycle", 0, 1000, "per instruction beyond max(compute, operands)"},
    {"tensor.wgmma_latency_cycles", at<&G::tensor, &TensorConfig::wgmma_latency_cycles>, "SM cycle", 0, 1000, "issue and drain beyond the compute cycles"},
    {"tensor.wgmma_register_latency_cycles", at<&G::tensor, &TensorConfig::wgmma_register_latency_cycles>, "SM cycle", 0, 1000, "the same with A in registers"},
    {"tensor.wgmma_min_cycles", at<&G::tensor, &TensorConfig::wgmma_min_cycles>, "SM cycle", 0, 1000, "shortest interval between wgmma instructions"},
    {"tensor.wgmma_fill_stretch", at<&G::tensor, &TensorConfig::wgmma_fill_stretch>, "ratio", 1, 10, "time of a wgmma while copies fill shared memory, over its own"},
    {"tensor.wgmma_beside_cycles", at<&G::tensor, &TensorConfig::wgmma_beside_cycles>, "SM cycle", 0, 1000, "issue interval of other instructions of an SMSP while wgmma runs; 0 = undisturbed"},
    {"tensor.wgmma_beside_mufu_cycles", at<&G::tensor, &TensorConfig::wgmma_beside_mufu_cycles>, "SM cycle", 0, 1000, "the same for special functions"},
    {"tensor.mma_sync_overhead_cycles", at<&G::tensor, &TensorConfig::mma_sync_overhead_cycles>, "SM cycle", 0, 100, "of the interval between mma.sync instructions of an SMSP, beyond the multiply-adds"},
    {"tensor.mma_sync_issue_hold", at<&G::tensor, &TensorConfig::mma_sync_issue_hold>, "ratio", 0, 1, "share of the mma.sync interval for which the SMSP cannot issue other instructions"},
    {"tensor.mma_sync_latency_cycles", at<&G::tensor, &TensorConfig::mma_sync_latency_cycles>, "SM cycle", 1, 1000, "dependent m16n8k16"},
    {"tensor.mma_sync_base_latency_cycles", at<&G::tensor, &TensorConfig::mma_sync_base_latency_cycles>, "SM cycle", 0, 1000, "of a dependent mma.sync, what its multiply-adds do not account for"},

    {"xbar.sm_read_bytes_per_cycle", at<&G::xbar, &XbarConfig::sm_read_bytes_per_cycle>, "byte/SM cycle", 1, 4096, "L2 to SM, per SM"},
    {"xbar.tpc_read_bytes_per_cycle", at<&G::xbar, &XbarConfig::tpc_read_bytes_per_cycle>, "byte/SM cycle", 1, 8192, "L2 to SMs, per TPC"},
    {"xbar.cpc_read_bytes_per_cycle", at<&G::xbar, &XbarConfig::cpc_read_bytes_per_cycle>, "byte/SM cycle", 0, 16384, "L2 to SMs, per CPC; 0 = no limit"},
    {"xbar.gpc_read_bytes_per_cycle", at<&G::xbar, &XbarConfig::gpc_read_bytes_per_cycle>, "byte/L2 cycle", 1, 65536, "L2 to SMs, per GPC"},
    {"xbar.sm_write_bytes_per_cycle", at<&G::xbar, &XbarConfig::sm_write_bytes_per_cycle>, "byte/SM cycle", 1, 4096, "SM to L2, per SM"},
    {"xbar.cpc_write_bytes_per_cycle", at<&G::xbar, &XbarConfig::cpc_write_bytes_per_cycle>, "byte/SM cycle", 0, 16384, "SMs to L2, per CPC; 0 = no limit"},
    {"xbar.gpc_write_bytes_per_cycle", at<&G::xbar, &XbarConfig::gpc_write_bytes_per_cycle>, "byte/L2 cycle", 1, 65536, "SMs to L2, per GPC"},
    {"xbar.gpc_delivered_bytes_per_cycle", at<&G::xbar, &XbarConfig::gpc_delivered_bytes_per_cycle>, "byte/L2 cycle", 0, 131072, "to the SMs of a GPC, merged and multicast replies included; 0 = no limit"},
    {"xbar.cpc_outstanding_bytes", at<&G::xbar, &XbarConfig::cpc_outstanding_bytes>, "byte", 0, 1 << 30, "what the SMs of a CPC have under way in L2 misses; 0 = no limit"},
    {"xbar.request_latency_cycles", at<&G::xbar, &XbarConfig::request_latency_cycles>, "L2 cycle", 0, 2000, "SM to slice"},
    {"xbar.reply_latency_cycles", at<&G::xbar, &XbarConfig::reply_latency_cycles>, "L2 cycle", 0, 2000, "slice to SM"},
    {"xbar.hop_spread_cycles", at<&G::xbar, &XbarConfig::hop_spread_cycles>, "L2 cycle", 0, 500, "largest extra latency by distance between GPC and slice"},

    {"lrc.present", at<&G::lrc, &LrcConfig::present>, "flag", 0, 1, "1 if requests to one line are merged before L2"},
    {"lrc.sms_per_group", at<&G::lrc, &LrcConfig::sms_per_group>, "SM", 0, 256, "SMs whose requests meet in one coalescer; 0 = all SMs of the GPC"},
    {"lrc.merge_limit", at<&G::lrc, &LrcConfig::merge_limit>, "request", 1, 1024, "requests merged with one outstanding line"},
    {"lrc.window_cycles", at<&G::lrc, &LrcConfig::window_cycles>, "L2 cycle", 0, 100000, "time an entry stays open after its request has left; 0 = until the data returns"},
    {"lrc.outside_units", at<&G::lrc, &LrcConfig::outside_units>, "slice", 0, 512, "slices of a side that serve what boxes ask for outside their tensor; 0 = no limit"},

    {"l2.size_bytes", at<&G::l2, &L2Config::size_bytes>, "byte", 65536, 16 * kGiB, "capacity of all slices"},
    {"l2.data_share", at<&G::l2, &L2Config::data_share>, "ratio", 0.1, 1, "share of the capacity that data read again finds"},
    {"l2.partitions", at<&G::l2, &L2Config::partitions>, "partition", 1, 2, "halves joined by the fabric"},
    {"l2.slices", at<&G::l2, &L2Config::slices>, "slice", 1, 1024, "slices in all partitions"},
    {"l2.ways", at<&G::l2, &L2Config::ways>, "way", 1, 64, "lines of a set"},
    {"l2.line_bytes", at<&G::l2, &L2Config::line_bytes>, "byte", 32, 1024, "unit of tag"},
    {"l2.fetch_bytes", at<&G::l2, &L2Config::fetch_bytes>, "byte", 32, 64, "least that a miss brings from HBM, aligned: 32 or 64"},
    {"l2.slice_tags_per_cycle", at<&G::l2, &L2Config::slice_tags_per_cycle>, "line/L2 cycle", 0.01, 16, "look-ups of a slice"},
    {"l2.slice_bytes_per_cycle", at<&G::l2, &L2Config::slice_bytes_per_cycle>, "byte/L2 cycle", 1, 1024, "read bandwidth of a slice"},
    {"l2.slice_write_bytes_per_cycle", at<&G::l2, &L2Config::slice_write_bytes_per_cycle>, "byte/L2 cycle", 1, 1024, "write bandwidth of a slice"},
    {"l2.hit_latency_cycles", at<&G::l2, &L2Config::hit_latency_cycles>, "L2 cycle", 1, 2000, "request accepted by the slice to the first sector leaving it"},
    {"l2.home_interleave_bytes", at<&G::l2, &L2Config::home_interleave_bytes>, "byte", 128, 16777216, "grain at which (hashed) addresses alternate between partitions"},
    {"l2.near_copy", at<&G::l2, &L2Config::near_copy>, "words", 0, 0, "when a far-homed line gets a copy in the reader's partition", "none|first_fill|far_hit"},
    {"l2.dirty_limit", at<&G::l2, &L2Config::dirty_limit>, "ratio", 0, 1, "share of the L2 that may be dirty before write-back starts"},
    {"l2.store_leaves_near_copy", at<&G::l2, &L2Config::store_leaves_near_copy>, "flag", 0, 1, "1 if a far-homed store keeps a line in the near partition"},

    {"fabric.bytes_per_cycle", at<&G::fabric, &FabricConfig::bytes_per_cycle>, "byte/L2 cycle", 1, 65536, "between the L2 partitions, each direction"},
    {"fabric.latency_cycles", at<&G::fabric, &FabricConfig::latency_cycles>, "L2 cycle", 0, 2000, "one crossing"},

    {"hbm.size_bytes", at<&G::hbm, &HbmConfig::size_bytes>, "byte", 1048576, 4096 * kGiB, "memory the part offers"},
    {"hbm.stacks", at<&G::hbm, &HbmConfig::stacks>, "stack", 1, 16, "HBM packages enabled"},
    {"hbm.channels_per_stack", at<&G::hbm, &HbmConfig::channels_per_stack>, "channel", 1, 64, "independent command buses of a stack"},
    {"hbm.pseudo_channels_per_channel", at<&G::hbm, &HbmConfig::pseudo_channels_per_channel>, "pseudo-channel", 1, 4, "halves of a channel with their own data pins and banks"},
    {"hbm.pseudo_channel_bits", at<&G::hbm, &HbmConfig::pseudo_channel_bits>, "bit", 8, 256, "data width of a pseudo-channel"},
    {"hbm.bank_groups", at<&G::hbm, &HbmConfig::bank_groups>, "bank group", 1, 64, "bank groups of a pseudo-channel, stack ids included"},
    {"hbm.banks_per_group", at<&G::hbm, &HbmConfig::banks_per_group>, "bank", 1, 64, "banks of a bank group"},
    {"hbm.row_bytes", at<&G::hbm, &HbmConfig::row_bytes>, "byte", 64, 65536, "row of one bank"},
    {"hbm.burst_bytes", at<&G::hbm, &HbmConfig::burst_bytes>, "byte", 8, 1024, "one column access"},
    {"hbm.trcd_ns", at<&G::hbm, &HbmConfig::trcd_ns>, "ns", 0.1, 200, "row opened to column read"},
    {"hbm.trp_ns", at<&G::hbm, &HbmConfig::trp_ns>, "ns", 0.1, 200, "row closed to row opened"},
    {"hbm.tras_ns", at<&G::hbm, &HbmConfig::tras_ns>, "ns", 0.1, 500, "row opened to row closed, at least"},
    {"hbm.tcl_ns", at<&G::hbm, &HbmConfig::tcl_ns>, "ns", 0.1, 200, "column read to first data"},
    {"hbm.tfaw_ns", at<&G::hbm, &HbmConfig::tfaw_ns>, "ns", 0, 500, "window that may hold four row openings of a pseudo-channel"},
    {"hbm.twtr_ns", at<&G::hbm, &HbmConfig::twtr_ns>, "ns", 0, 200, "end of write data to column read"},
    {"hbm.trtw_ns", at<&G::hbm, &HbmConfig::trtw_ns>, "ns", 0, 200, "end of read data to write data"},
    {"hbm.trfc_ns", at<&G::hbm, &HbmConfig::trfc_ns>, "ns", 0, 5000, "refresh busy time of the banks refreshed at once"},
    {"hbm.trefi_ns", at<&G::hbm, &HbmConfig::trefi_ns>, "ns", 10, 100000, "between refresh commands of a pseudo-channel (all banks, or one bank after another)"},
    {"hbm.refresh", at<&G::hbm, &HbmConfig::refresh>, "words", 0, 0, "banks that a refresh command takes", "all_bank|per_bank"},
    {"hbm.write_queue_lines", at<&G::hbm, &HbmConfig::write_queue_lines>, "line", 1, 65536, "write queue of a pseudo-channel, drained when full"},
    {"hbm.write_drain_lines", at<&G::hbm, &HbmConfig::write_drain_lines>, "line", 1, 65536, "lines written per drain"},
    {"hbm.controller_latency_ns", at<&G::hbm, &HbmConfig::controller_latency_ns>, "ns", 0, 5000, "slice miss to command plus data to slice, beyond the DRAM timings"},

    {"tlb.page_bytes", at<&G::tlb, &TlbConfig::page_bytes>, "byte", 4096, kGiB, "page size of device memory"},
    {"tlb.gpc_entries", at<&G::tlb, &TlbConfig::gpc_entries>, "page", 1, 1048576, "pages held by the translation cache beside each GPC"},
    {"tlb.miss_cycles", at<&G::tlb, &TlbConfig::miss_cycles>, "L2 cycle", 0, 100000, "GPC miss that hits the shared level"},

    {"launch.overhead_before_cycles", at<&G::launch, &LaunchConfig::overhead_before_cycles>, "SM cycle", 0, 1000000, "launch to the first CTA, counted in sm__cycles_elapsed"},
    {"launch.overhead_after_cycles", at<&G::launch, &LaunchConfig::overhead_after_cycles>, "SM cycle", 0, 1000000, "last CTA to the end of the kernel"},
    {"launch.traffic_cycles", at<&G::launch, &LaunchConfig::traffic_cycles>, "SM cycle", 0, 1000000, "more at the end of a kernel that has moved more than 8 KiB"},
    {"launch.ctas_per_cycle", at<&G::launch, &LaunchConfig::ctas_per_cycle>, "CTA/SM cycle", 0.0001, 1000, "CTAs whose end the whole GPU deals with, and CTAs of clusters handed out"},
    {"launch.sm_interval_cycles", at<&G::launch, &LaunchConfig::sm_interval_cycles>, "SM cycle", 0, 10000, "between the first CTAs of SMs of a GPC"},
    {"launch.cluster_interval_cycles", at<&G::launch, &LaunchConfig::cluster_interval_cycles>, "SM cycle", 0, 10000, "between clusters handed out, beyond their CTAs"},
    {"launch.cluster_cycles", at<&G::launch, &LaunchConfig::cluster_cycles>, "SM cycle", 0, 10000, "more than a CTA alone that a cluster needs to start"},
};
// clang-format on

// A key may lack its unit suffix: "l2.size" means "l2.size_bytes".
constexpr std::array<std::string_view, 5> kUnitSuffixes = {"_bytes", "_mhz", "_cycles", "_ns", "_bytes_per_cycle"};

const Field* find_exact(std::string_view key) {
  for (const Field& field : kFields) {
    if (field.key == key) {
      return &field;
    }
  }
  return nullptr;
}

}  // namespace

std::span<const Field> gpu_fields() { return kFields; }

std::vector<std::string> gpu_field_keys() {
  std::vector<std::string> keys;
  for (const Field& field : kFields) {
    keys.emplace_back(field.key);
  }
  return keys;
}

const Field* find_field(std::string_view key) {
  if (const Field* field = find_exact(key)) {
    return field;
  }
  for (const std::string_view suffix : kUnitSuffixes) {
    if (const Field* field = find_exact(std::string(key) + std::string(suffix))) {
      return field;
    }
  }
  return nullptr;
}

}  // namespace strata
