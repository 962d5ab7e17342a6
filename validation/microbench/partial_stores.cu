// What do stores cost that write only a part of a sector, by width, distance and number of SMs, into an L2 that holds
// the sector or not? With --single each row is one launch, to be counted by ncu.
#include "bench.cuh"

using namespace bench;

constexpr int kThreads = 1024;

template <int BYTES>
__device__ __forceinline__ void store(char* p, unsigned v) {
  if constexpr (BYTES == 2) *reinterpret_cast<volatile uint16_t*>(p) = uint16_t(v);
  if constexpr (BYTES == 4) *reinterpret_cast<volatile unsigned*>(p) = v;
  if constexpr (BYTES == 8) asm volatile("st.global.v2.u32 [%0], {%1,%1};" ::"l"(p), "r"(v) : "memory");
  if constexpr (BYTES == 16) asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(p), "r"(v) : "memory");
}

// Pieces of `run` lanes times BYTES, `stride` bytes apart; neighbouring lanes write neighbouring pieces.
template <int BYTES>
__global__ void __launch_bounds__(kThreads) storePieces(char* base, unsigned lanes, unsigned run, size_t stride, int passes, Stamp* out) {
  Stamp s;
  __syncthreads();
  stampBegin(s);
  for (int pass = 0; pass < passes; ++pass)
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < lanes; i += gridDim.x * blockDim.x)
      store<BYTES>(base + i / run * stride + i % run * BYTES, unsigned(pass));
  __threadfence();
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

// A naive transpose without its loads: pieces of RUN lanes times BYTES lie one below the other, those of the next warp beside
// them. Tiles of 32 pieces across go along `alongColumns` ? the columns : the rows of the output first.
template <int BYTES, int RUN>
__global__ void __launch_bounds__(kThreads) storeColumns(char* base, unsigned rows, unsigned cols, size_t pitch, bool alongColumns, Stamp* out) {
  Stamp s;
  __syncthreads();
  stampBegin(s);
  constexpr unsigned kRows = 32 / RUN;
  const unsigned tilesDown = rows / kRows, tilesAcross = cols / 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned t = blockIdx.x; t < tilesDown * tilesAcross; t += gridDim.x) {
    const unsigned down = alongColumns ? t / tilesAcross : t % tilesDown, across = alongColumns ? t % tilesAcross : t / tilesDown;
    store<BYTES>(base + size_t(down * kRows + lane / RUN) * pitch + ((across * 32 + warp) * RUN + lane % RUN) * BYTES, t);
  }
  __threadfence();
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

__global__ void readAll(const char* p, size_t bytes, unsigned never, void* out) {
  uint4 acc = make_uint4(0, 0, 0, 0);
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < bytes / 16; i += size_t(gridDim.x) * blockDim.x) {
    const uint4 v = *reinterpret_cast<const uint4*>(p + i * 16);
    acc.x ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  sink(acc, never, out);
}

enum class Before { washed, present, again };  // what the L2 holds: nothing of it, all of it clean, what the pass before wrote

