#include "validation/calibrate/fit.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/error.hpp"

using namespace strata;

TEST_CASE("fit: finds the least of a valley, inside its bounds", "[validation][calibrate]") {
  FitOptions o;
  o.low = 0;
  o.high = 100;
  o.start = 20;
  o.precision = 0.01;
  o.evaluations = 100;
  const FitOutcome inside = fit_parameter(o, [](double x) { return std::abs(x - 61.5); });
  CHECK(inside.value == Approx(61.5).margin(0.05));
  CHECK(inside.objective_before == Approx(41.5));
  CHECK(inside.evaluations <= 100);
  const FitOutcome edge = fit_parameter(o, [](double x) { return -x; });
  CHECK(edge.value == Approx(100).margin(0.05));
}

TEST_CASE("fit: whole numbers are tried once each, and the same call gives the same answer",
          "[validation][calibrate]") {
  FitOptions o;
  o.low = 1;
  o.high = 64;
  o.start = 8;
  o.whole = true;
  int calls = 0;
  const auto objective = [&](double x) {
    ++calls;
    CHECK(x == std::round(x));
    return (x - 33) * (x - 33);
  };
  const FitOutcome first = fit_parameter(o, objective);
  CHECK(first.value == 33);
  CHECK(calls == first.evaluations);
  const FitOutcome second = fit_parameter(o, objective);
  CHECK(second.value == first.value);
  CHECK(second.evaluations == first.evaluations);
}

TEST_CASE("fit: never answers worse than the start, and refuses a start outside", "[validation][calibrate]") {
  FitOptions o;
  o.low = 0;
  o.high = 10;
  o.start = 5;
  const FitOutcome flat = fit_parameter(o, [](double x) { return x == 5 ? 0.0 : 1.0; });
  CHECK(flat.value == 5);
  CHECK(flat.objective_after == 0);
  o.start = 11;
  CHECK_THROWS_AS(fit_parameter(o, [](double x) { return x; }), InputError);
}
