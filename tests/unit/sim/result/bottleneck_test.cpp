#include "sim/result/bottleneck.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>

using namespace strata;

namespace {

struct Share {
  StackReason reason;
  double share;
};

Result with(const Utilization& u, std::initializer_list<Share> stack) {
  Result r;
  r.sm_cycles = 1000;
  r.utilization = u;
  for (const Share& s : stack) {
    r.cycle_stack[static_cast<std::size_t>(s.reason)] = s.share * 1000;
  }
  decide_bottleneck(r);
  return r;
}

}  // namespace

TEST_CASE("Bottleneck: every value has its own word", "[bottleneck]") {
  std::set<std::string> words;
  for (int i = 0; i < static_cast<int>(Bottleneck::kCount); ++i) {
    words.insert(to_string(static_cast<Bottleneck>(i)));
  }
  CHECK(words.size() == static_cast<std::size_t>(Bottleneck::kCount));
  CHECK(words.contains("shared_memory"));
}

TEST_CASE("Bottleneck: a full unit is named, with its busy share", "[bottleneck]") {
  const Result r = with({.hbm = 0.91}, {{StackReason::kHbm, 0.8}, {StackReason::kIssue, 0.2}});
  CHECK(r.bottleneck == Bottleneck::kHbm);
  CHECK(r.bottleneck_reason.find("91 %") != std::string::npos);
  CHECK(share_of(r, r.bottleneck) == 0.91);
}

TEST_CASE("Bottleneck: units equally busy are told apart by what SMs wait for", "[bottleneck]") {
  CHECK(with({.tensor = 0.80, .shared_memory = 0.82}, {{StackReason::kTensor, 0.8}, {StackReason::kLaunch, 0.2}})
            .bottleneck == Bottleneck::kTensor);
  CHECK(with({.tensor = 0.80, .shared_memory = 0.82}, {{StackReason::kSharedMemory, 0.8}}).bottleneck ==
        Bottleneck::kSharedMemory);
}

TEST_CASE("Bottleneck: a short kernel is limited by its launch", "[bottleneck]") {
  CHECK(with({.hbm = 0.3}, {{StackReason::kLaunch, 0.7}, {StackReason::kHbm, 0.3}}).bottleneck == Bottleneck::kLaunch);
}

TEST_CASE("Bottleneck: a full unit comes before launch time", "[bottleneck]") {
  CHECK(with({.hbm = 0.9}, {{StackReason::kLaunch, 0.62}, {StackReason::kIssue, 0.38}}).bottleneck == Bottleneck::kHbm);
}

TEST_CASE("Bottleneck: launch time does not hide a unit that is full for the rest", "[bottleneck]") {
  CHECK(with({.hbm = 0.5}, {{StackReason::kLaunch, 0.4}, {StackReason::kHbm, 0.6}}).bottleneck == Bottleneck::kHbm);
}

TEST_CASE("Bottleneck: with no unit full, the largest reason to wait is named", "[bottleneck]") {
  CHECK(with({.l2 = 0.2}, {{StackReason::kL2, 0.6}, {StackReason::kLaunch, 0.1}}).bottleneck == Bottleneck::kL2);
  const Result latency =
      with({.issue = 0.1}, {{StackReason::kBarrier, 0.4}, {StackReason::kLatency, 0.3}, {StackReason::kHbm, 0.3}});
  CHECK(latency.bottleneck == Bottleneck::kLatency);
  CHECK_FALSE(latency.bottleneck_reason.empty());
}

TEST_CASE("Bottleneck: an empty result is latency, with a reason", "[bottleneck]") {
  const Result r = with({}, {});
  CHECK(r.bottleneck == Bottleneck::kLatency);
  CHECK(r.bottleneck_reason.find("nan") == std::string::npos);
}
