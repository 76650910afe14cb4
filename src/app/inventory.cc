#include "app/inventory.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "app/events.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

// The rows of one host.
struct HostRows {
  std::vector<const Card*> cards;
  std::vector<const Instance*> instances;
};

std::map<HostId, HostRows> by_host(const InventoryRows& rows) {
  std::map<HostId, HostRows> hosts;
  for (const Card& card : rows.cards) hosts[card.host_id].cards.push_back(&card);
  for (const Instance& instance : rows.instances) {
    hosts[instance.host_id].instances.push_back(&instance);
  }
  return hosts;
}

std::set<CardId> busy_cards(const InventoryRows& rows) {
  std::set<CardId> busy;
  for (const Allocation& allocation : rows.allocations) busy.insert(allocation.card_uuid);
  return busy;
}

bool rentable(const InventoryRows& rows, const Card& card) {
  return card.present && card.fault.empty() && !rows.unfit.contains(card.uuid);
}

int64_t disk_free(const Host& host, const HostRows& rows) {
  int64_t bytes = host.pool_total_bytes;
  for (const Instance* instance : rows.instances) {
    bytes -= instance->system_disk_bytes + instance->data_disk_bytes;
  }
  return bytes;
}

int no_gpu_runs(const HostRows& rows) {
  return static_cast<int>(
      std::count_if(rows.instances.begin(), rows.instances.end(), [](const Instance* instance) {
        return instance->mode == Mode::no_gpu && instance->run_id.has_value();
      }));
}

Text model_unknown(const std::string& model) {
  return text("no GPU model \"{}\" in the catalog", "目录中没有 GPU 型号“{}”", model.substr(0, 40));
}

}  // namespace

CardShare card_share(const Host& host, int cards_on_host, const Policy& policy) {
  const int cards = std::max(cards_on_host, 1);
  CardShare share;
  const int millicores = host.cpu_total * 1000 - policy.host_no_gpu_millicores;
  share.millicores = std::max(millicores / cards, policy.card_millicores_min);
  const int64_t memory = host.memory_bytes - policy.host_no_gpu_memory_bytes;
  share.memory_bytes = std::max(memory / cards / kMiB * kMiB, policy.card_memory_bytes_min);
  return share;
}

Result<InventoryRows> load_inventory(Tx& tx) {
  InventoryRows rows;
  TRY_ASSIGN(rows.hosts, tx.hosts().all());
  TRY_ASSIGN(rows.cards, tx.hosts().cards());
  TRY_ASSIGN(rows.allocations, tx.hosts().active_allocations());
  TRY_ASSIGN(rows.instances, tx.instances().alive());
  TRY_ASSIGN(const auto conditions, tx.card_health().conditions());
  for (const CardCondition& condition : conditions) rows.unfit.insert(condition.card_uuid);
  return rows;
}

int no_gpu_slots(const Policy& policy) {
  const int by_cpu = policy.host_no_gpu_millicores / policy.no_gpu_millicores;
  const auto by_memory =
      static_cast<int>(policy.host_no_gpu_memory_bytes / policy.no_gpu_memory_bytes);
  return std::min(by_cpu, by_memory);
}

std::vector<HostSpace> host_spaces(const InventoryRows& rows, const std::string& model,
                                   const Policy& policy) {
  const std::set<CardId> busy = busy_cards(rows);
  auto hosts = by_host(rows);
  std::vector<HostSpace> spaces;
  for (const Host& host : rows.hosts) {
    if (!host.reachable) continue;
    const HostRows& on_host = hosts[host.id];
    HostSpace space;
    space.host = host.id;
    space.disk_free_bytes = disk_free(host, on_host);
    space.no_gpu_slots_free = no_gpu_slots(policy) - no_gpu_runs(on_host);
    for (const Card* card : on_host.cards) {
      ++space.cards_total;
      if (busy.contains(card->uuid))
        ++space.cards_busy;
      else if (rentable(rows, *card) && card->model == model)
        space.free_cards.push_back(FreeCard{card->uuid, card->pci_address, card->numa_node});
    }
    spaces.push_back(std::move(space));
  }
  return spaces;
}

namespace {

// What the cards of one host say of its offers, by model.
std::map<std::string, Offer> offers_of(const InventoryRows& rows, const HostRows& on_host,
                                       const PriceBook& book, const std::set<CardId>& busy) {
  std::map<std::string, Offer> by_model;
  for (const Card* card : on_host.cards) {
    if (!card->present || !book.per_hour(card->model, Mode::on_demand)) continue;
    Offer& offer = by_model[card->model];
    ++offer.cards_total;
    if (rentable(rows, *card) && !busy.contains(card->uuid)) ++offer.cards_free;
    offer.simulated = card->simulated;
  }
  return by_model;
}

int tenants_of(const HostRows& rows, const std::optional<AccountId>& viewer) {
  std::set<AccountId> tenants;
  for (const Instance* instance : rows.instances) {
    if (!instance->run_id || instance->account_id == viewer) continue;
    tenants.insert(instance->account_id);
  }
  return static_cast<int>(tenants.size());
}

}  // namespace

