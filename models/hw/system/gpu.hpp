/// One simulated GPU for one launch: owns the units, dispatches their events, ends when nothing is left to do.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "models/hw/common/address_map.hpp"
#include "models/hw/common/context.hpp"
#include "models/hw/hbm/hbm.hpp"
#include "models/hw/l2/l2.hpp"
#include "models/hw/noc/crossbar.hpp"
#include "models/hw/noc/miss_turns.hpp"
#include "models/hw/noc/request_coalescer.hpp"
#include "models/hw/sm/sm.hpp"
#include "models/hw/system/cta_scheduler.hpp"
#include "models/hw/system/sampling.hpp"
#include "models/hw/system/simulator.hpp"

namespace strata {

class Gpu {
 public:
  Gpu(const GpuConfig& config, const TraceSource& source, int sm_clock_mhz);

  /// Runs the launch to its end.
  void run(const SimulationOptions& options);
  /// Runs a launch that was shortened by `plan` and gives the whole one.
  [[nodiscard]] Result run_sampled(const SimulationOptions& options, const SamplingPlan& plan, bool marked);
  /// Collects what the run left behind.
  [[nodiscard]] Result result() const { return result_at(end_); }

 private:
  /// Places the first CTAs. Throws InputError when none fits.
  void start();
  void finish(const SimulationOptions& options);
  /// Handles events until `ended` pieces have, or none are left.
  void run_until(const SimulationOptions& options, std::uint64_t ended);
  [[nodiscard]] std::uint64_t ended_pieces() const { return marked_ ? context_.pieces_ended : scheduler_->finished(); }
  [[nodiscard]] Result result_at(Tick finish) const;
  void dispatch(const Event& e);
  /// Brings what the events that come next will touch into the host's cache: the tables that those of the current
  /// bucket of time name, and what those of the bucket after it refer to.
  void prefetch_ahead() const;
  void prefetch_payload(const Event& e) const;
  void prefetch_tables(const Event& e) const;
  void reply(std::uint32_t chunk);
  void read_hbm(const MissTurns::Miss& miss);
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
  MissTurns turns_;
  ClusterTable clusters_;
  std::vector<Token> global_counters_;
  SmEnvironment environment_;
  std::vector<Sm> sms_;
  std::unique_ptr<CtaScheduler> scheduler_;
  Tick launch_before_;
  Tick launch_after_;
  Tick end_ = 0;
  bool marked_ = false;  ///< pieces end with marked operations, else with CTAs
};

}  // namespace strata
