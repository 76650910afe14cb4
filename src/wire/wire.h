// The structs of the API: what goes over the wire, one per concept, written and read by the
// JSON codec from their description alone. The server, the CLI and the OpenAPI document use
// these; nothing else describes them a second time.
// Conventions: sizes are bytes (`..._bytes`), lengths of time milliseconds (`..._ms`), money
// is Money (a decimal string, and `..._micro` beside it), times are RFC 3339 UTC. A member
// that is absent is left out. Requests refuse unknown members; answers may grow new ones.
// Depends on base and domain only. Thread-safe: plain values.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/money.h"
#include "base/secret.h"
#include "base/time.h"
#include "domain/account.h"
#include "domain/adoption.h"
#include "domain/instance.h"
#include "domain/ledger.h"
#include "domain/metering.h"
#include "domain/policy.h"
#include "domain/pricing.h"

namespace cardhour::wire {

// A page of a list. `next` is the `?after=` of the page that follows; absent on the last.
template <class T>
struct Page {
  std::vector<T> items;
  std::optional<std::string> next;

  BOOST_DESCRIBE_CLASS(Page, (), (items, next), (), ())
};

// ---- the deployment ----

// How the deployment writes money.
struct CurrencyView {
  std::string code;
  std::string symbol;
  int decimals = 2;
};
BOOST_DESCRIBE_STRUCT(CurrencyView, (), (code, symbol, decimals))

// GET /api/v1/version; open to anyone.
struct VersionView {
  std::string version;
  CurrencyView currency;
  Registration registration = Registration::closed;
};
BOOST_DESCRIBE_STRUCT(VersionView, (), (version, currency, registration))

struct HealthCheckView {
  std::string name;  // "database", "engine", "backup"
  bool ok = false;
  std::string detail;  // why not, or how old it is, in the reader's language
};
BOOST_DESCRIBE_STRUCT(HealthCheckView, (), (name, ok, detail))

// GET /healthz, GET /readyz; ready is 503 when database or engine fail. An overdue backup is
// not ok, and turns nobody away.
struct HealthView {
  bool ok = false;
  std::vector<HealthCheckView> checks;
};
BOOST_DESCRIBE_STRUCT(HealthView, (), (ok, checks))

// ---- accounts ----

// POST /api/v1/auth/login -> TokenAnswer
struct LoginRequest {
  std::string login;
  Secret password;
};
BOOST_DESCRIBE_STRUCT(LoginRequest, (), (login, password))

// POST /api/v1/auth/register -> AccountView
struct RegisterRequest {
  std::string login;
  Secret password;
  std::optional<Secret> invitation;  // the code, where registration asks for one
};
BOOST_DESCRIBE_STRUCT(RegisterRequest, (), (login, password, invitation))

struct AccountView {
  AccountId id;
  std::string login;
  Role role = Role::renter;
  AccountState state = AccountState::active;
  Timestamp created_at;
  std::optional<Money> available;  // in the operator's list
};
BOOST_DESCRIBE_STRUCT(AccountView, (), (id, login, role, state, created_at, available))

// GET /api/v1/me
struct MeView {
  AccountView account;
  std::string scopes;  // of the token that asks: "read instances money"
  CurrencyView currency;
};
BOOST_DESCRIBE_STRUCT(MeView, (), (account, scopes, currency))

// POST /api/v1/admin/accounts -> AccountView
struct AccountRequest {
  std::string login;
  Secret password;
  std::optional<Role> role;  // renter when absent
};
BOOST_DESCRIBE_STRUCT(AccountRequest, (), (login, password, role))

// PUT /api/v1/me/password -> 204
struct PasswordRequest {
  Secret old_password;
  Secret new_password;
};
BOOST_DESCRIBE_STRUCT(PasswordRequest, (), (old_password, new_password))

// POST /api/v1/tokens -> TokenAnswer
struct TokenRequest {
  std::string name;
  std::optional<std::string> scopes;    // "read instances"; all of one's own when absent
  std::optional<Duration> lifetime_ms;  // for good when absent
};
BOOST_DESCRIBE_STRUCT(TokenRequest, (), (name, scopes, lifetime_ms))

struct TokenView {
  TokenId id;
  TokenKind kind = TokenKind::session;
  std::string name;
  std::string scopes;
  Timestamp created_at;
  std::optional<Timestamp> expires_at;
};
BOOST_DESCRIBE_STRUCT(TokenView, (), (id, kind, name, scopes, created_at, expires_at))

// A token just made. The only time that its text is seen.
struct TokenAnswer {
  Secret token;  // for "Authorization: Bearer ..."
  TokenView about;
  AccountView account;
};
BOOST_DESCRIBE_STRUCT(TokenAnswer, (), (token, about, account))

// POST /api/v1/auth/browser-login (LoginRequest). The other secret goes into a cookie that no
// script can read; a request needs both.
struct BrowserSessionAnswer {
  Secret header_secret;  // for "Cardhour-Session: ..."
  TokenView about;
  AccountView account;
};
BOOST_DESCRIBE_STRUCT(BrowserSessionAnswer, (), (header_secret, about, account))

// POST /api/v1/auth/tickets. For `?ticket=` where a browser cannot send headers: good once.
struct TicketAnswer {
  Secret ticket;
  Timestamp expires_at;
};
BOOST_DESCRIBE_STRUCT(TicketAnswer, (), (ticket, expires_at))

// POST /api/v1/ssh-keys -> SshKeyView
struct SshKeyRequest {
  std::string public_key;           // "ssh-ed25519 AAAA... comment"
  std::optional<std::string> name;  // the key's comment when absent
};
BOOST_DESCRIBE_STRUCT(SshKeyRequest, (), (public_key, name))

struct SshKeyView {
  SshKeyId id;
  std::string name;
  std::string public_key;
  std::string fingerprint;
  Timestamp created_at;
};
BOOST_DESCRIBE_STRUCT(SshKeyView, (), (id, name, public_key, fingerprint, created_at))

// POST /api/v1/admin/invitations
struct InvitationView {
  InvitationId id;
  Secret code;  // the only time that it is seen
  Timestamp created_at;
  Timestamp expires_at;
};
BOOST_DESCRIBE_STRUCT(InvitationView, (), (id, code, created_at, expires_at))

// ---- the market ----

struct GpuModelView {
  std::string key;   // "rtx-4090"
  std::string name;  // "RTX 4090"
  int64_t vram_bytes = 0;
  double bandwidth_gb_per_s = 0;
  double fp32_tflops = 0;
  double fp16_tflops = 0;
  double int8_tops = 0;
  std::string interconnect;
  bool ecc = false;
  std::string compute_capability;
  std::string warning;
  std::string source;
  std::optional<Money> on_demand_per_hour;  // absent: not for rent here
};
BOOST_DESCRIBE_STRUCT(GpuModelView, (),
                      (key, name, vram_bytes, bandwidth_gb_per_s, fp32_tflops, fp16_tflops,
                       int8_tops, interconnect, ecc, compute_capability, warning, source,
                       on_demand_per_hour))

// One model on one host. `gpu` are its published figures.
struct OfferView {
  std::string model;  // the key, as in gpu.key
  HostId host_id;
  std::string host;
  bool reachable = true;
  bool simulated = false;
  int cards_total = 0;
  int cards_free = 0;
  int tenants = 0;  // other accounts with running instances on the host
  int millicores_per_card = 0;
  int64_t memory_per_card_bytes = 0;
  int64_t disk_free_bytes = 0;
  std::string driver_version;
  std::string cuda_version;
  Money on_demand_per_hour;  // per card
  Money no_gpu_per_hour;
  GpuModelView gpu;
};
BOOST_DESCRIBE_STRUCT(OfferView, (),
                      (model, host_id, host, reachable, simulated, cards_total, cards_free, tenants,
                       millicores_per_card, memory_per_card_bytes, disk_free_bytes, driver_version,
                       cuda_version, on_demand_per_hour, no_gpu_per_hour, gpu))

struct PriceView {
  std::string model;  // empty in no-GPU mode
  Mode mode = Mode::on_demand;
  Money per_hour;
};
BOOST_DESCRIBE_STRUCT(PriceView, (), (model, mode, per_hour))

// PUT /api/v1/admin/prices -> PriceView
struct PriceRequest {
  std::optional<std::string> model;  // absent in no-GPU mode
  std::optional<Mode> mode;          // on_demand when absent
  Money per_hour;
};
BOOST_DESCRIBE_STRUCT(PriceRequest, (), (model, mode, per_hour))

struct ImageView {
  std::string name;
};
BOOST_DESCRIBE_STRUCT(ImageView, (), (name))

// ---- instances ----

// The price before anything is charged. POST /api/v1/instances/quote (RentRequest) and
// POST /api/v1/instances/{id}/start-quote (StartRequest).
struct QuoteView {
  std::string gpu_model;
  int gpu_count = 0;
  Mode mode = Mode::on_demand;
  int cards_free = 0;  // of this model, on the best host
  int millicores = 0;
  int64_t memory_bytes = 0;
  int64_t system_disk_bytes = 0;
  int64_t data_disk_bytes = 0;
  Money rate_per_hour;    // of the whole shape
  Money stopped_per_day;  // what goes on costing while stopped
  Money hold;             // reserved until ready
  Money available;
  Money needed;  // available must be at least this
  Duration minimum_unit_ms;
  bool affordable = false;
  bool placeable = false;
  bool simulated = false;
};
BOOST_DESCRIBE_STRUCT(QuoteView, (),
                      (gpu_model, gpu_count, mode, cards_free, millicores, memory_bytes,
                       system_disk_bytes, data_disk_bytes, rate_per_hour, stopped_per_day, hold,
                       available, needed, minimum_unit_ms, affordable, placeable, simulated))

// POST /api/v1/instances (Idempotency-Key) -> InstanceView
struct RentRequest {
  static constexpr bool kAllOptional = true;

