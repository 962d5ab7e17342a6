/// Layout of a trace file, little endian.
///
///   header   "STRATATR", version (4 bytes), operations per block (4 bytes), checksum of these 16 bytes
///   blocks   zstd frames, one after another: kBlockOps operations each, the last one fewer, in the order CTA 0 stream
///   0,
///            CTA 0 stream 1, ... whatever the streams' borders
///   index    one zstd frame: launch, totals, shapes, operations of every stream, size and checksum of every block,
///            lane-address tables
///   footer   index offset, index bytes, index bytes uncompressed, index checksum, file bytes, checksum of everything
///            before the footer, checksum of the footer so far (8 bytes each), "STRATAEN"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/spec/trace_file.hpp"
#include "workloads/spec/trace_file_bytes.hpp"

namespace strata::trace_file {

inline constexpr std::uint32_t kBlockOps = 512;
inline constexpr std::size_t kHeaderBytes = 24;
inline constexpr std::size_t kFooterBytes = 64;
inline constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{1} << 20;  ///< uncompressed
inline constexpr std::uint64_t kMaxIndexBytes = std::uint64_t{1} << 32;  ///< uncompressed

/// 64-bit checksum over pieces: any change of one aligned 8-byte word changes it; pieces may be cut anywhere.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15ULL;
  std::uint64_t word_ = 0;
  std::uint64_t length_ = 0;
};
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);

struct Footer {
  std::uint64_t index_offset = 0;
  std::uint64_t index_bytes = 0;
  std::uint64_t index_raw_bytes = 0;
  std::uint64_t index_checksum = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t whole_checksum = 0;
};

[[nodiscard]] std::array<std::byte, kHeaderBytes> make_header();
[[nodiscard]] std::array<std::byte, kFooterBytes> make_footer(const Footer& footer);

/// Checks magic, version and checksum; throws InputError for `file`. Older versions are refused as well: they lack what
/// decides some counts.
void check_header(std::span<const std::byte> bytes, const std::string& file);
/// Whether `bytes` are the footer of a trace that ends at byte `end` of its file.
[[nodiscard]] bool ends_trace(std::span<const std::byte> bytes, std::uint64_t end);
[[nodiscard]] Footer read_footer(std::span<const std::byte> bytes, std::uint64_t file_bytes, const std::string& file);

void write_launch(const Launch& launch, ByteWriter& out);
[[nodiscard]] Launch read_launch(ByteReader& in);
void write_totals(const TraceInfo& totals, ByteWriter& out);
void read_totals(ByteReader& in, TraceInfo& totals);
/// Adds one operation of a stream of `warps` warps.
void add_to_totals(const Operation& op, std::uint32_t warps, TraceInfo& totals);

[[noreturn]] void fail(const std::string& file, const std::string& message);

}  // namespace strata::trace_file
