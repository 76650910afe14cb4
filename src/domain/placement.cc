#include "domain/placement.h"

#include <algorithm>
#include <map>

namespace cardhour {
namespace {

bool fits(const PlacementRequest& request, const HostSpace& host) {
  if (request.only_host && *request.only_host != host.host) return false;
  if (host.disk_free_bytes < request.disk_bytes) return false;
  if (request.cards == 0) return host.no_gpu_slots_free > 0;
  return static_cast<int>(host.free_cards.size()) >= request.cards;
}

// Best fit: the host with the fewest free cards left afterwards; among equals one that is in
// use already, so that whole hosts stay free for large requests.
bool better(const PlacementRequest& request, const HostSpace& a, const HostSpace& b) {
  if (request.cards == 0) {
    if (a.no_gpu_slots_free != b.no_gpu_slots_free) {
      return a.no_gpu_slots_free > b.no_gpu_slots_free;  // spread: these runs need no cards
    }
    return a.host < b.host;
  }
  if (a.free_cards.size() != b.free_cards.size()) return a.free_cards.size() < b.free_cards.size();
  const bool a_used = a.cards_busy > 0;
  const bool b_used = b.cards_busy > 0;
  if (a_used != b_used) return a_used;
  return a.host < b.host;
}

// From the NUMA node with the fewest free cards that holds them all; when none does, node by
// node from the fullest of free cards, so that the request is spread over few nodes.
std::vector<CardId> choose_cards(int count, std::vector<FreeCard> free) {
  std::map<int, std::vector<FreeCard>> nodes;
  for (FreeCard& card : free) nodes[card.numa_node.value_or(-1)].push_back(std::move(card));
  std::vector<std::vector<FreeCard>> order;
  for (auto& [node, cards] : nodes) order.push_back(std::move(cards));
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    const bool a_holds = static_cast<int>(a.size()) >= count;
    const bool b_holds = static_cast<int>(b.size()) >= count;
    if (a_holds != b_holds) return a_holds;
    return a_holds ? a.size() < b.size() : a.size() > b.size();
  });
  std::vector<FreeCard> chosen;
  for (auto& cards : order) {
    std::sort(cards.begin(), cards.end(),
              [](const FreeCard& a, const FreeCard& b) { return a.pci_address < b.pci_address; });
    for (FreeCard& card : cards) {
      if (static_cast<int>(chosen.size()) < count) chosen.push_back(std::move(card));
    }
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const FreeCard& a, const FreeCard& b) { return a.pci_address < b.pci_address; });
  std::vector<CardId> ids;
  for (FreeCard& card : chosen) ids.push_back(std::move(card.uuid));
  return ids;
}

}  // namespace

std::optional<Placement> place(const PlacementRequest& request,
                               const std::vector<HostSpace>& hosts) {
  const HostSpace* best = nullptr;
  for (const HostSpace& host : hosts) {
    if (!fits(request, host)) continue;
    if (best == nullptr || better(request, host, *best)) best = &host;
  }
  if (best == nullptr) return std::nullopt;
  return Placement{best->host, choose_cards(request.cards, best->free_cards)};
}

}  // namespace cardhour