  Mode mode = Mode::on_demand;
  std::string gpu_model;  // a key or what people type; empty in no-GPU mode
  int gpu_count = 1;
  std::string name;  // empty: made from the model
  std::string image = "base";
  std::string purpose;
  int64_t data_disk_bytes = 0;  // 0: the free size
  bool nesting = false;
};
BOOST_DESCRIBE_STRUCT(RentRequest, (),
                      (mode, gpu_model, gpu_count, name, image, purpose, data_disk_bytes, nesting))

// POST /api/v1/instances/{id}/start (Idempotency-Key) -> InstanceView.
// What is absent stays as in the last run; a model without a mode means on_demand.
struct StartRequest {
  std::optional<Mode> mode;
  std::optional<std::string> gpu_model;
  std::optional<int> gpu_count;
};
BOOST_DESCRIBE_STRUCT(StartRequest, (), (mode, gpu_model, gpu_count))

// PATCH /api/v1/instances/{id} -> InstanceView
struct RenameRequest {
  std::string name;
};
BOOST_DESCRIBE_STRUCT(RenameRequest, (), (name))

// POST /api/v1/instances/{id}/release -> InstanceView. Into the bin, from where it can be
// restored; with `purge` at once and for good, if `confirm_name` is its name.
struct ReleaseRequest {
  bool purge = false;
  std::optional<std::string> confirm_name;
};
BOOST_DESCRIBE_STRUCT(ReleaseRequest, (), (purge, confirm_name))

// What went wrong, in the reader's language.
struct FaultView {
  std::string code;
  std::string what;
  std::string next;  // what to do; may be empty
};
BOOST_DESCRIBE_STRUCT(FaultView, (), (code, what, next))

// An involuntary stop that is ahead.
struct NoticeView {
  std::string reason;
  std::optional<Timestamp> deadline;
};
BOOST_DESCRIBE_STRUCT(NoticeView, (), (reason, deadline))

// How to reach a running instance.
struct ConnectionView {
  std::string host;
  int port = 0;
  std::string user;
  Secret password;
  std::string host_key_fingerprint;  // "SHA256:..."
  std::string known_hosts_line;      // "[host]:port ssh-ed25519 AAAA..."
  std::string ssh_command;           // "ssh -p 22001 root@host"
};
BOOST_DESCRIBE_STRUCT(ConnectionView, (),
                      (host, port, user, password, host_key_fingerprint, known_hosts_line,
                       ssh_command))

struct InstanceView {
  InstanceId id;
  std::string name;
  AccountId account_id;
  std::string owner;  // login
  std::string image;
  std::string purpose;
  HostId host_id;

