// wgmma.mma_async m64nNkK for every type the chip has, operand A from shared memory (SS) or registers (RS).
// The accumulator list of N columns holds N/2 registers; the strings below spell them out.
#pragma once

#include "ptx.cuh"

namespace bench {

#define WG_R4 "%0,%1,%2,%3"
#define WG_R8 WG_R4 ",%4,%5,%6,%7"
#define WG_R16 WG_R8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define WG_R32 WG_R16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define WG_R48 WG_R32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define WG_R64 WG_R48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define WG_R96 WG_R64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79" \
                      ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define WG_R128 WG_R96 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111" \
                       ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

#define WG_D4(b) "+r"(d[b]), "+r"(d[(b) + 1]), "+r"(d[(b) + 2]), "+r"(d[(b) + 3])
#define WG_D8(b) WG_D4(b), WG_D4((b) + 4)
#define WG_D16(b) WG_D8(b), WG_D8((b) + 8)
#define WG_D32(b) WG_D16(b), WG_D16((b) + 16)
#define WG_D48(b) WG_D32(b), WG_D16((b) + 32)
#define WG_D64(b) WG_D32(b), WG_D32((b) + 32)
#define WG_D96(b) WG_D64(b), WG_D32((b) + 64)
#define WG_D128(b) WG_D64(b), WG_D64((b) + 64)

// R: registers of the accumulator; I0..I4: the operand numbers after them; K: ".kK.D.A.B"; T: scale and transpose flags.
#define WG_SS(R, N, K, T, I0, I1)                                                                       \
  asm volatile("{wgmma.mma_async.sync.aligned.m64n" #N K " {" WG_R##R "}, %" #I0 ", %" #I1 ", 1" T ";}" \
               : WG_D##R(0) : "l"(da), "l"(db))
#define WG_RS(R, N, K, T, I0, I1, I2, I3, I4)                                                           \
  asm volatile("{wgmma.mma_async.sync.aligned.m64n" #N K " {" WG_R##R "}, {%" #I0 ",%" #I1 ",%" #I2     \
               ",%" #I3 "}, %" #I4 ", 1" T ";}"                                                         \
               : WG_D##R(0) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db))

enum Type { kBf16, kFp16, kTf32, kFp8, kInt8 };
inline const char* const kTypeName[] = {"bf16", "fp16", "tf32", "fp8", "int8"};

#define WG_CASE(N, R, I0, I1, I2, I3, I4)                                                              \
  if constexpr (COLS == N) {                                                                           \
    if constexpr (RS) {                                                                                \
      if constexpr (TYPE == kBf16) WG_RS(R, N, "k16.f32.bf16.bf16", ",1,1,0", I0, I1, I2, I3, I4);     \
      if constexpr (TYPE == kFp16) WG_RS(R, N, "k16.f32.f16.f16", ",1,1,0", I0, I1, I2, I3, I4);       \
      if constexpr (TYPE == kTf32) WG_RS(R, N, "k8.f32.tf32.tf32", ",1,1", I0, I1, I2, I3, I4);        \
      if constexpr (TYPE == kFp8) WG_RS(R, N, "k32.f32.e4m3.e4m3", ",1,1", I0, I1, I2, I3, I4);        \
      if constexpr (TYPE == kInt8) WG_RS(R, N, "k32.s32.s8.s8", "", I0, I1, I2, I3, I4);               \
    } else {                                                                                           \
      if constexpr (TYPE == kBf16) WG_SS(R, N, "k16.f32.bf16.bf16", ",1,1,0,0", I0, I1);               \
      if constexpr (TYPE == kFp16) WG_SS(R, N, "k16.f32.f16.f16", ",1,1,0,0", I0, I1);                 \
      if constexpr (TYPE == kTf32) WG_SS(R, N, "k8.f32.tf32.tf32", ",1,1", I0, I1);                    \
      if constexpr (TYPE == kFp8) WG_SS(R, N, "k32.f32.e4m3.e4m3", ",1,1", I0, I1);                    \
      if constexpr (TYPE == kInt8) WG_SS(R, N, "k32.s32.s8.s8", "", I0, I1);                           \
    }                                                                                                  \
  }

template <int TYPE, int COLS, bool RS>
__device__ __forceinline__ void wgmma(uint32_t (&d)[COLS / 2], const uint32_t (&a)[4], uint64_t da, uint64_t db) {
  WG_CASE(8, 4, 4, 5, 6, 7, 8)
  WG_CASE(16, 8, 8, 9, 10, 11, 12)
  WG_CASE(32, 16, 16, 17, 18, 19, 20)
  WG_CASE(64, 32, 32, 33, 34, 35, 36)
  WG_CASE(96, 48, 48, 49, 50, 51, 52)
  WG_CASE(128, 64, 64, 65, 66, 67, 68)
  WG_CASE(192, 96, 96, 97, 98, 99, 100)
  WG_CASE(256, 128, 128, 129, 130, 131, 132)
}

__device__ __forceinline__ void wgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmmaCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// K-major tile of 128-byte rows with the 128-byte swizzle: eight rows every 1024 bytes.
__device__ __forceinline__ uint64_t wgmmaDescriptor(uint32_t addr) {
  return uint64_t((addr & 0x3ffff) >> 4) | (uint64_t(1) << 16) | (uint64_t(1024 >> 4) << 32) | (uint64_t(1) << 62);
}

}  // namespace bench
