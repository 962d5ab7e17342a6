// The launches of one case, kept as data: the harness runs, times, profiles and describes them.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace ladder {

/// Grid, block, cluster (0 = launched without the attribute) and dynamic shared memory of one launch.
struct Geometry {
  dim3 grid, block;
  std::size_t dynamic_smem_bytes = 0;
  dim3 cluster{0, 0, 0};
};

struct Launch {
  std::string kernel;  // the name that profilers show: the extern "C" name of the __global__ function
  const void* function;
  Geometry geometry;
  std::function<void(cudaStream_t)> start;
  std::string op, shape;  // the cells of this launch's row where they are not the case's; empty = the case's
};

/// Launches in order, on one stream.
class Plan {
 public:
  /// Adds `name<<<geometry>>>(args...)`; arguments are copied now. `name` must be the function's own name.
  template <class... P, class... A>
  void add(const char* name, void (*kernel)(P...), const Geometry& geometry, const A&... args) {
    std::tuple<P...> held{P(args)...};
    auto start = [kernel, geometry, held](cudaStream_t stream) {
      std::apply([&](const P&... a) { start_one(kernel, geometry, stream, a...); }, held);
    };
    const auto* function = reinterpret_cast<const void*>(kernel);
    allow(function, geometry);
    launches_.push_back({name, function, geometry, std::move(start), "", ""});
  }
  /// Gives the launch added last its own cells: it does something else than the case, as the sum of split-K parts does.
  void describe_last(const std::string& op, const std::string& shape) {
    launches_.back().op = op;
    launches_.back().shape = shape;
  }
  void run(cudaStream_t stream) const {
    for (const Launch& launch : launches_) launch.start(stream);
  }
  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }

 private:
  template <class... P>
  static void start_one(void (*kernel)(P...), const Geometry& geometry, cudaStream_t stream, P... args) {
    void* pointers[] = {static_cast<void*>(&args)...};
    launch(reinterpret_cast<const void*>(kernel), geometry, pointers, stream);
  }
  /// Raises the kernel's dynamic shared-memory limit and allows its cluster size.
  static void allow(const void* function, const Geometry& geometry);
  /// Errors: exits with the CUDA error and the place.
  static void launch(const void* function, const Geometry& geometry, void** args, cudaStream_t stream);
  std::vector<Launch> launches_;
};

/// Names a kernel once: STRATA_ADD(plan, strata_x, geometry, args...) for the function strata_x.
#define STRATA_ADD(plan, kernel, ...) (plan).add(#kernel, kernel, __VA_ARGS__)

}  // namespace ladder
