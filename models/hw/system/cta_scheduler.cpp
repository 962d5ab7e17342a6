#include "models/hw/system/cta_scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/topology/sm_layout.hpp"

namespace strata {

CtaScheduler::CtaScheduler(Context& context, const Launch& launch, std::vector<Sm>& sms, ClusterTable& clusters)
    : context_(context),
      launch_(launch),
      sms_(sms),
      clusters_(clusters),
      total_(launch.num_ctas()),
      cluster_size_(std::max(1U, launch.cluster_size())) {
  const GpuConfig& g = *context.config;
  const std::int64_t rate = std::max<std::int64_t>(1, std::llround(g.launch.ctas_per_cycle * kRateScale));
  ends_ = Resource(context.time.sm, rate);
  clusters_out_ = Resource(context.time.sm, rate);
  const auto ticks = [&context](double cycles) { return std::llround(cycles * static_cast<double>(context.time.sm)); };
  start_interval_ = ticks(g.sm.cta_interval_cycles + g.sm.warp_interval_cycles * launch.warps_per_cta());
  sm_free_.resize(sms.size());
  gpcs_.resize(g.topology.gpc_sms.size());
  gpc_interval_ = ticks(g.launch.sm_interval_cycles);
  cluster_interval_ = ticks(g.launch.cluster_interval_cycles);
  launch_latency_ = context.time.sm * g.sm.cta_launch_cycles;
  const std::vector<SmPlace> layout = sm_layout(g.topology);
  gpc_sms_.resize(g.topology.gpc_sms.size());
  const auto width = static_cast<std::uint32_t>(std::max(1, g.topology.sms_per_tpc));
  const bool fits_tpc = cluster_size_ <= width;
  for (std::uint32_t sm = 0; sm < layout.size(); ++sm) {
    gpc_of_sm_.push_back(layout[sm].gpc);
    tpc_of_sm_.push_back(layout[sm].tpc);
    if (fits_tpc || !layout[sm].lone_tpc) {
      gpc_sms_[layout[sm].gpc].push_back(sm);
    }
  }
  by_tpc_ = cluster_size_ > 1 && cluster_size_ == static_cast<std::uint32_t>(g.topology.sms_per_tpc);
  // Measured order: lone TPCs come first; then single CTAs fill GPC after GPC, clusters of a TPC's size go by SM
  // number.
  for (std::uint32_t sm = 0; sm < layout.size(); ++sm) {
    if (layout[sm].lone_tpc) {
      order_.push_back(sm);
    }
  }
  by_turn_ = order_;
  // A TPC's SMs have consecutive numbers; one of every TPC comes before the second one of any.
  for (std::uint32_t turn = 0; turn < width; ++turn) {
    for (std::uint32_t sm = turn; sm < layout.size(); sm += width) {
      if (!layout[sm].lone_tpc) {
        by_turn_.push_back(sm);
      }
    }
  }
  if (cluster_size_ == 1) {
    for (const auto& list : gpc_sms_) {
      for (const std::uint32_t sm : list) {
        if (!layout[sm].lone_tpc) {
          order_.push_back(sm);
        }
      }
    }
  } else {
    for (std::uint32_t sm = 0; sm < layout.size(); ++sm) {
      if (!layout[sm].lone_tpc) {
        order_.push_back(sm);
      }
    }
  }
}

Tick CtaScheduler::start_on(std::uint32_t sm, Tick at) {
  if (sm_free_[sm] == 0 && cluster_size_ == 1) {
    Resource& gpc = gpcs_[gpc_of_sm_[sm]];
    at = std::max(at, gpc.next_free());
    gpc.hold(at, gpc_interval_);
  }
  at = std::max(at, sm_free_[sm]);
  sm_free_[sm] = at + start_interval_;
  return at;
}

std::uint64_t CtaScheduler::cta_of(std::uint64_t cluster_index, std::uint32_t rank) const {
  // Clusters tile the grid; ranks run x first within a cluster.
  const Dim3& g = launch_.grid;
  const Dim3& c = launch_.cluster;
  const std::uint64_t across = g.x / c.x;
  const std::uint64_t down = g.y / c.y;
  const std::uint64_t cx = cluster_index % across;
  const std::uint64_t cy = cluster_index / across % down;
  const std::uint64_t cz = cluster_index / across / down;
  const std::uint64_t x = cx * c.x + rank % c.x;
  const std::uint64_t y = cy * c.y + rank / c.x % c.y;
  const std::uint64_t z = cz * c.z + rank / c.x / c.y;
  return x + g.x * (y + std::uint64_t{g.y} * z);
}

bool CtaScheduler::place_on(std::uint32_t sm) {
  if (next_ == total_ || !sms_[sm].has_room()) {
    return false;
  }
  const Tick at = start_on(sm, std::max(context_.now(), earliest_));
  sms_[sm].place(next_++, kNoHandle, 0, at + launch_latency_);
  return true;
}

bool CtaScheduler::place_pair(std::uint32_t sm) {
  // A cluster of a TPC's size goes to the SMs of one TPC.
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t other = sm; other < tpc_of_sm_.size() && tpc_of_sm_[other] == tpc_of_sm_[sm]; ++other) {
    if (!sms_[other].has_room()) {
      return false;
    }
    chosen.push_back(other);
  }
  if (next_ == total_ || chosen.size() != cluster_size_) {
    return false;
  }
  launch_cluster(chosen);
  return true;
}

