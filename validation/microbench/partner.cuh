// What other warps run beside a tensor core: one kind of instruction until they are told to stop.
#pragma once

#include "bench.cuh"

namespace bench {

// kFfmaNc and kIaddNc: N independent chains, so that the partner alone issues about N / 4 instructions per clock.
enum Partner { kNone, kFfma, kIadd, kMufu, kLds, kFfma2, kFfma1c, kFfma2c, kFfma3c, kIadd1c, kIadd2c, kLop3, kImad, kShfl, kLds128,
               kCvt, kMix, kFadd, kFfma3r };

struct PartnerCount {
  unsigned long long insts, clocks;
};

// Runs until `stop`; `shared` is a window of 4 KiB of shared memory, 16-byte aligned.
template <int PARTNER, int ROUNDS>
__device__ __forceinline__ PartnerCount runPartner(const volatile int& stop, uint32_t shared, unsigned never, void* out) {
  float f[8];
  unsigned u[8];
  for (int i = 0; i < 8; ++i) f[i] = float(threadIdx.x + i), u[i] = threadIdx.x * 4 + 128 * i;
  const float m = 0.5f;
  float g[8];
  for (int i = 0; i < 8; ++i) g[i] = float(threadIdx.x * 3 + i);
  unsigned long long n = 0;
  Watchdog dog;
  uint64_t c0 = clockNow();
  while (!stop) {
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r)
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        constexpr int chains = PARTNER == kFfma1c || PARTNER == kIadd1c ? 1 : PARTNER == kFfma3c ? 3 : 2;
        if constexpr (PARTNER == kFfma || PARTNER == kFfma2) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[i]) : "f"(m));
        if constexpr (PARTNER == kFfma1c || PARTNER == kFfma2c || PARTNER == kFfma3c)
          asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[i % chains]) : "f"(m));
        if constexpr (PARTNER == kFadd) asm volatile("add.f32 %0, %0, %1;" : "+f"(f[i]) : "f"(g[i]));
        if constexpr (PARTNER == kFfma3r)
          asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(f[i]) : "f"(g[i]), "f"(g[(i + 3) % 8]));
        if constexpr (PARTNER == kIadd) asm volatile("add.u32 %0, %0, %1;" : "+r"(u[i]) : "r"(u[(i + 1) % 8]));
        if constexpr (PARTNER == kIadd1c || PARTNER == kIadd2c) asm volatile("add.u32 %0, %0, %1;" : "+r"(u[i % chains]) : "r"(u[7]));
        if constexpr (PARTNER == kLop3)
          asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(u[i]) : "r"(u[(i + 1) % 8]), "r"(u[(i + 2) % 8]));
        if constexpr (PARTNER == kImad)
          asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(u[i]) : "r"(u[(i + 1) % 8]), "r"(u[(i + 2) % 8]));
        if constexpr (PARTNER == kShfl) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;" : "+r"(u[i]));
        if constexpr (PARTNER == kMufu) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[i]));
        if constexpr (PARTNER == kCvt) asm volatile("cvt.rn.bf16x2.f32 %0, %0, %1;" : "+r"(u[i]) : "r"(u[(i + 1) % 8]));
        if constexpr (PARTNER == kLds) {
          unsigned t;
          asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(t) : "r"(shared + (u[0] & 0xffcu)) : "memory");
          u[1] ^= t;
        }
        if constexpr (PARTNER == kLds128)
          asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                       : "=r"(u[0]), "=r"(u[1]), "=r"(u[2]), "=r"(u[3]) : "r"(shared + threadIdx.x % 32 * 16) : "memory");
        if constexpr (PARTNER == kMix) {  // three FMA, one exponential
          if (i % 4 == 3) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[i]));
          else asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[i]) : "f"(m));
        }
      }
    n += ROUNDS * 8;
    dog.poll();
  }
  uint64_t c1 = clockNow();
  float acc = 0;
  for (int i = 0; i < 8; ++i) acc += f[i] + g[i] + float(u[i]);
  sink(acc, never, out);
  return {n, c1 - c0};
}

}  // namespace bench
