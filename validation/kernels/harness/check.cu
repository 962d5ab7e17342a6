#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "../../microbench/bench.cuh"
#include "check.hpp"

namespace ladder {

namespace {

constexpr double kMultiplyAdds = 1.5e8;  // of all sampled elements of one output: a tenth of a second on 16 cores
constexpr std::size_t kSampledCols = 192;

/// `wanted` of 0..count-1 in rising order, 0 and count-1 among them; all when there are no more.
std::vector<std::size_t> sample(std::size_t count, std::size_t wanted, std::mt19937_64& random) {
  std::vector<std::size_t> chosen;
  if (wanted >= count) {
    chosen.resize(count);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }
  chosen = {0, count - 1};
  for (std::size_t i = 2; i < wanted; ++i) chosen.push_back(random() % count);
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

template <class F>
void in_threads(std::size_t count, F f) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  const unsigned n = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned t = 0; t < n; ++t)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) f(i);
    });
  for (std::thread& thread : threads) thread.join();
}

void fail(Verdict& verdict, const std::string& failure) {
  if (verdict.passed) verdict.failure = failure;
  verdict.passed = false;
}

void check_written(const Output& output, std::size_t pitch, const std::vector<unsigned char>& raw, Verdict& verdict) {
  std::atomic<std::size_t> bad{0}, first{~std::size_t{0}};
  in_threads(output.rows, [&](std::size_t row) {
    for (std::size_t col = 0; col < output.cols; ++col)
      if (output.tensor->poisoned(raw, row * pitch + col)) {
        ++bad;
        first = std::min(first.load(), row * output.cols + col);
      }
  });
  if (bad != 0)
    fail(verdict, std::to_string(bad) + " elements not written or NaN, one at row " +
                      std::to_string(first / output.cols) + " column " + std::to_string(first % output.cols));
  if (!output.tensor->guard_intact(raw)) fail(verdict, "written behind the output's end");
}

struct RowError {
  double error = 0, found = 0, expected = 0;
  std::size_t row = 0, col = 0;
};

RowError compare_row(const Output& output, std::size_t pitch, const std::vector<unsigned char>& raw, std::size_t row,
                     const std::vector<std::size_t>& cols) {
  std::vector<double> expected(cols.size());
  output.reference(row, cols, expected.data());
  double largest = 1e-30;
  for (const double value : expected) largest = std::max(largest, std::fabs(value));
  RowError worst;
  for (std::size_t i = 0; i < cols.size(); ++i) {
    const double found = output.tensor->decode(raw, row * pitch + cols[i]);
    double error = std::fabs(found - expected[i]) / largest;
    if (!std::isfinite(error)) error = 1e30;
    if (error >= worst.error) worst = {error, found, expected[i], row, cols[i]};
  }
  return worst;
}

void compare(const Output& output, Verdict& verdict) {
  const std::size_t pitch = output.pitch == 0 ? output.cols : output.pitch;
  const std::vector<unsigned char> raw = output.tensor->read();
  check_written(output, pitch, raw, verdict);

  std::mt19937_64 random(std::random_device{}());
  const double whole = double(output.rows) * (output.cost_per_row + double(output.cols) * output.cost_per_element);
  const bool in_full = whole <= kMultiplyAdds;
  const auto cols = sample(output.cols, in_full ? output.cols : kSampledCols, random);
  const double row_cost = output.cost_per_row + double(cols.size()) * output.cost_per_element;
  const auto rows =
      sample(output.rows, in_full ? output.rows : std::max<std::size_t>(2, kMultiplyAdds / row_cost), random);

  std::vector<RowError> errors(rows.size());
  in_threads(rows.size(), [&](std::size_t i) { errors[i] = compare_row(output, pitch, raw, rows[i], cols); });
  const RowError worst =
      *std::max_element(errors.begin(), errors.end(), [](const auto& a, const auto& b) { return a.error < b.error; });
  const double allowed = output.tolerance > 0 ? output.tolerance : type_tolerance(output.tensor->type());
  if (worst.error >= verdict.worst) {
    verdict.worst = worst.error;
    verdict.allowed = allowed;
  }
  if (worst.error > allowed)
    fail(verdict, "row " + std::to_string(worst.row) + " column " + std::to_string(worst.col) + ": found " +
                      std::to_string(worst.found) + ", expected " + std::to_string(worst.expected));
}

}  // namespace

Verdict check(Problem& problem) {
  for (const Output& output : problem.outputs) output.tensor->poison();
  if (problem.reset) problem.reset(nullptr);
  problem.plan.run(nullptr);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  Verdict verdict;
  for (const Output& output : problem.outputs) compare(output, verdict);
  return verdict;
}

}  // namespace ladder
