/// What is launched: everything the hardware knows of a kernel before it starts, and what the roofline needs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace strata {

enum class DataType : std::uint8_t { kFp64, kFp32, kTf32, kFp16, kBf16, kFp8, kInt8, kInt32, kInt4, kBool };
[[nodiscard]] std::uint32_t bits_of(DataType t);  ///< storage bits of an element (tf32: 32)
[[nodiscard]] const char* to_string(DataType t);  ///< "bf16", ...
/// Parses "fp16", "bf16", ...; throws InputError that names the valid ones and the nearest.
[[nodiscard]] DataType parse_data_type(const std::string& text);
/// Whether the text is the name of a type at all, also of one that no kernel here has ("int64", "complex64").
[[nodiscard]] bool names_data_type(const std::string& text);

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

/// One sequence of operations inside a CTA: a warp, or several warps that run in step (a warpgroup, or the warps of a
/// CTA that do the same work between barriers).
struct StreamInfo {
  std::uint16_t first_warp = 0;
  std::uint16_t num_warps = 1;
  std::string role;  ///< "producer", "consumer 0", "warps": for timelines
};

/// A contiguous allocation the kernel touches.
struct Buffer {
  std::string name;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
};

/// Work and compulsory traffic, for rooflines, bounds and FLOP rates.
struct WorkTotals {
  double tensor_flops = 0;  ///< 2 per multiply-add on the tensor cores, at `tensor_type`
  DataType tensor_type = DataType::kBf16;
  double fp32_flops = 0;  ///< on the FMA pipe
  double mufu_ops = 0;
  double compulsory_read_bytes = 0;   ///< each input byte once
  double compulsory_write_bytes = 0;  ///< each output byte once
};

struct Launch {
  std::string name;    ///< kernel name as shown to people
  std::string family;  ///< generator family: "gemm_tma_wgmma", "gemm_mma_sync", "flash_attention_mma",
                       ///< "flash_attention_wgmma", "elementwise", ...
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;  ///< 1x1x1 = none
  std::uint32_t registers_per_thread = 32;
  std::uint32_t smem_static_bytes = 0;
  std::uint32_t smem_dynamic_bytes = 0;
  std::vector<StreamInfo> streams;                      ///< the same for every CTA
  std::array<std::uint16_t, 64> mbarrier_arrivals{};    ///< arrivals that complete a phase; 0 = unused
  std::array<std::uint16_t, 16> named_barrier_warps{};  ///< warps that complete a phase; 0 = unused
  std::uint16_t cluster_barrier_arrivals = 0;
  std::uint32_t global_counters = 0;
  std::vector<Buffer> buffers;
  WorkTotals work;
  std::uint32_t num_descriptors = 0;  ///< TMA tensor maps fetched at start
  std::uint32_t code_bytes = 8192;    ///< size of the instruction stream, for cold-start costs
  /// Lines of 64 bytes of constant memory, parameters among them, that a warp waits for when an SM starts.
  std::uint32_t constant_lines = 1;
  /// CTAs of a plain grid after which amounts of work and the pattern of addresses repeat; 0 = they do not.
  std::uint64_t repeats_every = 0;
  [[nodiscard]] std::uint64_t num_ctas() const { return grid.count(); }
  [[nodiscard]] std::uint32_t warps_per_cta() const { return static_cast<std::uint32_t>((block.count() + 31) / 32); }
  [[nodiscard]] std::uint32_t cluster_size() const { return static_cast<std::uint32_t>(cluster.count()); }
};

}  // namespace strata
