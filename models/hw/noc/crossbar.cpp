#include "models/hw/noc/crossbar.hpp"

#include <algorithm>
#include <vector>

#include "sim/topology/sm_layout.hpp"

namespace strata {

Crossbar::Crossbar(Context& context) : context_(context), tlb_(*context.config, context.time.l2) {
  const GpuConfig& g = *context.config;
  const XbarConfig& x = g.xbar;
  const TimeBase& t = context.time;
  const std::vector<SmPlace> layout = sm_layout(g.topology);
  const int num_sms = static_cast<int>(layout.size());
  std::uint16_t tpcs = 0;
  std::uint16_t cpcs = 0;
  for (int sm = 0; sm < num_sms; ++sm) {
    const SmPlace& place = layout[static_cast<std::size_t>(sm)];
    SmPort p;
    p.write = Resource(t.sm, x.sm_write_bytes_per_cycle);
    // Distance is spread evenly over the SMs: the real floor plan is not public, its spread is measured.
    const Tick hop = t.l2 * x.hop_spread_cycles * ((sm * 37) % num_sms) / std::max(1, num_sms - 1) / 2;
    p.request_latency = t.l2 * x.request_latency_cycles + hop;
    p.reply_latency = t.l2 * x.reply_latency_cycles + hop;
    p.tlb = &tlb_;
    p.gpc = place.gpc;
    p.tpc = place.tpc;
    p.cpc = place.cpc;
    p.partition = static_cast<std::uint8_t>(g.topology.gpc_partition[place.gpc]);
    tpcs = std::max(tpcs, static_cast<std::uint16_t>(place.tpc + 1));
    cpcs = std::max(cpcs, static_cast<std::uint16_t>(place.cpc + 1));
    ports_.push_back(p);
  }
  gpc_read_.assign(g.topology.gpc_sms.size(), Resource(t.l2, x.gpc_read_bytes_per_cycle));
  first_cpc_.assign(g.topology.gpc_sms.size(), UINT16_MAX);
  std::vector<std::uint16_t> last_cpc(g.topology.gpc_sms.size(), 0);
  for (const SmPlace& place : layout) {
    first_cpc_[place.gpc] = std::min(first_cpc_[place.gpc], place.cpc);
    last_cpc[place.gpc] = std::max(last_cpc[place.gpc], place.cpc);
  }
  for (std::size_t gpc = 0; gpc < first_cpc_.size(); ++gpc) {
    gpc_waiting_.emplace_back(std::size_t{last_cpc[gpc]} - first_cpc_[gpc] + 1);
  }
  gpc_write_.assign(g.topology.gpc_sms.size(), Resource(t.l2, x.gpc_write_bytes_per_cycle));
  has_delivery_limit_ = x.gpc_delivered_bytes_per_cycle > 0;
  gpc_delivered_.assign(g.topology.gpc_sms.size(), Resource(t.l2, std::max(1, x.gpc_delivered_bytes_per_cycle)));
  has_cpc_write_limit_ = x.cpc_write_bytes_per_cycle > 0;
  cpc_write_.assign(cpcs, Resource(t.sm, std::max(1, x.cpc_write_bytes_per_cycle)));
  sm_read_.assign(ports_.size(), Resource(t.sm, x.sm_read_bytes_per_cycle));
  tpc_read_.assign(tpcs, Resource(t.sm, x.tpc_read_bytes_per_cycle));
  has_cpc_limit_ = x.cpc_read_bytes_per_cycle > 0;
  cpc_read_.assign(cpcs, Resource(t.sm, std::max(1, x.cpc_read_bytes_per_cycle)));
}

void Crossbar::send_reply(std::uint32_t chunk, std::uint32_t sm, std::uint32_t rank, std::uint32_t bytes, bool merged,
                          Tick ready) {
  const SmPort& p = ports_[sm];
  const FairQueues::Reply reply{ready, chunk, sm, rank, bytes, merged};
  FairQueues& waiting = gpc_waiting_[p.gpc];
  const Tick free = gpc_read_[p.gpc].next_free();
  if (waiting.empty() && free <= context_.now()) {
    pass(reply);
    return;
  }
  if (waiting.empty()) {
    context_.post(free, EventKind::kReadPortFree, p.gpc, 0);
  }
  waiting.push(p.cpc - first_cpc_[p.gpc], reply);
}

void Crossbar::read_port_free(std::uint32_t gpc) {
  FairQueues& waiting = gpc_waiting_[gpc];
  const Tick now = context_.now();
  while (!waiting.empty() && gpc_read_[gpc].next_free() <= now) {
    pass(waiting.pop());
  }
  if (!waiting.empty()) {
    context_.post(gpc_read_[gpc].next_free(), EventKind::kReadPortFree, gpc, 0);
  }
}

void Crossbar::pass(const FairQueues::Reply& reply) {
  const SmPort& p = ports_[reply.sm];
  const Tick now = context_.now();
  Tick through = reply.merged ? now : gpc_read_[p.gpc].reserve(now, reply.bytes);
  if (has_delivery_limit_) {
    through = std::max(through, gpc_delivered_[p.gpc].reserve(now, reply.bytes));
  }
  context_.post(std::max(through, reply.ready) + p.reply_latency, EventKind::kReadAtSm, reply.sm, reply.chunk,
                reply.rank);
}

Tick Crossbar::deliver(std::uint32_t sm, std::uint32_t bytes) {
  const SmPort& p = ports_[sm];
  const Tick now = context_.now();
  Tick done = tpc_read_[p.tpc].reserve(now, bytes);
  if (has_cpc_limit_) {
    done = std::max(done, cpc_read_[p.cpc].reserve(now, bytes));
  }
  return std::max(done, sm_read_[sm].reserve(now, bytes));
}

Tick Crossbar::send_store(std::uint32_t sm, std::uint32_t bytes) {
  const Tick now = context_.now();
  const Tick done = gpc_write_[ports_[sm].gpc].reserve(now, bytes);
  return has_cpc_write_limit_ ? std::max(done, cpc_write_[ports_[sm].cpc].reserve(now, bytes)) : done;
}

Tick Crossbar::gpc_busy_ticks() const {
  Tick sum = 0;
  for (const Resource& r : gpc_read_) {
    sum += r.busy();
  }
  return sum;
}

}  // namespace strata
