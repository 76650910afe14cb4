// What is done inside instances: identity, notices, cards; and whether sshd answers.
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "adapters/incus/guest_identity.h"
#include "adapters/incus/host_ports.h"
#include "adapters/incus/incus_client.h"
#include "adapters/incus/incus_engine.h"
#include "adapters/incus/incus_exec.h"
#include "adapters/incus/incus_look.h"

namespace cardhour {
namespace json = boost::json;
namespace {

using incus::at;
using incus::number_at;
using incus::text_at;

constexpr int kSshPortInside = 22;
constexpr std::string_view kGuest = "/opt/cardhour/cardhour-guest";
constexpr std::string_view kCards = "/opt/cardhour/cardhour-cards";
constexpr std::string_view kIdentityDir = "/var/lib/cardhour";
// The first NVML call of a host wakes the driver: seconds without persistence mode.
constexpr Duration kCardsPatience = seconds(60);
constexpr size_t kCardsMax = 64;
constexpr size_t kUuidBytesMax = 80;
constexpr size_t kErrorBytesShown = 400;

// Success, or what the program said last.
Status succeeded(const ExecRequest& request, const ExecOutcome& outcome) {
  if (outcome.exit_status == 0) return {};
  const std::string said = outcome.errors.substr(outcome.errors.size() -
                                                 std::min(outcome.errors.size(), kErrorBytesShown));
  return fail(ErrorCode::engine_failed,
              text("{} inside {} ended with {}: {}", "实例内的 {}（{}）以 {} 结束：{}",
                   request.command.front(), request.instance, outcome.exit_status, said));
}

Result<std::vector<VisibleCard>> read_cards(const InstanceId& id, const std::string& output) {
  boost::system::error_code wrong;
  const json::value said = json::parse(output, wrong);
  const json::value& cards = at(said, "cards");
  if (wrong || !cards.is_array() || cards.get_array().size() > kCardsMax) {
    return fail(ErrorCode::engine_failed,
                text("{} does not say which cards it sees", "{} 没有报告可见的显卡", id.text));
  }
  if (const std::string refusal = text_at(said, "error"); !refusal.empty()) {
    return fail(ErrorCode::engine_failed,
                text("the driver refuses inside {}: {}", "{} 内的驱动报错：{}", id.text,
                     refusal.substr(0, kErrorBytesShown)));
  }
  std::vector<VisibleCard> out;
  for (const json::value& card : cards.get_array()) {
    // A card that the driver knows and cannot use is not one that the renter has.
    if (!text_at(card, "fault").empty()) continue;
    VisibleCard visible{.uuid = {text_at(card, "uuid").substr(0, kUuidBytesMax)}};
    if (at(card, "memory_used").is_int64())
      visible.memory_used_bytes = number_at(card, "memory_used");
    out.push_back(std::move(visible));
  }
  return out;
}

}  // namespace

Secret identity_json(const InstanceId& id, const std::string& guest_url,
                     const GuestIdentity& identity) {
  json::array keys;
  for (const std::string& key : identity.authorized_keys) keys.emplace_back(key);
  const json::object document = {
      {"instance", id.text},
      {"hostname", identity.hostname},
      {"guest_url", guest_url},
      {"token", identity.token.reveal()},
      {"authorized_keys", std::move(keys)},
      {"password", identity.password.reveal()},
      {"host_key",
       {{"private", identity.host_key_private.reveal()}, {"public", identity.host_key_public}}}};
  return Secret(json::serialize(document));
}

Status push_identity(IncusClient& client, const InstanceId& id, const Secret& document) {
  const IncusFile file{.path = fmt::format("{}/identity.json", kIdentityDir),
                       .content = document.reveal(),
                       .mode = 0600};
  // Our own images have the directory; each request costs some 60 ms on a stopped instance.
  const Status pushed = client.push_file(id.text, file);
  if (pushed || pushed.error().code != ErrorCode::not_found) return pushed;
  TRY(client.push_file(
      id.text,
      {.path = std::string(kIdentityDir), .mode = 0700, .kind = IncusFile::Kind::directory}));
  return client.push_file(id.text, file);
}

Status IncusEngine::require_ours(const InstanceId& id) {
  TRY_ASSIGN(const Look now, look(id));
  if (now.kind == Look::Kind::ours) return {};
  return fail(ErrorCode::engine_failed, text("{} is not there", "{} 不存在", id.text));
}

Result<bool> IncusEngine::ssh_answers(const EngineSpec& spec, Duration patience) {
  return ssh_banner_comes(spec.ipv4, kSshPortInside, patience);
}

Result<std::vector<VisibleCard>> IncusEngine::visible_cards(const InstanceId& id) {
  TRY(require_ours(id));
  const ExecRequest request{.instance = id.text,
                            .command = {std::string(kCards)},
                            .input = {},
                            .patience = kCardsPatience};
  TRY_ASSIGN(const ExecOutcome outcome, incus_exec(*client_, request));
  TRY(succeeded(request, outcome));
  return read_cards(id, outcome.output);
}

Status IncusEngine::apply_identity(const InstanceId& id, const GuestIdentity& identity) {
  TRY(require_ours(id));
  const Secret document = identity_json(id, guest_url(), identity);
  // The guest keeps the document, for the next boot, before it applies it.
  const ExecRequest request{
      .instance = id.text, .command = {std::string(kGuest), "apply"}, .input = document.reveal()};
  TRY_ASSIGN(const ExecOutcome outcome, incus_exec(*client_, request));
  return succeeded(request, outcome);
}

Status IncusEngine::put_notice(const InstanceId& id, const std::string& json) {
  TRY(require_ours(id));
  ExecRequest request{
      .instance = id.text, .command = {std::string(kGuest), "notice"}, .input = json};
  if (json.empty()) request.command.emplace_back("--withdraw");
  TRY_ASSIGN(const ExecOutcome outcome, incus_exec(*client_, request));
  return succeeded(request, outcome);
}

}  // namespace cardhour
