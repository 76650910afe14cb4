// wallet, transactions, bill.
#include <fmt/format.h>

#include "base/limits.h"
#include "cli/bill.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/words.h"

namespace cardhour::cli {
namespace {

constexpr int kLatest = 20;

Outcome wallet(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->get("/wallet"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto view, decode<wire::WalletView>(answer));
  const Currency currency{view.currency.code, clean(view.currency.symbol), view.currency.decimals};
  Facts facts(context.language);
  facts.add({"available", "可用余额"}, format(currency, view.available));
  facts.add({"booked", "账面余额"}, format(currency, view.balance));
  facts.add({"held for starts", "开机预留"}, format(currency, view.held));
  facts.add({"used, not booked yet", "已用未入账"}, price(currency, view.accrued));
  facts.add({"burn", "当前消耗"}, per_hour(currency, view.burn_per_hour));
  facts.add({"lasts", "还可用"}, view.runway_ms ? for_people(*view.runway_ms, context.language)
                                                : context.in({"nothing burns", "当前没有消耗"}));
  print(facts.text());
  return kDone;
}

Outcome transactions(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(const auto count, arguments.number("--count", 1, limits::kPageMax));
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(
      const std::string answer,
      client->get("/transactions", Query{{"limit", std::to_string(count.value_or(kLatest))}}));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::TransactionView>>(answer));
  Table table({{{"AT", "时间"}},
               {{"WHAT", "类型"}},
               {{"AMOUNT", "金额"}, Align::right},
               {{"INSTANCE", "实例"}},
               {{"BY", "操作者"}},
               {{"NOTE", "备注"}},
               {{"ID", "ID"}}},
              context.language);
  for (const auto& row : page.items) {
    table.add({local_time(row.at), context.in(transaction_text(row.kind)),
               price(context.currency(), row.amount), row.instance_id ? row.instance_id->text : "-",
               row.actor, row.note, row.id.text});
  }
  print(table.text());
  return kDone;
}

Result<Query> bill_query(const Arguments& arguments) {
  const bool days = arguments.has("--from") || arguments.has("--to");
  if (days && arguments.has("--month")) {
    return invalid("--month", Text{"--month and --from/--to exclude each other",
                                   "--month 与 --from/--to 不能同时使用"});
  }
  Query query;
  if (const auto from = arguments.find("--from")) {
    TRY_ASSIGN(const Timestamp at, parse_moment("--from", *from));
    query["from"] = to_rfc3339(at);
  }
  if (const auto to = arguments.find("--to")) {
    TRY_ASSIGN(const Timestamp at, parse_moment("--to", *to));
    query["to"] = to_rfc3339(at);
  }
  if (!days) {
    const std::string month =
        arguments.find("--month").value_or(local_time(present()).substr(0, 7));
    TRY_ASSIGN(const TimeRange range, parse_month(month));
    query["from"] = to_rfc3339(range.from);
    query["to"] = to_rfc3339(range.to);
  }
  if (arguments.has("--explain")) query["explain"] = "true";
  return query;
}

Outcome bill(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Query query, bill_query(arguments));
  TRY_ASSIGN(Client * client, context.client());
  if (const auto word = arguments.find("--instance")) {
    TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, *word));
    query["instance"] = view.id.text;
  }
  TRY_ASSIGN(const std::string answer, client->get("/statements", query));
  TRY_ASSIGN(const auto view, decode<wire::BillView>(answer));
  const int exit = view.agrees ? kDone : kFailed;
  if (context.json) {
    context.put(answer);
    return exit;
  }
  if (arguments.has("--csv")) {
    print(bill_csv(view));
    return exit;
  }
  context.say(Text{fmt::format("{} to {}", local_time(view.from), local_time(view.to)),
                   fmt::format("{} 至 {}", local_time(view.from), local_time(view.to))});
  print(bill_text(view, context.language));
  return exit;
}

}  // namespace

void add_money_commands(std::vector<Command>& to) {
  to.push_back({.path = "wallet",
                .group = Group::money,
                .summary = {"balance, burn, and how long it lasts", "余额、消耗和还能用多久"},
                .run = wallet});
  to.push_back(
      {.path = "transactions",
       .group = Group::money,
       .summary = {"what came in and went out, newest first", "收支流水，最新的在前"},
       .options = {{"-n,--count", "N", {"the latest N; 20 if absent", "最近 N 条，默认 20"}}},
       .run = transactions});
  to.push_back(
      {.path = "bill",
       .group = Group::money,
       .summary = {"the bill, line by line; --explain recomputes it",
                   "逐条账单，--explain 逐条复算"},
       .options = {{"--month", "2026-11", {"a calendar month; else this one", "月份，默认本月"}},
                   {"--from",
                    "TIME",
                    {"2026-11-03, \"2026-11-03 10:30\" or RFC 3339",
                     "2026-11-03、\"2026-11-03 10:30\" 或 RFC 3339"}},
                   {"--to", "TIME", {"up to then, not including it", "截止时间（不含）"}},
                   {"--instance", "ID", {"only this one: ID or name", "仅此实例：ID 或名称"}},
                   {"--explain",
                    "",
                    {"how each amount comes about, checked against the ledger; "
                     "exit code 1 if any differs",
                     "列出每笔金额的计算并与账本核对，不一致时退出码为 1"}},
                   {"--csv", "", {"for a spreadsheet, with micro-units", "CSV，含微单位金额"}}},
       .examples = {{"cardhour bill --month 2026-11 --explain", {"", ""}},
                    {"cardhour bill --from 2026-11-01 --csv > bill.csv", {"", ""}}},
       .run = bill});
}

}  // namespace cardhour::cli
