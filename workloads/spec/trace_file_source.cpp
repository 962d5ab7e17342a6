/// open_trace(): a TraceSource over a file, with a bounded cache of decoded blocks.
#include <algorithm>
#include <mutex>

#include "sim/base/error.hpp"
#include "workloads/spec/trace_file.hpp"
#include "workloads/spec/trace_file_reader.hpp"

namespace strata {
namespace {

using namespace trace_file;

/// Decoded blocks kept: as many as the streams of a full GPU walk at once, about 64 MiB.
constexpr std::size_t kCachedBlocks = 640;
constexpr std::uint32_t kNotCached = UINT32_MAX;

class FileSource final : public TraceSource {
 public:
  explicit FileSource(const std::string& path) : file_(path), index_(read_index(file_)), reader_(file_, index_) {
    slot_of_.assign(index_.blocks.size(), kNotCached);
  }

  [[nodiscard]] const Launch& launch() const override { return index_.info.launch; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    const std::uint64_t stream = id.cta * index_.info.launch.streams.size() + id.stream;
    if (stream + 1 >= index_.stream_start.size()) throw ModelBug("a stream that the trace does not have");
    std::uint64_t at = index_.stream_start[stream] + cursor.state[0];
    const std::uint64_t end = index_.stream_start[stream + 1];
    const std::lock_guard lock(mutex_);
    std::uint32_t n = 0;
    while (at < end && n < out.size()) {
      const Cached& block = cached(at / kBlockOps);
      const auto limit = std::min<std::uint64_t>(end, (at / kBlockOps + 1) * kBlockOps);
      bool batch_ends = false;
      for (; at < limit && n < out.size(); ++at, ++n) {
        batch_ends = n > 0 && block.first[at % kBlockOps] != 0;
        if (batch_ends) break;
        out[n] = block.ops[at % kBlockOps];
      }
      if (batch_ends) break;
    }
    cursor.state[0] += n;
    return n;
  }

  [[nodiscard]] std::span<const std::uint64_t, 32> lane_addresses(std::uint32_t table_index) const override {
    const auto it = index_.table_of.find(table_index);
    if (it == index_.table_of.end()) return TraceSource::lane_addresses(table_index);
    return index_.tables[it->second];
  }

 private:
  struct Cached {
    std::uint64_t block = 0;
    std::uint64_t used = 0;
    std::vector<Operation> ops;
    std::vector<std::uint8_t> first;
  };

  const Cached& cached(std::uint64_t block) const {
    ++clock_;
    if (slot_of_[block] != kNotCached) {
      Cached& hit = cache_[slot_of_[block]];
      hit.used = clock_;
      return hit;
    }
    std::size_t slot = cache_.size();
    if (cache_.size() < kCachedBlocks) {
      cache_.emplace_back();
    } else {
      slot =
          static_cast<std::size_t>(std::min_element(cache_.begin(), cache_.end(),
                                                    [](const Cached& a, const Cached& b) { return a.used < b.used; }) -
                                   cache_.begin());
      slot_of_[cache_[slot].block] = kNotCached;
    }
    Cached& entry = cache_[slot];
    entry.used = 0;
    reader_.read(block, entry.ops, entry.first);
    entry.block = block;
    entry.used = clock_;
    slot_of_[block] = static_cast<std::uint32_t>(slot);
    return entry;
  }

  InputFile file_;
  mutable Index index_;
  mutable BlockReader reader_;
  mutable std::mutex mutex_;
  mutable std::vector<Cached> cache_;
  mutable std::vector<std::uint32_t> slot_of_;
  mutable std::uint64_t clock_ = 0;
};

}  // namespace

std::unique_ptr<TraceSource> open_trace(const std::string& path) { return std::make_unique<FileSource>(path); }

}  // namespace strata
