/// Parameters that a microbenchmark states directly: one number, one formula, no fit.
#pragma once

#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/config/gpu_description.hpp"
#include "validation/compare/microbench_table.hpp"

namespace strata {

struct DerivedValue {
  std::string key;
  double before = 0;
  double after = 0;
  std::string source;  ///< the rows and the formula, in words
  std::string file;    ///< where the row stands, for messages
  int line = 0;
};

struct Derivation {
  std::vector<DerivedValue> values;
  std::vector<std::string> missing;  ///< "key: the row it needs was not measured"
  std::vector<std::string> kept;     ///< "key: why no microbenchmark decides it"
  std::vector<Diagnostic> zeros;     ///< rows that would have given a value, but hold a zero: nothing was measured
};

/// Reads every directly measured parameter off `data` into the description, with origin "measured".
[[nodiscard]] Derivation derive_parameters(const MicrobenchData& data, GpuDescription& description);

/// Keys that no microbenchmark of ours measures and whose values are neither from a data sheet nor measured: they stay
/// as they are, and are listed.
[[nodiscard]] std::vector<std::string> unmeasured_keys(const GpuDescription& description);

}  // namespace strata
