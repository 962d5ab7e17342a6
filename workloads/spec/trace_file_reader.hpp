/// The reading side of trace files: the open file, its index, and blocks on demand.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "workloads/spec/trace_file.hpp"
#include "workloads/spec/trace_file_codec.hpp"
#include "workloads/spec/trace_file_format.hpp"

namespace strata::trace_file {

/// Positional reads from a regular file; throws InputError.
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

struct BlockEntry {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t raw_bytes = 0;
  std::uint64_t checksum = 0;
};

/// Header, footer and index, checked.
struct Index {
  Footer footer;
  TraceInfo info;
  OperationDecoder decoder;
  std::vector<std::uint64_t> stream_start;  ///< first operation of every stream of every CTA, and the end
  std::vector<BlockEntry> blocks;
  std::unordered_map<std::uint32_t, std::size_t> table_of;  ///< table index -> place in tables
  std::vector<std::array<std::uint64_t, 32>> tables;
};
[[nodiscard]] Index read_index(const InputFile& file);

/// Reads, checks and decodes one block. Scratch buffers are kept between calls.
class BlockReader {
 public:
  BlockReader(const InputFile& file, Index& index) : file_(file), index_(index) {}
  void read(std::uint64_t block, std::vector<Operation>& ops, std::vector<std::uint8_t>& first);

 private:
  const InputFile& file_;
  Index& index_;
  std::vector<std::byte> packed_;
  std::vector<std::byte> raw_;
};

}  // namespace strata::trace_file
