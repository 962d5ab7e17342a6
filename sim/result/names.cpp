#include <array>

#include "sim/result/result.hpp"

namespace strata {

namespace {
constexpr std::array<const char*, static_cast<std::size_t>(Bottleneck::kCount)> kNames = {
    "tensor", "issue", "fp32", "mufu", "shared_memory", "l1", "crossbar", "l2", "fabric", "hbm", "latency", "launch"};
}  // namespace

const char* to_string(Bottleneck b) { return kNames.at(static_cast<std::size_t>(b)); }

}  // namespace strata
