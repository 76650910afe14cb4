#include "app/wallet.h"

#include <algorithm>
#include <map>

#include "app/events.h"
#include "app/idempotency.h"
#include "app/settlement.h"
#include "base/check.h"
#include "base/limits.h"

namespace cardhour {
namespace {

constexpr Money kTopUpMax{1'000'000'000'000};  // a million: a typing error beyond it

Money run_total_without_minimum(const std::vector<Segment>& run) {
  Money total;
  for (const Segment& segment : run) {
    if (segment.meter != Meter::minimum) total += segment.posted;
  }
  return total;
}

// The part of a line that lies in the asked time: what was owed at its end less what was owed
// at its beginning, so that the parts of several months sum to the whole.
struct Span {
  std::optional<Timestamp> from;
  Timestamp to;  // at most now
};

Span span_of(const Segment& segment, const BillQuery& query, Timestamp now) {
  const Timestamp end = segment.closed_at.value_or(now);
  Span span{std::nullopt, std::min(query.to.value_or(end), end)};
  if (query.from && *query.from > segment.opened_at) span.from = std::min(*query.from, span.to);
  return span;
}

Money amount_in(const Segment& segment, const Span& span) {
  const Money before = span.from ? segment_due(segment, *span.from) : Money{};
  return segment_due(segment, span.to) - before;
}

Duration charged_at(const Segment& segment, Timestamp at) {
  const bool ended = segment.closed_at && at >= *segment.closed_at;
  return charged_time(segment, at, !ended || is_voluntary(*segment.close_cause));
}

// Recomputes the line from its own facts, and compares with what the ledger has.
Status explain_line(Tx& tx, const Span& span, BillLine& line) {
  const Segment& segment = line.segment;
  if (segment.meter == Meter::minimum) {
    TRY_ASSIGN(const auto run, tx.ledger().segments_of_run(segment.run_id));
    line.recomputed = minimum_line(run_total_without_minimum(run), segment.rate_per_hour);
  } else {
    const Rate rate{segment.rate_per_hour, hours(1)};
    const Duration before = span.from ? charged_at(segment, *span.from) : Duration{};
    const Duration after = charged_at(segment, span.to);
    line.charged = after - before;
    line.recomputed = due(rate, segment.quantity, after) - due(rate, segment.quantity, before);
  }
  TRY_ASSIGN(line.booked, tx.ledger().posted_for(segment.id));
  const bool whole = line.open || segment_due(segment, *segment.closed_at) == segment.posted;
  line.agrees = whole && line.booked == segment.posted && line.recomputed == line.amount;
  return {};
}

}  // namespace

Result<WalletView> Wallet::view(const AccountId& account) {
  WalletView view;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    view.at = deps_.clock.now();
    TRY_ASSIGN(const Funds funds, load_funds(tx, account));
    view.balance = funds.wallet + funds.held;
    view.held = funds.held;
    view.accrued = funds.accrued(view.at);
    view.available = funds.available(view.at);
    view.burn_per_hour = burn_per_hour(funds.open);
    if (const auto until = funds.covered_until(view.at)) {
      view.runway = std::max(*until - view.at, Duration{0});
    }
    return {};
  }));
  return view;
}

Result<LedgerTransaction> Wallet::top_up(const Actor& by, const AccountId& account, Money amount,
                                         const std::string& note, const Idempotency& idempotency) {
  if (amount.micro <= 0 || amount > kTopUpMax) {
    return invalid("amount", Text{"a top-up is more than 0 and at most 1000000",
                                  "充值金额须大于 0 且不超过 1000000"});
  }
  if (note.size() > limits::kNoteBytes || !is_valid_utf8_text(note)) {
    return invalid("note", Text{"a note is at most 500 bytes of UTF-8 text",
                                "备注最多 500 字节的 UTF-8 文本"});
  }
  LedgerTransaction head;
  head.id = deps_.entropy.id<TransactionId>();
  head.kind = TransactionKind::topup;
  head.account_id = account;
  head.actor = by.name;
  head.note = note;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    head.at = deps_.clock.now();
    TRY_ASSIGN(const std::string earlier, recall(tx, by.account, idempotency));
    if (!earlier.empty()) {
      head.id = TransactionId{earlier};
      return {};
    }
    TRY_ASSIGN(const auto found, tx.accounts().find(account));
    if (!found) return fail(ErrorCode::not_found, Text{"no such account", "没有该账户"});
    TRY(tx.ledger().append(topup_entry(head, amount)));
    TRY(settle_soon(tx, account, head.at));
    TRY(record(tx, account, head.at, "wallet.topup", by.name, "admin",
               "amount=" + to_decimal(amount)));
    return remember(tx, by.account, idempotency, head.id.text, head.at);
  }));
  deps_.changed();
  return head;
}

Result<std::vector<Wallet::TransactionView>> Wallet::transaction_views(const AccountId& account,
                                                                       const Page& page) {
  std::vector<TransactionView> views;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto rows, tx.ledger().transactions(account, page));
    for (const LedgerTransaction& row : rows) {
      TransactionView view{row, Money{}};
      TRY_ASSIGN(const auto postings, tx.ledger().postings(row.id));
      for (const Posting& posting : postings) {
        if (posting.ledger_account == wallet_of(account)) view.wallet_change += posting.amount;
      }
      views.push_back(std::move(view));
    }
    return {};
  }));
  return views;
}

Result<Bill> Wallet::bill(const AccountId& account, const BillQuery& query) {
  Bill bill;
  bill.explained = query.explain;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    const Timestamp now = deps_.clock.now();
    TRY_ASSIGN(const auto segments,
               tx.ledger().segments(SegmentFilter{account, query.from, query.to, query.instance}));
    std::map<InstanceId, std::string> names;
    for (const Segment& segment : segments) {
      BillLine line;
      line.segment = segment;
      line.open = !segment.closed_at;
      const Span span = span_of(segment, query, now);
      line.amount = amount_in(segment, span);
      auto [name, fresh] = names.try_emplace(segment.instance_id);
      if (fresh) {
        TRY_ASSIGN(const auto instance, tx.instances().find(segment.instance_id));
        if (instance) name->second = instance->name;
      }
      line.instance_name = name->second;
      if (query.explain) TRY(explain_line(tx, span, line));
      bill.agrees = bill.agrees && line.agrees;
      bill.total += line.amount;
      if (segment.meter == Meter::on_demand) {
        bill.card_milliseconds +=
            (span.to - span.from.value_or(segment.opened_at)).ms * segment.quantity;
      }
      bill.lines.push_back(std::move(line));
    }
    return {};
  }));
  return bill;
}

}  // namespace cardhour
