/// One streaming multiprocessor: four sub-partitions that issue, the arithmetic pipes and tensor cores, shared memory,
/// L1 with its LSU, and the TMA unit. CTAs live here from launch to exit.
///
/// Streams (warps or groups of warps that run in step) execute their operations in order. Work is reserved on the
/// units at the moment a stream reaches the operation, in quanta of at most 64 issue cycles.
/// Not modelled: operand collectors, divergence (docs/model/sm.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "models/hw/common/address_map.hpp"
#include "models/hw/common/context.hpp"
#include "models/hw/common/sm_port.hpp"
#include "models/hw/sm/cluster.hpp"
#include "models/hw/sm/instruction_cache.hpp"
#include "models/hw/sm/issue_queue.hpp"
#include "models/hw/sm/l1_tags.hpp"
#include "models/hw/sm/occupancy.hpp"
#include "models/hw/sm/open_stores.hpp"
#include "models/hw/sm/strided_passes.hpp"
#include "models/hw/sm/tokens.hpp"
#include "models/hw/sm/turn_port.hpp"
#include "sim/base/prefetch.hpp"
#include "sim/timing/credits.hpp"
#include "sim/timing/resource.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

/// What the SMs of a GPU share during one launch.
struct SmEnvironment {
  Context* context = nullptr;
  const TraceSource* source = nullptr;
  ClusterTable* clusters = nullptr;
  std::vector<Token>* global_counters = nullptr;
  std::vector<class Sm>* sms = nullptr;
  SmOccupancy occupancy;
  std::vector<Operation> fetch_buffer;  ///< one engine, one thread: shared scratch
  IssueQueue issue_queue;
  StridedPasses strided_passes;
  std::vector<Resource> dsmem_gpcs;  ///< what all SMs of a GPC bring in from each other's shared memory
};

inline constexpr std::uint32_t kWarpLanes = 32;

/// Sectors of one line that bytes [first, last] of it touch.
[[nodiscard]] constexpr std::uint8_t sector_mask(std::uint64_t first, std::uint64_t last) {
  const auto lo = static_cast<std::uint32_t>(first / kSectorBytes);
  const auto hi = static_cast<std::uint32_t>(last / kSectorBytes);
  return static_cast<std::uint8_t>(((1U << (hi - lo + 1)) - 1) << lo);
}

/// Lanes of a request that share a row of a box, where they lie `lane_pitch` apart.
[[nodiscard]] constexpr std::uint32_t lanes_of_row(const MemoryRef& m) {
  const auto pitch = static_cast<std::uint32_t>(m.lane_pitch);
  return std::clamp((std::min(m.row_bytes, kLineBytes) + pitch - 1) / pitch, 1U, kWarpLanes);
}

/// Ticks an SM spent for each reason; see StackReason.
using CycleStack = std::array<Tick, kNumStackReasons>;

class Sm {
 public:
  Sm(SmEnvironment& environment, std::uint16_t index, SmPort& port);

  // --- CTA life, called by the scheduler ---
  [[nodiscard]] bool has_room() const { return resident_ < environment_->occupancy.ctas; }
  [[nodiscard]] std::uint32_t resident() const { return resident_; }
  /// Places a CTA; its streams start at `start`. Returns its slot.
  std::uint16_t place(std::uint64_t cta, std::uint32_t cluster, std::uint32_t rank, Tick start);

  /// Bring what running a stream touches into the host's cache, each step what the one before it refers to.
  void prefetch_cta(std::uint32_t slot) const { prefetch_line(&ctas_[slot]); }
  void prefetch_stream(std::uint32_t slot, std::uint32_t stream) const {
    prefetch_lines(&ctas_[slot].streams[stream], sizeof(Stream));
  }
  void prefetch_operation(std::uint32_t slot, std::uint32_t stream) const {
    const Stream& s = ctas_[slot].streams[stream];
    prefetch_lines(s.ops.data() + s.next, sizeof(Operation));
  }

