// The attention rungs of the ladder: softmax(Q K^T / sqrt(d)) V, from a GEMM-softmax-GEMM through HBM to TMA and wgmma.
#pragma once

#include "../harness/kernel.hpp"

namespace ladder {

/// Adds every attention kernel, in the order of the ladder.
void add_attention(Catalogue& catalogue);

// One function for each rung; each lives beside its kernels.
void add_unfused_attention(Catalogue& catalogue);
void add_naive_attention(Catalogue& catalogue);
void add_tiled_attention(Catalogue& catalogue);
void add_flash_simt_attention(Catalogue& catalogue);
void add_flash_mma_attention(Catalogue& catalogue);
void add_flash_wgmma_attention(Catalogue& catalogue);
void add_decode_attention(Catalogue& catalogue);

}  // namespace ladder
