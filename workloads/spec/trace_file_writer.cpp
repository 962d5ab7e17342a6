/// record_trace(): walks a source and writes it.
#include <fmt/format.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "sim/base/error.hpp"
#include "sim/base/temporary_file.hpp"
#include "workloads/spec/trace_file.hpp"
#include "workloads/spec/trace_file_codec.hpp"
#include "workloads/spec/trace_file_format.hpp"

namespace strata {
namespace {

using namespace trace_file;

constexpr int kCompressionLevel = 6;

/// The file under its temporary name; removed again unless it was committed.
class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".partial") {
    std::error_code error;
    if (std::filesystem::exists(path_, error) && !std::filesystem::is_regular_file(path_, error)) {
      fail(path_, "cannot write the trace: expected a regular file or a new name");
    }
    file_ = std::fopen(temporary_.path().c_str(), "wb");
    if (file_ == nullptr) refuse();
  }
  ~OutputFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) refuse();
    offset_ += bytes.size();
    whole_.add(bytes);
  }
  void commit() {
    std::FILE* file = file_;
    file_ = nullptr;
    if (std::fclose(file) != 0) refuse();
    if (std::rename(temporary_.path().c_str(), path_.c_str()) != 0) refuse();
    temporary_.renamed();
  }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t whole() const { return whole_.value(); }

 private:
  [[noreturn]] void refuse() { fail(path_, fmt::format("cannot write the trace: {}", std::strerror(errno))); }

  std::string path_;
  TemporaryFile temporary_;
  std::FILE* file_ = nullptr;
  std::uint64_t offset_ = 0;
  Checksum whole_;
};

class Compressor {
 public:
  Compressor() : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {}
  std::span<const std::byte> compress(std::span<const std::byte> raw) {
    out_.resize(ZSTD_compressBound(raw.size()));
    const std::size_t n =
        ZSTD_compressCCtx(context_.get(), out_.data(), out_.size(), raw.data(), raw.size(), kCompressionLevel);
    if (ZSTD_isError(n) != 0) throw ModelBug(std::string("zstd: ") + ZSTD_getErrorName(n));
    return std::span<const std::byte>(out_).first(n);
  }

 private:
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context_;
  std::vector<std::byte> out_;
};

class Recorder {
 public:
  Recorder(const TraceSource& source, const std::string& path) : source_(source), file_(path) {
    file_.write(make_header());
    encoder_.start_block(0);
  }

  void record(const RecordProgress& progress) {
    const Launch& l = source_.launch();
    const std::uint64_t ctas = l.num_ctas();
    const std::uint64_t report_every = std::max<std::uint64_t>(1, ctas / 100);
    for (std::uint64_t cta = 0; cta < ctas; ++cta) {
      for (std::uint32_t s = 0; s < l.streams.size(); ++s) record_stream(StreamId{cta, s, rank_of(l, cta)});
      if (progress && (cta + 1) % report_every == 0) progress(cta + 1, ctas);
    }
    if (in_block_ > 0) flush_block();
    finish();
  }

 private:
  /// Rank within the cluster, x first, as the CTA scheduler numbers them.
  static std::uint32_t rank_of(const Launch& l, std::uint64_t cta) {
    const std::uint64_t x = cta % l.grid.x % l.cluster.x;
    const std::uint64_t y = cta / l.grid.x % l.grid.y % l.cluster.y;
    const std::uint64_t z = cta / l.grid.x / l.grid.y % l.cluster.z;
    return static_cast<std::uint32_t>(x + l.cluster.x * (y + l.cluster.y * z));
  }

  void record_stream(const StreamId& id) {
    std::array<Operation, TraceSource::kMinFetch> ops;
    const std::uint32_t warps = source_.launch().streams[id.stream].num_warps;
    StreamCursor cursor;
    const std::uint64_t before = totals_.operations;
    for (std::uint32_t n = source_.fetch(id, cursor, ops); n != 0; n = source_.fetch(id, cursor, ops)) {
      for (std::uint32_t i = 0; i < n; ++i) {
        encoder_.encode(ops[i], i == 0, block_);
        add_to_totals(ops[i], warps, totals_);
        if (ops[i].mem.pattern == Pattern::kTable) keep_table(ops[i].mem.table_index);
        if (++in_block_ == kBlockOps) flush_block();
      }
    }
    streams_.varint(totals_.operations - before);
    ++totals_.streams;
  }

  void keep_table(std::uint32_t index) {
    if (tables_.contains(index)) return;
    const auto addresses = source_.lane_addresses(index);
    auto& table = tables_[index];
    std::copy(addresses.begin(), addresses.end(), table.begin());
  }

  void flush_block() {
    const std::span<const std::byte> packed = compressor_.compress(block_.bytes());
    file_.write(packed);
    block_list_.varint(packed.size());
    block_list_.varint(block_.bytes().size());
    block_list_.fixed64(checksum(packed));
    ++num_blocks_;
    block_.clear();
    in_block_ = 0;
    encoder_.start_block(num_blocks_);
  }

  void finish() {
    ByteWriter index;
    write_launch(source_.launch(), index);
    write_totals(totals_, index);
    encoder_.write_shapes(index);
    append(index, streams_);
    index.varint(num_blocks_);
    append(index, block_list_);
    index.varint(tables_.size());
    for (const auto& [id, addresses] : tables_) {
      index.varint(id);
      std::uint64_t last = 0;
      for (const std::uint64_t a : addresses) {
        index.zigzag(static_cast<std::int64_t>(a - last));
        last = a;
      }
    }
    const std::span<const std::byte> packed = compressor_.compress(index.bytes());
    Footer f;
    f.index_offset = file_.offset();
    f.index_bytes = packed.size();
    f.index_raw_bytes = index.bytes().size();
    f.index_checksum = checksum(packed);
    file_.write(packed);
    f.file_bytes = file_.offset() + kFooterBytes;
    f.whole_checksum = file_.whole();
    file_.write(make_footer(f));
    file_.commit();
  }

  static void append(ByteWriter& to, const ByteWriter& from) { to.raw(from.bytes()); }

  const TraceSource& source_;
  OutputFile file_;
  Compressor compressor_;
  OperationEncoder encoder_;
  ByteWriter block_;
  ByteWriter streams_;
  ByteWriter block_list_;
  std::uint32_t in_block_ = 0;
  std::uint64_t num_blocks_ = 0;
  std::map<std::uint32_t, std::array<std::uint64_t, 32>> tables_;
  TraceInfo totals_;
};

}  // namespace

void record_trace(const TraceSource& source, const std::string& path, const RecordProgress& progress) {
  Recorder(source, path).record(progress);
}

}  // namespace strata
