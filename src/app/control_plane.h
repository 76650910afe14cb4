// The control plane: all use cases and loops over one set of ports. It owns nothing of the
// outside, holds no state that matters (everything is in the store), and can be thrown away
// and made anew at any time.
#pragma once

#include "app/accounts.h"
#include "app/adoptions.h"
#include "app/backups.h"
#include "app/deps.h"
#include "app/doctor.h"
#include "app/events.h"
#include "app/idle.h"
#include "app/instances.h"
#include "app/inventory.h"
#include "app/loops/loops.h"
#include "app/loops/telemetry.h"
#include "app/operations.h"
#include "app/telemetry.h"
#include "app/terminals.h"
#include "app/tickets.h"
#include "app/wallet.h"

namespace cardhour {

class ControlPlane {
 public:
  explicit ControlPlane(const Deps& deps_in)
      : deps(deps_in),
        accounts(deps),
        tickets(deps),
        inventory(deps),
        wallet(deps),
        instances(deps),
        events(deps),
        adoptions(deps),
        backups(deps),
        terminals(deps, accounts, instances),
        operations(deps),
        observe(deps),
        settle(deps),
        reconcile(deps),
        telemetry(deps, watch),
        measure(deps, watch),
        idle_rules(deps),
        idle(deps, watch),
        doctor(deps, telemetry) {}

  Deps deps;
  Accounts accounts;
  Tickets tickets;
  Inventory inventory;
  Wallet wallet;
  Instances instances;
  Events events;
  Adoptions adoptions;
  Backups backups;
  Terminals terminals;
  Operations operations;
  ObserveLoop observe;
  SettleLoop settle;
  ReconcileLoop reconcile;
  GpuWatch watch;
  Telemetry telemetry;
  TelemetryLoop measure;
  IdleRules idle_rules;
  IdleLoop idle;
  Doctor doctor;
};

}  // namespace cardhour