  /// Likewise what every operation that issues reserves.
  void prefetch_issue() const {
    for (const Smsp& s : smsps_) {
      prefetch_line(&s.issue);
      prefetch_line(&s.issuing);
    }
  }
  /// Likewise a token that will be signalled.
  void prefetch_token(std::uint32_t slot, TokenClass cls, std::uint32_t token_slot, std::uint32_t stream) const {
    if (const Token* token = token_of(ctas_[slot], cls, token_slot); token != nullptr) {
      prefetch_line(token);
    } else {
      prefetch_stream(slot, stream);
    }
  }

  /// Likewise the tensor cores' state.
  void prefetch_tensor() const {
    prefetch_line(&smem_read_);
    prefetch_line(&wgmma_);
    prefetch_line(&stack_);
    prefetch_line(&frontier_);
  }
  /// Likewise the chunks that will have the next credits.
  void prefetch_waiting() const {
    if (!tma_queue_.empty()) {
      prefetch_lines(&tma_queue_.items[tma_queue_.head], sizeof(TmaJob));
    }
    if (!load_queue_.empty()) {
      prefetch_line(&context().chunks[load_queue_.items[load_queue_.head].chunk]);
    }
  }
  /// Likewise the L1 tags of a chunk's lines, when it fills them.
  void prefetch_l1(const Chunk& chunk) const {
    for (std::uint32_t i = 0; i < chunk.count; ++i) {
      l1_.prefetch(l1_place(context().line(chunk, i)).set);
    }
  }

  // --- event handlers ---
  void start_cta(std::uint32_t slot);
  void run_stream(std::uint32_t slot, std::uint32_t stream);
  /// Streams that wait for issue ports go on as far as these are free, those of older CTAs first.
  void give_turns();
  void signal(std::uint32_t a, std::uint32_t b);
  void run_tensor();
  void pump();
  /// Data of a chunk is in at `done`; frees or keeps the chunk by its deliveries.
  void chunk_arrived(std::uint32_t chunk, std::uint32_t rank, Tick done);
  void transfer_done(std::uint32_t transfer);
  void write_done(std::uint32_t chunk);
  /// Frees the slot; returns the cluster handle the CTA belonged to.
  std::uint32_t free_cta(std::uint32_t slot);

  // --- results ---
  [[nodiscard]] const CycleStack& stack() const { return stack_; }
  [[nodiscard]] Tick frontier() const { return frontier_; }
  [[nodiscard]] Tick active_ticks() const { return active_ticks_; }
  [[nodiscard]] Tick issue_busy() const;
  [[nodiscard]] Tick tensor_busy() const { return wgmma_busy_ + mma_busy(); }
  [[nodiscard]] Tick smem_busy() const { return smem_read_.busy(); }
  [[nodiscard]] Tick lsu_busy() const { return l1_tags_port_.busy(); }
  [[nodiscard]] Tick pipe_busy(Pipe p) const;
  /// Text for a stall report: which streams wait for what.
  [[nodiscard]] std::string waiting_report() const;

 private:
  static constexpr std::uint32_t kSmsps = 4;
  static constexpr std::int64_t kScale = 64;  ///< work units per instruction or cycle in fractional-rate resources

