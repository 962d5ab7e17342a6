// The one argument of every attention kernel.
#pragma once

#include <cuda_runtime.h>

namespace ladder {

struct AttentionArguments {
  const void* q;     ///< [batch, heads, q_len, d]
  const void* k;     ///< [batch, kv_heads, kv_len, d]
  const void* v;     ///< like k
  void* o;           ///< like q
  float* workspace;  ///< unfused: scores [batch * heads, q_len, score_pitch]; decode: partial outputs [row, split, d]
  float2* states;    ///< decode: running maximum and sum of each row and split
  float scale_log2;  ///< log2(e) / sqrt(d): scores are kept in the base-2 domain
  int heads, kv_heads, q_len, kv_len;
  int score_pitch;  ///< floats from one row of scores to the next, a multiple of 4
  int splits;       ///< decode: pieces that a row of keys is cut into
};

}  // namespace ladder
