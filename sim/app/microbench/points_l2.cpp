// l2_bandwidth.cu: bytes per clock by scope, engine, set and footprint.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/l2_streams.hpp"

namespace strata::app {

namespace {

using namespace microbench;
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
// Rates are steady after the warm-up, so a part of the measured bytes gives the same number.
constexpr std::uint64_t kFewSms = 18;
constexpr std::uint64_t kTimedFew = 2 * kMiB;  ///< bytes per SM with few SMs
constexpr std::uint64_t kTimedMany = kMiB;     ///< and with many
constexpr std::uint64_t kTimedShared = 3 * kMiB;

struct Parsed {
  Engine engine = Engine::kLoad;
  SharedSet set = SharedSet::kPrivate;
  std::string where;
  bool sum_of_rates = false;
};

std::optional<Parsed> parse(std::string series) {
  static constexpr std::array<std::pair<const char*, Engine>, 7> kEngines{{{"ldg_", Engine::kLoad},
                                                                           {"cp_async_", Engine::kCpAsync},
                                                                           {"bulk_store_", Engine::kBulkStore},
                                                                           {"bulk_", Engine::kBulk},
                                                                           {"tile_pitch8k_", Engine::kPitchedTile},
                                                                           {"tile_", Engine::kTile},
                                                                           {"store_", Engine::kStore}}};
  static constexpr std::array<std::pair<const char*, SharedSet>, 4> kSets{{{"private_", SharedSet::kPrivate},
                                                                           {"shared_", SharedSet::kShared},
                                                                           {"skewed_", SharedSet::kSkewed},
                                                                           {"rotate_", SharedSet::kRotate}}};
  Parsed p;
  p.sum_of_rates = take_suffix(series, "_sum_of_rates");
  const auto* engine =
      std::find_if(kEngines.begin(), kEngines.end(), [&](const auto& e) { return take_prefix(series, e.first); });
  if (engine == kEngines.end()) return std::nullopt;
  p.engine = engine->second;
  const auto* set =
      std::find_if(kSets.begin(), kSets.end(), [&](const auto& s) { return take_prefix(series, s.first); });
  if (set == kSets.end()) return std::nullopt;
  p.set = set->second;
  p.where = series;
  return p;
}

bool stores(Engine e) { return e == Engine::kStore || e == Engine::kBulkStore; }

const char* title(const Parsed& p) {
  if (p.where == "footprint") {
    return stores(p.engine) ? "store bandwidth of all SMs by footprint" : "read bandwidth of all SMs by footprint";
  }
  if (p.where == "sm_footprint" || p.where == "gpc_footprint")
    return "read bandwidth of one SM and one GPC by footprint";
  if (p.where == "in_gpc" || p.where == "one_cpc" || p.where == "three_cpcs" || p.where == "each_gpc") {
    return stores(p.engine) ? "store bandwidth inside a GPC" : "read bandwidth inside a GPC";
  }
  if (p.where == "spread") return "read bandwidth by number of SMs";
  if (stores(p.engine)) return "L2 store bandwidth by scope";
  switch (p.set) {
    case SharedSet::kPrivate:
      return "L2 read bandwidth by scope, private sets";
    case SharedSet::kShared:
      return "L2 read bandwidth by scope, one set in step";
    default:
      return "L2 read bandwidth by scope, one set skewed";
  }
}

/// Whole laps of every stage of every ring, as l2_bandwidth.cu rounds.
std::uint32_t whole(std::uint64_t steps) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (steps + 11) / 12) * 12);
}

/// The warm-up of a set that all read: each side of the L2 reads it once, dealt to its SMs.
void deal_warm_up(const Placement& placement, const SmList& sms, L2StreamConfig& c) {
  std::array<std::uint32_t, 2> members{};
  std::vector<std::uint32_t> lane(placement.num_sms(), 0);
  for (const std::uint32_t sm : sms) {
    lane[sm] = members[placement.side(sm)]++;
  }
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t sm = 0; sm < placement.num_sms(); ++sm) {
    lanes.push_back(std::max(1U, members[placement.side(sm)]));
  }
  c.warm_lane = placement.by_cta(lane);
  c.warm_lanes = placement.by_cta(lanes);
  const std::uint32_t fewest =
      members[0] == 0 || members[1] == 0 ? std::max(members[0], members[1]) : std::min(members[0], members[1]);
  c.warm_steps = whole((c.chunks + fewest - 1) / fewest);
}

