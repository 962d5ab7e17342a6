#include "models/hw/noc/fair_port.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace strata;

namespace {

FairQueues::Reply reply(std::uint32_t chunk, std::uint32_t bytes, bool merged = false) {
  return {0, chunk, 0, 0, bytes, merged};
}

std::vector<std::uint32_t> drain(FairQueues& queues) {
  std::vector<std::uint32_t> order;
  while (!queues.empty()) order.push_back(queues.pop().chunk);
  return order;
}

}  // namespace

TEST_CASE("fair queues: senders that wait get equal bytes, whatever they have queued", "[noc]") {
  FairQueues queues(3);
  for (std::uint32_t i = 0; i < 4; ++i) queues.push(0, reply(i, 128));
  queues.push(1, reply(10, 128));
  queues.push(2, reply(20, 256));
  queues.push(2, reply(21, 128));
  // Level at first; then sender 2, which has had twice as much, waits for one more turn of sender 0.
  CHECK(drain(queues) == std::vector<std::uint32_t>{0, 10, 20, 1, 2, 21, 3});
}

TEST_CASE("fair queues: a sender that was idle is not owed the past", "[noc]") {
  FairQueues queues(2);
  for (std::uint32_t i = 0; i < 10; ++i) queues.push(0, reply(i, 128));
  for (int i = 0; i < 8; ++i) static_cast<void>(queues.pop());
  queues.push(1, reply(20, 128));
  queues.push(1, reply(21, 128));
  queues.push(1, reply(22, 128));
  CHECK(drain(queues) == std::vector<std::uint32_t>{20, 8, 21, 9, 22});
}

TEST_CASE("fair queues: merged replies take a turn and no bytes", "[noc]") {
  FairQueues queues(2);
  queues.push(0, reply(0, 128, true));
  queues.push(0, reply(1, 128));
  queues.push(1, reply(10, 128));
  CHECK(drain(queues) == std::vector<std::uint32_t>{0, 1, 10});
}