  Desired desired = Desired::running;
  Observed observed = Observed::creating;
  std::string activity;     // phase of the work in progress: "create", "boot", ...; or empty
  std::string waiting_for;  // why a phase is being retried; or empty
  bool settled = false;     // nothing is in progress: it is what was asked, or it failed
  bool reachable = true;
  std::optional<FaultView> fault;
  std::optional<NoticeView> notice;

  Mode mode = Mode::on_demand;
  std::string gpu_model;
  int gpu_count = 0;
  std::vector<CardId> cards;
  bool simulated = false;  // its cards are simulated
  int millicores = 0;
  int64_t memory_bytes = 0;
  int64_t system_disk_bytes = 0;
  int64_t data_disk_bytes = 0;
  bool nesting = false;

  Money rate_per_hour;  // of the whole shape, frozen at power-on
  Money burn_per_hour;  // what it costs now; zero unless it runs
  Money cost_so_far;

  Timestamp created_at;
  std::optional<Timestamp> ready_at;
  std::optional<Timestamp> stopped_at;
  std::optional<Timestamp> bin_until;

  // Of one running instance, for a token with scope `instances`; never in lists.
  std::optional<ConnectionView> connection;
};
BOOST_DESCRIBE_STRUCT(InstanceView, (),
                      (id, name, account_id, owner, image, purpose, host_id, desired, observed,
                       activity, waiting_for, settled, reachable, fault, notice, mode, gpu_model,
                       gpu_count, cards, simulated, millicores, memory_bytes, system_disk_bytes,
                       data_disk_bytes, nesting, rate_per_hour, burn_per_hour, cost_so_far,
                       created_at, ready_at, stopped_at, bin_until, connection))

// The data of the stream GET /api/v1/events, whose id is `seq`. Pages of them, oldest first:
// GET /api/v1/events/latest and /api/v1/instances/{id}/events.
struct EventView {
  int64_t seq = 0;
  Timestamp at;
  std::optional<AccountId> account_id;
  std::optional<InstanceId> instance_id;
  std::string kind;  // "instance.running"
  std::string actor;
  std::string reason;
  std::string detail;
};
BOOST_DESCRIBE_STRUCT(EventView, (),
                      (seq, at, account_id, instance_id, kind, actor, reason, detail))

// A text message of a terminal's reader: GET /api/v1/instances/{id}/terminal.
enum class TerminalWordType { resize, close };  // close ends the shell
BOOST_DESCRIBE_ENUM(TerminalWordType, resize, close)

struct TerminalWord {
  TerminalWordType type = TerminalWordType::close;
  std::optional<int> cols;  // both of a resize
  std::optional<int> rows;
};
BOOST_DESCRIBE_STRUCT(TerminalWord, (), (type, cols, rows))

// GET /api/v1/instances/{id}/terminals
struct TerminalView {
  std::string id;
  Timestamp opened_at;
  bool attached = false;     // somebody looks at it
  int64_t output_bytes = 0;  // so far
};
BOOST_DESCRIBE_STRUCT(TerminalView, (), (id, opened_at, attached, output_bytes))

enum class ShutdownKind { poweroff, reboot };
BOOST_DESCRIBE_ENUM(ShutdownKind, poweroff, reboot)

// POST /guest/shutdown, with the instance's own token -> 204
struct GuestShutdownRequest {
  ShutdownKind kind = ShutdownKind::poweroff;
};
BOOST_DESCRIBE_STRUCT(GuestShutdownRequest, (), (kind))

// ---- money ----

struct WalletView {
  Money balance;  // wallet and holds, as booked
  Money held;
  Money accrued;    // owed beyond what is booked
  Money available;  // balance - held - accrued
  Money burn_per_hour;
  std::optional<Duration> runway_ms;  // absent: nothing burns
  Timestamp at;
  CurrencyView currency;
};
BOOST_DESCRIBE_STRUCT(WalletView, (),
                      (balance, held, accrued, available, burn_per_hour, runway_ms, at, currency))

struct TransactionView {
  TransactionId id;
  TransactionKind kind = TransactionKind::topup;
  Timestamp at;
  Money amount;  // change of the wallet
  std::string actor;
  std::string note;
  std::optional<InstanceId> instance_id;
  std::optional<TransactionId> corrects;
};
BOOST_DESCRIBE_STRUCT(TransactionView, (),
                      (id, kind, at, amount, actor, note, instance_id, corrects))

// POST /api/v1/admin/topups (Idempotency-Key) -> TransactionView
struct TopUpRequest {
  std::string account;  // login or id
  Money amount;
  std::optional<std::string> note;
};
BOOST_DESCRIBE_STRUCT(TopUpRequest, (), (account, amount, note))

// With `?explain=true`: the line computed anew, and what the ledger has for it.
struct BillExplainView {
  Duration charged_ms;  // after rounding to the unit
  Money recomputed;     // from start, end, rate and quantity alone
  Money booked;         // sum of its postings
  bool agrees = true;
};
BOOST_DESCRIBE_STRUCT(BillExplainView, (), (charged_ms, recomputed, booked, agrees))

// One segment: one stretch of one meter at one frozen price.
struct BillLineView {
  SegmentId segment_id;
  InstanceId instance_id;
  std::string instance_name;
  RunId run_id;
  Meter meter = Meter::on_demand;
  std::string gpu_model;
  int64_t quantity = 1;
  std::vector<std::string> card_uuids;
  Money rate_per_hour;  // per unit of quantity
  Duration unit_ms;     // the minimum unit
  Duration carried_ms;  // paid in an earlier segment of the run
  Timestamp opened_at;
  std::optional<Timestamp> closed_at;  // absent: it still runs
  Cause open_cause = Cause::ready;
  std::optional<Cause> close_cause;
  Money amount;
  std::optional<BillExplainView> explain;
};
BOOST_DESCRIBE_STRUCT(BillLineView, (),
                      (segment_id, instance_id, instance_name, run_id, meter, gpu_model, quantity,
                       card_uuids, rate_per_hour, unit_ms, carried_ms, opened_at, closed_at,
                       open_cause, close_cause, amount, explain))

// GET /api/v1/statements?from&to&instance&explain
struct BillView {
  std::optional<Timestamp> from;
  std::optional<Timestamp> to;
  std::vector<BillLineView> lines;  // by start
  Money total;
  Duration card_time_ms;  // time x cards
  bool explained = false;
  bool agrees = true;  // with `explained`: every line does
  CurrencyView currency;
};
BOOST_DESCRIBE_STRUCT(BillView, (),
                      (from, to, lines, total, card_time_ms, explained, agrees, currency))

// ---- the operator's machines ----

struct HostView {
  HostId id;
  std::string name;
  int cpu_total = 0;
  int64_t memory_bytes = 0;
  int64_t pool_total_bytes = 0;
  int64_t pool_used_bytes = 0;
  std::string driver_version;
  std::string cuda_version;
  Timestamp last_seen_at;
  bool reachable = true;
};
BOOST_DESCRIBE_STRUCT(HostView, (),
                      (id, name, cpu_total, memory_bytes, pool_total_bytes, pool_used_bytes,
                       driver_version, cuda_version, last_seen_at, reachable))

struct CardView {
  CardId uuid;
  HostId host_id;
  std::string model;
  std::string driver_name;
  std::string pci_address;
  int card_index = 0;
  int64_t vram_bytes = 0;
  std::optional<int> numa_node;
  bool simulated = false;
  std::string state;  // free, promised (to a start in progress), rented, sick, absent
  std::string fault;
  std::optional<InstanceId> instance_id;
  std::string renter;  // login
};
BOOST_DESCRIBE_STRUCT(CardView, (),
                      (uuid, host_id, model, driver_name, pci_address, card_index, vram_bytes,
                       numa_node, simulated, state, fault, instance_id, renter))

// ---- backups, and what a restored one did not know ----

// GET and POST /api/v1/admin/backups
struct BackupView {
  std::string name;  // of the file in the server's backup directory
  Timestamp made_at;
  int64_t bytes = 0;
};
BOOST_DESCRIBE_STRUCT(BackupView, (), (name, made_at, bytes))

// GET /api/v1/admin/adoptions: what was found in the engine and waits for a decision.
struct AdoptionView {
  InstanceId instance_id;
  AdoptionKind kind = AdoptionKind::instance;
  std::string engine_account;  // whose it is by the engine's tag; may be unknown here
  std::string owner;           // login of who holds it now
  int64_t generation = 0;
  Timestamp found_at;
  std::string name;
  Observed observed = Observed::stopped;
  Mode mode = Mode::no_gpu;
  std::string gpu_model;
  std::vector<CardId> cards;
  int ssh_port = 0;
};
BOOST_DESCRIBE_STRUCT(AdoptionView, (),
                      (instance_id, kind, engine_account, owner, generation, found_at, name,
                       observed, mode, gpu_model, cards, ssh_port))

// POST /api/v1/admin/adoptions/{id}/keep -> InstanceView
struct KeepRequest {
  std::optional<std::string> account;  // login or id; whose it is by the engine when absent
};
BOOST_DESCRIBE_STRUCT(KeepRequest, (), (account))

}  // namespace cardhour::wire
