#include "adapters/http/api/support.h"

#include "base/check.h"
#include "base/crypto.h"

namespace cardhour::http {

const Actor& actor_of(const Request& request) {
  CHECK(request.actor != nullptr, "a handler behind a permission has an actor");
  return *request.actor;
}

Result<Accounts::Authenticated> asker(ControlPlane& plane, const std::string& token_id) {
  CHECK(!token_id.empty(), "a handler behind a permission knows the token");
  return plane.accounts.authenticate(TokenId{token_id});
}

Result<Accounts::Authenticated> session_of(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(Accounts::Authenticated authenticated, asker(plane, request.token_id));
  if (authenticated.kind == TokenKind::session) return authenticated;
  return fail(ErrorCode::forbidden,
              {"an API token may not change passwords or tokens", "API 令牌不能修改密码或令牌"},
              {"log in with your password and try again", "请用密码登录后重试"});
}

Idempotency idempotency_of(const Request& request) {
  return Idempotency{std::string(request.header("Idempotency-Key").value_or("")),
                     hash_token(std::string(method_text(request.method)) + " " + request.path +
                                "\n" + request.body)};
}

Result<PageAsked> page_of(const Request& request) {
  PageAsked asked;
  asked.after = request.query_value("after").value_or("");
  TRY_ASSIGN(asked.limit, page_limit(request));
  return asked;
}

Result<bool> flag_of(const Request& request, const std::string& name) {
  const std::string value = request.query_value(name).value_or("false");
  if (value == "true" || value == "false") return value == "true";
  return invalid(name, text("\"{}\" is neither true nor false", "“{}” 不是 true 或 false", value));
}

std::vector<QueryParameter> page_query(std::vector<QueryParameter> more) {
  more.push_back({"after", {"`next` of the page before", "上一页的 `next`"}});
  more.push_back({"limit", {"rows a page, 1 to 100", "每页条数，1 到 100"}});
  return more;
}

wire::AccountView render(const Account& account) {
  return {account.id, account.login, account.role, account.state, account.created_at, {}};
}

wire::TokenView render(const Token& token) {
  return {token.id, token.kind, token.name, token.scopes, token.created_at, token.expires_at};
}

wire::CurrencyView render(const Currency& currency) {
  return {currency.code, currency.symbol, currency.decimals};
}

wire::GpuModelView render(const GpuModel& model) {
  wire::GpuModelView view;
  view.key = model.key;
  view.name = model.name;
  view.vram_bytes = model.vram_bytes;
  view.bandwidth_gb_per_s = model.bandwidth_gb_per_s;
  view.fp32_tflops = model.fp32_tflops;
  view.fp16_tflops = model.fp16_tflops;
  view.int8_tops = model.int8_tops;
  view.interconnect = model.interconnect;
  view.ecc = model.ecc;
  view.compute_capability = model.compute_capability;
  view.warning = model.warning;
  view.source = model.source;
  return view;
}

wire::EventView render(const Event& event) {
  return {event.seq,  event.at,    event.account_id, event.instance_id,
          event.kind, event.actor, event.reason,     event.detail};
}

wire::TransactionView render(const LedgerTransaction& transaction, Money wallet_change) {
  wire::TransactionView view;
  view.id = transaction.id;
  view.kind = transaction.kind;
  view.at = transaction.at;
  view.amount = wallet_change;
  view.actor = transaction.actor;
  view.note = transaction.note;
  view.instance_id = transaction.instance_id;
  view.corrects = transaction.corrects;
  return view;
}

namespace {

bool at_rest(Observed observed) {
  return observed == Observed::running || observed == Observed::stopped ||
         observed == Observed::in_bin || observed == Observed::purged;
}

void render_state(const InstanceView& from, Language language, wire::InstanceView& to) {
  const Instance& instance = from.instance;
  to.desired = instance.desired;
  to.observed = instance.observed;
  to.activity = from.activity;
  to.waiting_for = from.waiting_for.in(language);
  // Bringing a notice inside is no change that anyone waits for.
  const bool busy = !from.activity.empty() && from.activity != enum_text(Step::deliver);
  to.settled = at_rest(instance.observed) && !busy;
  to.reachable = instance.reachable;
  if (!instance.fault_code.empty()) {
    to.fault = wire::FaultView{instance.fault_code,
                               Text{instance.fault_what_en, instance.fault_what_zh}.in(language),
                               Text{instance.fault_next_en, instance.fault_next_zh}.in(language)};
  }
  if (!instance.notice_reason.empty()) {
    to.notice = wire::NoticeView{instance.notice_reason, instance.notice_deadline};
  }
}

}  // namespace

wire::InstanceView render(const InstanceView& from, Language language) {
  const Instance& instance = from.instance;
  wire::InstanceView to;
  to.id = instance.id;
  to.name = instance.name;
  to.account_id = instance.account_id;
  to.owner = from.owner;
  to.image = instance.image;
  to.purpose = instance.purpose;
  to.host_id = instance.host_id;
  render_state(from, language, to);
  to.mode = instance.mode;
  to.gpu_model = instance.gpu_model;
  to.gpu_count = instance.gpu_count;
  to.cards = from.cards;
  to.simulated = from.simulated;
  to.millicores = instance.millicores;
  to.memory_bytes = instance.memory_bytes;
  to.system_disk_bytes = instance.system_disk_bytes;
  to.data_disk_bytes = instance.data_disk_bytes;
  to.nesting = instance.nesting;
  to.rate_per_hour = instance.mode == Mode::no_gpu ? instance.rate_per_hour
                                                   : instance.rate_per_hour * instance.gpu_count;
  to.burn_per_hour = from.burn_per_hour;
  to.cost_so_far = from.cost_so_far;
  to.created_at = instance.created_at;
  to.ready_at = instance.ready_at;
  to.stopped_at = instance.stopped_at;
  to.bin_until = instance.bin_until;
  return to;
}

wire::CardView render(const CardView& from) {
  const Card& card = from.card;
  wire::CardView view;
  view.uuid = card.uuid;
  view.host_id = card.host_id;
  view.model = card.model;
  view.driver_name = card.driver_name;
  view.pci_address = card.pci_address;
  view.card_index = card.card_index;
  view.vram_bytes = card.vram_bytes;
  view.numa_node = card.numa_node;
  view.simulated = card.simulated;
  view.state = from.state;
  view.fault = card.fault;
  view.instance_id = from.instance_id;
  view.renter = from.renter;
  return view;
}

}  // namespace cardhour::http
