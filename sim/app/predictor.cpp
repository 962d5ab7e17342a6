#include "sim/app/predictor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <numeric>

#include "models/hw/sm/occupancy.hpp"
#include "models/hw/system/simulator.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/workers.hpp"
#include "sim/base/error.hpp"
#include "sim/base/shortened.hpp"

namespace strata::app {

namespace {

/// Beyond this many distinct launches, or bytes of their text, the memory is emptied: a million-row file must not grow
/// without bound.
constexpr std::size_t kMaxKnown = std::size_t{1} << 16;
constexpr std::size_t kMaxKnownBytes = std::size_t{64} << 20;

std::string dims(const std::optional<Dim3>& d) { return d ? fmt::format("{}x{}x{}", d->x, d->y, d->z) : std::string(); }

std::string number(const std::optional<std::uint32_t>& n) { return n ? std::to_string(*n) : std::string(); }

/// Everything that a prediction may depend on; case and seq only name a row.
std::string key_of(const LaunchJob& job) {
  const LaunchRow& r = job.row;
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", r.op, r.dtype, r.shape, r.kernel,
                     dims(r.grid), dims(r.block), dims(r.cluster), number(r.registers), number(r.smem_dynamic),
                     number(r.smem_static), r.producer_kernel, dims(r.producer_grid), r.producer_differs,
                     r.parts_are_summed, job.sm_clock_mhz);
}

/// On one line, and without the middle of the long names in it.
std::string one_line(const std::string& reason) {
  std::string text = shortened(reason);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Rough simulation effort, so that long launches start first and threads end together.
double effort(const LaunchJob& job) {
  double product = 1;
  for (std::size_t at = 0; at < job.row.shape.size();) {
    const std::size_t comma = std::min(job.row.shape.find(',', at), job.row.shape.size());
    const double factor = std::strtod(job.row.shape.substr(at, comma - at).c_str(), nullptr);
    product *= std::max(1.0, factor);
    at = comma + 1;
  }
  return product;
}

/// Where registers or shared memory of a row are not the kernel's own and as many CTAs do not fit an SM with them:
/// which were simulated.
std::string overruled_resources(const GpuConfig& gpu, const LaunchRow& row, const Launch& launch) {
  Launch given = launch;
  given.registers_per_thread = row.registers.value_or(launch.registers_per_thread);
  if (row.smem_dynamic) {
    given.smem_dynamic_bytes = *row.smem_dynamic;
    given.smem_static_bytes = row.smem_static.value_or(0);
  }
  const auto fit = [&gpu](const Launch& l) -> std::uint32_t {
    try {
      return occupancy(gpu, l).ctas;
    } catch (const InputError&) {
      return 0;  // not even one
    }
  };
  const std::uint32_t own = fit(launch);
  const std::uint32_t others = fit(given);
  if (own == others) return {};
  const auto words = [](const Launch& l) {
    return fmt::format("{} registers a thread and {} B of shared memory", l.registers_per_thread,
                       l.smem_dynamic_bytes + l.smem_static_bytes);
  };
  return fmt::format("{}, of which an SM holds {} CTAs; the kernel's own {} are simulated, of which it holds {}",
                     words(given), others, words(launch), own);
}

}  // namespace

Prediction predict_launch(const GpuConfig& gpu, const LaunchJob& job, bool exact, const std::function<void()>& alive) {
  const auto start = std::chrono::steady_clock::now();
  Prediction out;
  try {
    LaunchRow row = job.row;
    row.case_name.clear();  // a name is no hint: equal launches get equal answers
    row.seq.clear();
    const BuiltKernel kernel = resolve_launch(row, target_facts(gpu));
    SimulationOptions options;
    options.sm_clock_mhz = std::min(job.sm_clock_mhz, static_cast<double>(gpu.clocks.sm_max_mhz));
    options.sample = !exact;
    if (alive) options.progress = [&alive](double /*done_share*/, double /*sm_cycles*/) { alive(); };
    out.warning = kernel.warning;
    if (out.warning.empty()) out.warning = overruled_resources(gpu, row, kernel.source->launch());
    out.ignored_words = kernel.ignored_words;
    out.result = simulate(gpu, *kernel.source, options);
    out.family = family_of(row.kernel);
    out.ok = true;
  } catch (const UnsupportedError& e) {
    out.reason = e.what();
  } catch (const InputError& e) {
    out.reason = e.what();
  } catch (const StalledError& e) {
    out.reason = fmt::format("stalled: {}", e.what());
  } catch (const std::bad_alloc&) {
    out.reason = "the host ran out of memory";
  } catch (const std::exception& e) {
    out.reason = fmt::format("model bug: {}", e.what());
    out.model_bug = true;
  }
  out.reason = one_line(out.reason);
  out.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

LaunchPredictor::LaunchPredictor(GpuConfig gpu, int threads, bool exact)
    : gpu_(std::move(gpu)), threads_(threads), exact_(exact) {}

std::vector<std::shared_ptr<const Prediction>> LaunchPredictor::predict(std::span<const LaunchJob> jobs) {
  if (known_.size() > kMaxKnown || known_bytes_ > kMaxKnownBytes) {
    known_.clear();
    known_bytes_ = 0;
  }
  std::vector<std::shared_ptr<const Prediction>*> places;  // in known_, whose elements stay where they are
  places.reserve(jobs.size());
  std::vector<std::size_t> fresh;  // first job of each launch not yet known
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto [at, is_new] = known_.try_emplace(key_of(jobs[i]), nullptr);
    places.push_back(&at->second);
    if (is_new) {
      fresh.push_back(i);
      known_bytes_ += at->first.size();
    }
  }
  std::stable_sort(fresh.begin(), fresh.end(),
                   [&](std::size_t a, std::size_t b) { return effort(jobs[a]) > effort(jobs[b]); });

  std::vector<std::shared_ptr<const Prediction>> answers(fresh.size());
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{done_};
  const auto show = [&] {
    if (progress_) progress_(done);
  };
  const auto worker = [&] {
    for (std::size_t i = next.fetch_add(1); i < fresh.size(); i = next.fetch_add(1)) {
      answers[i] = std::make_shared<const Prediction>(predict_launch(gpu_, jobs[fresh[i]], exact_, show));
      ++done;
      show();
    }
  };
  run_workers(threads_, worker);
  done_ = done;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    *places[fresh[i]] = answers[i];
  }
  std::vector<std::shared_ptr<const Prediction>> out;
  out.reserve(jobs.size());
  for (const auto* place : places) {
    out.push_back(*place);
  }
  return out;
}

}  // namespace strata::app
