#include "sim/app/repeated_rows.hpp"

#include <fmt/format.h>

#include <functional>

namespace strata::app {

void RepeatedRows::see(const std::string& case_name, const std::string& seq) {
  constexpr std::size_t kMostRows = std::size_t{1} << 20;
  if (case_name.empty() || seq.empty()) {
    return;
  }
  const std::uint64_t hash = std::hash<std::string>{}(seq + '\n' + case_name);
  const bool repeats = seen_.size() < kMostRows ? !seen_.insert(hash).second : seen_.contains(hash);
  if (repeats && repeated_++ == 0) {
    first_ = fmt::format("case '{}', seq '{}'", case_name, seq);
  }
}

std::string RepeatedRows::text() const {
  return repeated_ == 0
             ? std::string()
             : (repeated_ == 1 ? fmt::format("1 row repeats the case and seq of an earlier one: {}", first_)
                               : fmt::format("{} rows repeat the case and seq of an earlier one; the first: {}",
                                             repeated_, first_));
}

}  // namespace strata::app
