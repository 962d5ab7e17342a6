#include "workloads/kernels/microbench/l1_rows.hpp"

#include <algorithm>

namespace strata::microbench {

namespace {

constexpr std::uint32_t kWarps = 4;
constexpr std::uint32_t kCtasPerSm = 2;
constexpr std::uint32_t kElementBytes = 2;
constexpr std::uint32_t kLaneBytes = 16;  ///< that a lane brings
constexpr std::uint32_t kRequests = kLaneBytes / kElementBytes;
constexpr std::uint32_t kRowBytes = 64;
constexpr std::uint32_t kRows = kWarpLanes * kLaneBytes / kRowBytes;  ///< of a request
constexpr std::uint32_t kGroups = 8;  ///< of rows, one below the other; a warp reads its rows of all before it waits
constexpr std::uint32_t kBlocks = 8;  ///< of rows that the CTAs share

}  // namespace

std::uint32_t L1RowsConfig::tiles() const { return std::clamp(pitch / kRowBytes, 1U, kMostTiles); }

std::uint64_t L1RowsConfig::requests_per_sm() const {
  return std::uint64_t{kCtasPerSm} * kWarps * kGroups * kRequests * tiles();
}

std::unique_ptr<TraceSource> make_l1_rows(const L1RowsConfig& c) {
  Launch l = bench_launch("l1_rows", c.sms * kCtasPerSm, kWarps);
  one_stream_per_warp(l);
  Operation load;
  load.kind = OpKind::kMemory;
  load.pipe = Pipe::kLsu;
  load.pipe_work = kRequests;
  set_instructions(load, kRequests, 1);
  load.completes[0] = signal_scoreboard();
  load.mem.dir = MemDir::kLoad;
  load.mem.space = MemSpace::kGlobal;
  load.mem.pattern = Pattern::kBox;
  load.mem.rows = kRows;
  load.mem.row_bytes = kRowBytes;
  load.mem.row_pitch = c.pitch;
  load.mem.lane_bytes = kElementBytes;
  load.mem.lane_pitch = kLaneBytes;
  constexpr std::uint64_t kSteps = kGroups + 1;
  const Section tiles{kSteps * c.tiles(), [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                        const std::uint64_t tile = i / kSteps;
                        const std::uint64_t group = i % kSteps;
                        if (group == kGroups) {
                          op = hold(wait_scoreboard((tile + 1) * kGroups));
                          return;
                        }
                        const std::uint64_t row = ((id.cta % kBlocks * kGroups + group) * kWarps + id.stream) * kRows;
                        op = load;
                        op.mem.address = kFirstAddress + row * c.pitch + tile * kRowBytes;
                      }};
  auto streams = timed(l, {tiles}, wait_scoreboard(std::uint64_t{c.tiles()} * kGroups));
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

}  // namespace strata::microbench
