// Descriptors and instructions that the wgmma rung adds to the microbenchmarks' wrappers.
#pragma once

#include "../../microbench/wgmma_ops.cuh"

namespace ladder::wgmma_tile {

/// Tile of an operand with M or N contiguous and the 128-byte swizzle: blocks of [64 k][64 mn], 8 KiB each, one after
/// the other along M or N. Eight k rows are 1024 bytes; the next block of 64 is 8 KiB away.
__device__ __forceinline__ uint64_t mn_descriptor(uint32_t address) {
  return uint64_t((address & 0x3ffff) >> 4) | (uint64_t(8192 >> 4) << 16) | (uint64_t(1024 >> 4) << 32) |
         (uint64_t(1) << 62);
}

/// Descriptor of the 16-deep slice `k16` of an operand's tile.
template <bool K_CONTIGUOUS>
__device__ __forceinline__ uint64_t slice_descriptor(uint32_t tile, int k16) {
  if constexpr (K_CONTIGUOUS)
    return bench::wgmmaDescriptor(tile + uint32_t(k16) * 32);
  else
    return mn_descriptor(tile + uint32_t(k16) * 2048);
}

/// d (64 x N, fp32) += A B, bf16, both operands in shared memory; TURN_x = that operand has M or N contiguous.
template <int N, int TURN_A, int TURN_B>
__device__ __forceinline__ void multiply(uint32_t (&d)[N / 2], uint64_t da, uint64_t db) {
  if constexpr (N == 256)
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" WG_R128 "}, %128, %129, 1,1,1, %130, %131;"
                 : WG_D128(0)
                 : "l"(da), "l"(db), "n"(TURN_A), "n"(TURN_B));
  if constexpr (N == 192)
    asm volatile("wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {" WG_R96 "}, %96, %97, 1,1,1, %98, %99;"
                 : WG_D96(0)
                 : "l"(da), "l"(db), "n"(TURN_A), "n"(TURN_B));
  if constexpr (N == 128)
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" WG_R64 "}, %64, %65, 1,1,1, %66, %67;"
                 : WG_D64(0)
                 : "l"(da), "l"(db), "n"(TURN_A), "n"(TURN_B));
}

__device__ __forceinline__ void store_box(const CUtensorMap* map, int x, int y, uint32_t src) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
               "r"(y), "r"(src)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Arrives once on the barrier at `bar` in CTA `rank` of the cluster. The arrival frees a buffer that only asynchronous
/// reads have touched, so it needs no release at cluster scope: that would cost a fence of the whole GPU for each
/// stage.
__device__ __forceinline__ void arrive_remote(uint32_t bar, unsigned rank) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(bench::mapaShared(bar, rank)) : "memory");
}
/// Waits for the phase with this parity to complete.
__device__ __forceinline__ void wait_barrier(uint32_t bar, unsigned parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra again; }" ::"r"(bar),
      "r"(parity)
      : "memory");
}
/// Barrier `id` among the 128 threads of a warpgroup.
__device__ __forceinline__ void sync_warpgroup(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

template <int REGISTERS>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

}  // namespace ladder::wgmma_tile
