#include "sim/app/repeated_rows.hpp"

#include <fmt/format.h>

namespace strata::app {

void RepeatedRows::see(const std::string& case_name, const std::string& seq) {
  if (case_name != case_) {
    case_ = case_name;
    seqs_.clear();
  }
  if (!case_name.empty() && !seq.empty() && !seqs_.insert(seq).second && repeated_++ == 0) {
    first_ = fmt::format("case '{}', seq '{}'", case_name, seq);
  }
}

std::string RepeatedRows::text() const {
  return repeated_ == 0
             ? std::string()
             : fmt::format("{} rows repeat the case and seq of an earlier one; the first: {}", repeated_, first_);
}

}  // namespace strata::app