  /// What one quantum of an operation takes of each unit, in 1/kScale cycles (of a warp, unless it says otherwise).
  struct Quantum {
    std::int64_t issue = 0;
    std::int64_t mma = 0;
    std::int64_t pipe = 0;      ///< 0 = the operation uses no pipe of its sub-partition
    std::int64_t shared = 0;    ///< of shared-memory instructions at their sub-partition's port
    std::int64_t lsu = kNoLsu;  ///< of all the stream's warps
    static constexpr std::int64_t kNoLsu = -1;
    Tick warp_issue = 0;  ///< how long a warp is held that issues to shared memory
  };
  struct Stream {
    StreamCursor cursor;
    std::vector<Operation> ops;
    std::uint32_t next = 0;
    std::uint32_t quanta = 0;       ///< of the operation being issued
    std::uint32_t quanta_left = 0;  ///< likewise, those not issued yet
    Quantum quantum;                ///< of the operation being issued
    Tick started = 0;
    Tick pipe_end = 0;
    Tick code_ready = 0;  ///< when the code of the operation being issued has come
    /// Logarithm of the clocks without a ready instruction that follow each instruction of a warp alone, scaled.
    std::int64_t log_gap = 0;
    double pipe_share = 0;  ///< of the operation's issue slots, those in which a pipe of less than full rate is busy
    std::array<std::uint32_t, 8> scoreboard{};
    std::array<std::uint32_t, 8> group{};
    std::array<std::uint8_t, kSmsps> warps_on{};
    std::uint16_t next_waiter = kNoStream;
    std::uint16_t num_warps = 1;
    StackReason reason = StackReason::kLaunch;
    TokenClass waiting_cls = TokenClass::kNone;
    std::uint8_t waiting_slot = 0;
    std::uint32_t waiting_count = 0;
    bool waiting = false;
    bool ended = false;
    bool at_start = true;          ///< in its first operation
    bool in_long = false;          ///< in an operation of more than a quantum
    bool greedy = false;           ///< likewise, and keeps its issue ports as long as it has instructions
    bool counted_issuing = false;  ///< in the middle of an operation: until its chain ends
  };
  struct Cta {
    std::uint64_t id = 0;
    Tick started = 0;
    std::uint32_t cluster = kNoHandle;
    std::uint32_t rank = 0;
    std::uint32_t elders = 0;  ///< CTAs on the SM that came before it
    std::uint64_t number = 0;  ///< of the CTAs that the SM has had
    std::uint32_t streams_alive = 0;
    std::uint32_t outstanding = 0;  ///< transfers and wgmma groups not yet complete
    bool active = false;
    bool draining = false;
    std::vector<Stream> streams;
    std::array<Token, 64> mbarrier{};
    std::array<Token, 16> named{};
  };
  /// A stream that waits for its turn at the issue ports.
  struct WaitingTurn {
    std::uint64_t cta_number;
    std::uint32_t slot;
    std::uint32_t stream;
    Tick latest;  ///< by then the slots that older ones leave have been enough
  };
  /// wgmma groups waiting for the tensor cores, one queue per warpgroup.
  struct WgmmaGroup {
    std::uint32_t slot;
    std::uint16_t stream;
    std::uint32_t left;
    std::int64_t instruction_units;  ///< tensor time of one instruction, in 1/kScale cycles
    std::int64_t filled_units = 0;   ///< the same while copies fill shared memory
    std::int64_t operand_bytes;      ///< shared-memory reads of one instruction
    Tick latency;                    ///< from the last instruction's end to its result
    std::uint64_t signals;
    std::uint64_t signals2;
  };
  struct WgmmaQueue {
    std::vector<WgmmaGroup> groups;
    std::size_t head = 0;
    std::uint32_t slot = 0;
    std::uint16_t stream = 0;
  };
  /// A chunk not yet sent for want of credits.
  struct QueuedChunk {
    std::uint32_t chunk;
    Tick earliest;
  };
  /// The lines of a box, where they follow a pattern: whole lines, or one line a row.
  struct BoxLines {
    LinePattern pattern;
    std::uint32_t count = 0;  ///< 0 = there is no pattern
  };
  /// A TMA load whose chunks are cut when there are credits for them. The lines follow `lines`, or are in `rest` when
  /// they follow no pattern.
  struct TmaJob {
    LinePattern lines;
    std::uint32_t total = 0;  ///< lines
    std::uint32_t next = 0;   ///< lines already requested
    std::vector<LineAccess> rest;
    Chunk form;               ///< what all its chunks have in common; oob_sectors are the last one's
    Tick first = 0;           ///< the first chunk may leave
    Tick interval_units = 0;  ///< the unit's time for a chunk, in 1/kScale cycles
  };
  static constexpr std::size_t kLongFifo = 64;
  template <typename T>
  struct Fifo {
    std::vector<T> items;
    std::size_t head = 0;
    [[nodiscard]] bool empty() const { return head == items.size(); }
    [[nodiscard]] T& front() { return items[head]; }
    void push(T item) { items.push_back(std::move(item)); }
    void pop() {
      if (++head == items.size()) {
        items.clear();
        head = 0;
      } else if (head >= kLongFifo && 2 * head > items.size()) {
        items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(head));
        head = 0;
      }
    }
  };

  // sm.cpp
  /// How long the first code and the parameters take.
  [[nodiscard]] Tick first_trip() const;
  /// What an SM's first CTA waits for on top: more code, more constants.
  [[nodiscard]] Tick later_misses() const;
  // sm_issue.cpp
  bool fetch_more(Cta& cta, std::uint32_t stream_index);
  bool waits_hold(std::uint32_t slot, std::uint32_t stream_index, const Operation& op);
  /// When the last phase of what `w` waits for is seen.
  [[nodiscard]] Tick seen_at(const Cta& cta, const Wait& w) const;
  [[nodiscard]] static Token& token_of(Cta& cta, const Wait& w) {
    return w.cls == TokenClass::kMbarrier ? cta.mbarrier[w.slot & 63] : cta.named[w.slot & 15];
  }
  /// The same, or null where the token is a stream's own or more than the CTA's.
  [[nodiscard]] static const Token* token_of(const Cta& cta, TokenClass cls, std::uint32_t slot) {
    switch (cls) {
      case TokenClass::kMbarrier:
        return &cta.mbarrier[slot & 63];
      case TokenClass::kNamedBarrier:
        return &cta.named[slot & 15];
      default:
        return nullptr;
    }
  }
  /// Issues a quantum of the operation, and does what the operation is for after the last one.
  /// @return true when the stream goes on at once
  bool issue(std::uint32_t slot, std::uint32_t stream_index, const Operation& op);
  Tick issue_quantum(std::uint32_t stream_index, Stream& stream, const Operation& op, Turn turn);
  /// Whether the stream's turns come by the age of its CTA: it issues beside warps that keep their ports.
  [[nodiscard]] bool goes_by_age(const Cta& cta, const Stream& stream) const;
  /// When the ports and pipes that the stream's next quantum takes are free.
  [[nodiscard]] Tick ports_free(const Stream& stream, const Operation& op) const;
  /// When the next quantum has been issued in slots that warps of older CTAs leave empty.
  [[nodiscard]] Tick latest_turn(const Cta& cta, const Stream& stream) const;
  void begin(Stream& stream, const Operation& op);
  /// How the next quantum of a stream of the CTA comes to ports and pipes.
  Turn turn_of(const Cta& cta);
  /// How much of `hold` issue slots the operation's pipe is busy, if it takes less than an instruction a clock.
  [[nodiscard]] double pipe_share(const Operation& op, double hold) const;
  /// The sub-partitions' warps that are at an operation.
  void count_issuing(Stream& stream, int sign);
  /// The stream's warps are at none any more, if they were.
  void stop_issuing(Stream& stream);
  Tick execute(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued);
  void count(const Stream& stream, const Operation& op);
  void end_stream(std::uint32_t slot, std::uint32_t stream_index);
  void maybe_retire(std::uint32_t slot);
  void account(StackReason gap_reason, Tick begin, Tick end, StackReason reason);
  [[nodiscard]] double mma_cycles_per_smsp(const Operation& op) const;
  /// Cycles from an instruction to one that depends on it.
  [[nodiscard]] double latency_of(const Operation& op) const;
  /// What the operation takes of a sub-partition's way to the LSU, per warp.
  /// @param quanta  how many the operation is issued in
  [[nodiscard]] Quantum quantum_of(const Operation& op, const Stream& stream, std::int64_t quanta) const;
  [[nodiscard]] std::int64_t shared_issue_units(const Operation& op, const Stream& stream) const;
  /// How long a warp takes to hand it over, alone.
  [[nodiscard]] Tick warp_issue_time(const Operation& op) const;
  // sm_tokens.cpp
  void apply_signal(std::uint32_t slot, std::uint32_t stream, TokenClass cls, std::uint32_t token_slot,
                    std::uint32_t arrivals, StackReason reason);
  void emit(std::uint32_t slot, std::uint64_t packed, Tick tick, StackReason reason);
  void wake_all(std::uint32_t slot, TokenClass cls, std::uint32_t token_slot, std::uint32_t value, Tick latency);
  void wake_waiters(std::uint32_t slot, Token& token, StackReason reason);
  /// Arrivals pass the unit one after another; what they complete is seen `latency` later.
  void arrive(std::uint32_t slot, Token& token, std::uint32_t arrivals, Resource& unit, double each, int latency,
              StackReason reason);
  [[nodiscard]] std::uint32_t completed(const Cta& cta, const Stream& stream, const Wait& w) const;
  // sm_memory.cpp
  /// Puts the chunks of `lines_` into the order in which this SM's warps ask for them.
  void take_turns(const Stream& stream);
  /// Brings in the tags that looking up `lines_` takes.
  void prefetch_l1_tags() const;
  void start_load(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued);
  /// Time that a global access takes of the data path, in bytes of it; `sectors` are all that its lanes touch.
  [[nodiscard]] std::int64_t data_path_bytes(const Operation& op, const Stream& stream, std::uint32_t sectors) const;
  /// The same for a box whose lanes lie apart, from a few of its requests (l1_passes.hpp).
  [[nodiscard]] std::int64_t strided_path_bytes(const Operation& op, const Stream& stream, bool misses) const;
  /// The same for instructions whose lanes lie apart.
  [[nodiscard]] std::int64_t lanes_path_bytes(const Operation& op, const Stream& stream, bool misses) const;
  // sm_store.cpp
  /// @return when the warp may go on
  Tick start_store(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued);
  /// Leaves in `lines_` what no open store takes in.
  void merge_with_open(Tick now);
  /// Lines of the store's requests, `lines_` in all, of which a sector is covered in part: each brings its byte mask.
  [[nodiscard]] std::size_t mask_flits(const Operation& op, const Stream& stream, std::size_t sectors) const;
  /// Stores of `lines_` leave their sectors in L1.
  void keep_stored_lines();
  /// A line's set in L1 and its tag there: what is left of the hashed line, so that it is short.
  struct L1Place {
    std::uint32_t set;
    std::uint32_t tag;
  };
  [[nodiscard]] L1Place l1_place(std::uint32_t line) const {
    const std::uint32_t hashed = line ^ (line >> 9);
    const std::uint32_t tag = l1_sets_.quotient(hashed);
    return {hashed - tag * l1_sets_.divisor(), tag};
  }
  void start_dsmem(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued);
  void collect_lines(const Operation& op, const Stream& stream);
  /// Warp memory instructions of an operation, the LSU's unit of work.
  [[nodiscard]] static std::uint32_t requests_of(const Operation& op, const Stream& stream);
  std::uint32_t new_transfer(std::uint32_t slot, std::uint32_t stream_index, const Operation& op);
  void finish_piece(std::uint32_t transfer, Tick done, ServedBy served);
  void send_read(std::uint32_t chunk, Tick at);
  // sm_tma.cpp
  void start_tma(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued);
  void start_tma_load(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued);
  void pump_tma();
  [[nodiscard]] static std::int64_t sectors_of(const TmaJob& job);
  [[nodiscard]] static BoxLines box_lines(const MemoryRef& m);
  // sm_tensor.cpp
  void start_wgmma(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued);
  /// Units of issue time for `units` of them when wgmma keeps the register ports busy from `start` on.
  [[nodiscard]] std::int64_t issue_beside_wgmma(const Operation& op, std::int64_t units, Tick start) const;
  [[nodiscard]] Tick mma_busy() const;

  [[nodiscard]] Context& context() const { return *environment_->context; }
  [[nodiscard]] const GpuConfig& config() const { return *environment_->context->config; }
  [[nodiscard]] Tick cycles(std::int64_t n) const { return n * sm_cycle_; }

  SmEnvironment* environment_;
  SmPort* port_;
  Tick sm_cycle_;
  std::uint16_t index_;
  std::uint32_t resident_ = 0;
  std::minstd_rand turns_;  ///< seeded by the SM's number: which warps are ready when is finer than the model
  std::vector<Cta> ctas_;
  std::uint64_t ctas_placed_ = 0;
  std::int64_t greedy_log_gap_ = 0;         ///< IssueQueue::log_of the configured gap
  std::vector<WaitingTurn> waiting_turns_;  ///< the oldest CTA's first
  Tick turns_given_at_ = 0;                 ///< the next event that gives turns

  /// A sub-partition: what one operation reserves lies together.
  struct alignas(64) Smsp {
    TurnPort issue;
    TurnPort mma;
    std::int32_t issuing = 0;   ///< warps in the middle of an operation
    std::int32_t in_long = 0;   ///< those of them in an operation of more than a quantum
    std::int32_t greedy = 0;    ///< those of these that keep the port while they have instructions
    std::int64_t log_gaps = 0;  ///< sum of the log_gap of those issuing
    TurnPort shared;            ///< hands shared-memory instructions to the LSU
    std::array<TurnPort, static_cast<std::size_t>(Pipe::kLsu)> pipes;  ///< by Pipe; the LSU is the SM's
  };
  std::array<Smsp, kSmsps> smsps_;
  InstructionCache icache_;
  Resource lsu_;
  Resource l1_tags_port_;
  Resource async_copy_;  ///< cp.async
  alignas(64) Resource
      smem_read_;       ///< the LSU's data path: loads and stores of shared and global memory, operands of wgmma
  Resource smem_fill_;  ///< what cp.async and TMA bring
  Resource tma_;        ///< takes one operation after another
  Resource tma_bytes_;  ///< asks for their rows and bytes
  Resource dsmem_;
  Resource barriers_;   ///< takes arrivals
  Resource mbarriers_;  ///< likewise
  L1Tags l1_;
  FixedDivisor l1_sets_;
  OpenStores open_stores_;
  std::uint32_t mbarriers_declared_ = 0;       ///< one more than the highest slot that the launch uses
  std::uint32_t named_barriers_declared_ = 0;  ///< likewise

  std::vector<WgmmaQueue> wgmma_;
  std::size_t wgmma_turn_ = 0;
  Tick wgmma_free_ = 0;
  Tick wgmma_busy_ = 0;
  Tick wgmma_backlog_end_ = 0;  ///< when the tensor cores will have done all that was handed to them
  bool wgmma_scheduled_ = false;

  /// A stream whose store found the queue full: it goes on once its last chunk has left.
  struct StalledStream {
    std::uint32_t slot;
    std::uint32_t stream;
    std::uint64_t last_chunk;  ///< in the order of the queue
    Tick next;
  };
  Fifo<StalledStream> stalled_streams_;
  std::uint64_t store_chunks_queued_ = 0;
  std::uint64_t store_chunks_sent_ = 0;
  alignas(64) Fifo<QueuedChunk> load_queue_;
  Fifo<TmaJob> tma_queue_;
  Fifo<QueuedChunk> store_queue_;
  alignas(64) Credits tma_credits_;  ///< bytes
  Credits load_credits_;             ///< sectors
  Credits store_credits_;            ///< sectors
  bool tma_warm_ = false;
  bool code_asked_ = false;
  Tick code_here_ = 0;  ///< when the first code and the parameters come

  std::vector<LineAccess> lines_;    ///< of the access being expanded, in first-touch order
  std::vector<LineAccess> fetched_;  ///< of the chunk being gathered

  CycleStack stack_{};
  Tick frontier_ = 0;
  Tick active_since_ = 0;
  Tick active_ticks_ = 0;
};

/// The stall reason for waiting on something that a level served.
[[nodiscard]] constexpr StackReason reason_of(ServedBy s) {
  switch (s) {
    case ServedBy::kSm:
      return StackReason::kLatency;
    case ServedBy::kL1:
      return StackReason::kL1;
    case ServedBy::kCrossbar:
      return StackReason::kCrossbar;
    case ServedBy::kL2:
      return StackReason::kL2;
    case ServedBy::kFabric:
      return StackReason::kFabric;
    case ServedBy::kHbm:
      return StackReason::kHbm;
  }
  return StackReason::kLatency;
}

}  // namespace strata