bool CtaScheduler::place_cluster(std::uint32_t gpc) {
  if (next_ == total_) {
    return false;
  }
  // The CTAs of a cluster go to the least loaded SMs of the GPC, neighbours first.
  std::vector<std::uint32_t> free_sms;
  for (const std::uint32_t sm : gpc_sms_[gpc]) {
    if (sms_[sm].has_room()) {
      free_sms.push_back(sm);
    }
  }
  std::stable_sort(free_sms.begin(), free_sms.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return sms_[a].resident() < sms_[b].resident(); });
  if (free_sms.size() < cluster_size_) {
    return false;
  }
  free_sms.resize(cluster_size_);
  launch_cluster(free_sms);
  return true;
}

void CtaScheduler::launch_cluster(const std::vector<std::uint32_t>& chosen) {
  const std::uint32_t handle = clusters_.acquire();
  Cluster& cluster = clusters_[handle];
  cluster = Cluster{};
  cluster.size = cluster_size_;
  cluster.alive = cluster_size_;
  const std::uint64_t index = next_ / cluster_size_;
  clusters_out_.hold(std::max(context_.now(), earliest_), cluster_interval_);
  Tick start = clusters_out_.reserve(0, kRateScale * cluster_size_);
  // All CTAs of a cluster start together.
  for (const std::uint32_t sm : chosen) {
    start = std::max(start, start_on(sm, start));
  }
  start += launch_latency_ + context_.time.sm * context_.config->launch.cluster_cycles;
  for (std::uint32_t r = 0; r < cluster_size_; ++r) {
    cluster.sm[r] = static_cast<std::uint16_t>(chosen[r]);
    cluster.slot[r] = sms_[chosen[r]].place(cta_of(index, r), handle, r, start);
  }
  next_ += cluster_size_;
}

void CtaScheduler::start(Tick start) {
  earliest_ = start;
  bool placed = true;
  while (placed && next_ < total_) {
    placed = false;
    if (by_tpc_) {
      const std::uint32_t width = cluster_size_;
      for (std::size_t i = 0; i < order_.size(); i += width) {
        placed = place_pair(order_[i]) || placed;
      }
    } else if (cluster_size_ > 1) {
      for (std::uint32_t gpc = 0; gpc < gpc_sms_.size(); ++gpc) {
        placed = place_cluster(gpc) || placed;
      }
    } else {
      const std::vector<bool> chosen = chosen_for(total_ - next_);
      for (const std::uint32_t sm : order_) {
        placed = (chosen[sm] && place_on(sm)) || placed;
      }
    }
  }
}

std::vector<bool> CtaScheduler::chosen_for(std::uint64_t ctas) const {
  std::vector<bool> chosen(sms_.size(), false);
  for (std::size_t i = 0; i < std::min<std::uint64_t>(ctas, by_turn_.size()); ++i) {
    chosen[by_turn_[i]] = true;
  }
  return chosen;
}

void CtaScheduler::ended(std::uint32_t sm, std::uint32_t cluster) {
  ++finished_;
  last_end_ = context_.now();
  if (cluster == kNoHandle) {
    place_on(sm);
    return;
  }
  if (--clusters_[cluster].alive == 0) {
    clusters_.release(cluster);
  }
  if (by_tpc_) {
    std::uint32_t first = sm;
    while (first > 0 && tpc_of_sm_[first - 1] == tpc_of_sm_[sm]) {
      --first;
    }
    while (place_pair(first)) {
    }
    return;
  }
  while (place_cluster(gpc_of_sm_[sm])) {
  }
}

}  // namespace strata
