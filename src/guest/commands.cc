#include "guest/commands.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <sstream>
#include <utility>

#include "guest/files.h"
#include "guest/http.h"
#include "guest/identity.h"

namespace cardhour::guest {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr const char* kNoticeFile = "/run/cardhour/notice.json";
constexpr const char* kOnNotice = "/etc/cardhour/on-notice";
constexpr const char* kEngineSocket = "/dev/incus/sock";
constexpr size_t kNoticeBytesMax = 16 * 1024;
constexpr int kNoticeAttempts = 2;
constexpr milliseconds kNoticeTimeout{2000};
constexpr milliseconds kReadyTimeout{3000};

std::string line_of(const json::object& object) { return json::serialize(object); }

Answer wrong_input(const Error& error) {
  return {2, line_of({{"ok", false}, {"error", error.what.en}})};
}
Answer failed(const Error& error) {
  return {1, line_of({{"ok", false}, {"error", error.what.en}})};
}

std::string_view outcome_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::changed:
      return "changed";
    case Outcome::unchanged:
      return "unchanged";
    case Outcome::skipped:
      return "skipped";
    case Outcome::failed:
      return "failed";
  }
  return "";
}

Answer report(const std::vector<Step>& steps) {
  json::object outcomes;
  json::array names;
  std::string why;
  for (const Step& step : steps) {
    outcomes[step.name] = outcome_text(step.outcome);
    if (step.outcome != Outcome::failed) continue;
    names.emplace_back(step.name);
    why += (why.empty() ? "" : "; ") + step.name + ": " + step.why;
  }
  const bool ok = names.empty();
  json::object line{{"ok", ok}, {"steps", std::move(outcomes)}};
  if (!ok) {
    line["failed"] = std::move(names);
    line["error"] = why;
  }
  return {ok ? 0 : 1, line_of(line)};
}

Status check_notice(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (!error && value.is_object()) return {};
  return fail(ErrorCode::invalid_argument,
              Text{"notice: not a JSON object", "通知：不是 JSON 对象"});
}

bool is_program(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// The shutdown that goes on, as far as it can be known.
std::optional<std::string> current_shutdown(const Machine& machine, const Invocation& invocation) {
  if (!invocation.arguments.empty()) {
    const std::string& kind = invocation.arguments[0];
    if (kind == "poweroff" || kind == "reboot") return kind;
    return std::nullopt;
  }
  const auto jobs = machine.run({{"systemctl", "list-jobs", "--no-legend", "--plain"}, ""});
  if (jobs) return shutdown_kind(*jobs);
  // Without systemd, only an init that shuts down has a reason to call us.
  if (jobs.error().code == ErrorCode::not_found) return "poweroff";
  return std::nullopt;
}

Answer sent(bool is_sent, const std::string& why) {
  return {0, line_of({{"ok", true}, {"sent", is_sent}, {"why", why}})};
}

}  // namespace

Answer apply(const Machine& machine, const Invocation& invocation) {
  const auto document = read_to_end(invocation.input, kDocumentBytesMax);
  if (!document) return wrong_input(document.error());
  const auto identity = parse_identity(*document);
  if (!identity) return wrong_input(identity.error());
  const auto stored = store_identity(*document, machine);
  std::vector<Step> steps = apply_identity(*identity, machine);
  if (!stored) steps.push_back({"store", Outcome::failed, stored.error().what.en});
  return report(steps);
}

Answer boot(const Machine& machine, const Invocation&) {
  const auto identity = load_identity(machine);
  if (identity) return report(apply_identity(*identity, machine));
  if (identity.error().code == ErrorCode::not_found) return report({});
  return failed(identity.error());
}

Answer notice(const Machine& machine, const Invocation& invocation) {
  const std::string path = machine.at(kNoticeFile);
  if (!invocation.arguments.empty()) {
    if (invocation.arguments[0] != "--withdraw") {
      return {2, line_of({{"ok", false}, {"error", "usage: notice [--withdraw]"}})};
    }
    const auto removed = remove_file(path);
    return removed ? Answer{0, line_of({{"ok", true}})} : failed(removed.error());
  }
  const auto text = read_to_end(invocation.input, kNoticeBytesMax);
  if (!text) return wrong_input(text.error());
  if (const auto checked = check_notice(*text); !checked) return wrong_input(checked.error());

  if (const auto made = ensure_directory(machine.at("/run/cardhour"), 0755); !made) {
    return failed(made.error());
  }
  if (const auto written = write_file(path, *text, 0644); !written) return failed(written.error());
  const std::string program = machine.at(kOnNotice);
  if (!is_program(program)) return {0, line_of({{"ok", true}, {"started", false}})};
  const auto started = machine.start_detached({program, path});
  return started ? Answer{0, line_of({{"ok", true}, {"started", true}})} : failed(started.error());
}

Answer shutdown_notice(const Machine& machine, const Invocation& invocation) {
  const auto kind = current_shutdown(machine, invocation);
  if (!kind) return sent(false, "no shutdown is going on");
  const auto identity = load_identity(machine);
  if (!identity) return sent(false, identity.error().what.en);
  const auto address = parse_url(identity->guest_url);
  if (!address) return sent(false, address.error().what.en);

  const HttpRequest request{"POST", "/guest/shutdown", identity->token.reveal(),
                            line_of({{"kind", *kind}})};
  std::string why;
  for (int attempt = 0; attempt < kNoticeAttempts; ++attempt) {
    const auto status = send_request(*address, request, kNoticeTimeout);
    if (status && *status < 300) return sent(true, *kind);
    why = status ? "HTTP " + std::to_string(*status) : status.error().what.en;
    // What the server refuses once it refuses again.
    if (status && *status < 500) break;
  }
  return sent(false, why);
}

Answer ready(const Machine& machine, const Invocation&) {
  Address engine;
  engine.socket_path = machine.at(kEngineSocket);
  const auto status =
      send_request(engine, {"PATCH", "/1.0", "", line_of({{"state", "Ready"}})}, kReadyTimeout);
  if (!status) return sent(false, status.error().what.en);
  return sent(*status < 300, "HTTP " + std::to_string(*status));
}

std::optional<std::string> shutdown_kind(std::string_view jobs) {
  std::istringstream lines{std::string(jobs)};
  std::optional<std::string> kind;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, unit, type;
    words >> number >> unit >> type;
    if (type != "start") continue;
    if (unit == "reboot.target" || unit == "kexec.target" || unit == "soft-reboot.target") {
      return "reboot";
    }
    if (unit == "poweroff.target" || unit == "halt.target" || unit == "exit.target") {
      kind = "poweroff";
    }
  }
  return kind;
}

}  // namespace cardhour::guest
