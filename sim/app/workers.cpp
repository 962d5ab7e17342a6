#include "sim/app/workers.hpp"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace strata::app {

void run_workers(int jobs, const std::function<void()>& worker) {
  const int threads = std::clamp(jobs, 1, tbb::info::default_concurrency());  // TBB warns of more on stderr
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(
        0, threads, [&](int /*thread*/) { worker(); }, tbb::simple_partitioner{});
  });
}

}  // namespace strata::app
