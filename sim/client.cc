#include "sim/client.h"

#include "adapters/http/api/endpoints.h"
#include "adapters/http/json_codec.h"
#include "adapters/http/router.h"
#include "base/check.h"

namespace cardhour {

Client::Client(World& world, const Actor& actor) : world_(world) {
  world_.outside([&] {
    const auto made = world_.plane().accounts.create_token(actor, "program", "read money instances",
                                                           std::nullopt);
    CHECK(made.has_value(), made ? "" : made.error().what.en);
    token_ = made->text.reveal();
  });
}

Client::~Client() = default;

http::Response Client::ask(http::Method method, const std::string& path,
                           std::map<std::string, std::string> query, std::string body) {
  if (router_of_ != world_.crashes()) {
    router_ = std::make_unique<http::Router>(http::make_endpoints(world_.plane()),
                                             http::authorizer(world_.plane()));
    router_of_ = world_.crashes();
  }
  http::Request request;
  request.method = method;
  request.path = path;
  request.query = std::move(query);
  request.body = std::move(body);
  request.client_address = "192.0.2.1";
  request.headers.add("Authorization", "Bearer " + token_);
  return router_->handle(std::move(request));
}

template <class T>
std::optional<T> Client::read(const http::Response& response) {
  if (response.status >= 300) return std::nullopt;
  auto value = from_json<T>(response.body, JsonReadOptions{.bytes_max = 16 << 20});
  CHECK(value.has_value(), value ? "" : value.error().what.en);
  return std::move(*value);
}

template <class T>
std::optional<std::vector<T>> Client::read_pages(const std::string& path,
                                                 std::map<std::string, std::string> query) {
  std::vector<T> all;
  query["limit"] = "100";
  while (true) {
    auto page = read<wire::Page<T>>(ask(http::Method::get, path, query, ""));
    if (!page) return std::nullopt;
    all.insert(all.end(), page->items.begin(), page->items.end());
    if (!page->next) return all;
    query["after"] = *page->next;
  }
}

std::optional<wire::WalletView> Client::wallet() {
  return read<wire::WalletView>(ask(http::Method::get, "/api/v1/wallet", {}, ""));
}

std::optional<wire::BillView> Client::statement() {
  return read<wire::BillView>(
      ask(http::Method::get, "/api/v1/statements", {{"explain", "true"}}, ""));
}

std::optional<std::vector<wire::InstanceView>> Client::instances() {
  return read_pages<wire::InstanceView>("/api/v1/instances", {{"with_purged", "true"}});
}

std::optional<std::vector<wire::TransactionView>> Client::transactions() {
  return read_pages<wire::TransactionView>("/api/v1/transactions", {});
}

std::optional<wire::QuoteView> Client::quote(const RentRequest& request) {
  wire::RentRequest body;
  body.mode = request.shape.mode;
  body.gpu_model = request.shape.gpu_model;
  body.gpu_count = request.shape.gpu_count;
  body.data_disk_bytes = request.data_disk_bytes;
  return read<wire::QuoteView>(
      ask(http::Method::post, "/api/v1/instances/quote", {}, to_json_text(body)));
}

void Client::follow_events(bool lost) {
  constexpr int kAtOnce = 50;
  const auto answer = ask(http::Method::get, "/api/v1/events", {{"after", "0"}}, "");
  if (!answer.stream) return;
  while (true) {
    const auto events = answer.stream->next(last_event_id_, kAtOnce);
    if (!events || events->empty() || lost) return;
    for (const http::SseEvent& event : *events) heard_.push_back(std::stoll(event.id));
    last_event_id_ = events->back().id;
  }
}

}  // namespace cardhour
