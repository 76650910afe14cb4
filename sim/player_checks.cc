// What renters are shown, held against what is booked and against sums of our own.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/enum_text.h"
#include "sim/player.h"

namespace cardhour {
namespace {

// What a line of a bill costs, from what it shows, by the rules and by nothing of the program's.
Money cost_of(const wire::BillLineView& line, Timestamp now) {
  if (line.meter == Meter::minimum) return line.amount;
  const int64_t elapsed = std::max<int64_t>(line.closed_at.value_or(now).ms - line.opened_at.ms, 0);
  const bool exact = line.close_cause && *line.close_cause != Cause::renter &&
                     *line.close_cause != Cause::guest_shutdown;
  int64_t charged = std::max<int64_t>(elapsed - line.carried_ms.ms, 0);
  if (!exact) charged = (charged + line.unit_ms.ms - 1) / line.unit_ms.ms * line.unit_ms.ms;
  const __int128 product =
      static_cast<__int128>(line.rate_per_hour.micro) * line.quantity * charged;
  return Money{static_cast<int64_t>(product / 3'600'000)};
}

struct Shown {
  wire::WalletView wallet;
  wire::BillView bill;
  std::vector<wire::InstanceView> instances;
  std::vector<wire::TransactionView> transactions;
};

class Comparison {
 public:
  Comparison(World& world, const Actor& actor, const Shown& shown, std::vector<std::string>& broken)
      : world_(world), actor_(actor), shown_(shown), broken_(broken) {}

  void run() {
    compare_bill();
    compare_wallet();
    for (const wire::InstanceView& view : shown_.instances) compare_instance(view);
  }

 private:
  template <class... Args>
  void broken(const char* format, const Args&... args) {
    broken_.push_back(actor_.name + " is shown " +
                      fmt::vformat(format, fmt::make_format_args(args...)));
  }

  void compare_bill() {
    for (const wire::BillLineView& line : shown_.bill.lines) {
      const Money own = cost_of(line, shown_.wallet.at);
      sum_ += line.amount;
      cost_[line.instance_id] += line.amount;
      const bool agrees = own == line.amount && line.explain && line.explain->agrees;
      if (!agrees) {
        broken("{} for segment {}, which costs {}", to_decimal(line.amount), line.segment_id.text,
               to_decimal(own));
      }
      if (!line.closed_at) burn_[line.instance_id] += line.rate_per_hour * line.quantity;
    }
    if (sum_ != shown_.bill.total) broken("a total that is not the sum of its lines");
  }

  // All that was paid in, less all that was used, is what there is.
  void compare_wallet() {
    Money moved;
    Money paid_in;
    for (const wire::TransactionView& row : shown_.transactions) {
      moved += row.amount;
      if (row.kind == TransactionKind::topup) paid_in += row.amount;
    }
    const wire::WalletView& wallet = shown_.wallet;
    if (moved != wallet.balance - wallet.held) {
      broken("transactions of {} and a wallet of {}", to_decimal(moved),
             to_decimal(wallet.balance - wallet.held));
    }
    Money burn;
    for (const auto& [id, each] : burn_) burn += each;
    if (burn != wallet.burn_per_hour) broken("a burn of {}", to_decimal(wallet.burn_per_hour));
    const Money left = paid_in - sum_;
    const Money written_off = wallet.balance - wallet.accrued - left;
    if (written_off.micro < 0) {
      broken("{} where {} are left", to_decimal(wallet.balance - wallet.accrued), to_decimal(left));
    }
    if (wallet.available != wallet.balance - wallet.held - wallet.accrued) {
      broken("a wallet that does not add up");
    }
    written_off_ = written_off;
  }

