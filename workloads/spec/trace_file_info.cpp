/// inspect_trace() and verify_trace().
#include <fmt/format.h>

#include <algorithm>

#include "workloads/spec/trace_file.hpp"
#include "workloads/spec/trace_file_reader.hpp"

namespace strata {

using namespace trace_file;

const char* to_string(OpKind kind) {
  static constexpr std::array<const char*, kNumOpKinds> kNames = {"compute",    "mma_sync",   "wgmma", "shared",
                                                                  "memory",     "cp_async",   "tma",   "barrier",
                                                                  "setmaxnreg", "fetch_tile", "nop"};
  const auto i = static_cast<std::size_t>(kind);
  return i < kNames.size() ? kNames[i] : "unknown";
}

TraceInfo inspect_trace(const std::string& path) {
  const InputFile file(path);
  return read_index(file).info;
}

std::string to_string(const TraceInfo& t) {
  const Launch& l = t.launch;
  std::string s = fmt::format("trace version {}, {} bytes\n", t.version, t.file_bytes);
  s += fmt::format("kernel {} ({})\n", l.name, l.family);
  s += fmt::format("grid {}x{}x{}, block {}x{}x{}, cluster {}x{}x{}\n", l.grid.x, l.grid.y, l.grid.z, l.block.x,
                   l.block.y, l.block.z, l.cluster.x, l.cluster.y, l.cluster.z);
  s += fmt::format("{} registers per thread, {} B static and {} B dynamic shared memory\n", l.registers_per_thread,
                   l.smem_static_bytes, l.smem_dynamic_bytes);
  for (const StreamInfo& stream : l.streams) {
    s += fmt::format("stream {}: warps {} to {}\n", stream.role, stream.first_warp,
                     stream.first_warp + stream.num_warps - 1);
  }
  for (const Buffer& b : l.buffers) s += fmt::format("buffer {}: {} B at {:#x}\n", b.name, b.bytes, b.base);
  s += fmt::format("{} streams, {} operations of {} shapes, {} address tables\n", t.streams, t.operations, t.shapes,
                   t.lane_tables);
  for (std::size_t k = 0; k < kNumOpKinds; ++k) {
    if (t.operations_by_kind[k] > 0) {
      s += fmt::format("  {}: {}\n", to_string(static_cast<OpKind>(k)), t.operations_by_kind[k]);
    }
  }
  s += fmt::format("{} warp instructions, {} tensor instructions\n", t.warp_insts, t.tensor_insts);
  s += fmt::format("{} B loaded from and {} B stored to global memory\n", t.load_bytes, t.store_bytes);
  return s;
}

namespace {

void verify_bytes(const InputFile& file, const Index& index) {
  Checksum whole;
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  const std::uint64_t end = file.size() - kFooterBytes;
  for (std::uint64_t at = 0; at < end;) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - at));
    file.read(at, std::span(buffer).first(n));
    whole.add(std::span(buffer).first(n));
    at += n;
  }
  if (whole.value() != index.footer.whole_checksum) {
    fail(file.path(), "the trace is damaged: the checksum of the whole file does not match");
  }
}

}  // namespace

void verify_trace(const std::string& path) {
  const InputFile file(path);
  Index index = read_index(file);
  BlockReader reader(file, index);
  const std::size_t per_cta = index.info.launch.streams.size();
  TraceInfo totals;
  totals.streams = index.info.streams;
  std::vector<Operation> ops;
  std::vector<std::uint8_t> first;
  std::uint64_t stream = 0;
  for (std::uint64_t block = 0; block < index.blocks.size(); ++block) {
    reader.read(block, ops, first);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const std::uint64_t at = block * kBlockOps + i;
      while (at >= index.stream_start[stream + 1]) ++stream;
      add_to_totals(ops[i], index.info.launch.streams[stream % per_cta].num_warps, totals);
    }
  }
  verify_bytes(file, index);
  const TraceInfo& t = index.info;
  if (totals.operations_by_kind != t.operations_by_kind || totals.warp_insts != t.warp_insts ||
      totals.tensor_insts != t.tensor_insts || totals.load_bytes != t.load_bytes ||
      totals.store_bytes != t.store_bytes) {
    fail(path, "the trace is damaged: its operations do not add up to the totals in its index");
  }
}

}  // namespace strata