struct Sizes {
  std::uint64_t set_bytes;  ///< private, rotate: of one SM's region; shared, skewed: of the whole set
  std::uint64_t timed_bytes;
};

Sizes sizes(const Parsed& p, double x, std::uint64_t sms) {
  const auto n = static_cast<std::uint64_t>(x);
  const std::uint64_t timed_bytes = sms > kFewSms ? kTimedMany : kTimedFew;
  const bool own = p.set == SharedSet::kPrivate || p.set == SharedSet::kRotate;
  if (p.where == "footprint") {
    const std::uint64_t each = n * kMiB / sms / kStreamChunkBytes * kStreamChunkBytes;
    return own ? Sizes{each, std::max(timed_bytes, each)} : Sizes{n * kMiB, std::min(n * kMiB, kTimedShared)};
  }
  if (p.where == "sm_footprint") return {n * kKiB, std::max(timed_bytes, std::min(n * kKiB, 32 * kMiB))};
  if (p.where == "gpc_footprint") {
    const std::uint64_t each = n * kKiB / sms / kStreamChunkBytes * kStreamChunkBytes;
    return {each, std::max(timed_bytes, each)};
  }
  return own ? Sizes{128 * kKiB, timed_bytes} : Sizes{12 * kMiB, kTimedShared};
}

std::optional<SmList> members(const Parsed& p, double x, const Placement& placement) {
  if (p.where == "footprint") return placement.named("all", placement.num_sms());
  if (p.where == "sm_footprint") return placement.named("sm", 1);
  if (p.where == "gpc_footprint") return placement.gpcs().front();
  return placement.named(p.where, static_cast<std::uint32_t>(x));
}

}  // namespace

Mapping map_l2_bandwidth(const MicrobenchRow& row, const Placement& placement) {
  const std::optional<Parsed> p = parse(row.series);
  if (!p || p->where == "per_sm") {
    return not_simulated("rates of single SMs under full load: their places on the chip are not modelled");
  }
  if (p->set == SharedSet::kRotate || (p->where == "footprint" && p->set == SharedSet::kSkewed) ||
      (p->where == "footprint" && p->engine == Engine::kLoad && p->set == SharedSet::kShared)) {
    return not_simulated("footprint curves of rotating and skewed sets, and of loads in step: minutes each");
  }
  const std::optional<SmList> sms = members(*p, row.x, placement);
  if (!sms) return not_simulated("the described GPU has no group of so many SMs");
  const Sizes size = sizes(*p, row.x, sms->size());
  L2StreamConfig c;
  c.group = placement.group(*sms);
  c.engine = p->engine;
  c.set = p->set;
  c.chunks = static_cast<std::uint32_t>(std::max<std::uint64_t>(4, size.set_bytes / kStreamChunkBytes));
  c.warm_steps = whole(c.chunks);
  c.steps = whole(size.timed_bytes / kStreamChunkBytes);
  if (p->set == SharedSet::kShared || p->set == SharedSet::kSkewed) deal_warm_up(placement, *sms, c);
  std::string base = row.series;
  take_suffix(base, "_sum_of_rates");
  const double bytes = static_cast<double>(c.steps) * kStreamChunkBytes;
  return one_trace(
      title(*p), PointKind::kRate, fmt::format("l2 {} {}", base, row.x), [c] { return make_l2_stream(c); },
      [bytes, sum = p->sum_of_rates, active = c.group.active](const MicrobenchRun& run) {
        if (!sum) return bytes * active / run.slowest_cycles();
        double total = 0;
        for (std::size_t sm = 0; sm < run.stamps.size(); ++sm) {
          if (run.cycles(sm) > 0) total += bytes / run.cycles(sm);
        }
        return total;
      });
}

}  // namespace strata::app
