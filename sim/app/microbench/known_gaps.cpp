#include "sim/app/microbench/known_gaps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace strata::app {

namespace {

/// Which way the model misses: the same loop too fast or too slow, whether it is given as a rate or as a time; for
/// bytes and sectors, more or fewer than counted.
enum class Miss { kFast, kSlow, kMore, kFewer };

struct Gap {
  std::string_view benchmark;
  Miss miss = Miss::kFast;
  std::string_view cause;
  std::string_view part = {};  ///< of the series' name; empty = all
  double from = 0;             ///< x
  double to = std::numeric_limits<double>::infinity();
  std::string_view gpu = {};  ///< its name; empty = every GPU of the architecture
  std::string_view architecture = "hopper";
};

constexpr std::string_view kFlushed =
    "A flush leaves 25 MB of dirty lines in the L2. Hardware writes them back from the first read on; the model lets "
    "clean lines go first, so its short reads meet no write-back and its reads of 32 MiB and more meet all of them.";
constexpr std::string_view kFirstCta =
    "On hardware the first CTA of an SM waits some 600 ns for constants and code after it has read the clock. In the "
    "model that wait lies before the first stamp.";
constexpr std::string_view kStoresAwaited =
    "The last stamp of the trace waits until all stores have arrived; a thread on hardware reads its clock as soon as "
    "it has handed them over, a few hundred ns earlier.";
constexpr std::string_view kPrefetch =
    "Hardware prefetches code up to 64 KiB; a line of 128 B beyond that costs 108 clocks. The model charges a line "
    "beyond 64 KiB no more than a prefetched one.";
constexpr std::string_view kTurnaround =
    "Turning the HBM's bus from reads to writes and back costs more on hardware: mixes of loads and stores reach 82 to "
    "85 % of the peak there, 88 to 91 % in the model.";
constexpr std::string_view kL1Footprint =
    "Near the size of the L1 the share of hits of a set that is read in a circle falls evenly on hardware: 85, 73 and "
    "50 % at 224, 240 and 256 KiB. In the model the set fits at 224 KiB and misses almost wholly from 240 KiB on.";
constexpr std::string_view kManyLoads =
    "The program keeps 9 to 16 loads of each of 1024 threads under way, more than an SM can hold. On hardware waiting "
    "for a free place costs bandwidth (69 to 92 B/clk are left, 116 with four loads); in the model it costs nothing.";
constexpr std::string_view kWideAccesses =
    "Accesses of 16 B a lane by one sub-partition: hardware takes a load of four warps every 5.7 clocks and a store of "
    "one warp every 12.7 to 14.4, as if registers passed one by one. The model has that limit for stores of several "
    "warps only (10 clocks) and sees the port's 4 for loads.";

constexpr std::array kGaps{
    Gap{"mbarrier arrival of another warp", Miss::kFast,
        "The waiting warp looks at its barrier only now and then, and at the phase of this program its look comes 137 "
        "clocks after the arrival. The model wakes it after 57."},
    Gap{"cold reads", Miss::kFast, kFlushed, "", 0, 16384},
    Gap{"cold reads", Miss::kSlow, kFlushed, "", 32768},
    Gap{"streams from HBM, from first to last CTA", Miss::kFast, kFirstCta, "read_clean"},
    Gap{"streams from HBM, from first to last CTA", Miss::kFast, kFlushed, "_dirty", 0, 16384},
    Gap{"streams from HBM, from first to last CTA", Miss::kSlow, kFlushed, "read_dirty", 32768},
    Gap{"streams from HBM, from first to last CTA", Miss::kSlow, kStoresAwaited, "copy_"},
    Gap{"streams from the L2, from first to last CTA", Miss::kFast, kFirstCta, "read_resident"},
    Gap{"streams from the L2, from first to last CTA", Miss::kSlow, kStoresAwaited, "copy_resident"},
    Gap{"streams from the L2, from first to last CTA", Miss::kSlow,
        "The trace warms the L2 in the same launch, so its CTAs begin the timed pass at different times and the span "
        "from first start to last end holds that spread. On hardware the timed pass is a launch of its own.",
        "_resident_duration"},
    Gap{"straight-line code by size", Miss::kFast, kPrefetch, "", 65},
    Gap{"code that no cache holds, by size and warps", Miss::kFast, kPrefetch, "", 65},
    Gap{"code executed again and again, by size and warps", Miss::kFast,
        "Warps of a sub-partition that run the same code fall into step only in part on hardware, and fetch some lines "
        "again. In the model they share every fetch."},
    Gap{"issue slots that waiting warps leave empty", Miss::kSlow,
        "Equal warps with equal chains settle into each other's gaps on hardware. The model takes their waits for "
        "independent, so that some gaps stay empty."},
    Gap{"first touches of lines and pages", Miss::kFast,
        "Pages that no kernel of the process has touched cost an address walk of 950 to 1700 clocks on hardware. The "
        "model takes all memory for touched before."},
    Gap{.benchmark = "reads of HBM by what is under way",
        .miss = Miss::kFast,
        .cause = "With r of the HBM's bandwidth in use, a line waits 25 to 30 ns times r / (1 - r) on hardware, and in "
                 "16 % of "
                 "the time for a refresh of its bank. In the model a channel is either busy or free, so half-used HBM "
                 "answers at once.",
        .gpu = "h200-sxm-141gb"},
    Gap{"shares of HBM: ends by size of the CPC", Miss::kFast,
        "A bound on the misses of a CPC sets in gradually on hardware, between 64 and 128 KiB per SM; in the model at "
        "one sharp point, so SMs of small CPCs end too early at 96 KiB."},
    Gap{"bytes from HBM of repeated reads", Miss::kMore,
        "Sets of 32 to 40 MiB nearly fill the L2. On hardware the next pass still finds most of 36 MiB and a third of "
        "40; "
        "in the model, "
        "which evicts the least recently used line of a set, it has lost more.",
        "", 30, 44},
    Gap{"HBM read and write mixes", Miss::kFast, kTurnaround},
    Gap{"HBM streams by size", Miss::kFast, kTurnaround, "r1w"},
    Gap{"HBM strided sectors", Miss::kFast,
        "At a stride of 64 KiB some channels get more of the lines than others on hardware; in the model they are hit "
        "evenly.",
        "", 65536},
    Gap{"HBM strided sectors", Miss::kFast,
        "At a stride of 128 B two lines of one DRAM row that are asked for apart open the row twice now and then on "
        "hardware, in the model once.",
        "", 128, 128},
    Gap{"load latency through L1 by footprint", Miss::kFast, kL1Footprint, "", 224, 232},
    Gap{"load latency through L1 by footprint", Miss::kSlow, kL1Footprint, "", 240, 256},
    Gap{"mma.sync beside other warps", Miss::kFast,
        "On hardware the warp that has just issued goes first again, so a partner that can issue every clock (FFMA, "
        "IADD3) gives way only at the turn of its loop, and an mma takes 17 to 52 clocks. The model serves warps in "
        "turn: 8 to 18."},
    Gap{"mma.sync beside other warps", Miss::kSlow,
        "LOP3 and IMAD issue every second clock only, and chains of two or three wait for themselves: on hardware the "
        "mma takes the slots that they leave and needs 6 to 10 clocks. The model makes it wait its turn as beside "
        "IADD3: 8 to 13."},
    Gap{"L1 and cp.async instructions by warps", Miss::kFast,
        "LDG.32: one warp alone hands over a load with a 64-bit address every 8 clocks on hardware. In the model it "
        "does "
        "so as fast as it issues.",
        "ldg32", 1, 2},
    Gap{"eight copies issued in a row", Miss::kSlow,
        "A copy by itself takes 399 clocks, of which the thread that issues it and waits needs some 140. The model has "
        "these in the copy engine, so the last of eight copies ends about that much too late."},
    Gap{"multicast", Miss::kFast,
        "When all SMs multicast at once, clusters of 1 to 4 get 27 to 51 B/clk for each SM on hardware, though L2 and "
        "GPC ports have room for twice that. The replies share some port that the model does not have; which one is "
        "open.",
        "_all"},
    Gap{"L2 read bandwidth by scope, one set in step", Miss::kFast,
        "On hardware the SMs of a GPC get 1.1 (copies by one SM of each TPC) to 1.5 times what its port passes, so few "
        "of "
        "their requests merge; in the model up to four merge into one. Why fewer do is not known: of slower copies in "
        "step (lrc) as many merge as can.",
        "", 0, 66},
    Gap{.benchmark = "read bandwidth of all SMs by footprint",
        .miss = Miss::kSlow,
        .cause =
            "Private sets of all SMs stay in the L2 up to 44 MiB on hardware. In the model, which evicts the least "
            "recently used line of a set, they begin to miss at 36 to 40 MiB.",
        .part = "private_",
        .from = 36,
        .to = 56,
        .gpu = "h100-sxm5-80gb"},
    Gap{.benchmark = "read bandwidth of all SMs by footprint",
        .miss = Miss::kSlow,
        .cause =
            "Private sets of all SMs stay in the L2 up to 48 to 52 MiB on hardware. In the model, which evicts the "
            "least recently used line of a set, they begin to miss at 40 to 44 MiB.",
        .part = "private_",
        .from = 40,
        .to = 56,
        .gpu = "h200-sxm-141gb"},
    Gap{.benchmark = "store bandwidth of all SMs by footprint",
        .miss = Miss::kFast,
        .cause =
            "Write-back sets in gradually on hardware, from 36 to 48 MiB; in the model all at once where the dirty "
            "share of the L2 is full.",
        .from = 36,
        .to = 47,
        .gpu = "h100-sxm5-80gb"},
    Gap{.benchmark = "store bandwidth of all SMs by footprint",
        .miss = Miss::kFast,
        .cause =
            "Write-back sets in gradually on hardware, from 48 to 64 MiB; in the model all at once where the dirty "
            "share of the L2 is full.",
        .from = 48,
        .to = 63,
        .gpu = "h200-sxm-141gb"},
    Gap{"store bandwidth of all SMs by footprint", Miss::kSlow,
        "Where HBM limits, SMs of small CPCs store up to 12 % faster than those of large ones on hardware, which the "
        "sum of the SMs' own rates shows. In the model all get the same.",
        "_sum_of_rates", 48},
    Gap{"first reads of what the other side filled", Miss::kFast, kManyLoads},
    Gap{"second reads of what the other side filled", Miss::kFast, kManyLoads},
    Gap{"boxes beyond their tensor by many SMs", Miss::kSlow,
        "On hardware each tensor has its own 16 slices for rows outside it, and boxes that lie outside whole cost less "
        "than those with a row inside. In the model all tensors share one set of slices."},
    Gap{"boxes beyond their tensor by many SMs", Miss::kFast,
        "Rows that end beyond the tensor's columns do not merge on hardware when many SMs read them: 590 to 1512 "
        "clocks. In the model they merge as whole rows do, in 416 to 549.",
        "_columns_"},
    Gap{"shared-memory instructions by sub-partitions", Miss::kFast, kWideAccesses, "", 0, 1},
};

bool is_rate(const std::string& unit) {
  return unit.find("/clk") != std::string::npos || unit == "GB/s";  // clk/inst and the like are times
}

Miss miss_of(const MicrobenchPointResult& p) {
  const bool above = p.error() > 0;
  if (p.kind == PointKind::kTraffic) return above ? Miss::kMore : Miss::kFewer;
  return above == is_rate(p.row.unit) ? Miss::kFast : Miss::kSlow;
}

bool explains(const Gap& gap, const MicrobenchPointResult& p) {
  return gap.miss == miss_of(p) && p.row.series.find(gap.part) != std::string::npos && p.row.x >= gap.from &&
         p.row.x <= gap.to;
}

/// A cause and how many points it explains.
struct Told {
  std::string_view cause;
  int points = 0;
};

bool found_on(const Gap& gap, const GpuConfig& gpu) {
  return gap.architecture == gpu.chip.architecture && (gap.gpu.empty() || gap.gpu == gpu.chip.name);
}

}  // namespace

