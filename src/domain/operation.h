// Operations: everything that changes the outside world is a row here first. A worker claims
// it, does one step, and applies the result in a transaction guarded by id + lock token +
// instance version; no row touched means stale, and the result is dropped. Invariant: an
// instance has at most one pending operation. Pure.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <optional>
#include <span>
#include <string>

#include "base/id.h"
#include "base/time.h"
#include "domain/instance.h"
#include "domain/policy.h"

namespace cardhour {

enum class OperationKind { start, restart, stop, purge, refresh };
BOOST_DESCRIBE_ENUM(OperationKind, start, restart, stop, purge, refresh)

enum class OperationState { pending, done, failed, superseded };
BOOST_DESCRIBE_ENUM(OperationState, pending, done, failed, superseded)

// The phases of an operation, in order; each is idempotent and repeated after a crash.
enum class Step {
  halt,         // start, restart: stop the earlier run first
  create,       // start: ensure the engine object and its disks
  boot,         // start, restart: configure and start
  await_ready,  // until an SSH banner comes, or the deadline
  verify,       // exactly the allocated cards are visible, with empty VRAM
  shut_down,    // stop: ask the guest, with a grace
  force,        // stop: pull the plug
  confirm,      // stop: look again, since a stop during a start does not win in Incus
  remove,       // purge: delete the engine object and its disks
  deliver,      // refresh: bring the guest the present notice, keys and secrets
};
BOOST_DESCRIBE_ENUM(Step, halt, create, boot, await_ready, verify, shut_down, force, confirm,
                    remove, deliver)

struct Operation {
  OperationId id;
  InstanceId instance_id;
  OperationKind kind = OperationKind::start;
  Step step = Step::create;
  OperationState state = OperationState::pending;
  int attempt = 0;  // of the present step
  Timestamp created_at;
  Timestamp not_before;
  std::optional<Timestamp> deadline;  // of the present step
  std::string lock_token;             // empty: nobody works on it
  std::optional<Timestamp> lock_expires_at;
  std::string last_error;  // why the step is tried again, in English
  std::string last_error_zh;
};
BOOST_DESCRIBE_STRUCT(Operation, (),
                      (id, instance_id, kind, step, state, attempt, created_at, not_before,
                       deadline, lock_token, lock_expires_at, last_error, last_error_zh))

// What the state of an instance asks for: the one planner, used where a request is accepted
// and where the reconcile loop looks after what was forgotten.
std::optional<OperationKind> needed_operation(const Instance& instance);
Step first_step(OperationKind kind, const Instance& instance);
// Where an operation of the kind can be, in order: the table that crash tests go through.
std::span<const Step> steps_of(OperationKind kind);
bool has_step(OperationKind kind, Step step);
// How long to wait before attempt n+1 of a step: 1 s doubling to 30 s.
Duration backoff(int attempt);

}  // namespace cardhour
