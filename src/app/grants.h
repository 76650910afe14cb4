// Grants: what a start needs, checked and reserved in the transaction that grants it: quota,
// balance, cards, disk. The one place that says no to a start. Internal to app/.
#pragma once

#include <vector>

#include "app/deps.h"
#include "app/instances.h"
#include "app/inventory.h"
#include "app/settlement.h"

namespace cardhour {

// A shape with its model resolved and its price found; outside any transaction.
struct Shape {
  Mode mode = Mode::on_demand;
  std::string gpu_model;  // empty in no-GPU mode
  int gpu_count = 0;      // 0 in no-GPU mode
};
Result<Shape> check_shape(const Deps& deps, const ShapeRequest& request);

struct ShapePrice {
  Money rate_per_hour;  // per unit of quantity, as frozen into segments
  int64_t quantity = 1;
  Money burn() const { return rate_per_hour * quantity; }
};
// no_capacity when the model has no price in this mode.
Result<ShapePrice> price_of(Tx& tx, const Shape& shape);

// no_capacity when no host has cards of this model at all.
Status check_offered(Tx& tx, const Shape& shape);

// What is reserved from the grant until the run is ready.
Money hold_for(const ShapePrice& price, const Policy& policy);

struct Grant {
  Placement placement;
  ShapePrice price;
  CardShare share;  // of the whole shape
};

struct GrantRequest {
  AccountId account;
  Shape shape;
  int64_t new_disk_bytes = 0;
  std::optional<HostId> only_host;
  // The instance that is started again: its own burn ends and does not count.
  std::optional<InstanceId> replaces;
  bool new_instance = false;
};

// Quotas, price, balance, capacity, in this order; errors say what is missing and what would do.
Result<Grant> grant(Tx& tx, const Deps& deps, const GrantRequest& request, Timestamp now);

// What a start must find in the wallet: an hour of everything that burns, and of the new.
Money needed_for(const Funds& funds, const ShapePrice& price,
                 const std::optional<InstanceId>& replaces);

// Where the shape goes, and the CPU and memory that it has there; nullopt when nothing carries it.
struct Place {
  Placement placement;
  CardShare share;
};
Result<std::optional<Place>> find_place(Tx& tx, const GrantRequest& request, const Policy& policy);

}  // namespace cardhour
