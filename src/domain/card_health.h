// Card health: what a look at a card means for the market and for who rents it. A card with a
// condition is not granted to anybody. `unfit` comes and goes with what the driver says;
// `quarantine` and `excluded` stay until an operator takes them back. Pure.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/id.h"
#include "base/time.h"
#include "domain/telemetry.h"

namespace cardhour {

enum class ConditionKind {
  excluded,    // the operator keeps it out of the market
  quarantine,  // something is wrong with it; a person has to look
  unfit,       // not now: what is wrong may pass by itself
};
BOOST_DESCRIBE_ENUM(ConditionKind, excluded, quarantine, unfit)

// At most one of a kind for each card.
struct CardCondition {
  CardId card_uuid;
  ConditionKind kind = ConditionKind::unfit;
  std::string reason;  // a word of condition_text, or "operator"
  std::string note;    // the operator's words
  std::string actor;
  Timestamp since;

  bool operator==(const CardCondition&) const = default;
};
BOOST_DESCRIBE_STRUCT(CardCondition, (), (card_uuid, kind, reason, note, actor, since))

// How often the driver reported one kind of error of a card.
struct CardXid {
  CardId card_uuid;
  int64_t code = 0;
  int64_t count = 0;
  Timestamp first_at;
  Timestamp last_at;

  bool operator==(const CardXid&) const = default;
};
BOOST_DESCRIBE_STRUCT(CardXid, (), (card_uuid, code, count, first_at, last_at))

enum class XidSeverity {
  program,    // most likely the program's own error: the card is fine
  note,       // worth a look when it repeats
  after_run,  // the card needs a reset: nobody gets it after the present renter
  at_once,    // the card is lost or computes wrongly: the run on it ends
};

struct XidMeaning {
  int64_t code = 0;
  XidSeverity severity = XidSeverity::note;
  Text what;
};
// By NVIDIA's published list of Xid errors; an unlisted code is a note.
XidMeaning xid_meaning(int64_t code);

// What is known of a card at one look.
struct CardLook {
  const CardSample* sample = nullptr;  // null: the driver does not show it
  const CardSample* before = nullptr;  // of the look before, if there was one
  bool driver_answers = true;
  bool is_rented = false;
  int faults_in_a_row = 0;       // looks with a fault up to this one
  std::vector<int64_t> xids;     // reported since the look before
  int64_t empty_card_bytes = 0;  // more VRAM in use than this is not empty
};

struct CardVerdict {
  std::string quarantine;  // reason; empty: none
  std::string unfit;       // reason; empty: none
  bool ends_run = false;   // whoever rents it cannot be served
};
CardVerdict judge(const CardLook& look);

// Whether a run on a card in quarantine for this reason cannot go on.
bool is_fatal(const std::string& reason);

// VRAM in use that no listed process accounts for; nullopt when that cannot be known.
std::optional<int64_t> unowned_bytes(const CardSample& sample);

// What a reason means: "lost", "xid_79", "memory_held", ... and what to do.
struct ConditionText {
  Text what;
  Text next;
};
ConditionText condition_text(const std::string& reason);

}  // namespace cardhour
