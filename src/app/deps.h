// What the use cases and loops need from outside, handed to each constructor. Plain
// references: bin/ (or the simulation's world) owns everything and outlives it.
#pragma once

#include <functional>
#include <string>

#include "base/crypto.h"
#include "domain/catalog.h"
#include "domain/policy.h"
#include "ports/clock.h"
#include "ports/engine.h"
#include "ports/entropy.h"
#include "ports/gpu_probe.h"
#include "ports/shell.h"
#include "ports/store.h"

namespace cardhour {

// Where instances are reached, and what numbers they get on a host.
struct NetworkPlan {
  std::string ssh_address = "127.0.0.1";  // what renters connect to; empty: there is no shell
  int ssh_port_first = 22000;
  int ssh_port_last = 29999;
  std::string subnet = "10.177.0.0";  // a /16; .0.1 is the bridge, instances from .1.0
  int64_t ipv4_first = 256;           // index into the subnet
  int64_t ipv4_last = 65'000;
  int64_t idmap_first = 0;  // index; base = idmap_base + index * 65536
  int64_t idmap_last = 10'000;
  int64_t idmap_base = 1'000'000;
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
  Shells* shells = nullptr;  // none: there are no terminals
};

// The Idempotency-Key of a request that creates or pays. Empty key: none was sent.
struct Idempotency {
  std::string key;
  std::string body_hash;  // of method, path and body
};

}  // namespace cardhour
