#include "workloads/kernels/attention_program.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"

namespace strata {
namespace {

constexpr std::uint8_t kCopyGroup = 0;
constexpr std::uint8_t kSyncThreads = 0;
constexpr std::uint8_t kLoads = 0;

std::uint32_t ceil_div(std::uint64_t a, std::uint64_t b) { return static_cast<std::uint32_t>((a + b - 1) / b); }

/// Where a CTA works.
struct Place {
  std::uint64_t q_row = 0;     ///< first row in Q
  std::uint64_t kv_row = 0;    ///< first row of its keys in K
  std::uint32_t tile_row = 0;  ///< first row within the head
  std::uint32_t rows = 0;      ///< query rows that exist from there on, of this head
  std::uint32_t keys = 0;      ///< keys that exist
  std::uint32_t seen = 0;      ///< keys that some query sees
  std::uint32_t unmasked = 0;  ///< keys that every query sees
  std::uint32_t x = 0;
};

/// One block of a phase as one stream sees it.
struct Visit {
  const AttentionPhase& phase;
  const Place& place;
  std::uint32_t stream;
  std::uint32_t block;
  std::uint32_t tiles;  ///< key tiles that the stream visits in all
};

/// Meaning of the cursor.
enum State : std::uint8_t { kPhase, kBlock, kLoadsIssued, kCopiesIssued, kBarriersPassed };

class AttentionProgramSource final : public TraceSource {
 public:
  explicit AttentionProgramSource(AttentionProgram program) : p_(std::move(program)) {
    const std::uint32_t warps = p_.launch.warps_per_cta();
    streams_ = std::max(1U, warps / p_.stream_warps);
    for (std::uint32_t s = 0; s < streams_; ++s) {
      p_.launch.streams.push_back(StreamInfo{static_cast<std::uint16_t>(s * p_.stream_warps),
                                             static_cast<std::uint16_t>(p_.stream_warps), "warps"});
    }
    p_.launch.named_barrier_warps[kSyncThreads] = static_cast<std::uint16_t>(warps);
    p_.launch.grid = grid();
  }

  [[nodiscard]] const Launch& launch() const override { return p_.launch; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    auto& st = cursor.state;
    const Place place = place_of(id.cta);
    std::uint32_t n = 0;
    while (n == 0 && st[kPhase] < p_.phases.size()) {
      const AttentionPhase& phase = p_.phases[st[kPhase]];
      const Visit visit{phase, place, id.stream, static_cast<std::uint32_t>(st[kBlock]),
                        tiles_of(phase, place, id.stream)};
      if (visit.block >= (phase.over_keys ? visit.tiles : phase.count)) {
        ++st[kPhase];
        st[kBlock] = 0;
        continue;
      }
      Operation probe;
      const bool absent = phase.skip_absent && !place_access(phase.steps.front().access, visit, probe);
      for (const AttentionStep& step : phase.steps) {
        if (!absent && emit(step, visit, cursor, out[n])) ++n;
      }
      ++st[kBlock];
    }
    return n;
  }

 private:
  [[nodiscard]] Dim3 grid() const {
    const AttentionShape& s = p_.shape;
    const std::uint32_t tiles = ceil_div(s.q_len, p_.query_rows);
    switch (p_.grid) {
      case AttentionGrid::kQueryTiles:
        return {tiles, s.heads, s.batch};
      case AttentionGrid::kScoreTiles:
      case AttentionGrid::kValueTiles:
        return {p_.x_tiles, tiles, s.batch * s.heads};
      case AttentionGrid::kRows:
        return {s.q_len, s.batch * s.heads, 1};
      case AttentionGrid::kSplits:
        return {ceil_div(s.kv_len, p_.split_keys), s.heads, s.batch};
      case AttentionGrid::kGroupSplits:
        return {ceil_div(s.kv_len, p_.split_keys), s.kv_heads, s.batch};
      case AttentionGrid::kHeads:
        break;
    }
    return {s.heads, s.batch, 1};
  }

