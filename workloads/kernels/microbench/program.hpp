/// The frame of every microbenchmark trace: sections of operations that are a pure function of their index, and the
/// stamps between which the clock runs.
///
/// A stamp stands for the clock reads of validation/microbench/bench.cuh. It is a wait with one issue slot on stream 0
/// of a CTA; whoever runs the trace sees its span and takes the end of an opening stamp and the begin of a closing one.
/// No other operation of stream 0 may be of kind kNop, kBarrier, kSetMaxNReg or kFetchTile between stamps that count.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "workloads/spec/trace_source.hpp"

namespace strata::microbench {

inline constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 32;
inline constexpr std::uint32_t kWarpLanes = 32;
inline constexpr std::uint32_t kLineBytes = 128;
inline constexpr std::uint32_t kWholeSmBytes = 200 * 1024;  ///< shared memory that leaves room for one CTA per SM
/// Clocks of one step of dependent_latency on the cards that the turns of loops were read off (Hopper). Such a turn is
/// a chain of so many steps, which takes longer where an instruction does; what waits for the clock divides by the
/// described GPU's own latency instead.
inline constexpr std::uint32_t kAluLatency = 4;
inline constexpr std::uint8_t kCtaBarrier = 0;  ///< named barrier slot of __syncthreads

/// A run of operations of one stream.
struct Section {
  std::uint64_t count = 0;
  /// Fills operation i. The cursor's states from 2 on are the section's own; they are zero when it begins.
  std::function<void(const StreamId& id, std::uint64_t i, StreamCursor& cursor, Operation& op)> make;
};
/// A section of one operation.
[[nodiscard]] Section once(const Operation& op);

/// Sections for each stream; every active CTA runs the same. CTAs for which `active` is false end at once.
class Program final : public TraceSource {
 public:
  using Active = std::function<bool(std::uint64_t cta)>;
  Program(Launch launch, std::vector<std::vector<Section>> streams, Active active = {})
      : launch_(std::move(launch)), streams_(std::move(streams)), active_(std::move(active)) {}

  /// One stream for all warps.
  Program(Launch launch, const std::vector<Section>& sections, Active active = {})
      : Program(std::move(launch), std::vector<std::vector<Section>>(1, sections), std::move(active)) {}

  [[nodiscard]] const Launch& launch() const override { return launch_; }
  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override;

 private:
  Launch launch_;
  std::vector<std::vector<Section>> streams_;
  Active active_;
};

/// A launch of `ctas` CTAs with one stream of all `warps` warps. Throws InputError for none, or more than 32 warps.
[[nodiscard]] Launch bench_launch(const char* name, std::uint32_t ctas, std::uint32_t warps);
/// Replaces the streams by one for each warp and declares __syncthreads among them.
void one_stream_per_warp(Launch& launch);

/// Replaces the streams by a few that share the warps, so that they need not wait for one another, and declares
/// __syncthreads among them. Each then covers `warps / kLoadStreams` warps.
void few_streams(Launch& launch);
inline constexpr std::uint32_t kLoadStreams = 4;

/// Sets what each warp issues: slots and counted instructions.
void set_instructions(Operation& op, std::uint32_t per_warp, std::uint32_t warps);

[[nodiscard]] Wait wait_for(TokenClass cls, std::uint8_t slot, std::uint64_t count);
[[nodiscard]] Wait wait_scoreboard(std::uint64_t count);
[[nodiscard]] Signal signal(TokenClass cls, std::uint8_t slot, std::uint8_t arrivals = 1);
[[nodiscard]] Signal signal_scoreboard();

[[nodiscard]] Operation stamp(Wait wait = {});
/// An instruction that waits and then arrives; it is no stamp.
[[nodiscard]] Operation arrive(const Signal& signal, Wait wait = {});
/// An instruction that waits; it is no stamp.
[[nodiscard]] Operation hold(Wait wait);
/// `instructions` per warp to one pipe.
[[nodiscard]] Operation compute(Pipe pipe, std::uint32_t instructions, std::uint32_t warps);
/// A contiguous access of the whole stream: `bytes` at `address`, 16 per lane.
[[nodiscard]] Operation contiguous(MemDir dir, std::uint64_t address, std::uint32_t bytes, std::uint32_t warps);

/// Makes a memory operation that of one warp of a stream of many: no issue slots of the others.
void by_one_warp(Operation& op);

/// Loads by one warp that bring `bytes` at `base(id)` into the L2. Slot 6 of the scoreboard counts them.
[[nodiscard]] std::vector<Section> bring_in(const std::function<std::uint64_t(const StreamId&)>& base,
                                            std::uint32_t bytes);

/// The body of one stream between two stamps; where there are several streams, __syncthreads before and after.
[[nodiscard]] std::vector<std::vector<Section>> timed(const Launch& launch, const std::vector<Section>& body,
                                                      Wait last = {});

}  // namespace strata::microbench
