#include "workloads/library/candidates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "sim/base/error.hpp"
#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/gemm_common.hpp"
#include "workloads/library/candidate_families.hpp"
#include "workloads/library/shape.hpp"

namespace strata {

namespace {

constexpr double kWorthSimulating = 1.5;  ///< of the best estimate
constexpr std::size_t kVariantsOfTile = 2;

/// The operator and the type decide which kernels there are, and the type's width the time of each.
void expect_cells(const LaunchRow& row) {
  if (row.op.empty()) {
    throw UnsupportedError(fmt::format("a kernel to choose needs the operator; give op, one of {}",
                                       fmt::join(operators_with_candidates(), ", ")));
  }
  if (row.dtype.empty()) {
    throw UnsupportedError("a kernel to choose needs the type of the operands; give dtype, such as bf16");
  }
  std::string lower = row.dtype;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower.find("e5m2") != std::string::npos) {
    throw UnsupportedError(
        fmt::format("dtype '{}': the kernels to choose from that are known here multiply e4m3; name a kernel, or give "
                    "e4m3 for its time",
                    row.dtype));
  }
}

}  // namespace

LaunchRow candidate_row(const LaunchRow& row, std::string kernel) {
  LaunchRow out;
  out.case_name = row.case_name;
  out.seq = row.seq;
  out.op = row.op;
  out.dtype = row.dtype;
  out.shape = row.shape;
  out.kernel = std::move(kernel);
  return out;
}

double estimate_with_memory(double sm_cycles, double bytes, const TargetFacts& target) {
  constexpr double kExposed = 0.2;
  const double memory = target.memory_bytes_per_cycle > 0 ? bytes / target.memory_bytes_per_cycle : 0;
  return std::max(sm_cycles, memory) + kExposed * std::min(sm_cycles, memory);
}

double estimate_cta_cycles(const Launch& launch, const CtaWork& work, const TargetFacts& target) {
  constexpr double kFillBytesPerCycle = 40;  // sustained from L2 by one SM with all SMs loading
  constexpr double kCtaLatency = 2500;       // first loads, last stores
  constexpr std::uint64_t kReservedSmem = 1024;
  constexpr std::uint64_t kThreadsPerSm = 2048;
  const std::uint64_t threads = std::max<std::uint64_t>(launch.block.count(), 32);
  const std::uint64_t smem = launch.smem_dynamic_bytes + launch.smem_static_bytes + kReservedSmem;
  const std::uint64_t registers = std::max<std::uint64_t>(1, launch.registers_per_thread * threads);
  const std::uint64_t resident =
      std::max<std::uint64_t>(1, std::min({static_cast<std::uint64_t>(target.smem_per_sm_bytes) / smem,
                                           target.registers_per_sm / registers, kThreadsPerSm / threads}));
  const std::uint64_t sms = std::max(1U, target.num_sms);
  const auto per_sm = static_cast<double>(ceil_div(launch.num_ctas(), sms));
  const auto rounds = static_cast<double>(ceil_div(launch.num_ctas(), sms * resident));
  const double sm_cycles =
      per_sm * std::max(work.math_cycles, work.fill_bytes / kFillBytesPerCycle) + rounds * kCtaLatency;
  return estimate_with_memory(sm_cycles, launch.work.compulsory_read_bytes + launch.work.compulsory_write_bytes,
                              target);
}

LaunchRow split_sum_row(const LaunchRow& product, const char* output, const char* compute) {
  LaunchRow sum = candidate_row(
      product, fmt::format("void cublasLt::splitKreduce_kernel<32, 16, int, float, {0}, float, {0}, 0, {1}, {0}, {0}, "
                           "1, 0, 0, 0>()",
                           output, compute));
  sum.producer_kernel = product.kernel;
  sum.producer_grid = product.grid;
  return sum;
}

double estimate_split_sum_cycles(double elements, double slices) {
  // A cold launch, and what the calibration rows' sums take beyond their bytes.
  constexpr double kSumCycles = 7000;
  constexpr double kSumBytesPerCycle = 1500;
  return kSumCycles + elements * (4.0 * slices + 2) / kSumBytesPerCycle;
}

std::string CandidateList::commonest_reason() const {
  const auto most = std::max_element(refused_.begin(), refused_.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == refused_.end() ? std::string{} : most->first;
}

std::vector<KernelCandidate> kernel_candidates(const LaunchRow& row, const TargetFacts& target) {
  expect_cells(row);
  CandidateList out;
  if (row.op == "gemm") {
    GemmProblem letters;
    if (const std::string layout = parse_gemm_shape(row.shape).layout; !parse_gemm_layout(layout, letters)) {
      throw UnsupportedError(fmt::format("layout '{}' is not known; expected NN, NT, TN or TT", layout));
    }
    add_wgmma_gemm_candidates(row, target, out);
    if (out.empty()) {
      add_cta_gemm_candidates(row, target, out);
    }
  } else if (row.op == "attention") {
    add_attention_candidates(row, target, out);
  } else {
    add_row_candidates(row, target, out);
  }
  if (out.empty()) {
    const std::string reason = out.commonest_reason();
    throw UnsupportedError(fmt::format("no kernel is known for {} of {} with shape '{}' on {}{}{}; name one", row.op,
                                       row.dtype, row.shape, target.architecture, reason.empty() ? "" : ": ", reason));
  }
  return out.take();
}

std::vector<KernelCandidate> promising_candidates(std::vector<KernelCandidate> all, std::size_t most) {
  std::stable_sort(all.begin(), all.end(), [](const KernelCandidate& a, const KernelCandidate& b) {
    return a.estimated_cycles < b.estimated_cycles;
  });
  struct Tile {
    std::size_t variants = 0;
    std::uint64_t ring_bytes = 0;              ///< the largest of the variants'
    const KernelCandidate* deepest = nullptr;  ///< of those that are left out, where it is deeper
  };
  std::map<std::string, Tile> tiles;
  std::vector<KernelCandidate> out;
  for (const KernelCandidate& candidate : all) {
    if (candidate.estimated_cycles > kWorthSimulating * all.front().estimated_cycles) {
      break;
    }
    Tile& tile = tiles[candidate.tile];
    if (out.size() < most && tile.variants < kVariantsOfTile) {
      ++tile.variants;
      tile.ring_bytes = std::max(tile.ring_bytes, candidate.ring_bytes);
      out.push_back(candidate);
    } else if (candidate.ring_bytes > std::max(tile.ring_bytes, tile.deepest ? tile.deepest->ring_bytes : 0)) {
      tile.deepest = &candidate;
    }
  }
  for (const auto& [name, tile] : tiles) {
    if (tile.variants > 0 && tile.deepest != nullptr && tile.deepest->ring_bytes > tile.ring_bytes) {
      out.push_back(*tile.deepest);
    }
  }
  return out;
}

}  // namespace strata
