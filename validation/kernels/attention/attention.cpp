#include "attention.hpp"

namespace ladder {

void add_attention(Catalogue& catalogue) {
  add_unfused_attention(catalogue);
  add_naive_attention(catalogue);
  add_tiled_attention(catalogue);
  add_flash_simt_attention(catalogue);
  add_flash_mma_attention(catalogue);
  add_flash_wgmma_attention(catalogue);
  add_decode_attention(catalogue);
}

}  // namespace ladder
