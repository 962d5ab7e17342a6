/// The L2: two partitions of slices with near copies, a point of coherence per line, the fabric between them and
/// write-back.
///
/// A read is looked up in the slices beside the requester. A line homed in the other partition that misses there
/// crosses the fabric to its home slice and, by policy, leaves a copy. A store goes through the near slice to its home,
/// where it is kept dirty until it is evicted or the dirty limit pushes it out. Not modelled: compression, persistence
/// controls, ECC (docs/model/l2.md).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/hw/common/address_map.hpp"
#include "models/hw/common/context.hpp"
#include "models/hw/common/line_places.hpp"
#include "models/hw/common/tag_array.hpp"
#include "models/hw/l2/recent_reads.hpp"
#include "sim/timing/port_bank.hpp"
#include "sim/timing/resource.hpp"

namespace strata {

/// A dirty line that leaves the L2 for HBM.
struct WriteBack {
  std::uint32_t line;
  std::uint8_t sectors;
};

class L2 {
 public:
  L2(Context& context, const AddressMap& map);

  /// Brings in what is remembered of a chunk's lines.
  void prefetch_recent(const Chunk& chunk) const { recent_.prefetch(chunk); }
  /// Brings in the tags of a chunk's lines, once it has missed.
  void prefetch_tags(const Chunk& chunk, std::uint32_t line_mask, std::uint32_t partition) const {
    if (chunk.places != kNoHandle) {
      prefetch_tags(context_.line_places[chunk.places], line_mask, partition);
    }
  }

  // Event handlers. Each ends by posting what follows; what leaves the L2 gathers in replies() and write_backs().
  void read_at_near(std::uint32_t chunk);
  /// What a chunk asks for beyond its tensor: always there, and asked for whether the rest of the chunk merges or not
  /// (measured: boxes with one row inside that all SMs read make one request in four reach the L2, not one in sixteen).
  void read_outside(const Chunk& c);
  void read_at_home(std::uint32_t chunk, std::uint32_t line_mask);
  void hbm_done(std::uint32_t chunk, std::uint32_t line_mask, std::uint32_t partition);
  /// Lines that hit at their home are read out and take the fabric.
  void cross_fabric(std::uint32_t chunk, std::uint32_t line_mask);
  void fabric_done(std::uint32_t chunk, std::uint32_t line_mask);
  void write_at_near(std::uint32_t chunk);
  void write_at_home(std::uint32_t chunk, std::uint32_t line_mask);

  /// Dirty lines pushed out since the last call; the system hands them to HBM.
  [[nodiscard]] std::vector<WriteBack>& write_backs() { return write_backs_; }
  /// Chunks whose lines are all at the near partition, or will be at their `ready`, since the last call.
  [[nodiscard]] std::vector<std::uint32_t>& replies() { return replies_; }

  /// Stores are acknowledged no earlier than HBM's write queues had room for what they pushed out.
  void hold_stores_until(Tick tick) { store_room_ = tick > store_room_ ? tick : store_room_; }

  [[nodiscard]] Tick slice_busy_ticks() const;
  [[nodiscard]] Tick fabric_busy_ticks() const { return fabric_[0].busy() + fabric_[1].busy(); }
  [[nodiscard]] std::size_t num_slices() const { return read_ports_.size() * read_ports_.front().size(); }

