/// Traces in files: recorded once, replayed with the same operations.
///
/// The file is versioned, compressed with zstd block by block, and checksummed per block and as a whole; its layout is
/// described in trace_file_format.hpp. All errors are InputErrors that name the file and what was expected.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "workloads/spec/launch.hpp"
#include "workloads/spec/operation.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

inline constexpr std::uint32_t kTraceVersion = 2;  ///< of the layout that this program reads and writes
inline constexpr std::size_t kNumOpKinds = static_cast<std::size_t>(OpKind::kNop) + 1;

using RecordProgress = std::function<void(std::uint64_t ctas_done, std::uint64_t ctas_in_all)>;

/// Writes every stream of every CTA. The file appears whole or not at all: it is written beside `path` and renamed.
void record_trace(const TraceSource& source, const std::string& path, const RecordProgress& progress = {});

/// A source that reads the file on demand. It gives the operations of the recorded source, in the same batches; memory
/// is bounded (about 64 MiB of decoded blocks, and 8 bytes per stream) whatever the length. A damaged block is reported
/// by the fetch that needs it.
[[nodiscard]] std::unique_ptr<TraceSource> open_trace(const std::string& path);

/// What a trace holds, from its index alone.
struct TraceInfo {
  std::uint32_t version = 0;
  Launch launch;
  std::uint64_t streams = 0;  ///< of all CTAs
  std::uint64_t operations = 0;
  std::array<std::uint64_t, kNumOpKinds> operations_by_kind{};
  std::uint64_t warp_insts = 0;
  std::uint64_t tensor_insts = 0;
  std::uint64_t load_bytes = 0;   ///< that operations ask of global memory, multicast counted once
  std::uint64_t store_bytes = 0;  ///< stores, reductions and atomics
  std::uint64_t shapes = 0;       ///< operations that differ in more than addresses and counts
  std::uint64_t lane_tables = 0;  ///< explicit address tables
  std::uint64_t file_bytes = 0;
};
[[nodiscard]] TraceInfo inspect_trace(const std::string& path);
[[nodiscard]] std::string to_string(const TraceInfo& info);  ///< lines for people
[[nodiscard]] const char* to_string(OpKind kind);            ///< "compute", "mma_sync", ...

/// Reads the whole file, checks every checksum, decodes every operation and compares the totals with the index.
void verify_trace(const std::string& path);

}  // namespace strata
