// What the use cases and loops need from outside, handed to each constructor. Plain
// references: bin/ (or the simulation's world) owns everything and outlives it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/crypto.h"
#include "domain/catalog.h"
#include "domain/policy.h"
#include "ports/backup_shelf.h"
#include "ports/clock.h"
#include "ports/engine.h"
#include "ports/entropy.h"
#include "ports/gpu_probe.h"
#include "ports/series.h"
#include "ports/shell.h"
#include "ports/store.h"

namespace cardhour {

// Where instances are reached, and what numbers they get on a host.
struct NetworkPlan {
  std::string ssh_address = "127.0.0.1";  // what renters connect to; empty: there is no shell
  PortRange ssh_ports;
  std::string subnet = "10.177.0.0";  // a /16; .0.1 is the bridge, instances from .1.0
  int64_t ipv4_first = 256;           // index into the subnet
  int64_t ipv4_last = 65'000;
  int64_t idmap_first = 0;  // index; base = idmap_base + index * 65536
  int64_t idmap_last = 10'000;
  int64_t idmap_base = 1'000'000;
};

// Whether this process has seen everything that the engine has: before that nothing is granted,
// since a card may be in use that no row knows of. Thread-safe.
class FirstLook {
 public:
  bool is_done() const { return done_; }
  void note() { done_ = true; }

 private:
  std::atomic<bool> done_ = false;
};

struct Deps {
  Store& store;
  Engine& engine;
  Clock& clock;
  Entropy& entropy;
  GpuProbe& probe;
  const Policy& policy;
  const Catalog& catalog;
  const NetworkPlan& network;
  SealKey seal_key;
  PasswordCost password_cost = PasswordCost::interactive;
  // A hint after each commit: operations may be due, streams may have something new. May be
  // called on any thread; must return at once.
  std::function<void()> changed = [] {};
  BackupShelf* shelf = nullptr;  // none: no backups are kept
  std::shared_ptr<FirstLook> first_look = std::make_shared<FirstLook>();
  Shells* shells = nullptr;  // none: there are no terminals
  // Where telemetry is kept; null: nowhere.
  SeriesStore* series = nullptr;
};

// The Idempotency-Key of a request that creates or pays. Empty key: none was sent.
struct Idempotency {
  std::string key;
  std::string body_hash;  // of method, path and body
};

}  // namespace cardhour
