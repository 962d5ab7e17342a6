/// The kernels that `strata run` can build, each with its options. A new generator is one entry here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/spec/trace_source.hpp"

namespace strata {

/// A GPC: its SMs, and those of them that take part in clusters of more than a TPC.
struct GpcFacts {
  std::uint32_t sms = 0;
  std::uint32_t cluster_sms = 0;
};

/// The few facts of a target that a kernel's author would look up before choosing a tile. Filled from a GpuConfig by
/// the application, so that workloads never see a hardware model.
struct TargetFacts {
  std::string architecture;  ///< "ampere" or "hopper"
  bool has_tma = false;
  bool has_wgmma = false;
  std::uint32_t num_sms = 0;
  std::vector<GpcFacts> gpcs;           ///< in the order in which their TPCs are numbered; empty = not known
  std::int64_t smem_per_cta_bytes = 0;  ///< largest shared memory of one CTA
  std::int64_t smem_per_sm_bytes = 0;
  std::uint32_t registers_per_sm = 65536;
  std::int64_t memory_bytes = 0;      ///< device memory: shapes that do not fit are refused
  double memory_bytes_per_cycle = 0;  ///< HBM's peak per SM cycle at the SM's highest clock; 0 = not known
};

enum class OptionType : std::uint8_t { kInt, kFlag, kText };

struct OptionSpec {
  std::string name;  ///< without dashes: "m", "tile-m", "causal"
  OptionType type = OptionType::kInt;
  std::string default_value;  ///< empty = required, or chosen by the kernel when `chosen` is true
  bool chosen = false;        ///< the kernel chooses a value when none is given, and says which
  std::string help;           ///< one sentence with unit and allowed values
};

using KernelOptions = std::map<std::string, std::string>;  ///< option name -> text as given

struct BuiltKernel {
  std::unique_ptr<TraceSource> source;
  std::string description;         ///< "tile 128x256x64, 4 stages, cooperative, cluster 2x1, raster along M by 8"
  std::vector<std::string> notes;  ///< what was chosen for the user
  std::string ignored_words;       ///< of a library kernel's name: not understood, and so without effect
  std::uint32_t parts = 1;         ///< of the keys or of K, whose results another launch may have to add up
  std::string warning;             ///< what of the launch's cells contradicts another and was overruled; empty if none
};

struct KernelSpec {
  std::string name;  ///< "gemm", "flash_attention", ...
  std::string help;
  std::vector<OptionSpec> options;
  /// Throws InputError (key = option) for bad values, UnsupportedError where the target cannot run it.
  BuiltKernel (*make)(const KernelOptions& options, const TargetFacts& target);
};

[[nodiscard]] std::span<const KernelSpec> kernel_catalogue();

}  // namespace strata