struct Bench {
  Options o;
  Report r;
  Buffer<Stamp> out;
  char* data = nullptr;
  const size_t bytes = 2 * GiB;
  bool single;
  explicit Bench(const Options& opt) : o(opt), r(opt, "partial_stores"), out(2 * smCount()), single(opt.has("--single")) {
    CHECK(cudaMalloc(&data, bytes + 512 * MiB));
    CHECK(cudaMemset(data, 1, bytes + 512 * MiB));
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { cudaFree(data); }

  void read(const char* p, size_t n) {
    readAll<<<smCount() * 4, 512>>>(p, n, 0, data);
    CHECK(cudaGetLastError());
  }
  template <class Launch>
  void sample(const std::string& series, double x, const char* unit, double sectors, Before before, size_t extent, Launch launch) {
    std::vector<double> v, clk;
    for (int rep = 0; rep < (single ? 1 : o.reps); ++rep) {
      read(data + bytes, 512 * MiB);
      if (before == Before::present) read(data, extent);
      if (before == Before::again && !single) launch();
      out.zero();
      launch();
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      const Span s = spanOf(out.host());
      v.push_back(sectors / (s.ns * s.clockMHz * 1e-3));
      clk.push_back(s.clockMHz);
    }
    if (single) v = {sectors};
    r.add(series, x, unit, v, single ? "sectors" : "sectors/clk", median(clk));
  }
  // `extent` bytes hold the pieces; a piece of a sector or less is one sector.
  template <int BYTES>
  void pieces(const std::string& series, double x, const char* unit, unsigned run, size_t stride, size_t extent, Before before, int sms = 0) {
    const size_t count = extent / stride;
    // What is in the L2 is written again and again, until the start of the kernel no longer counts.
    const int passes = before == Before::again ? int(std::clamp<size_t>((sms == 0 ? 8 : sms) * MiB / 8 / count, 2, 1024)) : 1;
    const unsigned lanes = unsigned(count) * run;
    const double perPiece = stride < 32 ? stride / 32.0 : std::max(1.0, run * BYTES / 32.0);
    const int grid = sms == 0 ? 2 * smCount() : sms, smem = sms == 0 ? 0 : kWholeSm;
    allowSmem(storePieces<BYTES>, kWholeSm);
    sample(series, x, unit, perPiece * double(count) * passes, before, extent,
           [&] { storePieces<BYTES><<<grid, kThreads, smem>>>(data, lanes, run, stride, passes, out.p); });
  }
  template <int BYTES, int RUN>
  void columns(const std::string& series, double x, const char* unit, unsigned side, size_t pad, bool alongColumns, Before before) {
    const size_t pitch = size_t(side) * BYTES * RUN + pad;
    sample(series, x, unit, double(side) * side * std::max(1, BYTES * RUN / 32), before, side * pitch,
           [&] { storeColumns<BYTES, RUN><<<2 * smCount(), kThreads>>>(data, side, side, pitch, alongColumns, out.p); });
  }
  // Lanes apart, each with a piece of its own; DETAILS: also by what the L2 holds, and out to the memory.
  template <int BYTES, bool DETAILS>
  void width() {
    const std::string w = "w" + std::to_string(BYTES);
    for (size_t stride : {2, 4, 8, 16, 32, 64, 128, 256, 4096}) {
      if (stride < BYTES) continue;
      const size_t extent = 16 * MiB;
      pieces<BYTES>(w + "_resident", double(stride), "B/lane", 1, stride, extent, Before::again);
      if constexpr (!DETAILS) continue;
      pieces<BYTES>(w + "_present", double(stride), "B/lane", 1, stride, extent, Before::present);
      pieces<BYTES>(w + "_absent", double(stride), "B/lane", 1, stride, extent, Before::washed);
      pieces<BYTES>(w + "_memory", double(stride), "B/lane", 1, stride, std::min<size_t>(bytes, std::max<size_t>(256 * MiB, stride * 8 * MiB)),
                    Before::washed);
    }
    for (unsigned side : {1024, 2048, 4096, 8192}) {
      columns<BYTES, 1>(w + "_columns", side, "rows", side, 0, false, Before::washed);
      if constexpr (!DETAILS) continue;
      columns<BYTES, 1>(w + "_columns_padded", side, "rows", side, 128, false, Before::washed);
      columns<BYTES, 1>(w + "_columns_across", side, "rows", side, 0, true, Before::washed);
      columns<BYTES, 1>(w + "_columns_present", side, "rows", side, 0, false, Before::present);
    }
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  b.width<2, false>();
  b.width<4, true>();
  b.width<8, false>();
  b.width<16, false>();
  // Pieces of whole words in sectors of their own, up to the whole sector and beyond.
  for (unsigned words : {1, 2, 3, 4, 6, 7, 8, 16, 32}) {
    const size_t stride = words <= 8 ? 64 : 256;
    b.pieces<4>("words_resident", words, "words", words, stride, 16 * MiB, Before::again);
    b.pieces<4>("words_absent", words, "words", words, stride, 16 * MiB, Before::washed);
    b.pieces<4>("words_memory", words, "words", words, stride, 1 * GiB, Before::washed);
  }
  // Whole sectors, one of each line or of every fourth: as scattered as words, nothing to merge.
  for (size_t stride : {32, 64, 128, 256, 4096}) {
    b.pieces<16>("sector_resident", double(stride), "B/piece", 2, stride, 16 * MiB, Before::again);
    b.pieces<16>("sector_memory", double(stride), "B/piece", 2, stride, 1 * GiB, Before::washed);
  }
  for (unsigned side : {512, 1024, 2048, 4096}) b.columns<16, 2>("sector_columns", side, "rows", side, 0, false, Before::washed);
  for (unsigned side : {256, 512, 1024}) b.columns<16, 4>("two_sector_columns", side, "rows", side, 0, false, Before::washed);
  for (unsigned side : {512, 1024, 2048}) b.columns<4, 8>("sector_by_words_columns", side, "rows", side, 0, false, Before::washed);
  for (int sms : {1, 2, 4, 8, 16, 33, 66, 99, 132}) {
    if (sms > smCount()) continue;
    b.pieces<4>("word_by_sms", sms, "SM", 1, 32, 4 * MiB, Before::again, sms);
    b.pieces<16>("sector_by_sms", sms, "SM", 2, 32, 4 * MiB, Before::again, sms);
    b.pieces<4>("scattered_word_by_sms", sms, "SM", 1, 128, 4 * MiB, Before::again, sms);
    b.pieces<16>("scattered_sector_by_sms", sms, "SM", 2, 128, 4 * MiB, Before::again, sms);
    b.pieces<16>("scattered_line_by_sms", sms, "SM", 8, 4096, 16 * MiB, Before::again, sms);
  }
  return 0;
}
