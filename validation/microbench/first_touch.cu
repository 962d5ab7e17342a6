// What does a kernel pay for pages, code and data that it is the first to touch? Single launches meant for ncu, in row
// order: with all caches flushed between launches (as kernels are profiled) and with caches left alone.
#include "bench.cuh"

using namespace bench;

// Thread 0 of every CTA reads `pages` words, `stride` bytes apart, one after the other or all at once.
__global__ void touchPages(const char* p, int pages, size_t stride, size_t perCta, int chained, unsigned never, void* out) {
  const char* mine = p + blockIdx.x * perCta;
  if (threadIdx.x >= (chained ? 1 : pages)) return;
  unsigned v = 0;
  if (chained) {
    for (int i = 0; i < pages; ++i) v += *reinterpret_cast<const volatile unsigned*>(mine + i * stride + (v & 0x80000000u));
  } else {
    v = *reinterpret_cast<const volatile unsigned*>(mine + threadIdx.x * stride);
  }
  sink(v, never, out);
}
__global__ void touchNothing() {}
// Straight-line code: 64 instructions of 16 bytes are one KiB.
template <int KIB>
__global__ void touchCode(float m, unsigned never, void* out) {
  float f = float(threadIdx.x);
#pragma unroll
  for (int i = 0; i < KIB * 64; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f) : "f"(m));
  sink(f, never, out);
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "first_touch");
  const size_t page = 2 * MiB;
  Buffer<char> data(size_t(600) * page);
  auto done = [&](const std::string& series, double x, const char* unit) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    r.add(series, x, unit, {0}, "none", 1);
  };
  const int sms = smCount();
  for (int rep = 0; rep < 2; ++rep)
    for (int ctas : {1, sms, 2 * sms}) {
      touchNothing<<<ctas, 32>>>();
      done("nothing", ctas, "CTA");
    }
  for (int pages : {1, 2, 3, 4, 8, 16, 32}) {
    touchPages<<<1, 32>>>(data.p, pages, page, 0, 0, 0, data.p);
    done("pages_at_once_1_cta", pages, "pages");
    touchPages<<<1, 32>>>(data.p, pages, page, 0, 1, 0, data.p);
    done("pages_in_turn_1_cta", pages, "pages");
    touchPages<<<1, 32>>>(data.p, pages, 4096, 0, 1, 0, data.p);
    done("lines_in_turn_1_cta", pages, "lines");
    touchPages<<<sms, 32>>>(data.p, pages, page, 0, 0, 0, data.p);
    done("same_pages_all_sms", pages, "pages");
  }
  for (int ctas : {2, 4, 8, 16, 32, 66, 132, 264, 528}) {
    touchPages<<<ctas, 32>>>(data.p, 1, page, page, 0, 0, data.p);
    done("own_page_each", ctas, "CTA");
    touchPages<<<ctas, 32>>>(data.p, 1, page, 20480, 0, 0, data.p);
    done("own_line_each", ctas, "CTA");
  }
  auto code = [&](auto kernel, int kib) {
    for (int ctas : {1, sms}) {
      kernel<<<ctas, 32>>>(0.5f, 0, data.p);
      done(ctas == 1 ? "code_1_cta" : "code_all_sms", kib, "KiB");
    }
  };
  code(touchCode<1>, 1);
  code(touchCode<4>, 4);
  code(touchCode<8>, 8);
  code(touchCode<16>, 16);
  code(touchCode<32>, 32);
  code(touchCode<64>, 64);
  code(touchCode<128>, 128);
  return 0;
}
