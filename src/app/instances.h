// Instances: what renters ask for. Each call is one transaction that decides (domain/),
// grants cards, ports and balance, and writes the operation that carries it out; workers
// (operations.h) do the rest. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deps.h"
#include "domain/metering.h"

namespace cardhour {

// What to run on.
struct ShapeRequest {
  Mode mode = Mode::on_demand;
  std::string gpu_model;  // catalog key or what people type; empty in no-GPU mode
  int gpu_count = 1;
};

struct RentRequest {
  ShapeRequest shape;
  std::string name;  // empty: made from the model
  std::string image = "base";
  std::string purpose;
  int64_t data_disk_bytes = 0;  // 0: the free size
  bool nesting = false;
};

// The price before anything is charged.
struct Quote {
  std::string gpu_model;
  int gpu_count = 0;
  Mode mode = Mode::on_demand;
  int cards_free = 0;  // of this model, on the best host
  int millicores = 0;
  int64_t memory_bytes = 0;
  int64_t system_disk_bytes = 0;
  int64_t data_disk_bytes = 0;
  Money rate_per_hour;    // of the whole shape
  Money stopped_per_day;  // what goes on costing while stopped
  Money hold;             // reserved until ready
  Money available;
  Money needed;  // available must be at least this
  Duration minimum_unit;
  bool affordable = false;
  bool placeable = false;
  bool simulated = false;
};

// How to reach a running instance.
struct Connection {
  std::string host;
  int port = 0;
  std::string user = "root";
  Secret password;
  std::string host_key_fingerprint;
  std::string host_key_line;  // for known_hosts
};

// An instance as its renter sees it.
struct InstanceView {
  Instance instance;
  std::string activity;  // phase of the pending operation: "create", ...; or empty
  Text waiting_for;      // last error of a retried step
  std::vector<CardId> cards;
  bool simulated = false;
  Money cost_so_far;  // of all its segments
  Money burn_per_hour;
  std::string owner;  // login
};

class Instances {
 public:
  explicit Instances(const Deps& deps) : deps_(deps) {}

  Result<Quote> quote(const AccountId& account, const RentRequest& request);
  Result<Instance> rent(const Actor& actor, const RentRequest& request,
                        const Idempotency& idempotency);
  // From stopped: a new run of any shape on its host. From a no-GPU run to cards: the cards
  // are granted before the run ends. In the shape it has already: nothing to do.
  Result<Instance> start(const Actor& actor, const std::string& id, const ShapeRequest& shape,
                         const Idempotency& idempotency);
  Result<Quote> start_quote(const Actor& actor, const std::string& id, const ShapeRequest& shape);
  Result<Instance> restart(const Actor& actor, const std::string& id);
  Result<Instance> stop(const Actor& actor, const std::string& id);
  // Into the bin; `purge`: at once and for good, if `confirm_name` is its name.
  Result<Instance> release(const Actor& actor, const std::string& id);
  Result<Instance> purge(const Actor& actor, const std::string& id,
                         const std::string& confirm_name);
  Result<Instance> restore(const Actor& actor, const std::string& id);
  Result<Instance> rename(const Actor& actor, const std::string& id, const std::string& name);

  // By id or by the exact name; another account's is not_found (operators see all by id).
  Result<InstanceView> get(const Actor& actor, const std::string& id_or_name);
  Result<std::vector<InstanceView>> page(const Actor& actor, const InstanceFilter& filter,
                                         const Page& page);
  Result<Connection> connection(const Actor& actor, const std::string& id);

  // The guest says that it is shutting down. A reboot keeps segment and rate.
  enum class ShutdownKind { poweroff, reboot };
  Status guest_shutdown(const Actor& guest, ShutdownKind kind);

 private:
  Deps deps_;
};

}  // namespace cardhour
