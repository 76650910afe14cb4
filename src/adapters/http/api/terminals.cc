// Web terminals: a WebSocket onto a shell inside an instance, and the list of open ones.
//   binary, from the client: what is typed        binary, to it: output
//   text, from it: TerminalWord                   text, to it: "attached", "exit"
// What a browser must be told after its upgrade is told by the code of the close.
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <climits>

#include "adapters/http/api/support.h"
#include "adapters/http/browser.h"
#include "adapters/http/websocket.h"
#include "base/limits.h"

namespace cardhour::http {
namespace {

namespace json = boost::json;

constexpr std::string_view kProtocol = "cardhour.terminal.v1";
constexpr int kEnded = 1000;
constexpr int kNotUnderstood = 1008;
constexpr int kTooMany = 1013;
constexpr int kSessionEnded = 4401;
constexpr int kGone = 4404;
constexpr int kNotRunning = 4409;
constexpr int kReplaced = 4410;

WebSocketMessage text_message(const json::object& object) {
  return {WebSocketMessage::Kind::text, json::serialize(object)};
}

bool is_size(int columns, int rows) {
  return columns >= 1 && columns <= limits::kTerminalColumnsMax && rows >= 1 &&
         rows <= limits::kTerminalRowsMax;
}

// What the query says.
struct Asked {
  ShellSize size;
  std::optional<std::string> terminal;
  std::optional<int64_t> from;
};

// Says why there is no terminal, in a way that a browser's script can read.
class Refusal final : public WebSocketHandler {
 public:
  explicit Refusal(WebSocketClose why) : why_(std::move(why)) {}
  std::string protocol() const override { return std::string(kProtocol); }
  void opened(std::function<void()>) override {}
  bool received(const WebSocketMessage&) override { return true; }
  std::optional<Outgoing> next() override { return why_; }
  void closed() override {}

 private:
  const WebSocketClose why_;
};

// One connection's place at a terminal.
class Seat final : public WebSocketHandler {
 public:
  Seat(std::shared_ptr<Terminal> terminal, const Asked& asked, Language language)
      : terminal_(std::move(terminal)), asked_(asked), language_(language) {}
  ~Seat() override {
    // An upgrade that came to nothing leaves no terminal behind that nobody knows of.
    if (!attached_ && !asked_.terminal) terminal_->finish({TerminalFate::closed, {}, {}});
  }

  std::string protocol() const override { return std::string(kProtocol); }

  void opened(std::function<void()> wake) override {
    auto attached = terminal_->attach(asked_.from, std::move(wake));
    if (!attached) {
      last_ = WebSocketClose{kNotUnderstood, attached.error().what.in(language_)};
      return;
    }
    attached_ = *attached;
    if (asked_.terminal) terminal_->resize(attached_->reader, asked_.size);
    greeting_ = text_message(
        {{"type", "attached"}, {"terminal", terminal_->about().id}, {"offset", attached_->offset}});
  }

  bool received(const WebSocketMessage& message) override {
    if (!attached_) return true;
    if (message.kind == WebSocketMessage::Kind::binary) {
      return terminal_->write(attached_->reader, message.data);
    }
    const auto word = from_json<wire::TerminalWord>(message.data);
    const bool resize = word && word->type == wire::TerminalWordType::resize;
    const int columns = resize ? word->cols.value_or(0) : 0;
    const int rows = resize ? word->rows.value_or(0) : 0;
    if (!word || (resize && !is_size(columns, rows))) {
      const Text why{"a text message that is not understood", "无法识别的文本消息"};
      last_ = WebSocketClose{kNotUnderstood, why.in(language_)};
    } else if (resize) {
      terminal_->resize(attached_->reader, ShellSize{columns, rows});
    } else {
      terminal_->finish({TerminalFate::closed, {}, Text{"closed by its renter", "已由租用者关闭"}});
    }
    return true;
  }

  std::optional<Outgoing> next() override {
    if (greeting_) return std::exchange(greeting_, std::nullopt);
    if (last_) return *last_;
    if (!attached_) return std::nullopt;
    Terminal::Taken taken = terminal_->take(attached_->reader, limits::kTerminalFrameBytes);
    if (!taken.bytes.empty()) {
      return WebSocketMessage{WebSocketMessage::Kind::binary, std::move(taken.bytes)};
    }
    if (taken.replaced) {
      const Text why{"opened at another place", "已在其他位置打开"};
      return WebSocketClose{kReplaced, why.in(language_)};
    }
    return taken.end ? end_of(*taken.end) : std::nullopt;
  }

  void closed() override {
    if (attached_) terminal_->detach(attached_->reader);
  }

 private:
  // By the code where the client must know it, else by a last message.
  std::optional<Outgoing> end_of(const TerminalEnd& end) {
    const std::string& reason = end.reason.in(language_);
    if (end.fate == TerminalFate::session_ended) return WebSocketClose{kSessionEnded, reason};
    if (end.fate == TerminalFate::instance_stopped) return WebSocketClose{kNotRunning, reason};
    last_ = WebSocketClose{kEnded, reason};
    json::value code = nullptr;
    if (end.exit_code) code = *end.exit_code;
    return text_message({{"type", "exit"}, {"code", std::move(code)}, {"reason", reason}});
  }

