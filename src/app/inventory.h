// Inventory: hosts, cards, prices, and the offers that follow from them.
// Thread-safe.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "app/deps.h"
#include "domain/placement.h"

namespace cardhour {

// One model on one host, as the market shows it.
struct Offer {
  std::string model;  // catalog key
  GpuModel specification;
  HostId host_id;
  std::string host;
  bool reachable = true;
  bool simulated = false;
  int cards_total = 0;
  int cards_free = 0;
  int tenants = 0;  // other accounts with running instances on the host
  int millicores_per_card = 0;
  int64_t memory_bytes_per_card = 0;
  int64_t disk_free_bytes = 0;
  std::string driver_version;
  std::string cuda_version;
  Money on_demand_per_hour;  // per card
  Money no_gpu_per_hour;
};

struct CardView {
  Card card;
  // free, promised (to a start in progress), rented, sick, absent, quarantine, excluded, unfit
  std::string state;
  std::optional<InstanceId> instance_id;
  std::string renter;  // login
};

// CPU and RAM that come with each card of a host: what is left after the share kept for
// no-GPU runs, divided by the cards.
struct CardShare {
  int millicores = 0;
  int64_t memory_bytes = 0;
};
CardShare card_share(const Host& host, int cards_on_host, const Policy& policy);

// Everything that a grant looks at, loaded in the granting transaction.
struct InventoryRows {
  std::vector<Host> hosts;
  std::vector<Card> cards;
  std::vector<Allocation> allocations;
  std::vector<Instance> instances;  // alive
  std::set<CardId> unfit;           // have a condition: not granted
};
Result<InventoryRows> load_inventory(Tx& tx);
// How many no-GPU runs a host may have at once.
int no_gpu_slots(const Policy& policy);
std::vector<HostSpace> host_spaces(const InventoryRows& rows, const std::string& model,
                                   const Policy& policy);

// Of the observe loop: what the engine has now.
Status note_images(Tx& tx, const std::vector<std::string>& names);
Result<std::vector<std::string>> known_images(Tx& tx);

class Inventory {
 public:
  explicit Inventory(const Deps& deps) : deps_(deps) {}

  Result<std::vector<Offer>> offers(const std::optional<AccountId>& viewer);
  Result<std::vector<Host>> hosts();
  Result<std::vector<CardView>> cards();
  // The images to start from, as the engine had them when it was last looked at: a request never
  // waits for an engine. engine_unavailable: it was not seen yet.
  Result<std::vector<std::string>> images();
  Result<std::vector<Price>> prices();
  // not_found: the catalog lacks the model. Applies to runs started from now on.
  Status set_price(const Actor& by, const std::string& model, Mode mode, Money per_hour);
  // Prices that are missing from the book are taken from `defaults`.
  Status seed_prices(const std::vector<Price>& defaults);

 private:
  Deps deps_;
};

}  // namespace cardhour
