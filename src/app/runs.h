// Runs: the transitions that a request, a worker and a loop all make, inside their
// transaction. Each keeps three things together: the lifecycle edge, the money (holds and
// segments), and the operation that carries it out. Internal to app/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deps.h"
#include "domain/operation.h"

namespace cardhour {

// A fault that the renter sees: what happened and what to do.
void set_fault(Instance& instance, const std::string& code, const Text& what, const Text& next);
void clear_fault(Instance& instance);

// Makes the operation that the instance's state asks for the pending one: replaces a pending
// one of another kind in place (its lock stays until its worker lets go, so that no two
// workers touch one instance), or inserts it.
Status ensure_operation(Tx& tx, const Deps& deps, const Instance& instance, OperationKind kind,
                        Timestamp now);

// The account's keys changed: each of its guests has to be brought up to date, running ones now.
Status refresh_guests(Tx& tx, const Deps& deps, const AccountId& account, Timestamp now);

// Gives the hold of a start back to the wallet, if there is one.
Status release_hold(Tx& tx, const Deps& deps, Instance& instance, Timestamp at,
                    const std::string& actor);

// Ends the paid part of a run at `at` and asks for the stop: closes segments, gives back the
// hold, moves along `event` (stop, release or fail) and leaves the cards allocated until the
// engine confirms. Writes the instance.
struct StopOrder {
  LifecycleEvent event = LifecycleEvent::stop;
  Desired desired = Desired::stopped;
  Cause cause = Cause::renter;
  Timestamp at;  // end of billing
  std::string actor;
  std::string detail;
};
Status order_stop(Tx& tx, const Deps& deps, Instance& instance, const StopOrder& order,
                  Timestamp now);

// The run is over in the engine: its cards go back, and what belonged to it is forgotten.
// Moves along `event` (stopped or vanish); does not write the instance.
Status end_run(Tx& tx, Instance& instance, LifecycleEvent event, Timestamp now);

// The engine says that it is stopped: cards go back, a release goes on to the bin.
Status note_stopped(Tx& tx, const Deps& deps, Instance& instance, Timestamp now,
                    const std::string& actor, const std::string& reason);

// Wants the notice file inside to say this (or nothing) from now on; writes the instance.
struct NoticeOrder {
  std::string reason;  // empty: withdraw
  std::optional<Timestamp> deadline;
  std::string actor = "system:settle";
};
Status order_notice(Tx& tx, const Deps& deps, Instance& instance, const NoticeOrder& order,
                    Timestamp now);

}  // namespace cardhour
