// Times work with events: after warm-up, with the L2 flushed before every repetition.
#pragma once

#include <cuda_runtime.h>

#include <functional>

namespace ladder {

/// @param reset  runs before each repetition, outside the timed part; may be empty.
/// @return median microseconds of `work`, its launches queued behind a flush so that the host's launch cost is hidden.
[[nodiscard]] double median_us(const std::function<void(cudaStream_t)>& reset,
                               const std::function<void(cudaStream_t)>& work);

}  // namespace ladder
