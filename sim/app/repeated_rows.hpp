/// Rows of a file of launches that bear the case and seq of an earlier one: legal, but nobody can tell them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>

namespace strata::app {

/// Sees the rows in order. Compares a row with all before it, up to the first million, so that memory does not grow
/// without bound.
class RepeatedRows {
 public:
  void see(const std::string& case_name, const std::string& seq);
  /// "2 rows repeat ...; the first: ...", or nothing where no row does.
  [[nodiscard]] std::string text() const;

 private:
  std::unordered_set<std::uint64_t> seen_;  ///< hashes of case and seq
  std::size_t repeated_ = 0;
  std::string first_;
};

}  // namespace strata::app
