/// Where an idle GPU places the clusters of a launch that fills its SMs with one CTA each.
///
/// Measured on H100 and H200 (docs/model/launch.md): clusters go to the GPCs in turn; clusters of a TPC's size first to
/// the TPCs that take no part in larger ones.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/kernels/catalogue.hpp"

namespace strata {

/// Most clusters of `size` CTAs that are resident at one CTA an SM; num_sms / size where the GPCs are not known.
[[nodiscard]] std::uint32_t resident_clusters(const TargetFacts& target, std::uint32_t size);

/// Rank of each of `count` clusters when they are sorted by the GPC they are placed in; clusters that are not resident
/// at once follow in their order.
[[nodiscard]] std::vector<std::uint32_t> clusters_by_gpc(const TargetFacts& target, std::uint32_t size,
                                                         std::uint32_t count);

}  // namespace strata
