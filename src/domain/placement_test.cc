#include "domain/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace cardhour {
namespace {

FreeCard card(const std::string& host, int number, std::optional<int> node) {
  const std::string bus = std::to_string(10 + number);
  return {{"GPU-" + host + "-" + std::to_string(number)}, "0000:" + bus + ":00.0", node};
}

HostSpace host(const std::string& name, int free, int busy = 0) {
  HostSpace space{.host = {name},
                  .cards_total = free + busy,
                  .cards_busy = busy,
                  .disk_free_bytes = 1000,
                  .no_gpu_slots_free = 4};
  for (int i = 0; i < free; ++i) space.free_cards.push_back(card(name, i, std::nullopt));
  return space;
}

std::string chosen_host(const PlacementRequest& request, const std::vector<HostSpace>& hosts) {
  const auto placement = place(request, hosts);
  return placement ? placement->host.text : "";
}

TEST(Place, KeepsWholeHostsFree) {
  EXPECT_EQ(chosen_host({.cards = 1}, {host("h1", 8), host("h2", 3, 5)}), "h2");
  EXPECT_EQ(chosen_host({.cards = 4}, {host("h1", 8), host("h2", 3, 5)}), "h1");
  // As many free cards: the one that is in use already.
  EXPECT_EQ(chosen_host({.cards = 2}, {host("h1", 4), host("h2", 4, 4)}), "h2");
  EXPECT_EQ(chosen_host({.cards = 2}, {host("h2", 4), host("h1", 4)}), "h1");
}

TEST(Place, RefusesWhatDoesNotFit) {
  EXPECT_EQ(chosen_host({.cards = 9}, {host("h1", 8), host("h2", 8)}), "");
  EXPECT_EQ(chosen_host({.cards = 1}, {}), "");
  EXPECT_EQ(chosen_host({.cards = 1, .disk_bytes = 1001}, {host("h1", 8)}), "");
  EXPECT_EQ(chosen_host({.cards = 1, .disk_bytes = 1000}, {host("h1", 8)}), "h1");
}

TEST(Place, GoesWhereTheDisksAre) {
  const std::vector hosts = {host("h1", 8), host("h2", 1, 7)};
  EXPECT_EQ(chosen_host({.cards = 1, .only_host = HostId{"h1"}}, hosts), "h1");
  EXPECT_EQ(chosen_host({.cards = 2, .only_host = HostId{"h2"}}, hosts), "");
  EXPECT_EQ(chosen_host({.cards = 1, .only_host = HostId{"h3"}}, hosts), "");
}

TEST(Place, SpreadsRunsWithoutCards) {
  HostSpace full = host("h1", 8);
  full.no_gpu_slots_free = 0;
  HostSpace emptier = host("h3", 0);
  emptier.no_gpu_slots_free = 5;
  EXPECT_EQ(chosen_host({}, {full, host("h2", 0), emptier}), "h3");
  EXPECT_EQ(chosen_host({}, {full}), "");
  EXPECT_TRUE(place({}, {host("h2", 8)})->cards.empty());
}

TEST(Place, KeepsToOneNumaNodeWhereOneHoldsThemAll) {
  HostSpace space = host("h1", 0);
  space.free_cards = {card("h1", 0, 0), card("h1", 1, 0), card("h1", 2, 0), card("h1", 3, 1),
                      card("h1", 4, 1)};
  // Two fit on node 1 exactly, three on node 0 only; four take all of node 0 and one more.
  EXPECT_EQ(place({.cards = 2}, {space})->cards, (std::vector<CardId>{{"GPU-h1-3"}, {"GPU-h1-4"}}));
  EXPECT_EQ(place({.cards = 3}, {space})->cards,
            (std::vector<CardId>{{"GPU-h1-0"}, {"GPU-h1-1"}, {"GPU-h1-2"}}));
  EXPECT_EQ(place({.cards = 4}, {space})->cards,
            (std::vector<CardId>{{"GPU-h1-0"}, {"GPU-h1-1"}, {"GPU-h1-2"}, {"GPU-h1-3"}}));
}

std::vector<HostSpace> any_hosts() {
  std::vector<HostSpace> hosts;
  const int count = *rc::gen::inRange(0, 5);
  for (int h = 0; h < count; ++h) {
    const std::string name = "h" + std::to_string(h);
    HostSpace space = host(name, 0, *rc::gen::inRange(0, 9));
    const int free = *rc::gen::inRange(0, 9);
    for (int i = 0; i < free; ++i)
      space.free_cards.push_back(card(name, i, *rc::gen::inRange(0, 3)));
    space.disk_free_bytes = *rc::gen::inRange(0, 20);
    space.no_gpu_slots_free = *rc::gen::inRange(0, 3);
    hosts.push_back(std::move(space));
  }
  return hosts;
}

PlacementRequest any_request() {
  PlacementRequest request{.cards = *rc::gen::inRange(0, 9),
                           .disk_bytes = *rc::gen::inRange(0, 20)};
  if (*rc::gen::arbitrary<bool>()) {
    request.only_host = HostId{"h" + std::to_string(*rc::gen::inRange(0, 5))};
  }
  return request;
}

bool fits(const PlacementRequest& request, const HostSpace& space) {
  return (!request.only_host || *request.only_host == space.host) &&
         space.disk_free_bytes >= request.disk_bytes &&
         (request.cards == 0 ? space.no_gpu_slots_free > 0
                             : static_cast<int>(space.free_cards.size()) >= request.cards);
}

RC_GTEST_PROP(Place, GivesExactlyTheCardsAskedForOnOneHost, ()) {
  const auto hosts = any_hosts();
  const PlacementRequest request = any_request();
  const auto placement = place(request, hosts);
  const auto some_fits = [&](const HostSpace& space) { return fits(request, space); };
  RC_ASSERT(placement.has_value() == std::ranges::any_of(hosts, some_fits));
  if (!placement) return;

  const auto space = std::ranges::find(hosts, placement->host, &HostSpace::host);
  RC_ASSERT(space != hosts.end() && fits(request, *space));
  std::set<CardId> free;
  for (const FreeCard& one : space->free_cards) free.insert(one.uuid);
  const std::set<CardId> given(placement->cards.begin(), placement->cards.end());
  RC_ASSERT(static_cast<int>(placement->cards.size()) == request.cards);
  RC_ASSERT(given.size() == placement->cards.size());
  RC_ASSERT(std::ranges::includes(free, given));
}

RC_GTEST_PROP(Place, LeavesNoHostWithFewerFreeCardsUnused, ()) {
  const auto hosts = any_hosts();
  const PlacementRequest request{.cards = *rc::gen::inRange(1, 5)};
  const auto placement = place(request, hosts);
  if (!placement) return;
  const auto space = std::ranges::find(hosts, placement->host, &HostSpace::host);
  for (const HostSpace& other : hosts) {
    if (!fits(request, other)) continue;
    RC_ASSERT(space->free_cards.size() <= other.free_cards.size());
  }
}

RC_GTEST_PROP(Place, DoesNotDependOnTheOrderOfItsInput, ()) {
  auto hosts = any_hosts();
  const PlacementRequest request = any_request();
  const auto first = place(request, hosts);
  std::ranges::reverse(hosts);
  for (HostSpace& space : hosts) std::ranges::reverse(space.free_cards);
  const auto second = place(request, hosts);
  RC_ASSERT(first.has_value() == second.has_value());
  if (!first) return;
  RC_ASSERT(first->host == second->host);
  RC_ASSERT(first->cards == second->cards);
}

}  // namespace
}  // namespace cardhour