  const std::shared_ptr<Terminal> terminal_;
  const Asked asked_;
  const Language language_;
  std::optional<Terminal::Attached> attached_;
  std::optional<WebSocketMessage> greeting_;
  std::optional<WebSocketClose> last_;
};

Result<std::optional<int64_t>> number_of(const Request& request, const std::string& name) {
  const auto given = request.query_value(name);
  if (!given) return std::optional<int64_t>();
  int64_t number = 0;
  const char* end = given->data() + given->size();
  const auto [stop, error] = std::from_chars(given->data(), end, number);
  if (error == std::errc() && stop == end && number >= 0) return std::optional<int64_t>(number);
  return invalid(name, text("\"{}\" is not a number", "“{}” 不是数字", *given));
}

Result<ShellSize> size_of(const Request& request) {
  TRY_ASSIGN(const auto columns, number_of(request, "cols"));
  TRY_ASSIGN(const auto rows, number_of(request, "rows"));
  ShellSize size;
  size.columns = static_cast<int>(std::min<int64_t>(columns.value_or(size.columns), INT_MAX));
  size.rows = static_cast<int>(std::min<int64_t>(rows.value_or(size.rows), INT_MAX));
  if (is_size(size.columns, size.rows)) return size;
  return invalid("cols", text("a terminal has 1 to {} columns and 1 to {} rows",
                              "终端为 1 到 {} 列、1 到 {} 行", limits::kTerminalColumnsMax,
                              limits::kTerminalRowsMax));
}

Result<Asked> asked_of(const Request& request) {
  Asked asked;
  TRY_ASSIGN(asked.size, size_of(request));
  asked.terminal = request.query_value("terminal");
  TRY_ASSIGN(asked.from, number_of(request, "from"));
  if (asked.from && !asked.terminal) {
    return invalid("from", {"`from` goes with `terminal`", "`from` 须与 `terminal` 一起使用"});
  }
  if (asked.terminal && !asked.from) asked.from = 0;
  return asked;
}

Result<std::shared_ptr<Terminal>> terminal_of(ControlPlane& plane, const Request& request,
                                              const Asked& asked) {
  const Actor& actor = actor_of(request);
  const TokenId session{request.token_id};
  const std::string& instance = request.param("id");
  if (asked.terminal) return plane.terminals.find(actor, session, instance, *asked.terminal);
  return plane.terminals.open(actor, session, instance, asked.size);
}

// nullopt: a problem document says it better.
std::optional<int> close_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found:
      return kGone;
    case ErrorCode::conflict:
      return kNotRunning;
    case ErrorCode::quota_exceeded:
    case ErrorCode::overloaded:
      return kTooMany;
    default:
      return std::nullopt;
  }
}

Result<Response> terminal_open(ControlPlane& plane, const Request& request) {
  TRY(check_origin(request));
  TRY_ASSIGN(const Asked asked, asked_of(request));
  if (!is_web_socket_upgrade(request)) {
    TRY(plane.terminals.check(actor_of(request), request.param("id")));
    Response response =
        http_problem(426, {"Upgrade required", "需要升级协议"},
                     {"this path speaks WebSocket, version 13", "此路径使用 WebSocket（版本 13）"},
                     request.language);
    response.headers.set("Upgrade", "websocket");
    response.headers.set("Sec-WebSocket-Version", "13");
    return response;
  }
  Response response;
  const auto terminal = terminal_of(plane, request, asked);
  if (terminal) {
    response.socket = std::make_shared<Seat>(*terminal, asked, request.language);
    return response;
  }
  const Error& error = terminal.error();
  const auto code = close_code(error.code);
  if (!code) return fail(error);
  response.socket =
      std::make_shared<Refusal>(WebSocketClose{*code, error.what.in(request.language)});
  return response;
}

Result<Response> terminal_list(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto open, plane.terminals.list(actor_of(request), request.param("id")));
  std::vector<wire::TerminalView> views;
  for (const auto& terminal : open) {
    const Terminal::State state = terminal->state();
    views.push_back(
        {terminal->about().id, terminal->about().opened_at, state.attached, state.output_bytes});
  }
  return list_answer(std::move(views));
}

}  // namespace

void add_terminal_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/instances/{id}/terminal",
                .permission = Permission::instances,
                .operation_id = "terminal_open",
                .summary = {"A WebSocket onto a shell inside (cardhour.terminal.v1)",
                            "实例内的终端，WebSocket（cardhour.terminal.v1）"},
                .handler = on(plane, terminal_open),
                .success_status = 101,
                .query = {{"cols", {"columns; 80 when absent", "列数，默认 80"}},
                          {"rows", {"rows; 24 when absent", "行数，默认 24"}},
                          {"terminal", {"one that is open, to go on with it", "要续接的终端"}},
                          {"from", {"bytes of its output that are known", "已收到的输出字节数"}}},
                .takes_ticket = true});
  to.push_back({.method = Method::get,
                .path = "/api/v1/instances/{id}/terminals",
                .permission = Permission::read,
                .operation_id = "terminal_list",
                .summary = {"Open terminals, oldest first", "已打开的终端，最早的在前"},
                .handler = on(plane, terminal_list),
                .response = page_schema<wire::TerminalView>});
}

}  // namespace cardhour::http
