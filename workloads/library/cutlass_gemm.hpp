/// CUTLASS 2.x GEMM kernels as cuBLAS ships them:
/// cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align4>.
///
/// Name: cutlass_<arch>_<tensorop|wmma_tensorop|simt>_[<C type>_]<s|h|i><instruction>gemm_[<epilogue>_][<type>_]
/// <t1>x<t2>[_<kTile>x<stages>]_<nn|nt|tn|tt>_align<elements>, with t1 along N and t2 along M (cuBLAS is column-major;
/// recorded grids of 512x50257 and 512x128 outputs say so). Without kTile and stages: 64 bytes of K, two stages, which
/// is what the shared memory of recorded launches holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/library/families.hpp"
#include "workloads/library/name_words.hpp"
#include "workloads/library/tensor_instruction.hpp"

namespace strata {

struct CutlassName : TileSizes {
  std::uint32_t arch = 80;
  bool simt = false;
  DataType input = DataType::kBf16;
  DataType output = DataType::kBf16;
  bool names_input = false;          ///< the operands' type is in the name
  bool names_output = false;         ///< the C type is in the name
  TensorInstruction instruction;     ///< none with simt
  std::string layout;                ///< "tn", ...
  std::uint32_t align = 0;           ///< 0 = not in the name
  std::vector<std::string> unknown;  ///< words of the name that are not understood
};

/// Throws UnsupportedError that says which part was not understood or is not modelled.
[[nodiscard]] CutlassName parse_cutlass_name(std::string_view canonical);

[[nodiscard]] FamilyParser cutlass_gemm_family();

}  // namespace strata
