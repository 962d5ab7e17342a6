/// One simulated GPU for one launch: owns the units, dispatches their events, ends when nothing is left to do.
#pragma once

#include <memory>
#include <vector>

#include "models/hw/common/address_map.hpp"
#include "models/hw/common/context.hpp"
#include "models/hw/hbm/hbm.hpp"
#include "models/hw/l2/l2.hpp"
#include "models/hw/noc/crossbar.hpp"
#include "models/hw/noc/request_coalescer.hpp"
#include "models/hw/sm/sm.hpp"
#include "models/hw/system/cta_scheduler.hpp"
#include "models/hw/system/simulator.hpp"

namespace strata {

class Gpu {
 public:
  Gpu(const GpuConfig& config, const TraceSource& source, int sm_clock_mhz);

  /// Runs the launch to its end.
  void run(const SimulationOptions& options);
  /// Collects what the run left behind.
  [[nodiscard]] Result result() const;

 private:
  void dispatch(const Event& e);
  /// Each step brings in what the one before it names: an event's payload, that one's places, the tables there.
  void prefetch_payload(const Event& e) const;
  void prefetch_places(const Event& e) const;
  void prefetch_tables(const Event& e);
  void reply(std::uint32_t chunk);
  /// Takes what the L2 has let go since the last call: replies and dirty lines.
  void drain_l2();
  [[noreturn]] void report_stall() const;

  const GpuConfig& config_;
  const TraceSource& source_;
  Context context_;
  AddressMap map_;
  Crossbar crossbar_;
  std::unique_ptr<RequestCoalescer> coalescer_;
  L2 l2_;
  Hbm hbm_;
  ClusterTable clusters_;
  std::vector<Token> global_counters_;
  SmEnvironment environment_;
  std::vector<Sm> sms_;
  std::unique_ptr<CtaScheduler> scheduler_;
  Tick launch_before_;
  Tick launch_after_;
  Tick end_ = 0;
};

}  // namespace strata
