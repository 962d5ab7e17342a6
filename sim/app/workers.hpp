/// Threads that take work from a common list.
#pragma once

#include <functional>

namespace strata::app {

/// Runs `worker` on up to `jobs` threads at once, never on more than this process may use cores, and returns when each
/// has returned. A worker takes work until there is none left: how many run never changes what is done.
void run_workers(int jobs, const std::function<void()>& worker);

}  // namespace strata::app
