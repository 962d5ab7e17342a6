#include "models/hw/hbm/hbm.hpp"

#include <catch2/catch.hpp>

#include "sim/config/gpu_description.hpp"

using namespace strata;

namespace {

struct Bench {
  GpuConfig config;
  AddressMap map;
  Context context;
  Hbm hbm;

  explicit Bench(const std::vector<std::string>& overrides = {})
      : config(load_gpu("h100-sxm5-80gb", overrides).config), map(config), context(make()), hbm(context, map) {}
  Context make() const {
    Context c;
    c.config = &config;
    c.time = TimeBase(1980, config.clocks.l2_mhz, config.clocks.hbm_mhz);
    return c;
  }
  [[nodiscard]] Tick ns(double t) const { return context.time.from_ns(t); }
  void advance(Tick to) {
    context.post(to, EventKind::kSignal, 0, 0);
    Event e{};
    (void)context.events.pop(e);
  }
  /// Reads one whole line; returns how long it took.
  Tick read(std::uint32_t line) {
    Chunk c;
    c.pattern.first = line;
    c.count = 1;
    return hbm.read(c, 1) - context.now();
  }
  /// The n-th line of the same channel and row, or of another row of the same bank.
  [[nodiscard]] std::uint32_t same_row(std::uint32_t line) const {
    const LineHome h = map.home(line);
    std::uint32_t other = line + 1;
    while (map.home(other).pseudo_channel != h.pseudo_channel || map.home(other).row != h.row) ++other;
    return other;
  }
  [[nodiscard]] std::uint32_t other_row(std::uint32_t line) const {
    const LineHome h = map.home(line);
    std::uint32_t other = line;
    while (map.home(other).pseudo_channel != h.pseudo_channel || map.home(other).row == h.row ||
           map.home(other).bank != h.bank) {
      ++other;
    }
    return other;
  }
  /// A line of a channel whose first refresh, staggered by channel, is far off.
  [[nodiscard]] std::uint32_t quiet_line() const {
    std::uint32_t line = 1000;
    while (map.home(line).pseudo_channel < config.num_pseudo_channels() / 2) ++line;
    return line;
  }
  [[nodiscard]] Tick burst() const { return ns(0) + 4 * context.time.hbm * 32 / (config.hbm.pseudo_channel_bits / 4); }
};

bool about(Tick value, Tick expected, Tick tick_error = 8) { return std::abs(value - expected) <= tick_error; }

}  // namespace

TEST_CASE("HBM: a read of a closed row opens it, the next one hits it", "[hbm][timing]") {
  Bench b;
  const HbmConfig& c = b.config.hbm;
  const std::uint32_t line = b.quiet_line();
  const Tick idle = b.ns(c.controller_latency_ns + c.trcd_ns + c.tcl_ns) + b.burst();
  CHECK(about(b.read(line), idle));
  b.advance(b.ns(200));
  CHECK(about(b.read(b.same_row(line)), b.ns(c.controller_latency_ns + c.tcl_ns) + b.burst()));
  CHECK(b.context.counters[Counter::kDramRowActivations] == 1);
  CHECK(b.context.counters[Counter::kDramReadSectors] == 8);
}

TEST_CASE("HBM: another row of the same bank is closed and opened, no sooner than tRC after the last",
          "[hbm][timing]") {
  Bench b;
  const HbmConfig& c = b.config.hbm;
  const std::uint32_t line = b.quiet_line();
  const std::uint32_t conflict = b.other_row(line);
  (void)b.read(line);
  b.advance(b.ns(200));
  // Long after the first activation: precharge and activate.
  CHECK(about(b.read(conflict), b.ns(c.controller_latency_ns + c.trp_ns + c.trcd_ns + c.tcl_ns) + b.burst()));
  // Right after it: the activation waits for tRC.
  const std::uint32_t third = b.other_row(conflict);
  const Tick expected = b.ns(c.controller_latency_ns) + b.ns(c.trp_ns + c.tras_ns + c.trp_ns + c.trcd_ns + c.tcl_ns);
  if (b.map.home(third).row != b.map.home(line).row) {
    CHECK(about(b.read(third), expected + b.burst(), b.ns(0.1)));
  }
  CHECK(b.context.counters[Counter::kDramRowActivations] == 3);
}

TEST_CASE("HBM: four rows open in tFAW, and one that waits for its bank holds up none", "[hbm][timing]") {
  Bench b({"hbm.tfaw_ns=200"});
  const HbmConfig& c = b.config.hbm;
  const std::uint32_t line = b.quiet_line();
  const LineHome first = b.map.home(line);
  const double idle = c.controller_latency_ns + c.trcd_ns + c.tcl_ns;
  CHECK(about(b.read(line), b.ns(idle) + b.burst()));
  // Due a quarter of tFAW later, after tRC of its bank: 50 ns against 28 + 16.3.
  CHECK(about(b.read(b.other_row(line)), b.ns(idle + 50) + b.burst(), b.ns(0.1)));
  std::uint32_t elsewhere = line;
  while (b.map.home(elsewhere).pseudo_channel != first.pseudo_channel || b.map.home(elsewhere).bank == first.bank) {
    ++elsewhere;
  }
  CHECK(about(b.read(elsewhere), b.ns(idle + 100) + b.burst(), b.ns(0.1)));
  CHECK(b.context.counters[Counter::kDramRowActivations] == 3);
}

TEST_CASE("HBM: one channel reads at the bus rate less refresh, and never above it", "[hbm][bandwidth]") {
  for (const char* refresh : {"all_bank", "per_bank"}) {
    Bench b({std::string("hbm.refresh=") + refresh});
    const HbmConfig& c = b.config.hbm;
    const std::uint16_t channel = b.map.home(0).pseudo_channel;
    Tick end = 0;
    std::uint32_t lines = 0;
    for (std::uint32_t line = 0; lines < 20000; ++line) {
      if (b.map.home(line).pseudo_channel != channel) continue;
      ++lines;
      end = b.read(line);
    }
    const double transfer = static_cast<double>(b.burst()) * lines;
    const double efficiency = transfer / static_cast<double>(end);
    double lost = c.trfc_ns / c.trefi_ns;
    if (std::string(refresh) == "per_bank") lost /= c.bank_groups * c.banks_per_group;
    INFO(refresh);
    CHECK(efficiency < 1.0);
    CHECK(efficiency == Approx(1.0 - lost).epsilon(0.01));
  }
}

TEST_CASE("HBM: writes gather until a drain is due, which turns the bus around only after reads", "[hbm][write]") {
  Bench b;
  const HbmConfig& c = b.config.hbm;
  const std::uint16_t channel = b.map.home(0).pseudo_channel;
  const Tick before = b.hbm.busy_ticks();
  std::uint32_t written = 0;
  for (std::uint32_t line = 0; written + 1 < static_cast<std::uint32_t>(c.write_drain_lines); ++line) {
    if (b.map.home(line).pseudo_channel != channel) continue;
    b.hbm.write(line, 4);
    ++written;
  }
  CHECK(b.hbm.busy_ticks() == before);
  b.hbm.write(0, 4);
  const Tick expected = b.burst() * c.write_drain_lines;  // nothing was read before
  CHECK(about(b.hbm.busy_ticks() - before, expected));
  CHECK(b.context.counters[Counter::kDramWriteSectors] == static_cast<std::uint64_t>(4 * c.write_drain_lines));
}
