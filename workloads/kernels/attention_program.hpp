/// Attention kernels as programs: phases of steps over a CTA's tile of query rows and its tiles of keys.
///
/// The streams of a CTA are equal shares of its warps. They run the same steps, each on its share of a tile's rows or
/// on key tiles of its own; barriers keep them in step. Counts of loads, copies and barriers are kept per stream, so
/// that a step waits for "what was issued so far" and no step needs to know how many blocks came before it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workloads/kernels/attention_common.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

/// What the grid's axes count.
enum class AttentionGrid : std::uint8_t {
  kQueryTiles,   ///< x = query tile (causal: from the last), y = head, z = batch
  kScoreTiles,   ///< x = key tile, y = query tile, z = batch * heads
  kValueTiles,   ///< x = column tile, y = query tile, z = batch * heads
  kRows,         ///< x = query row, y = batch * heads
  kSplits,       ///< x = split of the keys, y = head, z = batch
  kGroupSplits,  ///< x = split of the keys, y = key head, z = batch
  kHeads,        ///< x = head, y = batch
};

enum class AttentionRows : std::uint8_t {
  kNone,
  kQuery,    ///< rows of Q, of O or of the scores: those of the CTA's query tile
  kKey,      ///< rows of K or V: those of a key tile
  kPartial,  ///< one row for each query row of the CTA and split
};

/// The part of a tensor that a step touches. Rows that do not exist are left out.
struct AttentionAccess {
  AttentionRows rows_of = AttentionRows::kNone;
  std::uint64_t base = 0;          ///< address of the tensor's first row
  std::uint64_t pitch = 0;         ///< bytes between rows
  std::uint32_t rows = 0;          ///< of one stream
  std::uint32_t row_bytes = 0;     ///< of each row
  std::uint32_t row_end = 0;       ///< bytes that a row has; columns beyond are left out. 0 = all exist
  std::uint32_t ahead = 0;         ///< key tiles beyond the block's own; left out where there is none
  std::uint64_t block_bytes = 0;   ///< further along the row with each block
  std::uint64_t tile_bytes = 0;    ///< further along the row with each CTA of the x axis
  std::uint64_t stream_bytes = 0;  ///< further along the row with each stream; the streams then share the rows
  std::uint32_t block_rows = 0;    ///< of the stream's rows, those of a block; one block's after another. 0 = all
  bool odd_rows = false;           ///< only every second row, from the second on
};

struct AttentionStep {
  Operation op;  ///< issue slots and pipe work of a warp; wavefronts and conflicts of a warp too
  AttentionAccess access;
  bool after_loads = false;       ///< waits for every load so far
  bool after_barrier = false;     ///< waits for the barrier that came last
  std::int8_t copies_ahead = -1;  ///< waits for copies; those of so many later blocks may be pending (before a loop: of
                                  ///< its first blocks)
  bool masked_only = false;       ///< only where the mask hides keys of the block
  bool first_stream_only = false;
};

struct AttentionPhase {
  bool over_keys = false;  ///< one block for each key tile that the CTA's queries see; else `count`
  std::uint32_t count = 1;
  std::uint32_t key_tile = 0;         ///< keys of a block
  bool own_tiles = false;             ///< key tiles are dealt to the streams in turn; else all take every one
  std::uint32_t copies_of_block = 2;  ///< cp.async operations that bring a block's tiles
  bool skip_absent = false;           ///< a stream skips blocks where nothing of its first step's access exists
  std::vector<AttentionStep> steps;   ///< at most TraceSource::kMinFetch
};

struct AttentionProgram {
  Launch launch;  ///< streams, grid and barrier are filled in
  AttentionShape shape;
  AttentionGrid grid = AttentionGrid::kQueryTiles;
  std::uint32_t query_rows = 1;    ///< of a CTA
  std::uint32_t x_tiles = 0;       ///< CTAs along x where they are no query tiles
  std::uint32_t split_keys = 0;    ///< keys of a split
  std::uint32_t stream_warps = 4;  ///< divides the CTA's warps
  std::vector<AttentionPhase> phases;
};

/// Throws ModelBug for programs that cannot be walked.
[[nodiscard]] std::unique_ptr<TraceSource> make_attention_program(AttentionProgram program);

}  // namespace strata
