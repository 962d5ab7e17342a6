/// The columns of predicted.csv. Scripts read them: names and order stay.
#pragma once

#include <string>

#include "sim/app/predictor.hpp"
#include "validation/compare/quantities.hpp"

namespace strata::app {

/// Header line, with its line end.
[[nodiscard]] std::string prediction_csv_header();
/// One line; `case_name` and `seq` are copied from the input row.
[[nodiscard]] std::string prediction_csv_row(const std::string& case_name, const std::string& seq,
                                             const Prediction& prediction);
/// The result's value of every compared quantity.
[[nodiscard]] QuantityValues quantities_of(const Result& result);

}  // namespace strata::app
