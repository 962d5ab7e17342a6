#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "validation/compare/report.hpp"

namespace strata {

namespace {

using Json = nlohmann::ordered_json;

Json stats_json(const ErrorStats& s) {
  if (s.n == 0) {
    return Json{{"n", 0}};
  }
  return Json{{"n", s.n},
              {"mean_abs", s.mean_abs},
              {"median_abs", s.median_abs},
              {"p90_abs", s.p90_abs},
              {"max_abs", s.max_abs},
              {"bias", s.bias}};
}

Json group_json(const GroupScore& group) {
  Json out{{"name", group.name}, {"launches", group.rows}};
  for (std::size_t q = 0; q < kNumQuantities; ++q) {
    Json by_predictor;
    for (std::size_t p = 0; p < kNumPredictors; ++p) {
      const ErrorStats& s = group.stats[q][p];
      if (s.n > 0 || p == 0) {
        by_predictor[to_string(static_cast<Predictor>(p))] = stats_json(s);
      }
    }
    out["errors"][kQuantityInfo[q].column] = by_predictor;
  }
  return out;
}

Json values_json(const QuantityValues& values) {
  Json out = Json::object();
  for (std::size_t q = 0; q < kNumQuantities; ++q) {
    if (values.value[q]) {
      out[kQuantityInfo[q].column] = *values.value[q];
    }
  }
  return out;
}

Json row_json(const ComparedRow& row) {
  Json out{{"case", row.case_name}, {"seq", row.seq},     {"kernel", row.kernel},
           {"family", row.family},  {"split", row.split}, {"status", row.supported ? "ok" : "unsupported"}};
  if (!row.supported) {
    out["reason"] = row.reason;
    return out;
  }
  out["bottleneck"] = row.bottleneck;
  out["hard"] = row.hard();
  out["measured"] = values_json(row.measured);
  for (std::size_t p = 0; p < kNumPredictors; ++p) {
    out[to_string(static_cast<Predictor>(p))] = values_json(row.predicted[p]);
  }
  return out;
}

/// One row at a time: as one document they would take some ten times their text.
void append_rows(const std::vector<ComparedRow>& rows, std::string& text) {
  for (const ComparedRow& row : rows) {
    text += &row == rows.data() ? "\n  " : ",\n  ";
    for (const char c : row_json(row).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
      text += c;
      if (c == '\n') text += "  ";
    }
  }
  if (!rows.empty()) text += "\n ";
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json out{{"schema", "strata.validation/1"},
           {"gpu", comparison.gpu},
           {"data", comparison.data},
           {"launches", comparison.rows.size()},
           {"other_gpu", comparison.other_gpu}};
  for (std::size_t q = 0; q < kNumQuantities; ++q) {
    out["floors"][kQuantityInfo[q].column] = kQuantityInfo[q].floor;
  }
  for (const SplitScore& split : comparison.splits) {
    Json one{{"split", split.name}, {"unsupported", split.unsupported}, {"families", Json::array()}};
    for (const GroupScore& family : split.families) {
      one["families"].push_back(group_json(family));
    }
    one["overall"] = group_json(split.overall);
    one["hard"] = group_json(split.hard);
    one["under_20_us"] = group_json(split.brief);
    one["20_us_and_over"] = group_json(split.not_brief);
    out["splits"].push_back(one);
  }
  out["unsupported"] = Json::object();
  for (const auto& [reason, count] : comparison.causes) {
    out["unsupported"][reason] = count;
  }
  std::string text = out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize(text.size() - std::string_view("\n}").size());
  text += ",\n \"rows\": [";
  append_rows(comparison.rows, text);
  return text + "]\n}\n";
}

}  // namespace strata
