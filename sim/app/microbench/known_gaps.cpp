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
    Gap{"thread instructions: latency",
        "votes answer after 17 clocks, shuffles after 24 to 26 and the sine after 23; the model has one latency for "
        "the integer pipe and one for special functions"},
    Gap{"thread instructions: rate of one warp", "votes and shuffles of a warp alone wait for their longer latencies"},
    Gap{"__syncthreads and named barriers by threads",
        "a named barrier whose number and thread count are in registers takes 12 clocks more; __syncthreads agrees "
        "within 8 %"},
    Gap{"mbarrier arrive and wait",
        "a warp that has slept for long wakes 137 clocks after the arrival, in the model as soon as one that has just "
        "gone to sleep"},
    Gap{"cluster barrier", "the model pays one latency whatever the size of the cluster"},
    Gap{"bytes per clock from another SM's shared memory",
        "bulk copies between SMs reach 20 B/clk where loads reach 17, and all clusters together 14; the model has one "
        "rate per SM"},
    Gap{"empty kernels",
        "they take 170 cycles more than one-CTA fills of the libraries have outside their SM's activity; the model "
        "follows the fills"},
    Gap{"cold reads", "after a flush, dirty lines leave from the first read on; the model lets clean lines go first"},
    Gap{"streams from HBM, from first to last CTA",
        "the first 600 ns are constants and code that the first CTA of an SM waits for; the model has them before its "
        "first stamp"},
    Gap{"streams from the L2, from first to last CTA",
        "the first 600 ns are constants and code that the first CTA of an SM waits for; the model has them before its "
        "first stamp"},
    Gap{"loads of one SM by threads and loads in flight",
        "the model keeps 32 KiB of plain loads in flight per SM, hardware at least 64 KiB"},
    Gap{"straight-line code by size",
        "code is prefetched up to 64 KiB on hardware; a line beyond costs 108 clocks, in the model as many as one that "
        "was "
        "prefetched"},
    Gap{"code that no cache holds, by size and warps",
        "code is prefetched up to 64 KiB on hardware; a line beyond costs 108 clocks, in the model as many as one that "
        "was "
        "prefetched"},
    Gap{"code executed again and again, by size and warps",
        "four warps and more of a sub-partition fall into step only in part and fetch some lines again; the model's "
        "share "
        "every fetch"},
    Gap{"issue slots that waiting warps leave empty",
        "equal warps with chains of equal steps fall into each other's gaps; the model takes their waits for "
        "independent"},
    Gap{"first touches of lines and pages",
        "pages that no kernel of the process has touched cost walks of 950 to 1700 clocks on hardware; the model takes "
        "all memory for touched before"},
    Gap{"shares of HBM: rate of the group",
        "HBM lets a request wait longer at half load than here, and 192 KiB under way per SM cost some of the rate"},
    Gap{"shares of HBM: ends by size of the CPC",
        "a bound on a CPC's misses that is sharp here and soft on hardware: 128 KiB per SM lie between"},
    Gap{"HBM streams by size",
        "turning around costs these streams more than elementwise library kernels, and the model lies between; its "
        "window ends with the average SM"},
    Gap{"HBM read and write mixes",
        "turning around costs these streams more than elementwise library kernels, and the model lies between; its "
        "window ends with the average SM"},
    Gap{"bytes from HBM of repeated reads",
        "hardware's passes are launches apart; in the trace SMs drift apart and find what others have just read"},
    Gap{"HBM strided sectors",
        "two lines of a row that are asked for apart are opened twice on hardware now and then, and at 64 KiB of "
        "stride "
        "the channels are hit unevenly"},
    Gap{"dirty bytes that leave the L2", "hardware starts to write back a little before its limit is reached"},
    Gap{"single accesses by either side",
        "a store drops the other side's copy on hardware; the model leaves it, so that side's next read is near"},
    Gap{"load latency through L1 by footprint",
        "beyond 216 KiB hardware keeps a part of a cyclic set, the model's LRU nothing"},
    Gap{"bulk copy latency, HBM", "rows of one copy open side by side on hardware"},
    Gap{"rate of starting CTAs", "clusters and CTAs of many warps start more slowly; the model has one rate"},
    Gap{"from one CTA to the next on its SM", "CTAs of many warps add up to 75 clocks; the model has one gap"},
    Gap{"mma.sync interval by chains and warps",
        "a warp of two or three chains of half-depth shapes keeps its interval on hardware where the latency of the "
        "chain would allow a little less"},
    Gap{"mma.sync beside other warps", "the scheduler favours the warp that issues; the model serves warps in turn"},
    Gap{"shared-memory latency by conflicts and width",
        "each 128 B of a wide load add 2 to 4 clocks to its latency on hardware, 1 in the model"},
    Gap{"shared-memory instructions by warps",
        "a warp alone hides its latency less on hardware, and a sub-partition issues wide loads every 5.6 clocks"},
    Gap{"shared-memory instructions by sub-partitions",
        "a sub-partition issues wide loads every 5.6 clocks and answers one warp after its latency; the model has the "
        "port's 4 clocks and issue"},
    Gap{"L1 and cp.async instructions by warps",
        "loads of one warp wait longer for the L1 than the model says, and 16 warps of cp.async lose a third of the "
        "rate for no known reason"},
    Gap{"rings of tensor tiles", "a tile takes 26 clocks more than a bulk copy"},
    Gap{"tensor tiles by row length", "rows below 64 B cost L2 look-ups of their own"},
    Gap{"bulk stores",
        "all SMs together store 2000 B/clk by bulk copies on hardware, 1650 in the model: not explained"},
    Gap{"multicast",
        "eight tiles from one barrier to the next take a sixth longer on hardware, one CTA or 120: not explained"},
    Gap{"wgmma by depth in flight",
        "a drained group waits about 10 clocks less with A in registers, and less for the next instruction of the same "
        "group"},
    Gap{"L2 read bandwidth by scope, one set in step",
        "SMs that read in step by plain loads drift apart on hardware and merge less; the model's keep their distance"},
    Gap{"L2 store bandwidth by scope", "the model limits stores by GPC, hardware by CPC and chip"},
    Gap{"store bandwidth inside a GPC",
        "six SMs that sit in three CPCs get 189 B/clk; the model's first six of that GPC sit in one, which ends at "
        "131"},
    Gap{"read bandwidth of all SMs by footprint",
        "the knee of private sets is at 44 MiB on hardware and lower under the model's LRU"},
    Gap{"store bandwidth of all SMs by footprint",
        "write-back starts late and gradually on hardware; the model writes back from its dirty limit on"},
    Gap{"first reads of what the other side filled",
        "crossing the fabric limits few SMs by latency: loads of one thread wait for the farthest line"},
    Gap{"second reads of what the other side filled",
        "plain loads of one SM end at 92 B/clk on hardware, at the port's 107 in the model"},
    Gap{"reads in step: bytes per clock",
        "SMs that read in step by plain loads drift apart on hardware and merge less; the model's keep their distance"},
    Gap{"reads in step: sectors that reach the L2",
        "merging depends on when neighbours drift apart; the model's SMs keep their distance exactly"},
};

}  // namespace

std::string known_gap(const std::string& benchmark) {
  const auto* at = std::find_if(kGaps.begin(), kGaps.end(), [&](const Gap& g) { return g.benchmark == benchmark; });
  return at == kGaps.end() ? std::string() : std::string(at->cause);
}

}  // namespace strata::app
