#include "adapters/http/event_hub.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cardhour::http {
namespace {

TEST(EventHub, TellsEverySubscriberTheTopic) {
  EventHub hub;
  std::vector<std::string> heard;
  const auto one = hub.subscribe([&](const std::string& topic) { heard.push_back("1" + topic); });
  const auto two = hub.subscribe([&](const std::string& topic) { heard.push_back("2" + topic); });
  hub.notify("a");
  hub.notify();
  EXPECT_EQ(heard, (std::vector<std::string>{"1a", "2a", "1", "2"}));
}

TEST(EventHub, IsSilentAfterTheSubscriptionEnds) {
  EventHub hub;
  int heard = 0;
  auto subscription = hub.subscribe([&](const std::string&) { ++heard; });
  auto moved = std::move(subscription);
  hub.notify();
  moved = {};
  hub.notify();
  EXPECT_EQ(heard, 1);
}

TEST(EventHub, MayEndBeforeItsSubscriptions) {
  EventHub::Subscription left;
  {
    EventHub hub;
    left = hub.subscribe([](const std::string&) {});
  }
  left = {};
}

}  // namespace
}  // namespace cardhour::http