 private:
  /// Brings tags in ahead of the look-up, with what misses, fills and stores need: to find out which lines miss would
  /// cost more than it spares.
  void prefetch_tags(const LinePlaces& places, std::uint32_t line_mask, std::uint32_t partition) const;
  /// Books a data port of the slices that hold the lines of `line_mask`, each for its sectors and `extra_bytes`;
  /// returns when the last one is done.
  Tick take_ports(const Chunk& c, std::uint32_t line_mask, const std::array<std::uint8_t, kChunkLines>& slice_of,
                  PortBank& ports, std::int64_t extra_bytes = 0);
  /// What a line takes of a data port, in bytes.
  [[nodiscard]] std::int64_t port_bytes(std::uint8_t mask, std::int64_t extra_bytes, std::uint32_t look_ups) const;
  /// Counts a read that SMs sent, of which `hit_sectors` need no fetch.
  void count_read(std::uint32_t sectors, std::uint32_t hit_sectors);
  /// The sectors of line `i` that come with those of `mask`: pairs from HBM, themselves from the other partition.
  [[nodiscard]] std::uint8_t filled(std::uint8_t mask, std::uint32_t partition, std::uint32_t i,
                                    const LinePlaces& places) const;
  /// Looks sectors of a line up in one partition. Returns those that must still be fetched; the others are ready or the
  /// chunk has been added to the waiters of whoever fetches them.
  std::uint8_t look_up(std::uint32_t chunk, std::uint8_t wanted, std::uint32_t i, std::uint32_t partition,
                       const LinePlaces& places, bool allocate);
  /// The same for what a line that is cached does not have.
  std::uint8_t look_up_missing(std::uint32_t chunk, std::uint8_t missing, std::uint32_t index, std::uint32_t i,
                               std::uint32_t partition, const LinePlaces& places);
  /// The same for a line that is not cached.
  std::uint8_t look_up_absent(std::uint32_t chunk, std::uint8_t wanted, std::uint32_t i, std::uint32_t partition,
                              const LinePlaces& places, bool allocate);
  void fill(std::uint32_t chunk, std::uint32_t line_mask, std::uint32_t partition);
  void wake(std::uint32_t chunk, std::uint32_t partition, Tick ready);
  void piece_done(std::uint32_t chunk);
  void evict(const TagArray::Victim& victim, std::uint32_t partition, std::uint32_t set);
  [[nodiscard]] std::int64_t bytes_of(const Chunk& chunk, std::uint32_t line_mask) const;
  /// Of lines that missed near the requester: what crosses the fabric for them.
  [[nodiscard]] std::int64_t crossing_bytes(std::uint32_t chunk, std::uint32_t line_mask);
  /// True if the line was not there: it takes a place, or goes by.
  bool mark_dirty(std::uint32_t tag, std::uint8_t mask, std::uint32_t partition, std::uint32_t set);
  /// Writes back the oldest dirty lines beyond the limit, on account of so many that have come.
  void limit_dirty(std::uint32_t partition, std::uint32_t arrivals);
  /// What is stored of a line at its home is out of date in the other partition.
  void drop_copy(std::uint32_t tag, std::uint8_t mask, std::uint32_t partition, std::uint32_t set);

  Context& context_;
  const AddressMap& map_;
  LinePlaceCache places_;
  RecentReads recent_;
  bool all_cached_ = true;             ///< the look-ups under way found or made room for every line
  std::vector<TagArray> tags_;         ///< per partition
  std::vector<PortBank> read_ports_;   ///< data read ports of a partition's slices
  std::vector<PortBank> write_ports_;  ///< likewise for writes
  std::vector<Resource> fabric_;       ///< data into partition i
  std::vector<WriteBack> write_backs_;
  std::vector<std::uint32_t> replies_;
  struct DirtyEntry {
    std::uint32_t tag;
    std::uint32_t set;
  };
  struct DirtyQueue {
    std::vector<DirtyEntry> ring;
    std::size_t head = 0;
    std::int64_t dirty_lines = 0;
  };
  std::vector<DirtyQueue> dirty_;
  std::int64_t dirty_limit_lines_;
  Tick hit_latency_;
  Tick fabric_latency_;
  std::int64_t look_up_bytes_ = 0;  ///< that a slice could move while it looks up a line
  bool fetches_pairs_;
  Tick store_room_ = 0;
  bool near_copy_on_fill_;
  bool near_copy_on_hit_;
  bool store_leaves_copy_;
};

}  // namespace strata
