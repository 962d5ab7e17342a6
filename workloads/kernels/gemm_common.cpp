#include "workloads/kernels/gemm_common.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace strata {

namespace {

constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 32;
constexpr std::uint64_t kAllocationBytes = std::uint64_t{2} << 20;

std::uint32_t bytes_of(DataType type) { return std::max(1U, bits_of(type) / 8); }

}  // namespace

std::string GemmProblem::layout() const {
  return std::string(b_k_contiguous ? "T" : "N") + (a_k_contiguous ? "N" : "T");
}

bool parse_gemm_layout(const std::string& text, GemmProblem& problem) {
  if (text.size() != 2) {
    return false;
  }
  const char first = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  const char second = static_cast<char>(std::toupper(static_cast<unsigned char>(text[1])));
  if ((first != 'N' && first != 'T') || (second != 'N' && second != 'T')) {
    return false;
  }
  problem.b_k_contiguous = first == 'T';
  problem.a_k_contiguous = second == 'N';
  return true;
}

DataType default_gemm_output(DataType input) {
  switch (input) {
    case DataType::kFp8:
      return DataType::kBf16;
    case DataType::kTf32:
      return DataType::kFp32;
    case DataType::kInt8:
      return DataType::kInt32;
    default:
      return input;
  }
}

std::vector<Diagnostic> check_gemm_problem(const GemmProblem& problem, const TargetFacts& target,
                                           std::int64_t partials) {
  std::vector<Diagnostic> problems;
  const auto check = [&](const char* key, std::int64_t value) {
    if (value < 1 || value > kMaxGemmDim) {
      problems.push_back(
          {{}, 0, 0, key, fmt::format("{} is out of range; expected 1 to {} elements", value, kMaxGemmDim)});
    }
  };
  check("m", problem.m);
  check("n", problem.n);
  check("k", problem.k);
  check("batch", problem.batch);
  if (!problems.empty()) {
    return problems;
  }
  // Each product is below 2^65: compute in floating point, where it cannot wrap.
  const auto product = [](std::int64_t x, std::int64_t y) { return static_cast<double>(x) * static_cast<double>(y); };
  const double bytes =
      static_cast<double>(problem.batch) *
      ((product(problem.m, problem.k) + product(problem.n, problem.k)) * bytes_of(problem.input) +
       product(problem.m, problem.n) * (bytes_of(problem.output) + 4.0 * static_cast<double>(partials)));
  if (target.memory_bytes > 0 && bytes > static_cast<double>(target.memory_bytes)) {
    problems.push_back(
        {{},
         0,
         0,
         "m",
         fmt::format("{} x {} x {} {} needs {:.3f} GB; the device has {:.3f} GB", problem.m, problem.n, problem.k,
                     to_string(problem.input), bytes / 1e9, static_cast<double>(target.memory_bytes) / 1e9)});
  }
  return problems;
}

void OperandView::box(std::int64_t row0, std::uint32_t rows, std::int64_t k0, std::uint32_t tile_k,
                      MemoryRef& out) const {
  const std::int64_t first = std::min(row0, extent - 1);
  const std::int64_t valid_rows = std::clamp<std::int64_t>(extent - row0, 0, rows);
  const std::int64_t valid_k = std::clamp<std::int64_t>(k - k0, 1, tile_k);
  out.row_pitch = pitch_bytes;
  if (k_contiguous) {
    const std::int64_t kept = std::max<std::int64_t>(valid_rows, 1);
    out.address = base + static_cast<std::uint64_t>(first * pitch_bytes + k0 * element_bytes);
    out.rows = static_cast<std::uint32_t>(kept);
    out.oob_rows = rows - out.rows;
    out.row_bytes = static_cast<std::uint32_t>(valid_k) * element_bytes;
    out.oob_bytes = tile_k * element_bytes - out.row_bytes;
  } else {
    // A box wholly beyond the contiguous dimension moves nothing; one element stands for it.
    const std::int64_t kept = std::max<std::int64_t>(valid_rows, 1);
    const std::int64_t first_k = std::min(k0, k - 1);
    out.address = base + static_cast<std::uint64_t>(first_k * pitch_bytes + first * element_bytes);
    out.rows = static_cast<std::uint32_t>(valid_k);
    out.oob_rows = tile_k - out.rows;
    out.row_bytes = static_cast<std::uint32_t>(kept) * element_bytes;
    out.oob_bytes = rows * element_bytes - out.row_bytes;
  }
}

