// Settlement: opening, closing and booking segments, inside the transaction of the change
// that causes it. The one owner of these invariants: charges are cumulative (posted = due),
// the wallet never goes below zero (what would is written off), and an account with open
// segments always has a next settlement. Internal to app/.
#pragma once

#include <vector>

#include "app/deps.h"
#include "domain/instance.h"
#include "domain/ledger.h"

namespace cardhour {

// The account's open segments and its wallet, and what follows from them.
struct Funds {
  std::vector<Segment> open;
  Money wallet;  // as booked, holds not included
  Money held;
  Money accrued(Timestamp now) const { return cardhour::accrued(open, now); }
  Money available(Timestamp now) const { return wallet - accrued(now); }
  std::optional<Timestamp> covered_until(Timestamp now) const;
};
Result<Funds> load_funds(Tx& tx, const AccountId& account);

// The head of a ledger transaction of the account, with a fresh id.
LedgerTransaction transaction_head(const Deps& deps, const AccountId& account, Timestamp at,
                                   const std::string& actor, const std::string& note = {});

// Opens the segment of the instance's present shape at `at`.
Status open_segment(Tx& tx, const Deps& deps, const Instance& instance, Timestamp at, Cause cause,
                    const std::vector<CardId>& cards);

// Closes and books the instance's open segments at `at`; when that lies before what is
// booked already, the difference is given back.
Status close_segments(Tx& tx, const Deps& deps, const Instance& instance, Timestamp at, Cause cause,
                      const std::string& actor);

// Books what the account owes at `until`, and sets its next settlement. `funds` are its own, as
// loaded in this transaction.
Status settle_account(Tx& tx, const Deps& deps, const AccountId& account, Funds funds,
                      Timestamp until, const std::string& actor);

// What the account owns or burns has changed: the settle loop looks at it at once, so that a
// warning comes, moves and goes with its reason.
Status settle_soon(Tx& tx, const AccountId& account, Timestamp now);

}  // namespace cardhour