  [[nodiscard]] Place place_of(std::uint64_t cta) const {
    const AttentionShape& s = p_.shape;
    const Dim3& g = p_.launch.grid;
    Place place;
    place.x = static_cast<std::uint32_t>(cta % g.x);
    const std::uint64_t y = cta / g.x % g.y;
    const std::uint64_t z = cta / g.x / g.y;
    std::uint64_t head = 0;  // of all batches
    std::uint32_t tile = 0;
    switch (p_.grid) {
      case AttentionGrid::kQueryTiles:
        head = z * s.heads + y;
        tile = s.causal ? g.x - 1 - place.x : place.x;
        break;
      case AttentionGrid::kScoreTiles:
      case AttentionGrid::kValueTiles:
        head = z;
        tile = static_cast<std::uint32_t>(y);
        break;
      case AttentionGrid::kRows:
        head = y;
        tile = place.x;
        break;
      case AttentionGrid::kSplits:
        head = z * s.heads + y;
        break;
      case AttentionGrid::kGroupSplits:
        head = (z * s.kv_heads + y) * (s.heads / s.kv_heads);
        break;
      case AttentionGrid::kHeads:
        head = y * s.heads + place.x;
        break;
    }
    const std::uint64_t kv_head = head / (s.heads / s.kv_heads);
    place.tile_row = tile * p_.query_rows;
    place.rows = p_.grid == AttentionGrid::kGroupSplits ? s.heads / s.kv_heads : s.q_len - place.tile_row;
    place.q_row = head * s.q_len + place.tile_row;
    place.kv_row = kv_head * s.kv_len;
    place.keys = s.kv_len;
    if (p_.grid == AttentionGrid::kScoreTiles) {
      narrow(place, place.x * p_.query_rows, p_.query_rows);  // square tiles
    } else if (p_.split_keys != 0 && p_.grid != AttentionGrid::kHeads) {
      narrow(place, place.x * p_.split_keys, p_.split_keys);
    }
    place.seen = visible(place, p_.query_rows);
    place.unmasked = visible(place, 1);
    return place;
  }

  static void narrow(Place& place, std::uint32_t first, std::uint32_t count) {
    place.kv_row += first;
    place.keys = std::min(place.keys - first, count);
  }

  /// Keys that the first `rows` rows of the tile may see.
  [[nodiscard]] std::uint32_t visible(const Place& place, std::uint32_t rows) const {
    if (!p_.shape.causal) return place.keys;
    return std::min(place.keys, place.tile_row + rows + p_.shape.kv_len - p_.shape.q_len);
  }

  /// Key tiles that a stream visits.
  [[nodiscard]] std::uint32_t tiles_of(const AttentionPhase& phase, const Place& place, std::uint32_t stream) const {
    if (phase.key_tile == 0) return 0;
    const std::uint32_t tiles = ceil_div(place.seen, phase.key_tile);
    if (!phase.own_tiles) return tiles;
    return tiles > stream ? ceil_div(tiles - stream, streams_) : 0;
  }

  bool emit(const AttentionStep& step, const Visit& v, StreamCursor& cursor, Operation& out) const {
    if (step.first_stream_only && v.stream != 0) return false;
    if (step.masked_only && (v.block + 1) * v.phase.key_tile <= v.place.unmasked) return false;
    if (step.access.rows_of == AttentionRows::kKey && step.access.block_bytes == 0 &&
        v.block + step.access.ahead >= v.tiles) {
      return false;
    }
    out = step.op;
    for (std::uint32_t* per_warp : {&out.warp_insts, &out.tensor_insts, &out.smem_read_wavefronts,
                                    &out.smem_write_wavefronts, &out.smem_conflicts}) {
      *per_warp *= p_.stream_warps;
    }
    if (step.access.rows_of != AttentionRows::kNone && !place_access(step.access, v, out)) {
      // No row of it exists. A copy writes zeros and completes like any other; loads and stores are predicated off.
      if (out.kind != OpKind::kCpAsync) {
        out.kind = OpKind::kCompute;
        out.pipe = Pipe::kNone;
      }
      out.mem = MemoryRef{};
    }
    add_tokens(step, v, cursor, out);
    return true;
  }

  /// One row for each query row and split. The combining kernel reads `rows` splits of its row in each block.
  [[nodiscard]] bool place_partial(const AttentionAccess& a, const Visit& v, Operation& op) const {
    const std::uint64_t splits = ceil_div(p_.shape.kv_len, p_.split_keys);
    const bool combines = p_.grid == AttentionGrid::kHeads;
    const std::uint64_t first = combines ? std::uint64_t{v.block} * a.rows : v.place.x;
    const std::uint64_t column = v.stream * a.stream_bytes;
    if (first >= splits || (a.row_end != 0 && column >= a.row_end)) return false;
    op.mem.address = a.base + (v.place.q_row * splits + first) * a.pitch + column;
    op.mem.rows = combines ? static_cast<std::uint32_t>(std::min<std::uint64_t>(a.rows, splits - first)) : v.place.rows;
    op.mem.row_bytes = a.row_bytes;
    op.mem.row_pitch = static_cast<std::int64_t>(combines ? a.pitch : splits * a.pitch);
    return true;
  }