GemmAddresses place_gemm(const GemmProblem& problem, std::uint32_t partials, std::uint32_t partial_bytes) {
  GemmAddresses out;
  const auto batch = static_cast<std::uint64_t>(problem.batch);
  std::uint64_t next = kFirstAddress;
  const auto allocate = [&](const char* name, std::uint64_t bytes) {
    const std::uint64_t base = next;
    out.buffers.push_back({name, base, bytes});
    next += ceil_div(bytes, kAllocationBytes) * kAllocationBytes;
    return base;
  };
  const auto operand = [&](const char* name, std::int64_t extent, bool k_contiguous) {
    OperandView view;
    view.element_bytes = bytes_of(problem.input);
    view.k_contiguous = k_contiguous;
    view.extent = extent;
    view.k = problem.k;
    view.pitch_bytes = (k_contiguous ? problem.k : extent) * view.element_bytes;
    view.batch_bytes = extent * problem.k * view.element_bytes;
    view.base = allocate(name, static_cast<std::uint64_t>(view.batch_bytes) * batch);
    return view;
  };
  out.a = operand("A", problem.m, problem.a_k_contiguous);
  out.b = operand("B", problem.n, problem.b_k_contiguous);
  out.c_element_bytes = partials > 1 ? partial_bytes : bytes_of(problem.output);
  out.c_pitch_bytes = problem.n * out.c_element_bytes;
  out.c_slice_bytes = problem.m * out.c_pitch_bytes;
  out.c_batch_bytes = out.c_slice_bytes * partials;
  out.c_base = allocate(partials > 1 ? "partials of C" : "C", static_cast<std::uint64_t>(out.c_batch_bytes) * batch);
  return out;
}

WorkTotals gemm_work(const GemmProblem& problem, std::uint32_t partials) {
  const auto m = static_cast<double>(problem.m) * static_cast<double>(problem.batch);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  WorkTotals work;
  const bool on_fma_pipe = problem.input == DataType::kFp32 || problem.input == DataType::kFp64;
  (on_fma_pipe ? work.fp32_flops : work.tensor_flops) = 2 * m * n * k;
  work.tensor_type = problem.input;
  work.compulsory_read_bytes = (m + n * static_cast<double>(problem.batch)) * k * bytes_of(problem.input);
  work.compulsory_write_bytes = partials > 1 ? m * n * 4.0 * partials : m * n * bytes_of(problem.output);
  return work;
}

TileOrder::TileOrder(std::uint32_t tiles_m, std::uint32_t tiles_n, RasterDirection direction, std::uint32_t group,
                     bool serpentine)
    : tiles_m_(tiles_m),
      tiles_n_(tiles_n),
      direction_(direction),
      group_(std::max(group, 1U)),
      serpentine_(serpentine) {}

TileOrder::Tile TileOrder::at(std::uint64_t index) const {
  const bool along_m = direction_ == RasterDirection::kAlongM;
  const std::uint32_t length = along_m ? tiles_m_ : tiles_n_;
  const std::uint32_t across = along_m ? tiles_n_ : tiles_m_;
  const std::uint64_t band_tiles = std::uint64_t{group_} * length;
  const std::uint64_t band = index / band_tiles;
  const std::uint64_t rest = index % band_tiles;
  const auto first = static_cast<std::uint32_t>(band * group_);
  const std::uint32_t width = std::min(group_, across - first);
  const auto forward = static_cast<std::uint32_t>(rest / width);
  const std::uint32_t step = serpentine_ && band % 2 == 1 ? length - 1 - forward : forward;
  const std::uint32_t lane = first + static_cast<std::uint32_t>(rest % width);
  return along_m ? Tile{step, lane} : Tile{lane, step};
}

}  // namespace strata
