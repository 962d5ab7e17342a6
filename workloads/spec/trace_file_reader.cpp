#include "workloads/spec/trace_file_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sim/base/input_file.hpp"

namespace strata::trace_file {
namespace {

void decompress(std::span<const std::byte> packed, std::vector<std::byte>& raw, std::uint64_t raw_bytes,
                const std::string& file, const std::string& what) {
  raw.resize(raw_bytes);
  const std::size_t n = ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size());
  if (ZSTD_isError(n) != 0 || n != raw_bytes) {
    fail(file, fmt::format("the trace is damaged: {} does not decompress", what));
  }
}

void read_streams(ByteReader& in, Index& index) {
  const Launch& l = index.info.launch;
  const std::uint64_t streams = l.num_ctas() * l.streams.size();
  if (index.info.streams != streams || streams > in.left()) throw Malformed{"a number of streams that cannot be"};
  index.stream_start.reserve(streams + 1);
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < streams; ++i) {
    index.stream_start.push_back(at);
    at += in.varint();
  }
  index.stream_start.push_back(at);
  if (at != index.info.operations) throw Malformed{"streams that do not add up to the number of operations"};
}

void read_blocks(ByteReader& in, Index& index) {
  index.blocks.resize(in.count(10));
  std::uint64_t offset = kHeaderBytes;
  for (BlockEntry& b : index.blocks) {
    b.offset = offset;
    const std::uint64_t bytes = in.varint();
    const std::uint64_t raw = in.varint();
    if (bytes > kMaxBlockBytes || raw > kMaxBlockBytes) throw Malformed{"a block of impossible size"};
    b.bytes = static_cast<std::uint32_t>(bytes);
    b.raw_bytes = static_cast<std::uint32_t>(raw);
    b.checksum = in.fixed64();
    offset += bytes;
  }
  if (offset != index.footer.index_offset ||
      index.blocks.size() != (index.info.operations + kBlockOps - 1) / kBlockOps) {
    throw Malformed{"blocks that do not add up to the file"};
  }
}

void read_tables(ByteReader& in, Index& index) {
  index.tables.resize(in.count(33));
  for (std::size_t i = 0; i < index.tables.size(); ++i) {
    index.table_of[static_cast<std::uint32_t>(in.varint())] = i;
    std::uint64_t last = 0;
    for (std::uint64_t& a : index.tables[i]) {
      last += static_cast<std::uint64_t>(in.zigzag());
      a = last;
    }
  }
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  require_regular_file(path_);
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(path_, fmt::format("cannot open the trace: {}", std::strerror(errno)));
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    ::close(descriptor_);
    fail(path_, fmt::format("cannot read the trace: {}", std::strerror(errno)));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t n = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, fmt::format("cannot read the trace: {}", std::strerror(errno)));
    if (n == 0) fail(path_, "the trace is truncated: it ends early");
    out = out.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

namespace {

/// Throws InputError where a whole trace begins the file and other bytes follow it. Reads all of the file.
void refuse_appended_bytes(const InputFile& file) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  std::vector<std::byte> bytes;
  for (std::uint64_t at = kHeaderBytes; at + kFooterBytes <= file.size(); at += kStep) {
    bytes.resize(std::min<std::uint64_t>(kStep + kFooterBytes - 1, file.size() - at));
    file.read(at, bytes);
    for (std::size_t i = 0; i + kFooterBytes <= bytes.size(); ++i) {
      const std::uint64_t end = at + i + kFooterBytes;
      if (end < file.size() && ends_trace(std::span(bytes).subspan(i, kFooterBytes), end)) {
        fail(file.path(), fmt::format("the trace ends at byte {}; expected nothing behind it, found {} more bytes", end,
                                      file.size() - end));
      }
    }
  }
}

}  // namespace

Index read_index(const InputFile& file) {
  std::array<std::byte, kHeaderBytes> header{};
  const std::size_t header_bytes = std::min<std::uint64_t>(kHeaderBytes, file.size());
  file.read(0, std::span(header).first(header_bytes));
  check_header(std::span(header).first(header_bytes), file.path());
  if (file.size() < kHeaderBytes + kFooterBytes) {
    fail(file.path(), fmt::format("the trace is truncated: {} bytes, without the mark that ends it", file.size()));
  }
  std::array<std::byte, kFooterBytes> footer{};
  file.read(file.size() - kFooterBytes, footer);
  if (!ends_trace(footer, file.size())) refuse_appended_bytes(file);
  Index index;
  index.footer = read_footer(footer, file.size(), file.path());
  std::vector<std::byte> packed(index.footer.index_bytes);
  file.read(index.footer.index_offset, packed);
  if (checksum(packed) != index.footer.index_checksum) {
    fail(file.path(), "the trace is damaged: the checksum of its index does not match");
  }
  std::vector<std::byte> raw;
  decompress(packed, raw, index.footer.index_raw_bytes, file.path(), "its index");
  try {
    ByteReader in(raw);
    index.info.version = kTraceVersion;
    index.info.file_bytes = file.size();
    index.info.launch = read_launch(in);
    read_totals(in, index.info);
    index.decoder.read_shapes(in);
    read_streams(in, index);
    read_blocks(in, index);
    read_tables(in, index);
    if (in.left() != 0) throw Malformed{"bytes after its end"};
    index.info.shapes = index.decoder.num_shapes();
    index.info.lane_tables = index.tables.size();
  } catch (const Malformed& e) {
    fail(file.path(), fmt::format("the trace is damaged: its index has {}", e.what));
  }
  return index;
}

void BlockReader::read(std::uint64_t block, std::vector<Operation>& ops, std::vector<std::uint8_t>& first) {
  const BlockEntry& b = index_.blocks[block];
  packed_.resize(b.bytes);
  file_.read(b.offset, packed_);
  if (checksum(packed_) != b.checksum) {
    fail(file_.path(), fmt::format("the trace is damaged: the checksum of block {} of {} does not match", block,
                                   index_.blocks.size()));
  }
  decompress(packed_, raw_, b.raw_bytes, file_.path(), fmt::format("block {}", block));
  const std::uint64_t count = std::min<std::uint64_t>(kBlockOps, index_.info.operations - block * kBlockOps);
  try {
    ByteReader in(raw_);
    index_.decoder.decode(block, in, count, ops, first);
  } catch (const Malformed& e) {
    fail(file_.path(), fmt::format("the trace is damaged: block {} has {}", block, e.what));
  }
}

}  // namespace strata::trace_file
