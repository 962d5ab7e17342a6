#include "workloads/kernels/ladder_attention_wgmma.hpp"

#include <array>

#include "sim/base/error.hpp"
#include "workloads/kernels/flash_attention_wgmma.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kRegisters = 168;
constexpr std::uint32_t kTileRows = 128;
constexpr std::uint32_t kStages = 2;
constexpr std::uint32_t kAlignment = 1024;  ///< bytes to spare in shared memory

// Beside operands and staging, from calibration rows of 8 and of 1 to 4 blocks: 38 wavefronts a block and 60 a tile,
// half of them for each consumer group.
constexpr std::uint32_t kBlockWavefronts = 19;
constexpr std::uint32_t kOnceWavefronts = 30;
/// Waits and addresses around a product: wait for the tile, fences, descriptors, hand-over.
constexpr std::uint32_t kAround = 20;
/// Each sum in the compiled softmax waits for the exponential before last, and the next exponential for the sum: 66 of
/// them take a warp 1050 clk, alone on its sub-partition or not (time stamps on an H200: softmax 1240 to 1290 clk at
/// d = 128, of which 200 are the maximum), in steps of one exponential's latency.
constexpr std::uint32_t kExponentialChain = 62;

/// Instructions of a warp, from the SASS. `prologue` of an overlapped kernel holds its first block's scores and
/// softmax.
struct Entry {
  std::uint32_t head_dim;
  bool causal;
  bool overlap;
  std::uint32_t common;  ///< every warp: until the roles part
  std::uint32_t prologue;
  std::uint32_t block;
  std::uint32_t mask;
  std::uint32_t epilogue;
  std::uint32_t last_warp;  ///< the warp that stores the tile
  std::uint32_t producer;
  std::uint32_t producer_block;
};
constexpr std::array kEntries{
    Entry{32, false, false, 21, 32, 406, 100, 88, 24, 76, 40},
    Entry{32, true, false, 31, 42, 407, 135, 88, 27, 74, 40},
    Entry{64, false, false, 21, 40, 437, 100, 118, 24, 76, 40},
    Entry{64, true, false, 31, 50, 438, 135, 118, 27, 74, 40},
    Entry{128, false, false, 21, 56, 500, 100, 170, 35, 85, 64},
    Entry{128, true, false, 31, 66, 501, 135, 170, 38, 83, 64},
    Entry{32, false, true, 21, 378, 402, 100, 123, 23, 77, 41},
    Entry{32, true, true, 32, 396, 405, 135, 122, 20, 75, 41},
    Entry{64, false, true, 21, 410, 430, 100, 153, 23, 77, 41},
    Entry{64, true, true, 32, 437, 433, 135, 152, 20, 75, 41},
    Entry{128, false, true, 21, 474, 479, 100, 203, 38, 86, 65},
    Entry{128, true, true, 32, 488, 480, 135, 203, 35, 84, 65},
};

constexpr std::uint32_t kInitBarriers = 24;  ///< of one warp
constexpr std::uint32_t kIdleProducers = 3;  ///< warps of the producer group that end at once
constexpr std::uint32_t kIdleInsts = 3;

FlashWgmmaCosts costs_of(const Entry& e) {
  // The block of an overlapped kernel that its prologue holds is one of the tile's blocks.
  const std::uint32_t prologue = e.overlap ? (e.prologue > e.block ? e.prologue - e.block : 0) : e.prologue;
  return FlashWgmmaCosts{.producer_per_tile = kInitBarriers + 4 * e.common + e.producer + kIdleProducers * kIdleInsts,
                         .producer_per_load = e.producer_block / 2,
                         .block = e.block,
                         .around = kAround,
                         .mask = e.mask,
                         .once = e.common + prologue + e.epilogue + e.last_warp / 4,
                         .exponential_chain = kExponentialChain,
                         .weaves = true,
                         .block_wavefronts = kBlockWavefronts,
                         .once_wavefronts = kOnceWavefronts,
                         .takes_turns = false,
                         .masks_last_keys = true,
                         .rises = true};
}

}  // namespace

std::unique_ptr<TraceSource> make_ladder_wgmma(const LadderWgmmaConfig& config) {
  for (const Entry& e : kEntries) {
    if (e.head_dim != config.shape.head_dim || e.causal != config.shape.causal || e.overlap != config.overlap) continue;
    FlashWgmmaConfig c;
    c.shape = config.shape;
    c.block_n = kTileRows;
    c.stages = kStages;
    c.schedule = AttentionSchedule::kPlain;
    c.pipelined = config.overlap;
    c.costs = costs_of(e);
    c.registers = config.registers != 0 ? config.registers : kRegisters;
    c.smem_dynamic_bytes = kAlignment + (1 + 2 * kStages) * kTileRows * e.head_dim * 2;
    c.name = config.name;
    return make_flash_attention_wgmma(c);
  }
  throw UnsupportedError("the ladder's wgmma kernels have head dims 32, 64 and 128");
}

}  // namespace strata
