/// Calendar queue with a total order: (tick, sequence). Events of one tick leave in the order they were posted.
///
/// Near events sit in a wheel of buckets a fixed number of ticks wide, unsorted in small blocks; a bucket is sorted
/// when it becomes current. Far events wait in a binary heap and move into the wheel as its window advances.
/// Cost: amortised O(1) per event for delays inside the window; no allocation once the blocks are enough.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/time.hpp"

namespace strata {

/// 24 bytes, trivially copyable. The payload of a larger event lives in a SlotPool reached through `a` or `b`.
struct Event {
  Tick tick;
  std::uint32_t sequence_low;  ///< posting order; wraps are resolved by EventQueue
  std::uint16_t kind;
  std::uint16_t unit;
  std::uint32_t a;
  std::uint32_t b;
};
static_assert(sizeof(Event) == 24);

class EventQueue {
 public:
  /// @param bucket_ticks width of a bucket, rounded up to a power of two: wide enough for a few events, few enough to
  /// be sorted by insertion
  explicit EventQueue(Tick bucket_ticks = 1) { reset(bucket_ticks); }

  void reset(Tick bucket_ticks) {
    bucket_shift_ =
        bucket_ticks > 1 ? static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bucket_ticks) - 1)) : 0;
    wheel_.assign(kBuckets, Bucket{});
    occupied_.fill(0);
    blocks_.clear();
    free_block_ = kNoBlock;
    current_.clear();
    far_.clear();
    now_ = 0;
    bucket_ = 0;
    next_slot_ = kBuckets;
    entered_ = false;
    size_ = 0;
    sequence_ = 0;
    processed_ = 0;
  }

  [[nodiscard]] Tick now() const { return now_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint64_t processed() const { return processed_; }

  /// Posts an event. `tick` must not lie in the past.
  void post(Tick tick, std::uint16_t kind, std::uint16_t unit, std::uint32_t a, std::uint32_t b = 0) {
    assert(tick >= now_);
    const Event e{tick, sequence_++, kind, unit, a, b};
    ++size_;
    const Tick offset = (tick >> bucket_shift_) - bucket_;
    if (offset == 0) {
      insert_current(e);
    } else if (offset < static_cast<Tick>(kBuckets)) {
      push(e);
    } else {
      far_.push_back(e);
      std::push_heap(far_.begin(), far_.end(), Later{});
    }
  }

  /// Takes the earliest event; false when none is left. Advances now().
  bool pop(Event& out) {
    entered_ = current_.empty();
    if (entered_) {
      if (size_ == 0) {
        return false;
      }
      advance();
    }
    out = current_.back();
    current_.pop_back();
    assert(out.tick >= now_);
    now_ = out.tick;
    --size_;
    ++processed_;
    return true;
  }

  /// The queue moved on to another bucket for the event just taken: time to look at those that come after it.
  [[nodiscard]] bool entered_bucket() const { return entered_; }
  /// What is left of the bucket, latest first.
  [[nodiscard]] std::span<const Event> bucket() const { return current_; }
  /// Calls `see` for the events that the bucket after this one has so far.
  template <typename See>
  void see_next_bucket(See&& see) const {
    if (next_slot_ == kBuckets) {
      return;
    }
    std::uint32_t count = wheel_[next_slot_].count;
    for (std::uint32_t block = wheel_[next_slot_].block; block != kNoBlock; block = blocks_[block].next) {
      for (std::uint32_t i = 0; i < count; ++i) {
        see(blocks_[block].events[i]);
      }
      count = kPerBlock;
    }
  }

 private:
  static constexpr std::size_t kBuckets = 4096;
  static constexpr std::size_t kWords = kBuckets / 64;
  static constexpr std::uint32_t kNoBlock = 0xffffffffU;
  static constexpr std::uint32_t kPerBlock = 5;  ///< two lines of the host's cache

  /// Events of a bucket, in the order of their posting.
  struct alignas(64) Block {
    std::array<Event, kPerBlock> events;
    std::uint32_t next;  ///< the bucket's block before this one, or the next free one
  };
  static_assert(sizeof(Block) == 128);
  struct Bucket {
    std::uint32_t block = kNoBlock;   ///< the newest one
    std::uint32_t count = kPerBlock;  ///< events in it: none has room where there is none
  };
  struct Later {
    bool operator()(const Event& x, const Event& y) const { return before(y, x); }
  };
  static bool before(const Event& x, const Event& y) {
    return x.tick != y.tick ? x.tick < y.tick : static_cast<std::int32_t>(x.sequence_low - y.sequence_low) < 0;
  }
  [[nodiscard]] static std::size_t slot_of(Tick bucket) { return static_cast<std::size_t>(bucket) & (kBuckets - 1); }

  /// Into the current bucket. No event was posted later, so it goes behind all of its tick.
  void insert_current(const Event& e) {
    const auto behind = std::partition_point(current_.rbegin(), current_.rend(),
                                             [&e](const Event& other) { return other.tick <= e.tick; });
    current_.insert(behind.base(), e);
  }

  /// Into a bucket of the wheel.
  void push(const Event& e) {
    const std::size_t slot = slot_of(e.tick >> bucket_shift_);
    Bucket& bucket = wheel_[slot];
    if (bucket.count == kPerBlock) {
      const std::uint32_t block = new_block();
      blocks_[block].next = bucket.block;
      bucket = Bucket{block, 0};
      occupied_[slot >> 6] |= 1ULL << (slot & 63);
    }
    blocks_[bucket.block].events[bucket.count++] = e;
  }
  [[nodiscard]] std::uint32_t new_block() {
    if (free_block_ == kNoBlock) {
      blocks_.emplace_back();
      return static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    const std::uint32_t block = free_block_;
    free_block_ = blocks_[block].next;
    return block;
  }

  /// Moves to the next occupied bucket and the window with it.
  void advance() {
    const std::size_t here = slot_of(bucket_);
    const std::size_t distance = next_occupied(here);
    bucket_ = distance == 0 ? far_.front().tick >> bucket_shift_ : bucket_ + static_cast<Tick>(distance);
    while (!far_.empty() && (far_.front().tick >> bucket_shift_) - bucket_ < static_cast<Tick>(kBuckets)) {
      std::pop_heap(far_.begin(), far_.end(), Later{});
      push(far_.back());
      far_.pop_back();
    }
    const std::size_t slot = slot_of(bucket_);
    take(slot);
    const std::size_t next = next_occupied(slot);
    next_slot_ = next == 0 ? kBuckets : (slot + next) & (kBuckets - 1);
  }

  /// Empties a bucket into current_, the latest event first.
  void take(std::size_t slot) {
    Bucket& bucket = wheel_[slot];
    for (std::uint32_t count = bucket.count; bucket.block != kNoBlock; count = kPerBlock) {
      Block& block = blocks_[bucket.block];
      while (count > 0) {
        current_.push_back(block.events[--count]);
      }
      const std::uint32_t next = block.next;
      block.next = free_block_;
      free_block_ = bucket.block;
      bucket.block = next;
    }
    bucket.count = kPerBlock;
    occupied_[slot >> 6] &= ~(1ULL << (slot & 63));
    sort_current();
  }
  /// Events come nearly in order: hardly any of a few is out of place.
  void sort_current() {
    constexpr std::size_t kFew = 64;
    if (current_.size() > kFew) {
      std::sort(current_.begin(), current_.end(), Later{});
      return;
    }
    for (std::size_t i = 1; i < current_.size(); ++i) {
      if (!before(current_[i - 1], current_[i])) {
        continue;
      }
      const Event e = current_[i];
      std::size_t to = i;
      for (; to > 0 && before(current_[to - 1], e); --to) {
        current_[to] = current_[to - 1];
      }
      current_[to] = e;
    }
  }

  /// Distance from `start` to the next occupied slot, or 0 when there is none.
  [[nodiscard]] std::size_t next_occupied(std::size_t start) const {
    std::size_t word = start >> 6;
    std::uint64_t bits = occupied_[word] & (~0ULL << (start & 63));
    for (std::size_t i = 0; i <= kWords; ++i) {
      if (bits != 0) {
        const std::size_t slot = (word << 6) + static_cast<std::size_t>(std::countr_zero(bits));
        return (slot - start) & (kBuckets - 1);
      }
      word = (word + 1) & (kWords - 1);
      bits = occupied_[word];
    }
    return 0;
  }

  std::vector<Bucket> wheel_;
  std::array<std::uint64_t, kWords> occupied_{};
  std::vector<Block> blocks_;
  std::uint32_t free_block_ = kNoBlock;
  std::vector<Event> current_;  ///< what is left of the current bucket, the next event last
  std::vector<Event> far_;
  int bucket_shift_ = 0;  ///< log2 of a bucket's ticks
  Tick now_ = 0;
  Tick bucket_ = 0;                   ///< number of the current bucket since tick 0
  std::size_t next_slot_ = kBuckets;  ///< of the next bucket with events when the current one was entered
  bool entered_ = false;
  std::size_t size_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint64_t processed_ = 0;
};

}  // namespace strata
