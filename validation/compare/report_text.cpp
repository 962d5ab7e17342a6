#include <fmt/format.h>

#include <algorithm>

#include "validation/compare/report.hpp"

namespace strata {

namespace {

constexpr double kPercent = 100;

std::string mean_of(const ErrorStats& s) {
  return s.n == 0 ? std::string("-") : fmt::format("{:.1f}", kPercent * s.mean_abs);
}

std::string stats_cells(const ErrorStats& s) {
  if (s.n == 0) {
    return fmt::format("{:>5} {:>8} {:>8} {:>8} {:>8} {:>8}", 0, "-", "-", "-", "-", "-");
  }
  return fmt::format("{:>5} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>8}", s.n, kPercent * s.mean_abs,
                     kPercent * s.median_abs, kPercent * s.p90_abs, kPercent * s.max_abs, signed_percent(s.bias, 2));
}

void append_group(std::string& out, const SplitScore& split, const GroupScore& group) {
  if (group.rows == 0) {
    return;
  }
  out += fmt::format("\n{} / {}: {} launches, errors in %\n", split.name, group.name, group.rows);
  out += fmt::format("  {:<24} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8} | {:>9} {:>9} {:>10}\n", "quantity", "n", "mean",
                     "median", "p90", "max", "bias", "roofline", "bound", "compulsory");
  for (std::size_t i = 0; i < kNumQuantities; ++i) {
    const auto q = static_cast<Quantity>(i);
    out += fmt::format("  {:<24} {} | {:>9} {:>9} {:>10}\n", kQuantityInfo[i].column, stats_cells(group.of(q)),
                       mean_of(group.of(q, Predictor::kRoofline)), mean_of(group.of(q, Predictor::kBound)),
                       mean_of(group.of(q, Predictor::kCompulsory)));
  }
}

/// Times that are scored, cycles where there are none.
std::vector<Quantity> time_quantities(const Comparison& comparison) {
  const auto scored = [&](Quantity q) { return comparison.splits.front().overall.of(q).n > 0; };
  std::vector<Quantity> out;
  if (scored(Quantity::kSmCycles) || !scored(Quantity::kDurationUs)) out.push_back(Quantity::kSmCycles);
  if (scored(Quantity::kDurationUs)) out.push_back(Quantity::kDurationUs);
  return out;
}

std::string time_title(Quantity time) {
  return time == Quantity::kSmCycles ? "sm_cycles at a glance" : "durations at a glance";
}

void append_glance(std::string& out, const Comparison& comparison, Quantity time) {
  out += fmt::format("\n{}, errors in %\n", time_title(time));
  out += fmt::format("  {:<12} {:<26} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8} | {:>9} {:>9}\n", "split", "group", "n",
                     "mean", "median", "p90", "max", "bias", "roofline", "bound");
  for (const SplitScore& split : comparison.splits) {
    const auto line = [&](const GroupScore& group) {
      if (group.rows > 0) {
        out += fmt::format("  {:<12} {:<26} {} | {:>9} {:>9}\n", split.name, group.name, stats_cells(group.of(time)),
                           mean_of(group.of(time, Predictor::kRoofline)), mean_of(group.of(time, Predictor::kBound)));
      }
    };
    for (const GroupScore& family : split.families) {
      line(family);
    }
    line(split.brief);
    line(split.not_brief);
    line(split.overall);
  }
}

void append_hbm(std::string& out, const Comparison& comparison) {
  out += "\nHBM at a glance, errors in %\n";
  out += fmt::format("  {:<12} {:<26} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8} | {:>10}\n", "split", "what", "n", "mean",
                     "median", "p90", "max", "bias", "compulsory");
  for (const SplitScore& split : comparison.splits) {
    const auto line = [&](const char* what, const GroupScore& group, Quantity q) {
      out += fmt::format("  {:<12} {:<26} {} | {:>10}\n", split.name, what, stats_cells(group.of(q)),
                         mean_of(group.of(q, Predictor::kCompulsory)));
    };
    line("reads above 8 MB", split.overall, Quantity::kDramReadBytes);
    line("reads of hard rows", split.hard, Quantity::kDramReadBytes);
    line("writes above 32 MB", split.overall, Quantity::kDramWriteBytes);
    if (split.overall.of(Quantity::kDramBytes).n > 0) {
      line("both, where only summed", split.overall, Quantity::kDramBytes);
    }
  }
}

/// A table for every group of every split, with all quantities.
void append_groups(std::string& out, const Comparison& comparison) {
  for (const SplitScore& split : comparison.splits) {
    for (const GroupScore& family : split.families) {
      append_group(out, split, family);
    }
    append_group(out, split, split.hard);
    append_group(out, split, split.brief);
    append_group(out, split, split.overall);
  }
}

std::string error_cell(const std::optional<double>& error) {
  return error ? signed_percent(*error, 1) : std::string("-");
}

std::string value_cell(const std::optional<double>& value, double divisor, int digits) {
  return value ? fmt::format("{:.{}f}", *value / divisor, digits) : std::string("-");
}

}  // namespace

std::string comparison_text(const Comparison& comparison, bool glance_only) {
  std::string out = fmt::format(
      "{} against {}: {} launches, {} supported, {} unsupported\n"
      "error = (simulated - measured) / measured; mean, median, p90 and max of its absolute value; bias is its mean.\n"
      "A row counts where the measured value exceeds the floor (HBM reads 8 MB, writes 32 MB, sectors 100,000,\n"
      "wavefronts and instructions 10,000). Right of the bar: mean errors of simpler models on the same rows.\n",
      comparison.gpu, comparison.data, comparison.rows.size(),
      comparison.rows.size() - comparison.splits.front().unsupported, comparison.splits.front().unsupported);
  if (comparison.other_gpu > 0) {
    out += fmt::format("{} more rows were measured on another GPU and are left out\n", comparison.other_gpu);
  }
  if (!glance_only) {
    std::string titles;
    for (const Quantity time : time_quantities(comparison)) titles += fmt::format("'{}', ", time_title(time));
    out += fmt::format("The last tables, {}and 'HBM at a glance', sum up; --glance prints no others.\n", titles);
    append_groups(out, comparison);
  }
  if (!comparison.causes.empty()) {
    out += "\nunsupported launches by reason\n";
    for (const auto& [reason, count] : comparison.causes) {
      out += fmt::format("  {:>4}  {}\n", count, reason);
    }
  }
  for (const Quantity time : time_quantities(comparison)) {
    append_glance(out, comparison, time);
  }
  append_hbm(out, comparison);
  return out;
}

std::string comparison_rows_text(const Comparison& comparison) {
  std::size_t width = 4;
  for (const ComparedRow& row : comparison.rows) {
    width = std::max(width, row.case_name.size());
  }
  std::string out = fmt::format(
      "{:<{}} {:>3} {:<12} {:<22} {:>11} {:>11} {:>7} {:>8} {:>8} {:>8} {:>9} {:>9} {:>7} {:>8} {:>7}  {}\n", "case",
      width, "seq", "split", "family", "cycles", "simulated", "err %", "roofl. %", "bound %", "time %", "read MB",
      "sim. MB", "err %", "deliv. %", "write %", "bottleneck");
  constexpr double kMega = 1e6;
  for (const ComparedRow& row : comparison.rows) {
    out += fmt::format("{:<{}} {:>3} {:<12} ", row.case_name, width, row.seq, row.split);
    if (!row.supported) {
      out += fmt::format("unsupported: {}\n", row.reason);
      continue;
    }
    const QuantityValues& sim = row.predicted[static_cast<std::size_t>(Predictor::kSimulator)];
    out += fmt::format(
        "{:<22} {:>11} {:>11} {:>7} {:>8} {:>8} {:>8} {:>9} {:>9} {:>7} {:>8} {:>7}  {}\n", row.family,
        value_cell(row.measured[Quantity::kSmCycles], 1, 0), value_cell(sim[Quantity::kSmCycles], 1, 0),
        error_cell(row.error(Quantity::kSmCycles)), error_cell(row.error(Quantity::kSmCycles, Predictor::kRoofline)),
        error_cell(row.error(Quantity::kSmCycles, Predictor::kBound)), error_cell(row.error(Quantity::kDurationUs)),
        value_cell(row.measured[Quantity::kDramReadBytes], kMega, 2),
        value_cell(sim[Quantity::kDramReadBytes], kMega, 2), error_cell(row.error(Quantity::kDramReadBytes)),
        error_cell(row.error(Quantity::kDeliveredSectors)), error_cell(row.error(Quantity::kDramWriteBytes)),
        row.bottleneck);
  }
  return out;
}

}  // namespace strata