Result<std::vector<Offer>> Inventory::offers(const std::optional<AccountId>& viewer) {
  InventoryRows rows;
  PriceBook book;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(rows, load_inventory(tx));
    TRY_ASSIGN(std::vector<Price> prices, tx.hosts().prices());
    book = PriceBook(std::move(prices));
    return {};
  }));
  const std::set<CardId> busy = busy_cards(rows);
  auto hosts = by_host(rows);
  std::vector<Offer> offers;
  for (const Host& host : rows.hosts) {
    const HostRows& on_host = hosts[host.id];
    const CardShare share = card_share(host, static_cast<int>(on_host.cards.size()), deps_.policy);
    auto by_model = offers_of(rows, on_host, book, busy);
    for (auto& [model, offer] : by_model) {
      offer.model = model;
      if (const GpuModel* known = deps_.catalog.by_key(model)) offer.specification = *known;
      offer.host_id = host.id;
      offer.host = host.name;
      offer.reachable = host.reachable;
      if (!host.reachable) offer.cards_free = 0;
      offer.tenants = tenants_of(on_host, viewer);
      offer.millicores_per_card = share.millicores;
      offer.memory_bytes_per_card = share.memory_bytes;
      offer.disk_free_bytes = std::max<int64_t>(disk_free(host, on_host), 0);
      offer.driver_version = host.driver_version;
      offer.cuda_version = host.cuda_version;
      offer.on_demand_per_hour = *book.per_hour(model, Mode::on_demand);
      offer.no_gpu_per_hour = book.per_hour(model, Mode::no_gpu).value_or(Money{});
      offers.push_back(std::move(offer));
    }
  }
  return offers;
}

namespace {

const std::string kImagesSetting = "engine.images";  // a line each

}  // namespace

Status note_images(Tx& tx, const std::vector<std::string>& names) {
  std::string lines;
  for (const std::string& name : names) lines += name + "\n";
  TRY_ASSIGN(const auto known, tx.keys().find_setting(kImagesSetting));
  return known == lines ? Status() : tx.keys().set_setting(kImagesSetting, lines);
}

Result<std::vector<std::string>> known_images(Tx& tx) {
  TRY_ASSIGN(const auto lines, tx.keys().find_setting(kImagesSetting));
  if (!lines) {
    return fail(ErrorCode::engine_unavailable,
                Text{"the engine was not seen yet", "尚未连接到引擎"},
                Text{"try again in a moment", "请稍后再试"});
  }
  std::vector<std::string> names;
  std::istringstream in(*lines);
  for (std::string name; std::getline(in, name);) names.push_back(name);
  return names;
}

Result<std::vector<std::string>> Inventory::images() {
  std::vector<std::string> names;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(names, known_images(tx));
    return {};
  }));
  return names;
}

Result<std::vector<Host>> Inventory::hosts() {
  std::vector<Host> hosts;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(hosts, tx.hosts().all());
    return {};
  }));
  return hosts;
}

Result<std::vector<CardView>> Inventory::cards() {
  std::vector<CardView> views;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const InventoryRows rows, load_inventory(tx));
    std::map<CardId, InstanceId> holders;
    for (const Allocation& a : rows.allocations) holders[a.card_uuid] = a.instance_id;
    TRY_ASSIGN(const auto conditions, tx.card_health().conditions());
    for (const Card& card : rows.cards) {
      CardView view{card, "free", std::nullopt, ""};
      if (const auto holder = holders.find(card.uuid); holder != holders.end()) {
        view.state = "rented";
        view.instance_id = holder->second;
        TRY_ASSIGN(const auto instance, tx.instances().find(holder->second));
        if (instance) {
          if (instance->observed == Observed::creating ||
              instance->observed == Observed::starting) {
            view.state = "promised";
          }
          TRY_ASSIGN(const auto account, tx.accounts().find(instance->account_id));
          if (account) view.renter = account->login;
        }
      } else if (!card.present) {
        view.state = "absent";
      } else if (!card.fault.empty()) {
        view.state = "sick";
      } else {
        for (const CardCondition& condition : conditions) {
          // By kind, the most lasting first.
          if (condition.card_uuid != card.uuid || view.state != "free") continue;
          view.state = std::string(enum_text(condition.kind));
        }
      }
      views.push_back(std::move(view));
    }
    return {};
  }));
  return views;
}

Result<std::vector<Price>> Inventory::prices() {
  std::vector<Price> prices;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(prices, tx.hosts().prices());
    return {};
  }));
  return prices;
}

Status Inventory::set_price(const Actor& by, const std::string& model, Mode mode, Money per_hour) {
  Price price{"", mode, per_hour};
  if (mode == Mode::on_demand) {
    const GpuModel* known = deps_.catalog.by_word(model);
    if (known == nullptr) {
      return fail(ErrorCode::not_found, model_unknown(model),
                  text("known: {}", "可用型号：{}", deps_.catalog.keys()), "model");
    }
    price.model = known->key;
  }
  if (per_hour.micro < 0 || per_hour > Money{10'000'000'000}) {
    return invalid("per_hour", Text{"a price is between 0 and 10000 an hour",
                                    "价格须在每小时 0 到 10000 之间"});
  }
  const Timestamp now = deps_.clock.now();
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY(tx.hosts().set_price(price));
    return tx.events().append(Event{0, now, std::nullopt, std::nullopt, "price.set", by.name,
                                    "admin",
                                    "model=" + (price.model.empty() ? "no_gpu" : price.model) +
                                        " per_hour=" + to_decimal(per_hour)});
  }));
  deps_.changed();
  return {};
}

Status Inventory::seed_prices(const std::vector<Price>& defaults) {
  return deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(std::vector<Price> rows, tx.hosts().prices());
    const PriceBook book(std::move(rows));
    for (const Price& price : defaults) {
      if (!book.per_hour(price.model, price.mode)) TRY(tx.hosts().set_price(price));
    }
    return {};
  });
}

}  // namespace cardhour
