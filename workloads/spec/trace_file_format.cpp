#include "workloads/spec/trace_file_format.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sim/base/error.hpp"

namespace strata::trace_file {
namespace {

constexpr std::array<char, 8> kMagic = {'S', 'T', 'R', 'A', 'T', 'A', 'T', 'R'};
constexpr std::array<char, 8> kEndMagic = {'S', 'T', 'R', 'A', 'T', 'A', 'E', 'N'};
constexpr std::uint64_t kPrime = 0x9fb21c651e98df25ULL;

std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * kPrime;
  return state ^ (state >> 29);
}

template <std::size_t N>
class FixedWriter {
 public:
  void magic(const std::array<char, 8>& text) {
    for (const char c : text) bytes[at++] = static_cast<std::byte>(c);
  }
  void integer(std::uint64_t v, int width) {
    for (int i = 0; i < width; ++i) bytes[at++] = static_cast<std::byte>(v >> (8 * i));
  }
  std::array<std::byte, N> bytes{};
  std::size_t at = 0;
};

std::uint64_t integer_at(std::span<const std::byte> bytes, std::size_t at, std::size_t width) {
  std::uint64_t v = 0;
  for (std::size_t i = 0; i < width; ++i) v |= static_cast<std::uint64_t>(bytes[at + i]) << (8 * i);
  return v;
}

bool starts_with(std::span<const std::byte> bytes, const std::array<char, 8>& text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

void write_dim(const Dim3& d, ByteWriter& out) {
  out.varint(d.x);
  out.varint(d.y);
  out.varint(d.z);
}

template <typename T>
T bounded(ByteReader& in) {
  const std::uint64_t v = in.varint();
  if (v > std::uint64_t{static_cast<T>(~T{0})}) throw Malformed{"a launch with a number out of range"};
  return static_cast<T>(v);
}

Dim3 read_dim(ByteReader& in) {
  Dim3 d;
  d.x = bounded<std::uint32_t>(in);
  d.y = bounded<std::uint32_t>(in);
  d.z = bounded<std::uint32_t>(in);
  if (d.x == 0 || d.y == 0 || d.z == 0 || d.x > (1ULL << 48) / d.y / d.z) throw Malformed{"an impossible grid"};
  return d;
}

}  // namespace

void fail(const std::string& file, const std::string& message) {
  throw InputError(Diagnostic{file, 0, 0, {}, message});
}

void Checksum::add(std::span<const std::byte> bytes) {
  for (const std::byte b : bytes) {
    word_ = word_ << 8 | static_cast<std::uint64_t>(b);
    if (++length_ % 8 == 0) {
      state_ = mix(state_, word_);
      word_ = 0;
    }
  }
}

std::uint64_t Checksum::value() const { return mix(mix(state_, word_), length_); }

std::uint64_t checksum(std::span<const std::byte> bytes) {
  Checksum c;
  c.add(bytes);
  return c.value();
}

std::array<std::byte, kHeaderBytes> make_header() {
  FixedWriter<kHeaderBytes> w;
  w.magic(kMagic);
  w.integer(kTraceVersion, 4);
  w.integer(kBlockOps, 4);
  w.integer(checksum(std::span(w.bytes).first(16)), 8);
  return w.bytes;
}

std::array<std::byte, kFooterBytes> make_footer(const Footer& f) {
  FixedWriter<kFooterBytes> w;
  for (const std::uint64_t v :
       {f.index_offset, f.index_bytes, f.index_raw_bytes, f.index_checksum, f.file_bytes, f.whole_checksum}) {
    w.integer(v, 8);
  }
  w.integer(checksum(std::span(w.bytes).first(48)), 8);
  w.magic(kEndMagic);
  return w.bytes;
}

void check_header(std::span<const std::byte> bytes, const std::string& file) {
  if (!starts_with(bytes, kMagic)) fail(file, "is not a trace: expected a file that `strata trace record` wrote");
  if (bytes.size() < kHeaderBytes) fail(file, "the trace is truncated: its header ends early");
  const std::uint64_t version = integer_at(bytes, 8, 4);
  if (version > kTraceVersion) {
    fail(file, fmt::format("the trace has version {}; this program reads version {}", version, kTraceVersion));
  }
  if (integer_at(bytes, 16, 8) != checksum(bytes.first(16)) || version == 0 || integer_at(bytes, 12, 4) != kBlockOps) {
    fail(file, "the trace is damaged: the checksum of its header does not match");
  }
  if (version < kTraceVersion) {
    fail(file, fmt::format("the trace has version {}, which lacks what version {} counts; record it again", version,
                           kTraceVersion));
  }
}

bool ends_trace(std::span<const std::byte> bytes, std::uint64_t end) {
  return bytes.size() == kFooterBytes && starts_with(bytes.subspan(kFooterBytes - 8), kEndMagic) &&
         integer_at(bytes, 48, 8) == checksum(bytes.first(48)) && integer_at(bytes, 32, 8) == end;
}

Footer read_footer(std::span<const std::byte> bytes, std::uint64_t file_bytes, const std::string& file) {
  if (bytes.size() != kFooterBytes || !starts_with(bytes.subspan(kFooterBytes - 8), kEndMagic)) {
    fail(file, fmt::format("the trace is truncated: {} bytes, without the mark that ends it", file_bytes));
  }
  if (integer_at(bytes, 48, 8) != checksum(bytes.first(48))) {
    fail(file, "the trace is damaged: the checksum of its footer does not match");
  }
  Footer f;
  f.index_offset = integer_at(bytes, 0, 8);
  f.index_bytes = integer_at(bytes, 8, 8);
  f.index_raw_bytes = integer_at(bytes, 16, 8);
  f.index_checksum = integer_at(bytes, 24, 8);
  f.file_bytes = integer_at(bytes, 32, 8);
  f.whole_checksum = integer_at(bytes, 40, 8);
  if (f.file_bytes != file_bytes) {
    fail(file, fmt::format("the trace has {} bytes; its footer says {}", file_bytes, f.file_bytes));
  }
  if (f.index_offset < kHeaderBytes || f.index_bytes > file_bytes || f.index_raw_bytes > kMaxIndexBytes ||
      f.index_offset + f.index_bytes + kFooterBytes != file_bytes) {
    fail(file, "the trace is damaged: its index lies outside the file");
  }
  return f;
}

void write_launch(const Launch& l, ByteWriter& out) {
  out.text(l.name);
  out.text(l.family);
  write_dim(l.grid, out);
  write_dim(l.block, out);
  write_dim(l.cluster, out);
  for (const std::uint32_t v : {l.registers_per_thread, l.smem_static_bytes, l.smem_dynamic_bytes, l.global_counters,
                                l.num_descriptors, l.code_bytes}) {
    out.varint(v);
  }
  out.varint(l.cluster_barrier_arrivals);
  out.varint(l.streams.size());
  for (const StreamInfo& s : l.streams) {
    out.varint(s.first_warp);
    out.varint(s.num_warps);
    out.text(s.role);
  }
  for (const std::uint16_t v : l.mbarrier_arrivals) out.varint(v);
  for (const std::uint16_t v : l.named_barrier_warps) out.varint(v);
  out.varint(l.buffers.size());
  for (const Buffer& b : l.buffers) {
    out.text(b.name);
    out.varint(b.base);
    out.varint(b.bytes);
  }
  out.varint(static_cast<std::uint64_t>(l.work.tensor_type));
  for (const double v : {l.work.tensor_flops, l.work.fp32_flops, l.work.mufu_ops, l.work.compulsory_read_bytes,
                         l.work.compulsory_write_bytes}) {
    out.number(v);
  }
  out.varint(l.constant_lines);
}

Launch read_launch(ByteReader& in) {
  Launch l;
  l.name = in.text();
  l.family = in.text();
  l.grid = read_dim(in);
  l.block = read_dim(in);
  l.cluster = read_dim(in);
  for (std::uint32_t* v : {&l.registers_per_thread, &l.smem_static_bytes, &l.smem_dynamic_bytes, &l.global_counters,
                           &l.num_descriptors, &l.code_bytes}) {
    *v = bounded<std::uint32_t>(in);
  }
  l.cluster_barrier_arrivals = bounded<std::uint16_t>(in);
  l.streams.resize(in.count(3));
  for (StreamInfo& s : l.streams) {
    s.first_warp = bounded<std::uint16_t>(in);
    s.num_warps = bounded<std::uint16_t>(in);
    s.role = in.text();
  }
  for (std::uint16_t& v : l.mbarrier_arrivals) v = bounded<std::uint16_t>(in);
  for (std::uint16_t& v : l.named_barrier_warps) v = bounded<std::uint16_t>(in);
  l.buffers.resize(in.count(3));
  for (Buffer& b : l.buffers) {
    b.name = in.text();
    b.base = in.varint();
    b.bytes = in.varint();
  }
  const std::uint64_t type = in.varint();
  if (type > static_cast<std::uint64_t>(DataType::kBool)) throw Malformed{"a launch of an unknown data type"};
  l.work.tensor_type = static_cast<DataType>(type);
  for (double* v : {&l.work.tensor_flops, &l.work.fp32_flops, &l.work.mufu_ops, &l.work.compulsory_read_bytes,
                    &l.work.compulsory_write_bytes}) {
    *v = in.number();
  }
  l.constant_lines = bounded<std::uint32_t>(in);
  return l;
}

void write_totals(const TraceInfo& t, ByteWriter& out) {
  for (const std::uint64_t v : {t.streams, t.operations, t.warp_insts, t.tensor_insts, t.load_bytes, t.store_bytes}) {
    out.varint(v);
  }
  for (const std::uint64_t v : t.operations_by_kind) out.varint(v);
}

void read_totals(ByteReader& in, TraceInfo& t) {
  for (std::uint64_t* v : {&t.streams, &t.operations, &t.warp_insts, &t.tensor_insts, &t.load_bytes, &t.store_bytes}) {
    *v = in.varint();
  }
  for (std::uint64_t& v : t.operations_by_kind) v = in.varint();
}

void add_to_totals(const Operation& op, std::uint32_t warps, TraceInfo& t) {
  ++t.operations;
  ++t.operations_by_kind[static_cast<std::size_t>(op.kind)];
  t.warp_insts += op.warp_insts;
  t.tensor_insts += op.tensor_insts;
  const bool memory = op.kind == OpKind::kMemory || op.kind == OpKind::kCpAsync || op.kind == OpKind::kTma ||
                      op.kind == OpKind::kFetchTile;
  if (!memory || op.mem.space != MemSpace::kGlobal) return;
  const MemoryRef& m = op.mem;
  std::uint64_t bytes = std::uint64_t{m.rows} * m.row_bytes;
  if (m.pattern == Pattern::kLanes) bytes = std::uint64_t{m.rows} * m.lanes * m.lane_bytes * warps;
  if (m.pattern == Pattern::kTable) bytes = std::uint64_t{m.lanes} * m.lane_bytes;
  if (m.dir == MemDir::kLoad) t.load_bytes += bytes;
  if (m.dir == MemDir::kStore || m.dir == MemDir::kAtomic || m.dir == MemDir::kReduce) t.store_bytes += bytes;
}

}  // namespace strata::trace_file