std::string known_gap(const MicrobenchGroup& group, const GpuConfig& gpu) {
  if (group.points.empty() || group.meets_aim()) return {};
  std::vector<const Gap*> gaps;
  for (const Gap& gap : kGaps) {
    if (gap.benchmark == group.name && found_on(gap, gpu)) gaps.push_back(&gap);
  }
  const MicrobenchPointResult& worst = group.worst();
  const auto of_worst =
      std::find_if(gaps.begin(), gaps.end(), [&worst](const Gap* gap) { return explains(*gap, worst); });
  const bool worst_is_known = of_worst != gaps.end();
  if (worst_is_known) std::rotate(gaps.begin(), of_worst, of_worst + 1);  // the cause of the worst point is told first
  std::vector<Told> told;
  for (const Gap* gap : gaps) {
    const bool fresh = std::none_of(told.begin(), told.end(), [gap](const Told& t) { return t.cause == gap->cause; });
    if (fresh) told.push_back(Told{gap->cause, 0});
  }
  int missed = 0;
  int explained = 0;
  for (const MicrobenchPointResult& p : group.points) {
    if (std::abs(p.error()) <= kMicrobenchAim) continue;
    ++missed;
    const auto gap = std::find_if(gaps.begin(), gaps.end(), [&p](const Gap* g) { return explains(*g, p); });
    if (gap == gaps.end()) continue;
    ++explained;
    ++std::find_if(told.begin(), told.end(), [gap](const Told& t) { return t.cause == (*gap)->cause; })->points;
  }
  std::string out;
  for (const Told& cause : told) {
    if (cause.points == 0) continue;
    out += (out.empty() ? "" : " ") + std::string(cause.cause);
    if (cause.points < missed) out += fmt::format(" ({} of {} points over 5 %)", cause.points, missed);
  }
  if (explained > 0 && explained < missed) {
    out += fmt::format(" Of the other {}{} no cause is known.", missed - explained,
                       worst_is_known ? "" : ", the worst among them,");
  }
  return out;
}

bool has_known_gap(const std::string& benchmark) {
  return std::any_of(kGaps.begin(), kGaps.end(), [&](const Gap& g) { return g.benchmark == benchmark; });
}

}  // namespace strata::app
