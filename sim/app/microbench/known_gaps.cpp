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
        "one arithmetic latency for all pipes: half2 and fp64 answer after 8 clocks, votes after 17, shuffles after "
        "24"},
    Gap{"thread instructions: rate of one warp",
        "a warp alone issues half2 every second clock, and votes and shuffles wait for their longer latencies"},
    Gap{"__syncthreads and named barriers by threads",
        "arrivals take 2 clocks a warp on hardware, named barriers 12 more; the model pays one latency, and only for "
        "warps that sleep"},
    Gap{"mbarrier arrive and wait",
        "try_wait suspends a warp and wakes it late, and arrivals of many threads queue; the model pays one latency, "
        "and only for warps that sleep"},
    Gap{"cluster barrier", "the model pays one latency whatever the size of the cluster"},
    Gap{"bytes per clock from another SM's shared memory",
        "bulk copies between SMs reach 20 B/clk where loads reach 17, and all clusters together 14; the model has one "
        "rate per SM"},
    Gap{"empty kernels",
        "the launch overhead is fitted together with page walks on kernels that touch pages; clusters and many CTAs "
        "add time of their own"},
    Gap{"cold reads",
        "after a flush, code and constants come from HBM too, and dirty lines leave from the first read on; the model "
        "has warm code and lets clean lines go first"},
    Gap{"streams from HBM, from first to last CTA",
        "the first 600 ns are constants and code that the first CTA of an SM waits for; the model has them before it"},
    Gap{"streams from the L2, from first to last CTA",
        "the first 600 ns are constants and code that the first CTA of an SM waits for; the model has them before it"},
    Gap{"loads of one SM by threads and loads in flight",
        "the model keeps 32 KiB of plain loads in flight per SM, hardware at least 64 KiB"},
    Gap{"straight-line code by size",
        "code is prefetched up to 64 KiB on hardware and falls off at 128 KiB; the model pays for every line at the "
        "start"},
    Gap{"first touches of lines and pages",
        "a page costs nothing on hardware unless no kernel has touched its 32 MiB before; constants and code cost "
        "more"},
    Gap{"reads in step from HBM: sectors that reach the L2",
        "merging depends on when neighbours drift apart; the model's SMs keep their distance exactly"},
    Gap{"HBM reads by number of SMs", "full-rate bulk reads lose rows to one another"},
    Gap{"HBM random rows",
        "HBM is read in units of 64 B: a lone 32 B sector moves twice its bytes; rows of 128 B and more agree within 4 "
        "%"},
    Gap{"HBM strided sectors",
        "HBM is read in units of 64 B, and beyond 4 KiB of stride the channels are hit unevenly on hardware"},
    Gap{"bytes from HBM by stride", "HBM is read in units of 64 B: a lone 32 B sector moves twice its bytes"},
    Gap{"dirty bytes that leave the L2", "hardware starts to write back a little before its limit is reached"},
    Gap{"single accesses by either side",
        "a store drops the other side's copy on hardware; the model leaves it, so that side's next read is near"},
    Gap{"load latency through L1 by footprint",
        "beyond 216 KiB hardware keeps a part of a cyclic set, the model's LRU nothing"},
    Gap{"bulk copy latency, HBM", "rows of one copy open side by side on hardware"},
    Gap{"rate of starting CTAs", "clusters and CTAs of many warps start more slowly; the model has one rate"},
    Gap{"from one CTA to the next on its SM",
        "clusters add 125 to 145 clocks, CTAs of many warps up to 75; the model has one gap"},
    Gap{"mma.sync latency", "one latency for all shapes: half-depth shapes answer after 17 clocks, not 24"},
    Gap{"mma.sync interval by chains and warps",
        "half-depth shapes take 4 clocks where their work alone would be 3, and answer after 17"},
    Gap{"mma.sync beside other warps", "the scheduler favours the warp that issues; the model serves warps in turn"},
    Gap{"shared-memory latency by conflicts and width",
        "each extra wavefront adds 2 clocks to the latency on hardware, 1 in the model"},
    Gap{"shared-memory instructions by warps",
        "a sub-partition issues a load every 2.1 and a store every 4 clocks; the model has one limit per SM"},
    Gap{"shared-memory instructions by sub-partitions",
        "a sub-partition issues a load every 2.1 and a store every 4 clocks; the model has one limit per SM"},
    Gap{"L1 and cp.async instructions by warps",
        "cp.async from the L1 takes 5 to 8 clocks an instruction; loads of one warp wait longer for the L1 than the "
        "model says"},
    Gap{"rings of tensor tiles", "a tile takes 26 clocks more than a bulk copy"},
    Gap{"tensor tiles by row length", "rows below 64 B cost L2 look-ups of their own"},
    Gap{"bulk stores", "all SMs together: the model limits stores by GPC, hardware by CPC and chip"},
    Gap{"multicast", "replies of merged and multicast requests are free at the GPC in the model"},
    Gap{"wgmma by depth in flight",
        "a drained group waits about 10 clocks less with A in registers, and less for the next instruction of the same "
        "group"},
    Gap{"L2 read bandwidth by scope, one set in step",
        "replies of merged requests are free at the GPC, which hardware limits to twice the unmerged rate"},
    Gap{"L2 store bandwidth by scope", "the model limits stores by GPC, hardware by CPC and chip"},
    Gap{"store bandwidth inside a GPC", "the model limits stores by GPC, hardware by CPC (131 B/clk) and chip"},
    Gap{"read bandwidth of all SMs by footprint", "replies of merged requests are free at the GPC in the model"},
    Gap{"store bandwidth of all SMs by footprint", "the model limits stores by GPC, hardware by CPC and chip"},
    Gap{"first reads of what the other side filled",
        "crossing the fabric limits few SMs by latency: loads of one thread wait for the farthest line"},
    Gap{"second reads of what the other side filled",
        "plain loads of one SM end at 92 B/clk on hardware, at the port's 107 in the model"},
    Gap{"reads in step: bytes per clock", "replies of merged requests are free at the GPC in the model"},
    Gap{"reads in step: sectors that reach the L2",
        "merging depends on when neighbours drift apart; the model's SMs keep their distance exactly"},
};

}  // namespace

std::string known_gap(const std::string& benchmark) {
  const auto* at = std::find_if(kGaps.begin(), kGaps.end(), [&](const Gap& g) { return g.benchmark == benchmark; });
  return at == kGaps.end() ? std::string() : std::string(at->cause);
}

}  // namespace strata::app
