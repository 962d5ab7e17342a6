#include "sim/app/profile/profiled_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace strata::app {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// "NVIDIA A100-SXM4-80GB" to NVIDIA, A100, SXM4, 80GB, in capitals.
std::vector<std::string> words_of_product(const std::string& product) {
  std::vector<std::string> words(1);
  for (const char c : product) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }
  return words;
}

/// The words of a product that tell GPUs apart. Drivers leave out SXM, and name the memory of some.
struct Product {
  std::string model;   ///< "H100"; empty where there is no such word
  std::string memory;  ///< "80GB"; likewise
  bool pcie = false;
};

Product product_of(const std::string& text) {
  Product out;
  for (const std::string& word : words_of_product(text)) {
    const auto digit = std::find_if(word.begin(), word.end(), is_digit);
    const bool numbered = digit != word.begin() && digit != word.end() && std::all_of(digit, word.end(), is_digit);
    if (word == "PCIE") {
      out.pcie = true;
    } else if (word.size() > 2 && word.ends_with("GB") && is_digit(word.front())) {
      out.memory = word;
    } else if (out.model.empty() && numbered) {
      out.model = word;
    }
  }
  return out;
}

bool same_product(const std::string& profiled, const std::string& configured) {
  const Product a = product_of(profiled);
  const Product b = product_of(configured);
  if (a.model.empty() || b.model.empty()) return true;  // a name that tells nothing
  const bool same_memory = a.memory.empty() || b.memory.empty() || a.memory == b.memory;
  return a.model == b.model && a.pcie == b.pcie && same_memory;
}

std::string capability_of(const std::string& architecture) {
  if (architecture == "ampere") return "8.0";
  if (architecture == "hopper") return "9.0";
  return {};
}

}  // namespace

std::string gpu_difference(const ProfiledGpu& profiled, const GpuConfig& gpu) {
  if (!profiled.name.empty() && !same_product(profiled.name, gpu.chip.product)) {
    return fmt::format("{}, not {}", profiled.name, gpu.chip.product);
  }
  const std::string capability = capability_of(gpu.chip.architecture);
  if (!profiled.compute_capability.empty() && !capability.empty() && profiled.compute_capability != capability) {
    return fmt::format("a GPU of compute capability {}, not {}", profiled.compute_capability, capability);
  }
  if (profiled.sms && *profiled.sms != gpu.num_sms()) {
    return fmt::format("a GPU of {} SMs, not {}", *profiled.sms, gpu.num_sms());
  }
  return {};
}

}  // namespace strata::app
