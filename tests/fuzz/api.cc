// Any request to any endpoint, through the router, over the simulated world: no answer is a
// failure of the server, every refusal says so in JSON and in the language asked for.
//   POST /api/v1/instances?wait=1s
//   As: renter                          (or operator, guest; anything else: nobody)
//   Idempotency-Key: k
//
//   {"gpu_model":"4090"}
// "{id}" in the path is an instance of the renter.
#include <fmt/format.h>

#include <memory>

#include "adapters/http/api/endpoints.h"
#include "adapters/http/json_codec.h"
#include "adapters/http/router.h"
#include "app/secrets.h"
#include "base/check.h"
#include "sim/world.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

namespace cardhour::fuzz {
namespace {

// A world grows with what is asked of it.
constexpr int kRequestsPerWorld = 400;

template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().what.en);
  return std::move(*result);
}

class Api {
 public:
  Api() : world_(WorldOptions{}) {
    const Actor renter = world_.add_renter("renter");
    ControlPlane& plane = world_.plane();
    const Secret password("correct horse battery operator");
    must(plane.accounts.create(world_.admin(), "operator2", password, Role::admin));
    tokens_["operator"] = must(plane.accounts.login("operator2", password, "::1")).text.reveal();
    tokens_["renter"] =
        must(plane.accounts.login("renter", Secret("correct horse battery renter"), "::1"))
            .text.reveal();
    must(plane.wallet.top_up(world_.admin(), renter.account, Money{100'000'000}, "", {}));
    RentRequest wanted;
    wanted.shape = ShapeRequest{Mode::no_gpu, "", 0};
    const Instance instance = must(plane.instances.rent(renter, wanted, {}));
    instance_ = instance.id;
    tokens_["guest"] = must(unseal_secrets(plane.deps, instance.secrets_sealed)).token.reveal();
    world_.pass(seconds(10));
    router_ = std::make_unique<http::Router>(http::make_endpoints(plane), http::authorizer(plane));
  }

  void ask(std::string_view input) {
    const auto request = request_of(input);
    if (!request) return;
    const Language language = request->language;
    http::Response response = router_->handle(*request);
    if (response.later) {
      if (auto late = response.later->ask(http::Deferred::Chance::last)) response = *late;
    }
    if (response.stream) static_cast<void>(response.stream->next("", 10));
    check(response, language);
    if (++asked_ % 20 == 0) world_.pass(seconds(7));
    CHECK(world_.broken().empty(), "the world goes on");
  }
  bool is_spent() const { return asked_ >= kRequestsPerWorld; }

 private:
  std::optional<http::Request> request_of(std::string_view input) {
    const std::string_view line = take_line(input);
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const auto method = http::method_from(line.substr(0, space));
    std::string target(line.substr(space + 1));
    if (const size_t at = target.find("{id}"); at != std::string::npos) {
      target.replace(at, 4, instance_.text);
    }
    const auto parsed = http::parse_target(target);
    if (!method || !parsed) return std::nullopt;
    http::Request request;
    request.method = *method;
    request.path = parsed->path;
    request.query = parsed->query;
    request.client_address = fmt::format("192.0.2.{}", asked_ % 250);  // logins are limited by it
    add_headers(input, request);
    request.body = input.substr(0, limits::kBodyBytes);
    return request;
  }

  void add_headers(std::string_view& input, http::Request& request) {
    while (true) {
      const std::string_view line = take_line(input);
      const size_t colon = line.find(": ");
      if (colon == std::string_view::npos) break;
      const std::string name(line.substr(0, colon));
      const std::string value(line.substr(colon + 2));
      if (name == "As") {
        const auto token = tokens_.find(value);
        if (token != tokens_.end()) request.headers.add("Authorization", "Bearer " + token->second);
      } else {
        request.headers.add(name, value);
      }
    }
    request.language = http::language_of(request.header("Accept-Language").value_or(""));
  }

  static void check(const http::Response& response, Language language) {
    CHECK(response.status >= 200 && response.status < 500,
          fmt::format("{}: {} {}", response.status, response.failure, response.body));
    if (response.status < 400) return;
    const auto problem = parse_json(response.body);
    CHECK(problem.has_value() && problem->is_object(), response.body);
    const auto* title = problem->as_object().if_contains("title");
    CHECK(title != nullptr && title->is_string() && !title->as_string().empty(), response.body);
    const bool ascii = std::all_of(title->as_string().begin(), title->as_string().end(),
                                   [](unsigned char c) { return c < 0x80; });
    CHECK(ascii == (language == Language::en), response.body);
  }

  World world_;
  std::unique_ptr<http::Router> router_;
  std::map<std::string, std::string> tokens_;
  InstanceId instance_;
  int asked_ = 0;
};

void run(std::string_view input) {
  static std::unique_ptr<Api> api;
  if (!api || api->is_spent()) api = std::make_unique<Api>();
  api->ask(input);
}

}  // namespace

Target api_target() {
  return {"api",
          run,
          {"{id}",
           "?wait=",
           "?limit=",
           "&after=",
           "?explain=true",
           "As: renter",
           "As: operator",
           "As: guest",
           "Idempotency-Key: k",
           "Accept-Language: zh",
           "null",
           "true",
           "{}",
           "[]",
           "\"\"",
           "-1",
           "1e999",
           "9223372036854775807",
           "\\u0000",
           "\\ud800",
           "\"gpu_count\":",
           "\"amount_micro\":",
           "GET",
           "POST",
           "DELETE",
           "HEAD",
           "OPTIONS"},
          5};
}

}  // namespace cardhour::fuzz
