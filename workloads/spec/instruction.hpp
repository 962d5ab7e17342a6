/// Size of the machine code, which Launch::code_bytes counts.
#pragma once

#include <cstdint>

namespace strata {

inline constexpr std::uint32_t kInstructionBytes = 16;  ///< Volta and later

}  // namespace strata
