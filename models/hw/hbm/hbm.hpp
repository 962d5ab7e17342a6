/// HBM: pseudo-channels with banks, rows, refresh and a write queue. Efficiency comes out of the timings.
///
/// Reads are served as they arrive: the data bus is work-conserving (a request that waits for its bank does not hold
/// the bus against others, as a controller that reorders would arrange), each bank opens one row per tRC. Writes gather
/// in a queue per pseudo-channel and drain in bursts that pay the turnaround both ways.
/// Not modelled: command-bus contention, ECC reads, temperature-dependent refresh (docs/model/hbm.md).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/hw/common/address_map.hpp"
#include "models/hw/common/context.hpp"
#include "sim/timing/resource.hpp"

namespace strata {

class Hbm {
 public:
  Hbm(Context& context, const AddressMap& map);

  /// Reads the lines of a chunk that `line_mask` names; returns the tick at which the last one is at its slice.
  Tick read(const Chunk& chunk, std::uint32_t line_mask);

  /// Queues a dirty line for writing; returns the tick from which the write queues have room for more.
  /// The L2 evens out single busy channels, so the backlog of all channels together decides.
  Tick write(std::uint32_t line, std::uint32_t sectors);

  /// Ticks for which data buses were held or refresh blocked them, summed over pseudo-channels.
  [[nodiscard]] Tick busy_ticks() const;
  [[nodiscard]] std::size_t num_channels() const { return channels_.size(); }

 private:
  struct Bank {
    Tick next_activate = 0;  ///< tRC after the last one
    Tick column_ready = 0;   ///< the open row may be read from here on
    std::uint32_t row = 0xffffffffU;
    std::uint32_t previous_row = 0xffffffffU;
  };
  static constexpr Tick kOpenings = 4;  ///< that tFAW allows
  struct Channel {
    Resource bus;
    Tick next_opening = 0;  ///< a quarter of tFAW after the last one was due; one that waits for its bank holds up none
    Tick next_refresh = 0;
    bool read_since_drain = false;  ///< the bus has to turn around for the next drain
    std::uint32_t queued_writes = 0;
    std::uint32_t queued_write_bursts = 0;
  };

  using LineHomes = std::array<LineHome, kChunkLines>;
  /// Of the lines of a chunk that `line_mask` names; on the way, what reading them takes comes into the host's cache.
  [[nodiscard]] LineHomes homes_of(const Chunk& chunk, std::uint32_t line_mask) const;
  /// Index of the bank that has a line.
  [[nodiscard]] std::size_t bank_of(const LineHome& home) const {
    return std::size_t{home.pseudo_channel} * banks_per_channel_ + home.bank;
  }
  void refresh(Channel& channel, std::uint32_t index, Tick at);
  void drain(Channel& channel, std::uint32_t index);
  Tick open_row(Channel& channel, Bank& bank, std::uint32_t row, Tick at);

  Context& context_;
  const AddressMap& map_;
  std::vector<Channel> channels_;
  Resource all_channels_;  ///< the same work spread evenly: how far behind HBM is as a whole
  std::vector<Bank> banks_;
  std::uint32_t banks_per_channel_;
  Tick trcd_;
  Tick trp_;
  Tick trc_;
  Tick opening_interval_;  ///< tFAW over the openings that it allows
  Tick tcl_;
  Tick turnaround_;
  Tick trfc_;
  Tick trefi_;
  Tick controller_;
  Tick burst_;
  std::uint32_t drain_at_;
  bool fetches_pairs_;  ///< a read brings both sectors of 64 bytes
  Tick queue_time_;     ///< bus time of a full write queue
  bool per_bank_refresh_;
};

}  // namespace strata
