// Causes of microbenchmarks that miss their aim. Each was found by looking at what the hardware does that the model
// does not; docs/model has the page of the unit.
#include <algorithm>
#include <array>
#include <string_view>

#include "sim/app/microbench/compare.hpp"

namespace strata::app {

namespace {

struct Gap {
  std::string_view benchmark;
  std::string_view cause;
};

constexpr std::array kGaps{
    Gap{"mbarrier arrival of another warp",
        "seen 137 clocks after it at this phase of the waiter's loop, which looks again only now and then; here after "
        "57. The bytes of copies are seen at once on hardware too"},
    Gap{"cold reads", "after a flush, dirty lines leave from the first read on; the model lets clean lines go first"},
    Gap{"streams from HBM, from first to last CTA",
        "the first 600 ns are constants and code that the first CTA of an SM waits for; the model has them before its "
        "first stamp"},
    Gap{"streams from the L2, from first to last CTA",
        "the first 600 ns are constants and code that the first CTA of an SM waits for; the model has them before its "
        "first stamp"},
    Gap{"straight-line code by size",
        "code is prefetched up to 64 KiB on hardware; a line beyond costs 108 clocks, in the model as many as one that "
        "was prefetched"},
    Gap{"code that no cache holds, by size and warps",
        "code is prefetched up to 64 KiB on hardware; a line beyond costs 108 clocks, in the model as many as one that "
        "was prefetched"},
    Gap{"code executed again and again, by size and warps",
        "four warps and more of a sub-partition fall into step only in part and fetch some lines again; the model's "
        "share every fetch"},
    Gap{"issue slots that waiting warps leave empty",
        "equal warps with chains of equal steps fall into each other's gaps; the model takes their waits for "
        "independent unless they are multiplications"},
    Gap{"first touches of lines and pages",
        "pages that no kernel of the process has touched cost walks of 950 to 1700 clocks on hardware; the model takes "
        "all memory for touched before"},
    Gap{"reads of HBM by what is under way",
        "a line waits 50 ns times r / (1 - r) at load r on hardware, and for refreshes of its bank in 16 % of the "
        "time; "
        "the model's channels are busy or free"},
    Gap{"shares of HBM: ends by size of the CPC",
        "a bound on a CPC's misses that is sharp here and soft on hardware: 128 KiB per SM lie between"},
    Gap{"bytes from HBM of repeated reads",
        "hardware's passes are launches apart; in the trace SMs drift apart and find what others have just read"},
    Gap{"HBM strided sectors",
        "two lines of a row that are asked for apart are opened twice on hardware now and then, and at 64 KiB of "
        "stride the channels are hit unevenly"},
    Gap{"load latency through L1 by footprint",
        "three points: the share of hits of a cyclic set falls evenly, 85, 73 and 50 % at 224, 240 and 256 KiB, as if "
        "sets of a hash filled unevenly; the model's fill and overflow together"},
    Gap{"mma.sync beside other warps",
        "the scheduler favours the warp that issues, so FFMA stops only at the turn of its loop; the model serves "
        "warps in turn"},
    Gap{"L1 and cp.async instructions by warps",
        "a warp alone hands over a load with a 64-bit address every 8 clocks, in the model every clock; 16 warps of "
        "cp.async lose a third of the rate of 8 and of 32 on every card, for which no cause was found"},
    Gap{"eight copies issued in a row",
        "of the 399 clocks of a copy by itself some 140 are its thread's, for the expectation and the wait's second "
        "look; the model has them in the engine, so the last of eight copies ends as much too late"},
    Gap{"multicast",
        "small clusters on all SMs at once get less than one cluster alone, at half of the L2's rate and of the GPCs' "
        "ports; which port multicast replies share is open"},
    Gap{"L2 read bandwidth by scope, one set in step",
        "SMs of different TPCs that read in step drift apart on hardware and merge hardly more than those of one TPC; "
        "the model's keep their distance and merge by four"},
    Gap{"read bandwidth of one SM and one GPC by footprint",
        "two of the four cards' groups hold an SM of another GPC, 640 B/clk for 547, which the other two and the model "
        "agree on; and sets of 28 to 48 MiB that one SM reads come at 84 B/clk, in the model at 92 to 76"},
    Gap{"read bandwidth of all SMs by footprint",
        "the knee of private sets is at 44 MiB on hardware and lower under the model's LRU"},
    Gap{"store bandwidth of all SMs by footprint",
        "write-back sets in gradually from 36 to 48 MiB, in the model at once; SMs of small CPCs store up to 12 % "
        "faster than those of large ones, in the model all alike where HBM limits"},
    Gap{"first reads of what the other side filled",
        "the compiler has 9 to 16 loads of each of 1024 threads under way, more than an SM keeps; hardware then gets "
        "69 B/clk where half of the lines cross, the model as much as of near ones: waiting in the queue costs nothing "
        "there"},
    Gap{"second reads of what the other side filled",
        "the compiler has 9 to 16 loads of each of 1024 threads under way, more than an SM keeps; hardware then gets "
        "92 B/clk, and 116 with 4 loads; in the model waiting in the queue costs nothing, and the port's 107 are left"},
    Gap{"reads in step: sectors that reach the L2",
        "merging depends on when neighbours drift apart; the model's SMs keep their distance exactly"},
    Gap{"boxes beyond their tensor by many SMs",
        "each tensor has its own slices for rows beyond it, the model one set for all; boxes that lie outside whole "
        "cost less than those with a row inside; and what ends beyond the columns does not merge where many SMs read "
        "it"},
};

}  // namespace

std::string known_gap(const std::string& benchmark) {
  const auto* at = std::find_if(kGaps.begin(), kGaps.end(), [&](const Gap& g) { return g.benchmark == benchmark; });
  return at == kGaps.end() ? std::string() : std::string(at->cause);
}

}  // namespace strata::app
