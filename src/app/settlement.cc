#include "app/settlement.h"

#include <algorithm>

#include "base/check.h"

namespace cardhour {
namespace {

// Books due - posted of these segments (of one account) in one ledger transaction.
Status book(Tx& tx, const Deps& deps, const AccountId& account, Money wallet,
            std::vector<Segment>& segments, Timestamp until, const std::string& actor) {
  std::vector<Charge> charges;
  for (Segment& segment : segments) {
    const Timestamp border = std::max(until, segment.booked_until);
    const Money owed = segment_due(segment, border);
    const Money charge = owed - segment.posted;
    // Only the exact end of an involuntary stop gives something back: the tail of a unit.
    CHECK(charge.micro >= 0 || segment.closed_at, "an open segment never owes less than before");
    if (charge != Money{}) charges.push_back(Charge{segment.id, segment.meter, charge});
    segment.posted = owed;
    segment.booked_until = border;
    TRY(segment.closed_at ? tx.ledger().update_segment(segment)
                          : tx.ledger().book_segment(segment));
  }
  if (charges.empty()) return {};
  return tx.ledger().append(
      usage_entry(transaction_head(deps, account, until, actor, "usage"), charges, wallet));
}

// The run's total so far, and its minimum line if it stays below the smallest charge.
Status add_minimum_line(Tx& tx, const Deps& deps, const Instance& instance, Timestamp at,
                        Cause cause, const std::string& actor) {
  CHECK(instance.run_id.has_value(), "a minimum line belongs to a run");
  TRY_ASSIGN(const std::vector<Segment> segments, tx.ledger().segments_of_run(*instance.run_id));
  Money total;
  for (const Segment& segment : segments) {
    if (segment.meter == Meter::minimum) return {};
    total += segment.posted;
  }
  const Money extra = minimum_line(total, deps.policy.minimum_charge);
  if (extra == Money{}) return {};
  TRY_ASSIGN(const Money wallet, tx.ledger().balance(wallet_of(instance.account_id)));
  Segment line;
  line.id = deps.entropy.id<SegmentId>();
  line.account_id = instance.account_id;
  line.instance_id = instance.id;
  line.run_id = *instance.run_id;
  line.meter = Meter::minimum;
  line.rate_per_hour = deps.policy.minimum_charge;  // as in force now
  line.unit = deps.policy.minimum_unit;
  line.opened_at = at;
  line.closed_at = at;
  line.open_cause = cause;
  line.close_cause = cause;
  line.posted = extra;
  line.booked_until = at;
  TRY(tx.ledger().insert_segment(line));
  return tx.ledger().append(
      usage_entry(transaction_head(deps, instance.account_id, at, actor, "minimum charge of a run"),
                  {Charge{line.id, Meter::minimum, extra}}, wallet));
}

// Where in the spread after the hour this account settles: by its id, so that it is stable.
Duration spread_of(const AccountId& account, Duration spread) {
  const uint64_t hash = std::hash<std::string>{}(account.text);
  return Duration{
      static_cast<int64_t>(hash % static_cast<uint64_t>(std::max<int64_t>(spread.ms, 1)))};
}

// The next instant at which the settle loop must look at the account: the hour (spread), the
// start of the arrears notice, and the end of what the wallet covers.
std::optional<Timestamp> next_settlement(const AccountId& account, const Funds& funds,
                                         const Policy& policy, Timestamp now) {
  if (funds.open.empty()) return std::nullopt;
  const int64_t interval = policy.settlement_interval.ms;
  const Timestamp hour{(now.ms / interval + 1) * interval};
  Timestamp next = hour + spread_of(account, policy.settlement_spread);
  if (const auto empty = funds.covered_until(now)) {
    const Timestamp notice = *empty - policy.arrears_notice;
    next = std::min(next, notice > now ? notice : *empty + milliseconds(1));
  }
  return std::max(next, now);
}

}  // namespace

LedgerTransaction transaction_head(const Deps& deps, const AccountId& account, Timestamp at,
                                   const std::string& actor, const std::string& note) {
  LedgerTransaction head;
  head.id = deps.entropy.id<TransactionId>();
  head.account_id = account;
  head.at = at;
  head.actor = actor;
  head.note = note;
  return head;
}

std::optional<Timestamp> Funds::covered_until(Timestamp now) const {
  return cardhour::covered_until(open, std::max(wallet, Money{}), now);
}

Result<Funds> load_funds(Tx& tx, const AccountId& account) {
  Funds funds;
  TRY_ASSIGN(funds.open, tx.ledger().open_segments(account));
  TRY_ASSIGN(funds.wallet, tx.ledger().balance(wallet_of(account)));
  TRY_ASSIGN(funds.held, tx.ledger().balance(hold_of(account)));
  return funds;
}

Status open_segment(Tx& tx, const Deps& deps, const Instance& instance, Timestamp at, Cause cause,
                    const std::vector<CardId>& cards) {
  CHECK(instance.run_id.has_value(), "a segment belongs to a run");
  TRY_ASSIGN(const std::vector<Segment> open, tx.ledger().open_segments_of(instance.id));
  CHECK(open.empty(), "an instance has one open compute segment");
  Segment segment;
  segment.id = deps.entropy.id<SegmentId>();
  segment.account_id = instance.account_id;
  segment.instance_id = instance.id;
  segment.run_id = *instance.run_id;
  segment.meter = instance.mode == Mode::no_gpu ? Meter::no_gpu : Meter::on_demand;
  segment.quantity = instance.mode == Mode::no_gpu ? 1 : instance.gpu_count;
  segment.rate_per_hour = instance.rate_per_hour;
  segment.unit = deps.policy.minimum_unit;
  segment.opened_at = at;
  segment.open_cause = cause;
  segment.booked_until = at;
  segment.gpu_model = instance.gpu_model;
  for (const CardId& card : cards) {
    if (!segment.card_uuids.empty()) segment.card_uuids += ' ';
    segment.card_uuids += card.text;
  }
  TRY(tx.ledger().insert_segment(segment));
  return settle_soon(tx, instance.account_id, at);
}

Status close_segments(Tx& tx, const Deps& deps, const Instance& instance, Timestamp at, Cause cause,
                      const std::string& actor) {
  TRY_ASSIGN(std::vector<Segment> open, tx.ledger().open_segments_of(instance.id));
  for (Segment& segment : open) {
    segment.closed_at = std::max(at, segment.opened_at);
    segment.close_cause = cause;
  }
  TRY_ASSIGN(const Money wallet, tx.ledger().balance(wallet_of(instance.account_id)));
  TRY(book(tx, deps, instance.account_id, wallet, open, at, actor));
  // Not of a pause, and not of a run that failed by no fault of the renter's.
  if (instance.run_id && cause != Cause::host_silent && cause != Cause::card_fault) {
    TRY(add_minimum_line(tx, deps, instance, at, cause, actor));
  }
  return settle_soon(tx, instance.account_id, at);
}

Status settle_account(Tx& tx, const Deps& deps, const AccountId& account, Funds funds,
                      Timestamp until, const std::string& actor) {
  TRY(book(tx, deps, account, funds.wallet, funds.open, until, actor));
  TRY_ASSIGN(funds.wallet, tx.ledger().balance(wallet_of(account)));
  return tx.accounts().set_next_settlement(account,
                                           next_settlement(account, funds, deps.policy, until));
}

Status settle_soon(Tx& tx, const AccountId& account, Timestamp now) {
  TRY_ASSIGN(const std::vector<Segment> open, tx.ledger().open_segments(account));
  return tx.accounts().set_next_settlement(
      account, open.empty() ? std::nullopt : std::optional<Timestamp>(now));
}

}  // namespace cardhour
