#include "sim/config/gpu_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "sim/config/gpu_description.hpp"
#include "sim/config/gpu_fields.hpp"

namespace strata {

namespace {

constexpr int kSectorBytes = 32;
constexpr int kTmaChunkBytes = 2048;  ///< 16 lines, which the TMA unit of the model asks for at once

/// Collects problems under a key.
class Problems {
 public:
  void expect(bool good, const char* key, std::string message) {
    if (!good) {
      found.push_back({{}, 0, 0, key, std::move(message)});
    }
  }
  std::vector<Diagnostic> found;
};

void check_topology(const GpuConfig& c, Problems& p) {
  const TopologyConfig& t = c.topology;
  p.expect(
      t.gpc_partition.size() == t.gpc_sms.size(), "topology.gpc_partition",
      fmt::format("{} elements: must be as long as topology.gpc_sms (= {})", t.gpc_partition.size(), t.gpc_sms.size()));
  for (const int sms : t.gpc_sms) {
    if (sms % t.sms_per_tpc != 0) {
      p.expect(false, "topology.gpc_sms",
               fmt::format("a GPC of {} SMs: must be a multiple of topology.sms_per_tpc (= {})", sms, t.sms_per_tpc));
      break;
    }
  }
  p.expect(t.gpc_cluster_sms.size() == t.gpc_sms.size(), "topology.gpc_cluster_sms",
           fmt::format("{} elements: must be as long as topology.gpc_sms (= {})", t.gpc_cluster_sms.size(),
                       t.gpc_sms.size()));
  for (std::size_t i = 0; i < std::min(t.gpc_sms.size(), t.gpc_cluster_sms.size()); ++i) {
    if (t.gpc_cluster_sms[i] > t.gpc_sms[i]) {
      p.expect(false, "topology.gpc_cluster_sms",
               fmt::format("{} of the {} SMs of GPC {}: must not exceed topology.gpc_sms", t.gpc_cluster_sms[i],
                           t.gpc_sms[i], i));
      break;
    }
  }
  for (const int partition : t.gpc_partition) {
    if (partition >= c.l2.partitions) {
      p.expect(false, "topology.gpc_partition",
               fmt::format("partition {}: must be below l2.partitions (= {})", partition, c.l2.partitions));
      break;
    }
  }
}

void check_sm(const GpuConfig& c, Problems& p) {
  p.expect(c.sm.max_threads >= c.sm.max_warps * 32, "sm.max_threads",
           fmt::format("{}: must hold sm.max_warps (= {}) warps of 32 threads", c.sm.max_threads, c.sm.max_warps));
  p.expect(c.sm.max_warps % c.sm.smsps == 0, "sm.max_warps",
           fmt::format("{}: must be a multiple of sm.smsps (= {})", c.sm.max_warps, c.sm.smsps));
  p.expect(c.registers.registers % (c.sm.smsps * c.registers.allocation_unit) == 0, "registers.registers",
           fmt::format("{}: must be a multiple of sm.smsps x registers.allocation_unit (= {})", c.registers.registers,
                       c.sm.smsps * c.registers.allocation_unit));
  p.expect(c.smem.max_bytes <= c.smem.unified_bytes, "smem.max_bytes",
           fmt::format("{}: must not exceed smem.unified_bytes (= {})", c.smem.max_bytes, c.smem.unified_bytes));
  p.expect(c.smem.max_cta_bytes + c.smem.reserved_cta_bytes <= c.smem.max_bytes, "smem.max_cta_bytes",
           fmt::format("{}: with smem.reserved_cta_bytes (= {}) it must not exceed smem.max_bytes (= {})",
                       c.smem.max_cta_bytes, c.smem.reserved_cta_bytes, c.smem.max_bytes));
  p.expect(c.clocks.sm_loaded_mhz <= c.clocks.sm_max_mhz, "clocks.sm_loaded_mhz",
           fmt::format("{}: must not exceed clocks.sm_max_mhz (= {})", c.clocks.sm_loaded_mhz, c.clocks.sm_max_mhz));
  p.expect(c.clocks.sm_memory_mhz <= c.clocks.sm_max_mhz, "clocks.sm_memory_mhz",
           fmt::format("{}: must not exceed clocks.sm_max_mhz (= {})", c.clocks.sm_memory_mhz, c.clocks.sm_max_mhz));
  p.expect(c.tma.present == 0 || c.tma.bytes_per_cycle > 0, "tma.bytes_per_cycle",
           "tma.present = 1 needs a rate above 0");
  p.expect(
      c.tma.present == 0 || c.tma.outstanding_bytes >= kTmaChunkBytes, "tma.outstanding_bytes",
      fmt::format("{}: tma.present = 1 needs {} or more, one chunk of a box", c.tma.outstanding_bytes, kTmaChunkBytes));
  p.expect(c.tensor.wgmma_present == 0 || c.tensor.wgmma_operand_bytes_per_cycle > 0,
           "tensor.wgmma_operand_bytes_per_cycle", "tensor.wgmma_present = 1 needs a rate above 0");
  p.expect(c.tensor.fma_16bit > 0, "tensor.fma_16bit", "must be above 0");
}

void check_l2(const GpuConfig& c, Problems& p) {
  const L2Config& l2 = c.l2;
  p.expect(l2.slices % l2.partitions == 0, "l2.slices",
           fmt::format("{}: must be a multiple of l2.partitions (= {})", l2.slices, l2.partitions));
  constexpr int kMostSlices = 256;  // of a partition: the address map numbers them in a byte
  p.expect(l2.slices / l2.partitions <= kMostSlices, "l2.slices",
           fmt::format("{}: at most {} for each of l2.partitions (= {}) are modelled", l2.slices, kMostSlices,
                       l2.partitions));
  for (const auto& [key, line] : {std::pair{"l2.line_bytes", l2.line_bytes}, {"l1.line_bytes", c.l1.line_bytes}}) {
    p.expect(line % kSectorBytes == 0, key,
             fmt::format("{}: must be a multiple of the sector (= {})", line, kSectorBytes));
  }
  p.expect(c.l1.line_bytes == l2.line_bytes, "l1.line_bytes",
           fmt::format("{}: must equal l2.line_bytes (= {})", c.l1.line_bytes, l2.line_bytes));
  const std::int64_t grain = static_cast<std::int64_t>(l2.slices) * l2.ways * l2.line_bytes;
  const std::int64_t below = l2.size_bytes / grain * grain;
  p.expect(l2.size_bytes % grain == 0 && l2.size_bytes > 0, "l2.size_bytes",
           fmt::format("{}: must be a multiple of l2.slices x l2.ways x l2.line_bytes (= {}), e.g. {}", l2.size_bytes,
                       grain, below > 0 ? fmt::format("{} or {}", below, below + grain) : std::to_string(grain)));
  p.expect(l2.fetch_bytes == kSectorBytes || l2.fetch_bytes == 2 * kSectorBytes, "l2.fetch_bytes",
           fmt::format("{}: must be {} or {}, one sector or a pair", l2.fetch_bytes, kSectorBytes, 2 * kSectorBytes));
  p.expect(
      l2.home_interleave_bytes % l2.line_bytes == 0 &&
          std::has_single_bit(static_cast<std::uint64_t>(l2.home_interleave_bytes / l2.line_bytes)),
      "l2.home_interleave_bytes",
      fmt::format("{}: must be a power of two times l2.line_bytes (= {})", l2.home_interleave_bytes, l2.line_bytes));
}

void check_hbm(const GpuConfig& c, Problems& p) {
  const HbmConfig& h = c.hbm;
  const int pseudo_channels = c.num_pseudo_channels();
  p.expect(pseudo_channels % c.l2.slices == 0 || c.l2.slices % pseudo_channels == 0, "l2.slices",
           fmt::format("{}: the {} pseudo-channels must divide evenly among the slices, or the slices among them",
                       c.l2.slices, pseudo_channels));
  p.expect(
      pseudo_channels % c.l2.partitions == 0, "hbm.stacks",
      fmt::format("{} pseudo-channels: must be a multiple of l2.partitions (= {})", pseudo_channels, c.l2.partitions));
  constexpr int kMostPerPartition = 255;  // the address map numbers them in a byte
  p.expect(pseudo_channels / c.l2.partitions <= kMostPerPartition, "hbm.channels_per_stack",
           fmt::format("{}: makes {} pseudo-channels; at most {} for each of l2.partitions (= {}) are modelled",
                       h.channels_per_stack, pseudo_channels, kMostPerPartition, c.l2.partitions));
  constexpr int kMostBanks = 256;
  p.expect(h.bank_groups * h.banks_per_group <= kMostBanks, "hbm.bank_groups",
           fmt::format("{}: makes {} banks of a pseudo-channel; at most {} are modelled", h.bank_groups,
                       h.bank_groups * h.banks_per_group, kMostBanks));
  p.expect(h.pseudo_channel_bits % 8 == 0, "hbm.pseudo_channel_bits",
           fmt::format("{}: must be a multiple of 8", h.pseudo_channel_bits));
  p.expect(h.row_bytes % h.burst_bytes == 0, "hbm.row_bytes",
           fmt::format("{}: must be a multiple of hbm.burst_bytes (= {})", h.row_bytes, h.burst_bytes));
  p.expect(h.burst_bytes % kSectorBytes == 0 || kSectorBytes % h.burst_bytes == 0, "hbm.burst_bytes",
           fmt::format("{}: must divide or be a multiple of the sector (= {})", h.burst_bytes, kSectorBytes));
  const double refresh_room = h.refresh == "per_bank" ? h.trefi_ns * h.bank_groups * h.banks_per_group : h.trefi_ns;
  p.expect(h.trfc_ns < refresh_room, "hbm.trfc_ns",
           fmt::format("{}: must be shorter than the {} ns between refreshes of a bank", h.trfc_ns, refresh_room));
  p.expect(h.write_drain_lines <= h.write_queue_lines, "hbm.write_drain_lines",
           fmt::format("{}: must not exceed hbm.write_queue_lines (= {})", h.write_drain_lines, h.write_queue_lines));
  p.expect(h.size_bytes > c.l2.size_bytes, "hbm.size_bytes", "must be larger than l2.size_bytes");
}

}  // namespace

std::vector<Diagnostic> relation_problems(const GpuConfig& config) {
  Problems problems;
  check_topology(config, problems);
  check_sm(config, problems);
  check_l2(config, problems);
  check_hbm(config, problems);
  return std::move(problems.found);
}

std::vector<Diagnostic> range_problems(const GpuConfig& config) {
  std::vector<Diagnostic> found;
  for (const Field& field : gpu_fields()) {
    if (auto problem = check_field(field, config)) {
      found.push_back({{}, 0, 0, std::string(field.key), *problem});
    }
  }
  return found;
}

void validate_config(const GpuConfig& config) {
  std::vector<Diagnostic> found = range_problems(config);
  if (found.empty()) {
    found = relation_problems(config);
  }
  if (!found.empty()) {
    throw InputError(std::move(found));
  }
}

}  // namespace strata
