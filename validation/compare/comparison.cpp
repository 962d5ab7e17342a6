#include "validation/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace strata {

namespace {

constexpr double kHardExcess = 1.05;
constexpr double kBriefUs = 20;

using Filter = std::function<bool(const ComparedRow&)>;

GroupScore score_group(const std::vector<ComparedRow>& rows, std::string name, const Filter& wanted) {
  GroupScore group;
  group.name = std::move(name);
  for (const ComparedRow& row : rows) {
    group.rows += row.supported && wanted(row) ? 1U : 0U;
  }
  for (std::size_t q = 0; q < kNumQuantities; ++q) {
    for (std::size_t p = 0; p < kNumPredictors; ++p) {
      std::vector<double> errors;
      for (const ComparedRow& row : rows) {
        if (row.supported && wanted(row)) {
          if (const auto error = row.error(static_cast<Quantity>(q), static_cast<Predictor>(p))) {
            errors.push_back(*error);
          }
        }
      }
      group.stats[q][p] = error_stats(errors);
    }
  }
  return group;
}

SplitScore score_split(const std::vector<ComparedRow>& rows, const std::string& split) {
  const auto in_split = [&split](const ComparedRow& row) { return split == "all" || row.split == split; };
  SplitScore out;
  out.name = split;
  std::set<std::string> families;
  for (const ComparedRow& row : rows) {
    if (!in_split(row)) {
      continue;
    }
    if (row.supported) {
      families.insert(row.family);
    } else {
      ++out.unsupported;
    }
  }
  for (const std::string& family : families) {
    out.families.push_back(
        score_group(rows, family, [&](const ComparedRow& row) { return in_split(row) && row.family == family; }));
  }
  out.overall = score_group(rows, "overall", in_split);
  out.brief = score_group(rows, "under 20 us", [&](const ComparedRow& r) { return in_split(r) && r.brief(); });
  out.not_brief = score_group(rows, "20 us and over", [&](const ComparedRow& r) { return in_split(r) && !r.brief(); });
  out.hard = score_group(rows, "hard rows", [&](const ComparedRow& r) { return in_split(r) && r.hard(); });
  return out;
}

}  // namespace

const char* to_string(Predictor p) {
  constexpr std::array<const char*, kNumPredictors> kNames{"simulator", "roofline", "bound", "compulsory"};
  return kNames[static_cast<std::size_t>(p)];
}

std::optional<double> ComparedRow::error(Quantity q, Predictor p) const {
  const auto& truth = measured[q];
  const auto& guess = predicted[static_cast<std::size_t>(p)][q];
  if (!truth || !guess || *truth <= info_of(q).floor) {
    return std::nullopt;
  }
  return (*guess - *truth) / *truth;
}

bool ComparedRow::hard() const {
  const auto& reads = measured[Quantity::kDramReadBytes];
  const auto& compulsory = predicted[static_cast<std::size_t>(Predictor::kCompulsory)][Quantity::kDramReadBytes];
  const double floor = info_of(Quantity::kDramReadBytes).floor;
  return reads && compulsory && *reads > floor && *reads > kHardExcess * *compulsory;
}

bool ComparedRow::brief() const {
  const auto& us = measured[Quantity::kDurationUs];
  return us && *us < kBriefUs;
}

void score(Comparison& comparison) {
  std::set<std::string> names;
  for (const ComparedRow& row : comparison.rows) {
    if (!row.split.empty()) {
      names.insert(row.split);
    }
    if (!row.supported) {
      ++comparison.causes[row.reason];
    }
  }
  comparison.splits.clear();
  comparison.splits.push_back(score_split(comparison.rows, "all"));
  for (const std::string& name : names) {
    comparison.splits.push_back(score_split(comparison.rows, name));
  }
}

}  // namespace strata
