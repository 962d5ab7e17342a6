// The matrix products of the ladder, one function per rung.
#pragma once

#include "../harness/kernel.hpp"

namespace ladder {

void add_gemm_naive(Catalogue& catalogue);
void add_gemm_tiled(Catalogue& catalogue);
void add_gemm_simt(Catalogue& catalogue);
void add_gemm_wmma(Catalogue& catalogue);
void add_gemm_mma(Catalogue& catalogue);
void add_gemm_splitk(Catalogue& catalogue);
void add_gemm_grouped(Catalogue& catalogue);
void add_gemm_wgmma(Catalogue& catalogue);
void add_gemv(Catalogue& catalogue);

}  // namespace ladder
