/// cuBLAS's SASS-level GEMM kernels: ampere_sgemm_128x64_tn, volta_sgemm_32x32_sliced1x4_nn,
/// ampere_bf16_s16816gemm_bf16_128x64_sliced1x2_ldg8_f2f_stages_64x6_tn.
///
/// Name: <maxwell|volta|turing|ampere>_[<C type>_]<operation>gemm_[<type>_]<t1>x<t2>[_sliced1x<slices>][_ldg<elements>]
/// [_f2f][_stages_<kTile>x<stages>]_<nn|nt|tn|tt>, t1 along N and t2 along M (cuBLAS is column-major: the L1 bytes of
/// launches with few rows say so).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/library/families.hpp"
#include "workloads/library/name_words.hpp"
#include "workloads/library/tensor_instruction.hpp"

namespace strata {

struct AmpereGemmName : TileSizes {
  bool simt = false;
  DataType input = DataType::kFp32;
  DataType output = DataType::kFp32;
  bool names_input = false;         ///< the operands' type is in the name
  TensorInstruction instruction;    ///< none with simt
  std::uint32_t slices = 1;         ///< groups of warps along K
  std::uint32_t load_elements = 0;  ///< of one LDG; 0 = not in the name
  std::string layout;
  std::vector<std::string> unknown;
};

/// Throws UnsupportedError that says which part was not understood or is not modelled.
[[nodiscard]] AmpereGemmName parse_ampere_gemm_name(std::string_view canonical);

[[nodiscard]] FamilyParser ampere_gemm_family();

}  // namespace strata
