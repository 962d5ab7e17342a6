/// Walks the streams of a trace and adds up what the hardware counts whatever the timing: the conformance of a
/// generator is these totals against recorded counters.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "workloads/spec/trace_source.hpp"

namespace strata::test {

struct TraceTotals {
  std::uint64_t operations = 0;
  std::uint64_t warp_insts = 0;         ///< sm__inst_executed
  std::uint64_t tensor_insts = 0;       ///< sm__inst_executed_pipe_tensor
  std::uint64_t delivered_sectors = 0;  ///< global reads, every multicast receiver counted; L1 hits are not left out
  std::uint64_t stored_sectors = 0;
  std::uint64_t smem_wavefronts = 0;  ///< reads and writes of operations, and wgmma operand reads; fills are left out

  TraceTotals& operator+=(const TraceTotals& o) {
    operations += o.operations;
    warp_insts += o.warp_insts;
    tensor_insts += o.tensor_insts;
    delivered_sectors += o.delivered_sectors;
    stored_sectors += o.stored_sectors;
    smem_wavefronts += o.smem_wavefronts;
    return *this;
  }
};

/// 32 B sectors that a box brings: those that its rows touch, and what is asked for beyond the tensor: columns row by
/// row, rows as if aligned.
inline std::uint64_t box_sectors(const MemoryRef& mem) {
  if (mem.row_bytes == 0) {
    return 0;
  }
  const auto touched = [](std::uint64_t first, std::uint64_t bytes) {
    return bytes == 0 ? 0 : (first + bytes - 1) / 32 - first / 32 + 1;
  };
  std::uint64_t sectors = mem.oob_rows * touched(0, std::uint64_t{mem.row_bytes} + mem.oob_bytes);
  for (std::uint32_t i = 0; i < mem.rows; ++i) {
    const std::uint64_t first = mem.address + i * static_cast<std::uint64_t>(mem.row_pitch);
    sectors += touched(first, mem.row_bytes) + touched(first + mem.row_bytes, mem.oob_bytes);
  }
  return sectors;
}

/// Sectors of a lane-addressed access: distinct sectors of each warp instruction.
inline std::uint64_t lane_sectors(const MemoryRef& mem, std::uint32_t warps) {
  std::uint64_t total = 0;
  for (std::uint32_t w = 0; w < warps; ++w) {
    for (std::uint32_t i = 0; i < mem.rows; ++i) {
      std::array<std::uint64_t, 64> sectors{};
      std::size_t n = 0;
      for (std::uint32_t l = 0; l < mem.lanes; ++l) {
        const std::uint64_t a = mem.address + i * static_cast<std::uint64_t>(mem.row_pitch) +
                                w * static_cast<std::uint64_t>(mem.warp_pitch) +
                                l * static_cast<std::uint64_t>(static_cast<std::int64_t>(mem.lane_pitch));
        sectors[n++] = a / 32;
        sectors[n++] = (a + mem.lane_bytes - 1) / 32;
      }
      std::sort(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(n));
      total += static_cast<std::uint64_t>(
          std::unique(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(n)) - sectors.begin());
    }
  }
  return total;
}

inline TraceTotals totals_of(const Operation& op, std::uint32_t warps) {
  TraceTotals t;
  t.operations = 1;
  t.warp_insts = op.warp_insts;
  t.tensor_insts = op.tensor_insts;
  t.smem_wavefronts = std::uint64_t{op.smem_read_wavefronts} + op.smem_write_wavefronts;
  if (op.kind == OpKind::kCpAsync) {
    t.smem_wavefronts -= op.smem_write_wavefronts;
  }
  if (op.kind == OpKind::kWgmma) {
    const std::uint64_t bits = op.mma_bits == 19 ? 32 : op.mma_bits;
    const std::uint64_t rows = std::uint64_t{op.mma_n} + (op.mma_a_in_registers ? 0 : op.mma_m);
    t.smem_wavefronts += op.mma_count * rows * op.mma_k * bits / 8 / 128;
  }
  const bool memory = op.kind == OpKind::kTma || op.kind == OpKind::kCpAsync || op.kind == OpKind::kMemory;
  if (memory && (op.mem.space == MemSpace::kGlobal || op.mem.space == MemSpace::kLocal)) {
    const std::uint64_t sectors = op.mem.pattern == Pattern::kBox ? box_sectors(op.mem) : lane_sectors(op.mem, warps);
    if (op.mem.dir == MemDir::kLoad) {
      t.delivered_sectors = sectors * static_cast<std::uint64_t>(std::max(1, std::popcount(op.mem.multicast)));
    } else if (op.mem.dir != MemDir::kPrefetch) {
      // Words of a sector that requests store one after the other leave as one, unless something comes between.
      const bool words = op.mem.pattern == Pattern::kBox && op.mem.lane_pitch > op.mem.lane_bytes;
      t.stored_sectors = words ? sectors * op.mem.lane_bytes / static_cast<std::uint32_t>(op.mem.lane_pitch) : sectors;
    }
  }
  return t;
}

/// Calls `visit(id, op)` for every operation of a CTA, stream after stream.
template <typename Visit>
void walk_cta(const TraceSource& source, std::uint64_t cta, Visit&& visit) {
  const Launch& launch = source.launch();
  std::array<Operation, TraceSource::kMinFetch> ops;
  for (std::uint32_t s = 0; s < launch.streams.size(); ++s) {
    const StreamId id{cta, s, static_cast<std::uint32_t>(cta % launch.cluster_size())};
    StreamCursor cursor;
    for (std::uint32_t n = source.fetch(id, cursor, ops); n != 0; n = source.fetch(id, cursor, ops)) {
      for (std::uint32_t i = 0; i < n; ++i) {
        visit(id, ops[i]);
      }
    }
  }
}

/// Totals of the CTAs 0, stride, 2 stride, ..., scaled up to the whole grid by the number of CTAs.
inline TraceTotals trace_totals(const TraceSource& source, std::uint64_t stride = 1) {
  const Launch& launch = source.launch();
  TraceTotals total;
  std::uint64_t visited = 0;
  for (std::uint64_t cta = 0; cta < launch.num_ctas(); cta += stride, ++visited) {
    walk_cta(source, cta, [&](const StreamId& id, const Operation& op) {
      total += totals_of(op, launch.streams[id.stream].num_warps);
    });
  }
  if (visited == launch.num_ctas() || visited == 0) {
    return total;
  }
  const auto scale = [&](std::uint64_t& value) {
    value = static_cast<std::uint64_t>(static_cast<double>(value) * static_cast<double>(launch.num_ctas()) /
                                       static_cast<double>(visited));
  };
  for (std::uint64_t* value : {&total.operations, &total.warp_insts, &total.tensor_insts, &total.delivered_sectors,
                               &total.stored_sectors, &total.smem_wavefronts}) {
    scale(*value);
  }
  return total;
}

}  // namespace strata::test
