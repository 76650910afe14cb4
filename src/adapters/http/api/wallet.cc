// The wallet, its transactions, and the bill.
#include <sstream>

#include "adapters/http/api/support.h"

namespace cardhour::http {
namespace {

Result<Response> wallet_get(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const WalletView wallet, plane.wallet.view(actor_of(request).account));
  wire::WalletView view;
  view.balance = wallet.balance;
  view.held = wallet.held;
  view.accrued = wallet.accrued;
  view.available = wallet.available;
  view.burn_per_hour = wallet.burn_per_hour;
  view.runway_ms = wallet.runway;
  view.at = wallet.at;
  view.currency = render(plane.deps.policy.currency);
  return answer(200, view);
}

Result<Response> transaction_list(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const PageAsked asked, page_of(request));
  TRY_ASSIGN(const auto rows,
             plane.wallet.transaction_views(actor_of(request).account, asked.with_one_more()));
  return page_answer(
      rows, asked,
      [](const Wallet::TransactionView& row) { return render(row.transaction, row.wallet_change); },
      [](const Wallet::TransactionView& row) { return row.transaction.id.text; });
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

wire::BillLineView render_line(const BillLine& line, bool explained) {
  const Segment& segment = line.segment;
  wire::BillLineView view;
  view.segment_id = segment.id;
  view.instance_id = segment.instance_id;
  view.instance_name = line.instance_name;
  view.run_id = segment.run_id;
  view.meter = segment.meter;
  view.gpu_model = segment.gpu_model;
  view.quantity = segment.quantity;
  view.card_uuids = words_of(segment.card_uuids);
  view.rate_per_hour = segment.rate_per_hour;
  view.unit_ms = segment.unit;
  view.carried_ms = segment.carried;
  view.opened_at = segment.opened_at;
  view.closed_at = segment.closed_at;
  view.open_cause = segment.open_cause;
  view.close_cause = segment.close_cause;
  view.amount = line.amount;
  if (explained) {
    view.explain = wire::BillExplainView{line.charged, line.recomputed, line.booked, line.agrees};
  }
  return view;
}

Result<std::optional<Timestamp>> time_of(const Request& request, const std::string& name) {
  const auto value = request.query_value(name);
  if (!value) return std::nullopt;
  TRY_ASSIGN(const Timestamp time, in_field(name, parse_rfc3339(*value)));
  return time;
}

Result<BillQuery> bill_query_of(ControlPlane& plane, const Request& request) {
  BillQuery query;
  TRY_ASSIGN(query.from, time_of(request, "from"));
  TRY_ASSIGN(query.to, time_of(request, "to"));
  TRY_ASSIGN(query.explain, flag_of(request, "explain"));
  if (const auto word = request.query_value("instance")) {
    TRY_ASSIGN(const InstanceView found, plane.instances.get(actor_of(request), *word));
    query.instance = found.instance.id;
  }
  return query;
}

Result<Response> statement_get(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const BillQuery query, bill_query_of(plane, request));
  TRY_ASSIGN(const Bill bill, plane.wallet.bill(actor_of(request).account, query));
  wire::BillView view;
  view.from = query.from;
  view.to = query.to;
  for (const BillLine& line : bill.lines) view.lines.push_back(render_line(line, bill.explained));
  view.total = bill.total;
  view.card_time_ms = Duration{bill.card_milliseconds};
  view.explained = bill.explained;
  view.agrees = bill.agrees;
  view.currency = render(plane.deps.policy.currency);
  return answer(200, view);
}

}  // namespace

void add_wallet_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/wallet",
                .permission = Permission::money,
                .operation_id = "wallet_get",
                .summary = {"Balance, burn and runway", "余额、消耗与可用时长"},
                .handler = on(plane, wallet_get),
                .response = schema_of<wire::WalletView>});
  to.push_back({.method = Method::get,
                .path = "/api/v1/transactions",
                .permission = Permission::money,
                .operation_id = "transaction_list",
                .summary = {"Ledger transactions, newest first", "交易流水，最新的在前"},
                .handler = on(plane, transaction_list),
                .response = page_schema<wire::TransactionView>,
                .query = page_query()});
  to.push_back({.method = Method::get,
                .path = "/api/v1/statements",
                .permission = Permission::money,
                .operation_id = "statement_get",
                .summary = {"The bill, line by line", "逐条账单"},
                .handler = on(plane, statement_get),
                .response = schema_of<wire::BillView>,
                .query = {{"from", {"RFC 3339; what overlaps [from, to)", "RFC 3339 起始时间"}},
                          {"to", {"RFC 3339", "RFC 3339 结束时间"}},
                          {"instance", {"only this one: id or name", "仅此实例：ID 或名称"}},
                          {"explain",
                           {"true: recompute every line and compare with the ledger",
                            "true：逐条复算并与账本核对"}}}});
}

}  // namespace cardhour::http
