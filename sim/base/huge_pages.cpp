#include "sim/base/huge_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace strata {

#ifdef __GLIBC__
namespace {
/// By which the heap grows, in address space alone: pages are taken when they are first touched.
constexpr int kGrowth = 1 << 30;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
}  // namespace

void prefer_huge_pages() noexcept {
  mallopt(M_ARENA_MAX, 1);        // worker threads share the heap: a simulation hardly allocates once it runs
  mallopt(M_MMAP_MAX, 0);         // large blocks too
  mallopt(M_TRIM_THRESHOLD, -1);  // a launch finds the pages that the one before has left
  mallopt(M_TOP_PAD, kGrowth);
  void* grown = std::malloc(kHugePage);
  if (grown == nullptr) {
    return;
  }
  const auto begin = (reinterpret_cast<std::uintptr_t>(grown) + kHugePage - 1) / kHugePage * kHugePage;
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  if (end > begin && end - begin >= kHugePage) {  // otherwise the heap could not grow and lies elsewhere
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
  }
  std::free(grown);
}
#else
void prefer_huge_pages() noexcept {}
#endif

}  // namespace strata