  /// @return whether anything of it exists.
  bool place_access(const AttentionAccess& a, const Visit& v, Operation& op) const {
    if (a.rows_of == AttentionRows::kPartial) return place_partial(a, v, op);
    const bool keys = a.rows_of == AttentionRows::kKey;
    const bool down = keys && a.block_bytes == 0;  // blocks follow each other down the rows, not along them
    std::uint64_t row = (down && v.phase.own_tiles) || a.stream_bytes != 0 ? 0 : std::uint64_t{v.stream} * a.rows;
    if (down) {
      const std::uint64_t tile = std::uint64_t{v.block} + a.ahead;
      row += (v.phase.own_tiles ? tile * streams_ + v.stream : tile) * v.phase.key_tile;
    }
    row += std::uint64_t{v.block} * a.block_rows;
    const std::uint64_t limit = keys ? v.place.keys : v.place.rows;
    const std::uint64_t column = v.block * a.block_bytes + v.place.x * a.tile_bytes + v.stream * a.stream_bytes;
    if (row >= limit || (a.row_end != 0 && column >= a.row_end)) return false;
    op.mem.address = a.base + ((keys ? v.place.kv_row : v.place.q_row) + row) * a.pitch + column;
    op.mem.rows =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(a.block_rows != 0 ? a.block_rows : a.rows, limit - row));
    op.mem.row_pitch = static_cast<std::int64_t>(a.pitch);
    op.mem.row_bytes = a.row_bytes;
    if (a.row_end != 0) {
      op.mem.row_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(a.row_bytes, a.row_end - column));
    }
    if (a.odd_rows) {
      op.mem.address += a.pitch;
      op.mem.rows /= 2;
      op.mem.row_pitch *= 2;
    }
    return true;
  }

  void add_tokens(const AttentionStep& step, const Visit& v, StreamCursor& cursor, Operation& op) const {
    auto& st = cursor.state;
    std::size_t w = 0;
    const auto wait = [&](TokenClass cls, std::uint8_t slot, std::uint64_t count) {
      if (count > 0) op.waits[w++] = Wait{cls, slot, static_cast<std::uint32_t>(count)};
    };
    if (step.after_loads) wait(TokenClass::kScoreboard, kLoads, st[kLoadsIssued]);
    if (step.after_barrier) wait(TokenClass::kNamedBarrier, kSyncThreads, st[kBarriersPassed]);
    if (step.copies_ahead >= 0) {
      const std::uint32_t to_come = v.phase.over_keys ? v.tiles - 1 - v.block : v.tiles;
      const std::uint64_t later = std::min(static_cast<std::uint32_t>(step.copies_ahead), to_come);
      wait(TokenClass::kAsyncGroup, kCopyGroup, st[kCopiesIssued] - later * v.phase.copies_of_block);
    }
    if (op.kind == OpKind::kBarrier) {
      op.completes[0] = Signal{TokenClass::kNamedBarrier, kSyncThreads, SignalAt::kIssue,
                               static_cast<std::uint8_t>(p_.stream_warps), 0};
      ++st[kBarriersPassed];
    } else if (op.kind == OpKind::kCpAsync) {
      op.completes[0] = Signal{TokenClass::kAsyncGroup, kCopyGroup, SignalAt::kDataVisible, 1, 0};
      ++st[kCopiesIssued];
    } else if (op.kind == OpKind::kShared || (op.kind == OpKind::kMemory && op.mem.dir == MemDir::kLoad)) {
      op.completes[0] = Signal{TokenClass::kScoreboard, kLoads, SignalAt::kDataVisible, 1, 0};
      ++st[kLoadsIssued];
    }
  }

  AttentionProgram p_;
  std::uint32_t streams_ = 1;
};

}  // namespace

std::unique_ptr<TraceSource> make_attention_program(AttentionProgram program) {
  const std::uint32_t warps = program.launch.warps_per_cta();
  if (program.stream_warps == 0 || warps % program.stream_warps != 0) {
    throw ModelBug("attention program: streams do not divide the CTA's warps");
  }
  for (const AttentionPhase& phase : program.phases) {
    if (phase.steps.size() > TraceSource::kMinFetch) throw ModelBug("attention program: too many steps in a phase");
    if (phase.over_keys && phase.key_tile == 0) {
      throw ModelBug("attention program: a loop over key tiles without their size");
    }
  }
  return std::make_unique<AttentionProgramSource>(std::move(program));
}

}  // namespace strata
