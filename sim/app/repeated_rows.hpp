/// Rows of a file of launches that bear the case and seq of an earlier one: legal, but nobody can tell them apart.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace strata::app {

/// Sees the rows in order. Compares a row with those of the same case right before it, so that memory does not grow
/// with the file.
class RepeatedRows {
 public:
  void see(const std::string& case_name, const std::string& seq);
  /// "2 rows repeat ...; the first: ...", or nothing where no row does.
  [[nodiscard]] std::string text() const;

 private:
  std::string case_;
  std::set<std::string> seqs_;  ///< of the rows of `case_`
  std::size_t repeated_ = 0;
  std::string first_;
};

}  // namespace strata::app
