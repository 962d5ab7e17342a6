/// The operations of a launch, on demand. A kernel generator, a trace file reader and an importer are the same thing
/// to the simulator.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "workloads/spec/launch.hpp"
#include "workloads/spec/operation.hpp"

namespace strata {

/// Which stream of which CTA. `cta` is the linear index x + grid.x * (y + grid.y * z); CTAs of a cluster are adjacent
/// in the launch's cluster order and `cluster_rank` is the rank within it.
struct StreamId {
  std::uint64_t cta = 0;
  std::uint32_t stream = 0;
  std::uint32_t cluster_rank = 0;
};

/// Position within a stream: the source's own state, all zero at the start. Lives in the SM, so sources stay const.
struct StreamCursor {
  std::array<std::uint64_t, 8> state{};
};

/// A launch as a row of equal pieces: CTAs of a plain grid, the tiles that persistent CTAs walk over, or the steps of
/// all CTAs' loops.
struct Repetition {
  std::uint64_t pieces = 0;   ///< 0 = the launch is not such a row
  std::uint64_t period = 1;   ///< pieces after which amounts and the pattern of addresses repeat
  std::uint64_t at_once = 0;  ///< pieces under way at once; 0 = as many as CTAs are resident
  std::uint64_t step = 1;     ///< whole steps alone can be left out, so that each CTA keeps its own pieces
  std::uint32_t marks = 0;    ///< operations with `ends_piece` in a piece; 0 = a piece ends with its CTA
  bool is_all = true;         ///< nothing is done beside the pieces
};

class TraceSource {
 public:
  TraceSource() = default;
  TraceSource(const TraceSource&) = delete;
  TraceSource& operator=(const TraceSource&) = delete;
  virtual ~TraceSource() = default;

  static constexpr std::uint32_t kMinFetch = 32;  ///< `out` has room for at least this many operations

  [[nodiscard]] virtual const Launch& launch() const = 0;

  /// Writes the next operations of a stream and moves the cursor past them; 0 means that the stream has ended.
  /// Must not allocate; called once per few operations of every stream. Same cursor, same answer.
  virtual std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const = 0;

  /// By default the CTAs of a grid that Launch::repeats_every describes.
  [[nodiscard]] virtual Repetition repetition() const;
  /// The launch without pieces [first, first + count), `count` a multiple of the step. May refer to this source.
  [[nodiscard]] virtual std::unique_ptr<TraceSource> without(std::uint64_t first, std::uint64_t count) const;

  /// The 32 lane addresses of a kTable access.
  [[nodiscard]] virtual std::span<const std::uint64_t, 32> lane_addresses(std::uint32_t /*table_index*/) const {
    static constexpr std::array<std::uint64_t, 32> kNone{};
    return kNone;
  }
};

}  // namespace strata
