/// What an SM sees of the crossbar: its place, the latency of a request and its store port.
#pragma once

#include <cstdint>

#include "models/hw/common/tlb.hpp"
#include "sim/timing/resource.hpp"

namespace strata {

struct SmPort {
  Resource write;            ///< SM to crossbar, bytes
  Tick request_latency = 0;  ///< SM to near slice, by distance
  Tick reply_latency = 0;    ///< near slice to SM
  Tlb* tlb = nullptr;
  std::uint16_t gpc = 0;
  std::uint16_t tpc = 0;
  std::uint16_t cpc = 0;
  std::uint8_t partition = 0;
};

}  // namespace strata
