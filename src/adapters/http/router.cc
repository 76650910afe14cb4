#include "adapters/http/router.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include "adapters/http/problem.h"
#include "base/check.h"
#include "base/limits.h"

namespace cardhour::http {
namespace {

// "/a/b/" gives "a", "b", "": a trailing slash is a path of its own.
std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  path.remove_prefix(1);
  while (true) {
    const size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

Status check_idempotency_key(const Request& request) {
  const auto key = request.header("Idempotency-Key");
  const auto printable = [](char c) { return c > ' ' && c < 0x7f; };
  if (key && !key->empty() && key->size() <= limits::kIdempotencyKeyBytes &&
      std::all_of(key->begin(), key->end(), printable)) {
    return {};
  }
  return invalid(
      "Idempotency-Key",
      text("this request needs an Idempotency-Key header of 1 to {} printable characters",
           "此请求需要 Idempotency-Key 请求头（1 到 {} 个可打印字符）",
           limits::kIdempotencyKeyBytes),
      {"Send a fresh random value, and the same one when you retry.",
       "请发送一个新的随机值；重试时使用相同的值。"});
}

Response not_found(const Request& request) {
  return problem_response(
      Error{ErrorCode::not_found,
            {"there is nothing at this path", "此路径不存在"},
            {"See /api/v1/openapi.json for what there is.", "可用接口见 /api/v1/openapi.json。"},
            {}},
      request.language);
}

Response method_not_allowed(const Request& request, const std::string& allow) {
  Response response =
      http_problem(405, {"Method not allowed", "不支持的方法"},
                   text("this path answers {}", "此路径支持 {}", allow), request.language);
  response.headers.set("Allow", allow);
  return response;
}

// Authorizes, then calls the handler.
Result<Response> serve(const Endpoint& endpoint, const Authorizer& authorizer, Request& request) {
  if (endpoint.takes_ticket) request.ticket = request.query_value("ticket");
  if (authorizer) {
    TRY_ASSIGN(Authorized authorized, authorizer(request, endpoint.permission));
    request.actor = std::move(authorized.actor);
    request.actor_id = std::move(authorized.actor_id);
    request.token_id = std::move(authorized.token_id);
  }
  if (endpoint.idempotent_key) TRY(check_idempotency_key(request));
  return endpoint.handler(request);
}

Response serve_or_problem(const Endpoint& endpoint, const Authorizer& authorizer,
                          Request& request) {
  try {
    Result<Response> answer = serve(endpoint, authorizer, request);
    return answer ? *std::move(answer) : problem_response(answer.error(), request.language);
  } catch (const std::exception& thrown) {
    Response response = problem_response(
        Error{ErrorCode::internal,
              {"the server made a mistake", "服务器内部出错"},
              {"Try again; if it stays, tell the operator.", "请重试；若仍失败，请联系运营者。"},
              {}},
        request.language);
    response.failure = fmt::format("{} threw: {}", endpoint.operation_id, thrown.what());
    return response;
  }
}

}  // namespace

// One segment of the path; a leaf where endpoints end.
struct Router::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literal;
  std::unique_ptr<Node> parameter;
  std::map<Method, size_t> endpoints;  // index into endpoints_

  // Literals first; falls back to the parameter when the literal leads nowhere.
  const Node* find(const std::vector<std::string_view>& segments, size_t at) const {
    if (at == segments.size()) return endpoints.empty() ? nullptr : this;
    const auto found = literal.find(segments[at]);
    if (found != literal.end()) {
      if (const Node* node = found->second->find(segments, at + 1)) return node;
    }
    if (parameter != nullptr && !segments[at].empty()) return parameter->find(segments, at + 1);
    return nullptr;
  }

  std::string allow() const {
    std::string text;
    const auto add = [&](Method method) {
      text += (text.empty() ? "" : ", ") + std::string(method_text(method));
    };
    for (const auto& [method, index] : endpoints) {
      add(method);
      if (method == Method::get && !endpoints.contains(Method::head)) add(Method::head);
    }
    if (!endpoints.contains(Method::options)) add(Method::options);
    return text;
  }
};

struct Router::Match {
  const Node* node = nullptr;          // null: no such path
  const Endpoint* endpoint = nullptr;  // null: no such method there
};

Router::Router(std::vector<Endpoint> endpoints, Authorizer authorizer, Fallback fallback)
    : endpoints_(std::move(endpoints)),
      authorizer_(std::move(authorizer)),
      fallback_(std::move(fallback)),
      root_(std::make_unique<Node>()) {
  std::set<std::string> ids;
  for (size_t i = 0; i < endpoints_.size(); ++i) {
    const Endpoint& endpoint = endpoints_[i];
    CHECK(endpoint.handler != nullptr, "no handler for " + endpoint.path);
    CHECK(authorizer_ != nullptr || endpoint.permission == Permission::anyone,
          "only open endpoints do without an authorizer: " + endpoint.path);
    CHECK(endpoint.path.starts_with('/'), "a path begins with /: " + endpoint.path);
    CHECK(!endpoint.operation_id.empty() && ids.insert(endpoint.operation_id).second,
          "an operation_id is given, and once: " + endpoint.operation_id);
    Node* node = root_.get();
    for (const std::string_view segment : segments_of(endpoint.path)) {
      std::unique_ptr<Node>& next =
          is_parameter(segment) ? node->parameter : node->literal[std::string(segment)];
      if (next == nullptr) next = std::make_unique<Node>();
      node = next.get();
    }
    CHECK(node->endpoints.emplace(endpoint.method, i).second,
          "two endpoints answer " + endpoint.path);
  }
}

Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

Router::Match Router::find(const Request& request) const {
  Match match;
  match.node = root_->find(segments_of(request.path), 0);
  if (match.node == nullptr) return match;
  auto found = match.node->endpoints.find(request.method);
  if (found == match.node->endpoints.end() && request.method == Method::head) {
    found = match.node->endpoints.find(Method::get);
  }
  if (found != match.node->endpoints.end()) match.endpoint = &endpoints_[found->second];
  return match;
}

Response Router::handle(Request request) const {
  if (request.path.empty() || request.path[0] != '/') return not_found(request);
  const Match match = find(request);
  if (match.node == nullptr) {
    std::optional<Response> other = fallback_ ? fallback_(request) : std::nullopt;
    return other ? *std::move(other) : not_found(request);
  }
  if (match.endpoint == nullptr) {
    const std::string allow = match.node->allow();
    if (request.method != Method::options) return method_not_allowed(request, allow);
    Response response = no_content();
    response.headers.set("Allow", allow);
    return response;
  }
  const Endpoint& endpoint = *match.endpoint;
  const auto names = segments_of(endpoint.path);
  const auto values = segments_of(request.path);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!is_parameter(names[i])) continue;
    request.params[std::string(names[i].substr(1, names[i].size() - 2))] = std::string(values[i]);
  }
  Response response = serve_or_problem(endpoint, authorizer_, request);
  response.actor_id = request.actor_id;
  response.operation_id = endpoint.operation_id;
  return response;
}

}  // namespace cardhour::http