  void compare_instance(const wire::InstanceView& view) {
    std::optional<Instance> row;
    size_t cards = 0;
    CHECK(world_.store()
              .read([&](Tx& tx) -> Status {
                TRY_ASSIGN(row, tx.instances().find(view.id));
                TRY_ASSIGN(const auto allocations, tx.hosts().active_allocations_of(view.id));
                cards = allocations.size();
                return {};
              })
              .has_value(),
          "instances can be read");
    if (!row || row->account_id != actor_.account) return broken("a foreign {}", view.id.text);
    const bool same = view.observed == row->observed && view.desired == row->desired &&
                      view.reachable == row->reachable && view.cards.size() == cards;
    if (!same) broken("{} in another state than it is", view.id.text);
    if (view.fault.has_value() != !row->fault_code.empty())
      broken("{} without its fault", view.id.text);
    const int count = row->mode == Mode::no_gpu ? 1 : row->gpu_count;
    if (view.rate_per_hour != row->rate_per_hour * count)
      broken("{} at a wrong rate", view.id.text);
    if (view.cost_so_far != cost_[view.id]) {
      broken("{} with a cost of {}, its bill of {}", view.id.text, to_decimal(view.cost_so_far),
             to_decimal(cost_[view.id]));
    }
    if (view.burn_per_hour != burn_[view.id]) broken("{} with a wrong burn", view.id.text);
  }

 public:
  Money written_off() const { return written_off_; }

 private:
  World& world_;
  const Actor& actor_;
  const Shown& shown_;
  std::vector<std::string>& broken_;
  Money sum_;
  Money written_off_;
  std::map<InstanceId, Money> cost_;
  std::map<InstanceId, Money> burn_;
};

}  // namespace

std::vector<std::string> Player::check_shown(Look look) {
  std::vector<std::string> wrong;
  if (renters_.empty()) return wrong;
  ++looks_;
  Money written_off;
  int nth = 0;
  world_.outside([&] {
    for (auto& [name, renter] : renters_) {
      if (look == Look::at_one && nth++ != looks_ % static_cast<int>(renters_.size())) continue;
      auto wallet = renter.client->wallet();
      auto bill = renter.client->statement();
      auto instances = renter.client->instances();
      auto transactions = renter.client->transactions();
      CHECK(wallet && bill && instances && transactions, "the API answers " + name);
      const Shown shown{*wallet, *bill, *instances, *transactions};
      Comparison comparison(world_, renter.actor, shown, wrong);
      comparison.run();
      written_off += comparison.written_off();
      if (look == Look::at_one) continue;
      renter.client->follow_events(false);
      const auto& heard = renter.client->heard();
      std::vector<int64_t> written;
      CHECK(world_.store()
                .read([&](Tx& tx) -> Status {
                  TRY_ASSIGN(
                      const auto events,
                      tx.events().after(0, EventFilter{renter.actor.account, {}, {}}, 1'000'000));
                  for (const Event& event : events) written.push_back(event.seq);
                  return {};
                })
                .has_value(),
            "events can be read");
      if (heard != written) {
        wrong.push_back(
            fmt::format("{} heard {} events of {}", name, heard.size(), written.size()));
      }
    }
  });
  if (look == Look::at_one) return wrong;
  Money booked;
  CHECK(world_.store()
            .read([&](Tx& tx) -> Status {
              TRY_ASSIGN(booked, tx.ledger().balance(std::string(kWriteOff)));
              return {};
            })
            .has_value(),
        "balances can be read");
  if (-booked != written_off) {
    wrong.push_back(fmt::format("{} are written off, and {} are missing", to_decimal(booked),
                                to_decimal(written_off)));
  }
  return wrong;
}

std::vector<std::string> Player::check_keys() {
  std::vector<std::string> wrong;
  std::map<std::string, int> effects;
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    for (const auto& [name, renter] : renters_) {
      Page page{"", 100};
      while (true) {
        TRY_ASSIGN(const auto rows, tx.ledger().transactions(renter.actor.account, page));
        for (const LedgerTransaction& row : rows) {
          if (row.kind == TransactionKind::topup) ++effects[row.note];
        }
        if (rows.empty()) break;
        page.after = rows.back().id.text;
      }
    }
    TRY_ASSIGN(const auto rows, tx.instances().page(InstanceFilter{{}, true}, Page{"", 10'000}));
    for (const Instance& row : rows) ++effects[row.purpose];
    return {};
  });
  CHECK(read.has_value(), read ? "" : read.error().what.en);
  for (const auto& [key, keyed] : keyed_) {
    const int times = effects[key];
    if (times > 1 || (times == 0 && !keyed.result.empty())) {
      wrong.push_back(fmt::format("key {} had its effect {} times", key, times));
    }
  }
  return wrong;
}

}  // namespace cardhour
