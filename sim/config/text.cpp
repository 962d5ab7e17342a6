#include "sim/config/text.hpp"

#include <algorithm>
#include <cctype>

namespace strata {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    d[i][0] = i;
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    d[0][j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = static_cast<std::size_t>(-1);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

namespace {

/// How far `name` is from a candidate, or from one that lacks its last word, which is often a unit: sm_max for
/// sm_max_mhz.
std::size_t distance_to(std::string_view name, std::string_view candidate) {
  const std::size_t whole = edit_distance(name, candidate);
  const std::size_t unit = candidate.rfind('_');
  return unit == std::string_view::npos ? whole : std::min(whole, edit_distance(name, candidate.substr(0, unit)) + 1);
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  // A name cut to a sane length keeps the quadratic cost away from hostile input.
  const std::string shown = lower_case(name.substr(0, 200));
  for (const std::string& candidate : candidates) {
    if (shown.size() >= 3 && lower_case(candidate).starts_with(shown)) {
      return "; did you mean '" + candidate + "'?";
    }
  }
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = distance_to(shown, lower_case(candidate));
    if (best == nullptr || distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr || best_distance > std::max<std::size_t>(3, best->size() / 2)) {
    return {};
  }
  return "; did you mean '" + *best + "'?";
}

}  // namespace strata
