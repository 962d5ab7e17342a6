#include "models/hw/system/gpu.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/prefetch.hpp"
#include "sim/topology/sm_layout.hpp"

namespace strata {

namespace {
/// L2 cycles of waiting before the coalescer that are not worth another event.
constexpr Tick kSoon = 2;
constexpr std::size_t kFetchBuffer = TraceSource::kMinFetch;
/// Kinds of events, one bit each, whose payload is a chunk: a test instead of a jump, as most events are of them.
constexpr std::uint32_t kOfChunks = [] {
  std::uint32_t kinds = 0;
  for (const EventKind k : {EventKind::kReadAtL2, EventKind::kReadAtHome, EventKind::kReadAtHbm, EventKind::kHbmDone,
                            EventKind::kCrossFabric, EventKind::kFabricDone, EventKind::kReadAtSm,
                            EventKind::kWriteAtL2, EventKind::kWriteAtHome, EventKind::kWriteDone}) {
    kinds |= 1U << id(k);
  }
  return kinds;
}();

Context make_context(const GpuConfig& config, int sm_clock_mhz) {
  Context c;
  c.config = &config;
  c.time = TimeBase(sm_clock_mhz, config.clocks.l2_mhz, config.clocks.hbm_mhz);
  c.events.reset(c.time.sm / 2);
  c.chunks.reserve(1U << 14);
  c.transfers.reserve(1U << 14);
  return c;
}

/// Of the lines of a miss, whole.
std::int64_t bytes_of(std::uint32_t lines) { return std::int64_t{std::popcount(lines_of(lines))} * kLineBytes; }

std::vector<std::uint16_t> coalescer_groups(const GpuConfig& config) {
  // SMs of a GPC in the order of their numbers, cut into groups of the configured size.
  const std::vector<SmPlace> layout = sm_layout(config.topology);
  const std::size_t gpcs = config.topology.gpc_sms.size();
  const int size = config.lrc.sms_per_group > 0 ? config.lrc.sms_per_group : 1 << 10;
  std::vector<int> seen(gpcs, 0);
  std::vector<std::uint16_t> groups;
  for (const SmPlace& place : layout) {
    groups.push_back(static_cast<std::uint16_t>(place.gpc + gpcs * static_cast<std::size_t>(seen[place.gpc]++ / size)));
  }
  return groups;
}

}  // namespace

Gpu::Gpu(const GpuConfig& config, const TraceSource& source, int sm_clock_mhz)
    : config_(config),
      source_(source),
      context_(make_context(config, sm_clock_mhz)),
      map_(config),
      crossbar_(context_),
      coalescer_(std::make_unique<RequestCoalescer>(context_, coalescer_groups(config))),
      l2_(context_, map_),
      hbm_(context_, map_),
      turns_(crossbar_.num_cpcs(), config.xbar.cpc_outstanding_bytes),
      launch_before_(context_.time.sm * config.launch.overhead_before_cycles),
      launch_after_(context_.time.sm * config.launch.overhead_after_cycles) {
  const Launch& launch = source.launch();
  environment_.context = &context_;
  environment_.source = &source_;
  environment_.clusters = &clusters_;
  environment_.global_counters = &global_counters_;
  environment_.sms = &sms_;
  environment_.occupancy = occupancy(config, launch);
  environment_.fetch_buffer.resize(kFetchBuffer);
  environment_.dsmem_gpcs.assign(crossbar_.num_gpcs(),
                                 Resource(context_.time.sm, std::max(1, config.smem.dsmem_gpc_bytes_per_cycle)));
  global_counters_.resize(launch.global_counters);
  const int num_sms = config.num_sms();
  sms_.reserve(static_cast<std::size_t>(num_sms));
  for (int i = 0; i < num_sms; ++i) {
    sms_.emplace_back(environment_, static_cast<std::uint16_t>(i), crossbar_.port(static_cast<std::uint32_t>(i)));
  }
  scheduler_ = std::make_unique<CtaScheduler>(context_, launch, sms_, clusters_);
}

void Gpu::start() {
  scheduler_->start(launch_before_);
  if (scheduler_->launched() == 0) {
    throw InputError(Diagnostic{{},
                                0,
                                0,
                                "cluster",
                                "a cluster of " + std::to_string(source_.launch().cluster_size()) +
                                    " CTAs does not fit into any GPC of " + config_.chip.name});
  }
}

void Gpu::run(const SimulationOptions& options) {
  context_.observer = Observer(options.observer);
  start();
  finish(options);
}

Result Gpu::run_sampled(const SimulationOptions& options, const SamplingPlan& plan, bool marked) {
  marked_ = marked;
  start();
  const auto at = [&](std::uint64_t mark) {
    run_until(options, mark);
    return result_at(context_.now());
  };
  Samples samples;
  for (const auto& [mark, place] :
       {std::pair{plan.mark_begin, &SampleMarks::begin}, std::pair{plan.mark_before, &SampleMarks::before},
        std::pair{plan.mark_end, &SampleMarks::end}}) {
    samples.reads.*place = at(mark - plan.read_lead);
    samples.all.*place = at(mark);
  }
  finish(options);
  return extrapolate(result(), samples, plan);
}

void Gpu::finish(const SimulationOptions& options) {
  run_until(options, std::numeric_limits<std::uint64_t>::max());
  if (!scheduler_->done()) {
    report_stall();
  }
  constexpr std::uint64_t kLittleTraffic = 8192 / kSectorBytes;
  const std::uint64_t moved =
      context_.counters[Counter::kDeliveredSectors] + context_.counters[Counter::kStoredSectors];
  if (moved > kLittleTraffic) {
    launch_after_ += context_.time.sm * config_.launch.traffic_cycles;
  }
  // The last stores are acknowledged meanwhile.
  end_ = std::max(context_.now(), scheduler_->last_end() + launch_after_);
}

void Gpu::run_until(const SimulationOptions& options, std::uint64_t ended) {
  Event e{};
  constexpr std::uint64_t kProgressEvents = 1ULL << 20;
  const double total = static_cast<double>(source_.launch().num_ctas());
  while (ended_pieces() < ended && context_.events.pop(e)) {
    if (context_.events.entered_bucket()) {
      prefetch_ahead();
    }
    dispatch(e);
    if (options.progress && (context_.events.processed() & (kProgressEvents - 1)) == 0) {
      options.progress(static_cast<double>(scheduler_->finished()) / total, context_.time.sm_cycles(context_.now()));
    }
  }
}

void Gpu::prefetch_ahead() const {
  for (const Event& e : context_.events.bucket()) {
    prefetch_tables(e);
  }
  context_.events.see_next_bucket([this](const Event& e) { prefetch_payload(e); });
}

void Gpu::drain_l2() {
  auto& lines = l2_.write_backs();
  for (const WriteBack& w : lines) {
    l2_.hold_stores_until(hbm_.write(w.line, count_sectors(w.sectors)));
  }
  lines.clear();
  auto& replies = l2_.replies();
  auto& riders = coalescer_->riders();
  // Whoever rides on a reply may itself carry riders of its own GPC.
  for (std::size_t i = 0; i < replies.size(); ++i) {
    coalescer_->release(replies[i]);
    reply(replies[i]);
    replies.insert(replies.end(), riders.begin(), riders.end());
    riders.clear();
  }
  replies.clear();
}

void Gpu::reply(std::uint32_t handle) {
  Chunk& c = context_.chunks[handle];
  if (c.write) {
    const SmPort& port = crossbar_.port(c.sm);
    context_.post(std::max(context_.now(), c.ready) + port.reply_latency, EventKind::kWriteDone, c.sm, handle);
    return;
  }
  const std::uint32_t bytes = (c.sectors + c.oob_sectors) * kSectorBytes;
  if (c.multicast == 0) {
    crossbar_.send_reply(handle, c.sm, 0, bytes, c.merged, c.ready);
    return;
  }
  // The response is replicated where paths fork: one transfer to the GPC, then one to each SM.
  const MulticastGroup& group = context_.multicast_groups[c.transfer];
  bool first = true;
  for (std::uint32_t r = 0; r < kMaxClusterSize; ++r) {
    if ((c.multicast >> r & 1) != 0) {
      crossbar_.send_reply(handle, group.sm[r], r, bytes, c.merged || !first, c.ready);
      first = false;
    }
  }
}

void Gpu::read_hbm(const MissTurns::Miss& miss) {
  const Tick ready = hbm_.read(context_.chunks[miss.chunk], lines_of(miss.lines));
  context_.post(ready, EventKind::kHbmDone, 0, miss.chunk, miss.lines);
}

void Gpu::prefetch_payload(const Event& e) const {
  // No kind is frequent enough to foretell: an event of another kind asks for a payload that is always there instead.
  prefetch_line(&context_.chunks[(kOfChunks >> e.kind & 1) != 0 ? e.a : 0]);
  prefetch_line(&context_.transfers[e.kind == id(EventKind::kTransferDone) ? e.a : 0]);
  if (e.kind == id(EventKind::kStreamRun)) {
    sms_[e.unit].prefetch_stream(e.a, e.b);
  } else if (e.kind == id(EventKind::kWgmmaRun)) {
    sms_[e.unit].prefetch_tensor();
  }
}

void Gpu::prefetch_tables(const Event& e) const {
  switch (static_cast<EventKind>(e.kind)) {
    case EventKind::kStreamRun:
      sms_[e.unit].prefetch_operation(e.a, e.b);
      sms_[e.unit].prefetch_issue();
      break;
    case EventKind::kReadAtL2: {
      const Chunk& c = context_.chunks[e.a];
      l2_.prefetch_recent(c);
      coalescer_->prefetch(c);
      break;
    }
    case EventKind::kReadAtHome:
    case EventKind::kWriteAtHome: {
      const Chunk& c = context_.chunks[e.a];
      l2_.prefetch_tags(c, e.b, c.partition ^ 1U);
      break;
    }
    case EventKind::kFabricDone: {
      const Chunk& c = context_.chunks[e.a];
      l2_.prefetch_tags(c, e.b, c.partition);
      break;
    }
    case EventKind::kHbmDone:
      l2_.prefetch_tags(context_.chunks[e.a], lines_of(e.b), partition_of(e.b));
      break;
    case EventKind::kReadAtSm: {
      const Chunk& c = context_.chunks[e.a];
      if (c.allocate_l1) {
        sms_[e.unit].prefetch_l1(c);
      }
      if (c.multicast == 0) {
        prefetch_line(&context_.transfers[c.transfer]);
      }
      break;
    }
    case EventKind::kTransferDone: {
      const Transfer& t = context_.transfers[e.a];
      if (PackedSignal::valid(t.signals)) {
        sms_[t.sm].prefetch_token(t.cta_slot, PackedSignal::cls(t.signals), PackedSignal::slot(t.signals), t.stream);
      }
      break;
    }
    case EventKind::kSignal:
      sms_[e.unit].prefetch_token(SignalEvent::cta_slot(e.a), SignalEvent::cls(e.b), SignalEvent::slot(e.b),
                                  SignalEvent::stream(e.a));
      break;
    default:
      break;
  }
}

void Gpu::dispatch(const Event& e) {
  switch (static_cast<EventKind>(e.kind)) {
    case EventKind::kCtaStart:
      sms_[e.unit].start_cta(e.a);
      break;
    case EventKind::kCtaFree:
      context_.post(scheduler_->heard_of_end(), EventKind::kCtaEnded, e.unit, sms_[e.unit].free_cta(e.a));
      break;
    case EventKind::kCtaEnded:
      scheduler_->ended(e.unit, e.a);
      break;
    case EventKind::kStreamRun:
      sms_[e.unit].run_stream(e.a, e.b);
      break;
    case EventKind::kIssueTurn:
      sms_[e.unit].give_turns();
      break;
    case EventKind::kSignal:
      sms_[e.unit].signal(e.a, e.b);
      break;
    case EventKind::kWgmmaRun:
      sms_[e.unit].run_tensor();
      break;
    case EventKind::kReadAtL2:
      if (e.b == 0) {  // not yet admitted
        if (context_.chunks[e.a].oob_sectors != 0) {
          l2_.read_outside(context_.chunks[e.a]);
        }
        if (const Tick at = coalescer_->admit(context_.chunks[e.a]); at > context_.now() + kSoon * context_.time.l2) {
          context_.post(at, EventKind::kReadAtL2, 0, e.a, 1);
          break;
        }
      }
      switch (coalescer_->merge(e.a)) {
        case RequestCoalescer::Outcome::kNew:
          l2_.read_at_near(e.a);
          drain_l2();
          break;
        case RequestCoalescer::Outcome::kReady:
          reply(e.a);
          break;
        case RequestCoalescer::Outcome::kRides:
          break;
      }
      break;
    case EventKind::kReadAtHome:
      l2_.read_at_home(e.a, e.b);
      drain_l2();
      break;
    case EventKind::kReadAtHbm: {
      const MissTurns::Miss miss{e.a, e.b, bytes_of(e.b)};
      if (turns_.enter(crossbar_.port(context_.chunks[e.a].sm).cpc, miss)) {
        read_hbm(miss);
      }
      break;
    }
    case EventKind::kHbmDone: {
      const std::uint16_t cpc = crossbar_.port(context_.chunks[e.a].sm).cpc;
      turns_.leave(cpc, bytes_of(e.b));
      for (MissTurns::Miss miss; turns_.next(cpc, miss);) {
        read_hbm(miss);
      }
      l2_.hbm_done(e.a, lines_of(e.b), partition_of(e.b));
      drain_l2();
      break;
    }
    case EventKind::kCrossFabric:
      l2_.cross_fabric(e.a, e.b);
      break;
    case EventKind::kFabricDone:
      l2_.fabric_done(e.a, e.b);
      drain_l2();
      break;
    case EventKind::kReadPortFree:
      crossbar_.read_port_free(e.unit);
      break;
    case EventKind::kReadAtSm: {
      const Chunk& c = context_.chunks[e.a];
      const Tick done = crossbar_.deliver(e.unit, (c.sectors + c.oob_sectors) * kSectorBytes);
      sms_[e.unit].chunk_arrived(e.a, e.b, done);
      break;
    }
    case EventKind::kTransferDone:
      sms_[e.unit].transfer_done(e.a);
      break;
    case EventKind::kWriteAtL2: {
      if (e.b == 0) {
        const Chunk& c = context_.chunks[e.a];
        const Tick through = crossbar_.send_store(c.sm, static_cast<std::uint32_t>(c.flit_bytes()));
        if (through > context_.now() + context_.time.l2) {
          context_.post(through, EventKind::kWriteAtL2, 0, e.a, 1);
          break;
        }
      }
      l2_.write_at_near(e.a);
      drain_l2();
      break;
    }
    case EventKind::kWriteAtHome:
      l2_.write_at_home(e.a, e.b);
      drain_l2();
      break;
    case EventKind::kWriteDone:
      sms_[e.unit].write_done(e.a);
      break;
    case EventKind::kCount:
      throw ModelBug("GPU: an event of no kind");
  }
}

void Gpu::report_stall() const {
  std::string text = "no progress is possible: " + std::to_string(scheduler_->finished()) + " of " +
                     std::to_string(source_.launch().num_ctas()) + " CTAs have finished and nothing is under way\n";
  std::size_t lines = 0;
  for (const Sm& sm : sms_) {
    const std::string report = sm.waiting_report();
    if (!report.empty() && lines++ < 4) {
      text += report;
    }
  }
  throw StalledError(text);
}

}  // namespace strata
