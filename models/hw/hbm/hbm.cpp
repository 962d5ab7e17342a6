#include "models/hw/hbm/hbm.hpp"

#include <algorithm>
#include <bit>

#include "sim/base/prefetch.hpp"

namespace strata {

Hbm::Hbm(Context& context, const AddressMap& map) : context_(context), map_(map) {
  const HbmConfig& c = context.config->hbm;
  const TimeBase& t = context.time;
  // DDR: pseudo_channel_bits / 8 bytes on each edge.
  const std::int64_t bytes_per_clock = std::max(1, c.pseudo_channel_bits / 8 * 2);
  channels_.resize(static_cast<std::size_t>(context.config->num_pseudo_channels()));
  all_channels_ = Resource(t.hbm, bytes_per_clock * static_cast<std::int64_t>(channels_.size()));
  banks_per_channel_ = static_cast<std::uint32_t>(c.bank_groups * c.banks_per_group);
  banks_.resize(channels_.size() * banks_per_channel_);
  trcd_ = t.from_ns(c.trcd_ns);
  trp_ = t.from_ns(c.trp_ns);
  trc_ = t.from_ns(c.tras_ns + c.trp_ns);
  opening_interval_ = t.from_ns(c.tfaw_ns) / kOpenings;
  tcl_ = t.from_ns(c.tcl_ns);
  turnaround_ = t.from_ns(c.trtw_ns + c.twtr_ns);
  trfc_ = t.from_ns(c.trfc_ns);
  trefi_ = t.from_ns(c.trefi_ns);
  controller_ = t.from_ns(c.controller_latency_ns);
  burst_ = t.hbm * c.burst_bytes / bytes_per_clock;
  fetches_pairs_ = context.config->l2.fetch_bytes >= 2 * static_cast<int>(kSectorBytes);
  drain_at_ = static_cast<std::uint32_t>(std::max(1, c.write_drain_lines));
  queue_time_ = burst_ * kSectorsPerLine * c.write_queue_lines;
  per_bank_refresh_ = c.refresh == "per_bank";
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    channels_[i].bus = Resource(t.hbm, bytes_per_clock);
    // Refreshes of the channels are staggered over one interval, as controllers do to flatten power.
    channels_[i].next_refresh = trefi_ * static_cast<Tick>(i + 1) / static_cast<Tick>(channels_.size());
  }
}

void Hbm::refresh(Channel& channel, std::uint32_t index, Tick at) {
  while (std::max(at, channel.bus.next_free()) >= channel.next_refresh) {
    // A per-bank refresh blocks one bank of many; the bus loses its share of the time.
    const Tick blocked = per_bank_refresh_ ? trfc_ / static_cast<Tick>(banks_per_channel_) : trfc_;
    channel.bus.hold(channel.next_refresh, blocked);
    all_channels_.hold(channel.next_refresh, blocked / static_cast<Tick>(channels_.size()));
    if (!per_bank_refresh_) {
      Bank* bank = &banks_[std::size_t{index} * banks_per_channel_];
      for (std::uint32_t b = 0; b < banks_per_channel_; ++b) {
        bank[b].row = bank[b].previous_row = 0xffffffffU;
        bank[b].next_activate = std::max(bank[b].next_activate, channel.next_refresh + trfc_);
      }
    }
    channel.next_refresh += trefi_;
  }
}

Tick Hbm::open_row(Channel& channel, Bank& bank, std::uint32_t row, Tick at) {
  if (bank.row == row || (bank.previous_row == row && bank.next_activate > at)) {
    // The second case: requests to both rows wait at the bank, and the controller serves each row's together.
    return std::max(at, bank.column_ready);
  }
  context_.counters.add(Counter::kDramRowActivations, 1);
  const Tick precharge = bank.row == 0xffffffffU ? 0 : trp_;
  const Tick due = std::max(at, channel.next_opening);
  channel.next_opening = due + opening_interval_;
  const Tick activate = std::max({at + precharge, bank.next_activate, due});
  bank.next_activate = activate + trc_;
  bank.previous_row = bank.row;
  bank.row = row;
  bank.column_ready = activate + trcd_;
  return bank.column_ready;
}

Hbm::LineHomes Hbm::homes_of(const Chunk& chunk, std::uint32_t line_mask) const {
  LineHomes homes;
  AddressMap::Common near;
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    const std::uint32_t i = static_cast<std::uint32_t>(std::countr_zero(m));
    homes[i] = map_.home(context_.line(chunk, i), near);
    prefetch_line(&banks_[bank_of(homes[i])]);
    prefetch_lines(&channels_[homes[i].pseudo_channel], sizeof(Channel));
  }
  return homes;
}

Tick Hbm::read(const Chunk& chunk, std::uint32_t line_mask) {
  const Tick at = context_.now() + controller_ / 2;
  Tick ready = 0;
  std::uint32_t sectors_read = 0;
  const LinePlaces* places = chunk.places != kNoHandle ? &context_.line_places[chunk.places] : nullptr;
  const bool partial = places != nullptr && places->partial;
  const LineHomes homes = homes_of(chunk, line_mask);
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    const std::uint32_t i = static_cast<std::uint32_t>(std::countr_zero(m));
    const LineHome& home = homes[i];
    const std::uint32_t present = partial ? places->home[i] : 0U;
    const std::uint32_t mask = context_.mask(chunk, i) & ~present;
    const std::uint32_t sectors = count_sectors(fetches_pairs_ ? sector_pairs(mask) : mask);
    sectors_read += sectors;
    Channel& channel = channels_[home.pseudo_channel];
    refresh(channel, home.pseudo_channel, at);
    channel.read_since_drain = true;
    const Tick column = open_row(channel, banks_[bank_of(home)], home.row, at);
    const Tick on_bus = channel.bus.reserve(at, std::int64_t{sectors} * kSectorBytes);
    ready = std::max(ready, std::max(on_bus, column + burst_ * sectors) + tcl_);
  }
  all_channels_.reserve(at, std::int64_t{sectors_read} * kSectorBytes);
  context_.counters.add(Counter::kDramReadSectors, sectors_read);
  return ready + controller_ - controller_ / 2;
}

Tick Hbm::write(std::uint32_t line, std::uint32_t sectors) {
  const LineHome home = map_.home(line);
  Channel& channel = channels_[home.pseudo_channel];
  context_.counters.add(Counter::kDramWriteSectors, sectors);
  channel.queued_write_bursts += sectors;
  if (++channel.queued_writes >= drain_at_) {
    drain(channel, home.pseudo_channel);
  }
  return all_channels_.next_free() - queue_time_;
}

void Hbm::drain(Channel& channel, std::uint32_t index) {
  const Tick at = context_.now();
  refresh(channel, index, at);
  // Writes of a drain spread over the banks, so their activations overlap the bursts.
  channel.bus.reserve(at, std::int64_t{channel.queued_write_bursts} * kSectorBytes);
  if (channel.read_since_drain) {
    channel.bus.hold(at, turnaround_);
    all_channels_.hold(at, turnaround_ / static_cast<Tick>(channels_.size()));
    channel.read_since_drain = false;
  }
  all_channels_.reserve(at, std::int64_t{channel.queued_write_bursts} * kSectorBytes);
  channel.queued_writes = 0;
  channel.queued_write_bursts = 0;
}

Tick Hbm::busy_ticks() const {
  Tick sum = 0;
  for (const Channel& c : channels_) {
    sum += c.bus.busy();
  }
  return sum;
}

}  // namespace strata
