#include "workloads/spec/trace_source.hpp"

namespace strata {

namespace {

/// A plain grid with a gap: CTAs behind it keep the work they had.
class GridWithout final : public TraceSource {
 public:
  GridWithout(const TraceSource& whole, std::uint64_t first, std::uint64_t count)
      : whole_(whole), first_(first), count_(count), launch_(whole.launch()) {
    launch_.grid = Dim3{static_cast<std::uint32_t>(launch_.num_ctas() - count), 1, 1};
    launch_.repeats_every = 0;
  }

  [[nodiscard]] const Launch& launch() const override { return launch_; }
  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    StreamId original = id;
    original.cta += id.cta >= first_ ? count_ : 0;
    return whole_.fetch(original, cursor, out);
  }
  [[nodiscard]] std::span<const std::uint64_t, 32> lane_addresses(std::uint32_t table_index) const override {
    return whole_.lane_addresses(table_index);
  }

 private:
  const TraceSource& whole_;
  std::uint64_t first_;
  std::uint64_t count_;
  Launch launch_;
};

}  // namespace

Repetition TraceSource::repetition() const {
  const Launch& l = launch();
  return l.repeats_every > 0 && l.cluster_size() <= 1 ? Repetition{l.num_ctas(), l.repeats_every, 0, l.repeats_every, 0}
                                                      : Repetition{};
}

std::unique_ptr<TraceSource> TraceSource::without(std::uint64_t first, std::uint64_t count) const {
  return std::make_unique<GridWithout>(*this, first, count);
}

}  // namespace strata
