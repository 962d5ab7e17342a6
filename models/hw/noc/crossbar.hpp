/// The crossbar: reply ports of GPCs, CPCs, TPCs and SMs, store ports, and the latency by distance.
#pragma once

#include <cstdint>
#include <vector>

#include "models/hw/common/context.hpp"
#include "models/hw/common/sm_port.hpp"
#include "models/hw/common/tlb.hpp"
#include "models/hw/noc/fair_port.hpp"
#include "sim/timing/resource.hpp"

namespace strata {

/// Not modelled: arbitration between slices, flit framing (docs/model/noc.md).
class Crossbar {
 public:
  explicit Crossbar(Context& context);

  [[nodiscard]] SmPort& port(std::uint32_t sm) { return ports_[sm]; }

  /// A reply leaves the L2 for one SM at `ready`; `merged` replies ride on another one's transfer to the GPC.
  /// The GPC's port is taken when it is the reply's turn: the latency from there to `ready` is constant for hits, so
  /// their order within a CPC holds.
  void send_reply(std::uint32_t chunk, std::uint32_t sm, std::uint32_t rank, std::uint32_t bytes, bool merged,
                  Tick ready);
  /// A GPC's read port is free: the replies whose turn it is pass.
  void read_port_free(std::uint32_t gpc);
  /// The reply is at the SM's door: takes CPC, TPC and SM ports; returns the tick at which the last byte is in.
  Tick deliver(std::uint32_t sm, std::uint32_t bytes);
  /// A store passes its GPC's port; returns the tick at which it is through.
  Tick send_store(std::uint32_t sm, std::uint32_t bytes);

  [[nodiscard]] Tick gpc_busy_ticks() const;
  [[nodiscard]] std::size_t num_cpcs() const { return cpc_read_.size(); }
  [[nodiscard]] std::size_t num_gpcs() const { return gpc_read_.size(); }

 private:
  void pass(const FairQueues::Reply& reply);

  Context& context_;
  Tlb tlb_;
  std::vector<SmPort> ports_;
  std::vector<Resource> sm_read_;
  std::vector<Resource> tpc_read_;
  std::vector<Resource> cpc_read_;
  std::vector<Resource> gpc_read_;
  std::vector<FairQueues> gpc_waiting_;
  std::vector<std::uint16_t> first_cpc_;  ///< of each GPC
  std::vector<Resource> gpc_write_;
  bool has_cpc_limit_ = false;
  std::vector<Resource> cpc_write_;
  bool has_cpc_write_limit_ = false;
  std::vector<Resource> gpc_delivered_;
  bool has_delivery_limit_ = false;
};

}  // namespace strata
