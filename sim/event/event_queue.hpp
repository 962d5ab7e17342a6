/// Calendar queue with a total order: (tick, sequence). Events of one tick leave in the order they were posted.
///
/// Near events sit in a wheel of buckets a fixed number of ticks wide; a bucket is sorted when it becomes current.
/// Far events wait in a binary heap and move into the wheel as its window advances.
/// Cost: amortised O(1) per event for delays inside the window; no allocation once the buckets have grown.
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
  /// @param bucket_ticks width of a bucket, rounded up to a power of two; a few SM cycles work well: small enough to
  /// sort, few enough to stay in the host's cache.
  explicit EventQueue(Tick bucket_ticks = 1) { reset(bucket_ticks); }

  void reset(Tick bucket_ticks) {
    bucket_shift_ =
        bucket_ticks > 1 ? static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bucket_ticks) - 1)) : 0;
    for (auto& b : wheel_) {
      b.clear();
    }
    wheel_.resize(kBuckets);
    std::fill(occupied_.begin(), occupied_.end(), 0);
    occupied_.resize(kBuckets / 64, 0);
    far_.clear();
    now_ = 0;
    window_start_ = 0;
    cursor_ = 0;
    size_ = 0;
    sequence_ = 0;
    processed_ = 0;
    prepared_ = kNone;
  }

  [[nodiscard]] Tick now() const { return now_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Events known to follow the one just taken, in order, as far as they have been sorted: lets the engine fetch their
  /// payloads into the host's cache before it needs them.
  [[nodiscard]] std::span<const Event> upcoming() const {
    const auto& bucket = wheel_[slot(0)];
    return {bucket.data() + cursor_, bucket.size() - cursor_};
  }
  /// Events that follow those of upcoming(): of the next part of time that has any, sorted when first asked for.
  std::span<const Event> following() {
    if (prepared_ == kNone) {
      const std::size_t distance = next_occupied(slot(1));
      if (distance >= kBuckets - 1) {
        return {};
      }
      prepared_ = slot(1 + distance);
      sort(wheel_[prepared_], window_start_ + (static_cast<Tick>(1 + distance) << bucket_shift_));
    }
    return wheel_[prepared_];
  }
  [[nodiscard]] std::uint64_t processed() const { return processed_; }

  /// Posts an event. `tick` must not lie in the past.
  void post(Tick tick, std::uint16_t kind, std::uint16_t unit, std::uint32_t a, std::uint32_t b = 0) {
    assert(tick >= now_);
    Event e{tick, sequence_++, kind, unit, a, b};
    ++size_;
    const Tick offset = (tick - window_start_) >> bucket_shift_;
    if (offset >= static_cast<Tick>(kBuckets)) {
      far_.push_back(e);
      std::push_heap(far_.begin(), far_.end(), Later{});
      return;
    }
    insert_near(e, static_cast<std::size_t>(offset));
  }

  /// Takes the earliest event; false when none is left. Advances now().
  bool pop(Event& out) {
    if (size_ == 0) {
      return false;
    }
    while (true) {
      auto& bucket = wheel_[slot(0)];
      if (cursor_ < bucket.size()) {
        out = bucket[cursor_++];
        assert(out.tick >= now_);
        now_ = out.tick;
        --size_;
        ++processed_;
        return true;
      }
      retire_bucket();
      advance();
    }
  }

 private:
  static constexpr std::size_t kBuckets = 1024;
  static constexpr std::size_t kNone = kBuckets;

  struct Earlier {
    bool operator()(const Event& x, const Event& y) const { return before(x, y); }
  };
  struct Later {
    bool operator()(const Event& x, const Event& y) const { return before(y, x); }
  };
  static bool before(const Event& x, const Event& y) {
    return x.tick != y.tick ? x.tick < y.tick : static_cast<std::int32_t>(x.sequence_low - y.sequence_low) < 0;
  }
  [[nodiscard]] std::size_t slot(std::size_t offset) const { return (base_slot_ + offset) & (kBuckets - 1); }
  void set_bit(std::size_t s) { occupied_[s >> 6] |= 1ULL << (s & 63); }
  void clear_bit(std::size_t s) { occupied_[s >> 6] &= ~(1ULL << (s & 63)); }

  void insert_near(const Event& e, std::size_t offset) {
    // The current bucket is already sorted and partly consumed: keep it sorted. Others are sorted when reached, or a
    // little before.
    const std::size_t s = slot(offset);
    if (offset == 0 || s == prepared_) {
      auto& bucket = wheel_[s];
      const auto from = bucket.begin() + static_cast<std::ptrdiff_t>(offset == 0 ? cursor_ : 0);
      bucket.insert(std::upper_bound(from, bucket.end(), e, Earlier{}), e);
      set_bit(s);
      return;
    }
    push(s, e);
  }

  void push(std::size_t s, const Event& e) {
    auto& bucket = wheel_[s];
    if (bucket.capacity() == 0 && !spare_.empty()) {
      bucket.swap(spare_.back());
      spare_.pop_back();
    }
    bucket.push_back(e);
    set_bit(s);
  }

  /// The used-up bucket's storage goes to whichever needs some next, so that few stay in use and in the host's cache.
  void retire_bucket() {
    auto& bucket = wheel_[slot(0)];
    bucket.clear();
    if (bucket.capacity() > 0) {
      spare_.emplace_back().swap(bucket);
    }
    clear_bit(slot(0));
    cursor_ = 0;
  }

  /// Moves to the next occupied bucket, sliding the window so that it starts there.
  void advance() {
    const std::size_t start = slot(0);
    std::size_t distance = next_occupied(start);
    if (distance == kBuckets) {
      // The wheel is empty: jump to the earliest far event.
      const Tick t = far_.front().tick;
      window_start_ = t >> bucket_shift_ << bucket_shift_;
      base_slot_ = start;
    } else {
      window_start_ += static_cast<Tick>(distance) << bucket_shift_;
      base_slot_ = (start + distance) & (kBuckets - 1);
    }
    const Tick window_end = window_start_ + (static_cast<Tick>(kBuckets) << bucket_shift_);
    while (!far_.empty() && far_.front().tick < window_end) {
      std::pop_heap(far_.begin(), far_.end(), Later{});
      const Event e = far_.back();
      far_.pop_back();
      push(slot(static_cast<std::size_t>((e.tick - window_start_) >> bucket_shift_)), e);
    }
    if (slot(0) == prepared_) {
      prepared_ = kNone;
    } else {
      sort(wheel_[slot(0)], window_start_);
    }
  }

  /// A bucket holds its events in nearly the order of their posting: dealt out by their ticks, hardly any is out of
  /// place. `start`: the first tick of the bucket.
  void sort(std::vector<Event>& bucket, Tick start) {
    constexpr std::size_t kFew = 16;
    if (bucket.size() > kFew) {
      deal(bucket, start);
    }
    for (std::size_t i = 1; i < bucket.size(); ++i) {
      if (!before(bucket[i], bucket[i - 1])) {
        continue;
      }
      const Event e = bucket[i];
      std::size_t to = i;
      for (; to > 0 && before(e, bucket[to - 1]); --to) {
        bucket[to] = bucket[to - 1];
      }
      bucket[to] = e;
    }
  }
  /// Sorts by the leading bits of the tick, keeping the order of the rest.
  void deal(std::vector<Event>& bucket, Tick start) {
    constexpr int kPileBits = 6;
    const int shift = std::max(0, bucket_shift_ - kPileBits);
    std::array<std::uint32_t, (1U << kPileBits) + 1> piles{};  // [i + 1]: events of pile i, then where it goes on
    for (const Event& e : bucket) {
      ++piles[static_cast<std::size_t>((e.tick - start) >> shift) + 1];
    }
    for (std::size_t i = 1; i < piles.size(); ++i) {
      piles[i] += piles[i - 1];
    }
    dealt_.resize(bucket.size());
    for (const Event& e : bucket) {
      dealt_[piles[static_cast<std::size_t>((e.tick - start) >> shift)]++] = e;
    }
    bucket.swap(dealt_);
  }

  /// Distance from `start` to the next occupied slot, or kBuckets when the wheel is empty.
  [[nodiscard]] std::size_t next_occupied(std::size_t start) const {
    std::size_t word = start >> 6;
    std::uint64_t bits = occupied_[word] & (~0ULL << (start & 63));
    for (std::size_t i = 0; i <= kBuckets / 64; ++i) {
      if (bits != 0) {
        const std::size_t s = (word << 6) + static_cast<std::size_t>(__builtin_ctzll(bits));
        return (s - start) & (kBuckets - 1);
      }
      word = (word + 1) & (kBuckets / 64 - 1);
      bits = occupied_[word];
    }
    return kBuckets;
  }

  std::vector<std::vector<Event>> wheel_;
  std::vector<std::vector<Event>> spare_;  ///< storage of buckets that are empty
  std::vector<std::uint64_t> occupied_;
  std::vector<Event> far_;
  std::vector<Event> dealt_;  ///< scratch of deal()
  int bucket_shift_ = 0;      ///< log2 of a bucket's ticks
  Tick now_ = 0;
  Tick window_start_ = 0;         ///< tick at which offset 0 begins
  std::size_t base_slot_ = 0;     ///< slot of offset 0
  std::size_t cursor_ = 0;        ///< next event within the first bucket, the one being consumed
  std::size_t prepared_ = kNone;  ///< slot of a later bucket that is sorted already
  std::size_t size_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint64_t processed_ = 0;
};

}  // namespace strata
