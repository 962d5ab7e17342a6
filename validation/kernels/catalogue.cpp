#include "catalogue.hpp"

#include "block/block.hpp"
#include "gemm/gemm.hpp"
#if __has_include("attention/attention.hpp")
#include "attention/attention.hpp"
#define STRATA_HAS_ATTENTION
#endif

namespace ladder {

const Catalogue& catalogue() {
  static const Catalogue all = [] {
    Catalogue c;
    add_gemm_naive(c);
    add_gemm_tiled(c);
    add_gemm_simt(c);
    add_gemm_wmma(c);
    add_gemm_mma(c);
    add_gemm_splitk(c);
    add_gemm_grouped(c);
    add_gemm_wgmma(c);
    add_gemv(c);
    add_rowwise(c);
    add_elementwise(c);
    add_rotary(c);
    add_transpose(c);
#ifdef STRATA_HAS_ATTENTION
    add_attention(c);
#endif
    return c;
  }();
  return all;
}

}  // namespace ladder
