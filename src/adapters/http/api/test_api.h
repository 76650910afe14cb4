// The API over the real control plane, on the simulated engine, driver and clock and the real
// store in memory. Requests go through the router, without a socket. For tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "adapters/files/catalog_file.h"
#include "adapters/files/presets_file.h"
#include "adapters/http/api/endpoints.h"
#include "adapters/http/json_codec.h"
#include "adapters/sim/sim_clock.h"
#include "adapters/sim/sim_engine.h"
#include "adapters/sim/sim_entropy.h"
#include "adapters/sim/sim_probe.h"
#include "adapters/sql/sql_store.h"
#include "app/secrets.h"
#include "wire/wire.h"

namespace cardhour::http {

inline constexpr const char* kPassword = "correct horse battery";
template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().what.en);
  return std::move(*result);
}

inline Catalog load_models() {
  const std::string directory = std::string(CARDHOUR_SOURCE_DIR) + "/catalog";
  return Catalog(must(load_catalog(directory + "/gpu-models.toml")).models(),
                 must(load_presets(directory + "/model-presets.toml")));
}

inline SimHost host_with_cards() {
  SimHost host;
  for (int i = 0; i < 4; ++i) {
    ProbedCard card;
    card.uuid = CardId{fmt::format("GPU-{:08x}-0000-0000-0000-000000000000", i + 1)};
    card.name = "NVIDIA GeForce RTX 4090";
    card.pci_address = fmt::format("0000:{:02x}:00.0", i + 1);
    card.index = i;
    card.memory_total_bytes = 24 * kGiB;
    card.memory_used_bytes = 0;
    host.cards.push_back(std::move(card));
  }
  return host;
}

inline SimEngineOptions engine_options(SimClock& clock) {
  SimEngineOptions options;
  options.wait = [&clock](Duration by) { clock.advance(by); };
  return options;
}

class ApiTest : public testing::Test {
 protected:
  ApiTest() {
    crypto_init();
    policy_.registration = Registration::open;
    store_ = must(open_sqlite(":memory:", SqliteOptions{.durable = false}));
    deps_ = std::make_unique<Deps>(Deps{*store_, engine_, clock_, entropy_, probe_, policy_,
                                        catalog_, network_, SealKey{1}, PasswordCost::cheap});
    plane_ = std::make_unique<ControlPlane>(*deps_);
    endpoints_ = make_endpoints(*plane_);
    router_ = std::make_unique<Router>(endpoints_, authorizer(*plane_));
    CHECK(plane_->observe.pass().has_value(), "the simulated engine answers");
    CHECK(plane_->inventory
              .seed_prices(must(
                  load_prices(std::string(CARDHOUR_SOURCE_DIR) + "/catalog/prices.toml", catalog_)))
              .has_value(),
          "prices");
    const auto first = must(plane_->accounts.ensure_first_operator("boss"));
    admin_ = log_in("boss", first->password.reveal());
    renter_ = add_renter("renter");
  }

  // ---- requests ----

  struct Call {
    std::string token;
    std::string body;
    std::string key;  // Idempotency-Key
    std::map<std::string, std::string> query;
    std::map<std::string, std::string> headers;
  };

  Response ask(Method method, const std::string& path, Call call) {
    Request request;
    request.method = method;
    request.path = path;
    request.query = std::move(call.query);
    request.body = std::move(call.body);
    request.client_address = "192.0.2.1";
    if (!call.token.empty()) request.headers.add("Authorization", "Bearer " + call.token);
    if (!call.key.empty()) request.headers.add("Idempotency-Key", call.key);
    for (const auto& [name, value] : call.headers) request.headers.add(name, value);
    return router_->handle(std::move(request));
  }
  Response get(const std::string& path, const std::string& token,
               std::map<std::string, std::string> query = {}) {
    return ask(Method::get, path, {token, "", "", std::move(query), {}});
  }
  Response post(const std::string& path, const std::string& token, std::string body = "{}",
                std::string key = "") {
    return ask(Method::post, path, {token, std::move(body), std::move(key), {}, {}});
  }

  template <class T>
  static T read(const Response& response) {
    EXPECT_LT(response.status, 300) << response.body;
    auto value = from_json<T>(response.body);
    EXPECT_TRUE(value) << response.body << value.error().what.en;
    return value ? *value : T{};
  }
  static std::string code_of(const Response& response) {
    const auto value = parse_json(response.body);
    if (!value || !value->is_object()) return "not JSON: " + response.body;
    const auto* code = value->as_object().if_contains("code");
    return code != nullptr ? std::string(code->as_string()) : "no code: " + response.body;
  }

  // ---- the world ----

  std::string log_in(const std::string& login, const std::string& password) {
    const auto body = to_json_text(wire::LoginRequest{login, Secret(password)});
    return read<wire::TokenAnswer>(post("/api/v1/auth/login", "", body)).token.reveal();
  }
  std::string add_renter(const std::string& login) {
    const auto body = to_json_text(wire::RegisterRequest{login, Secret(kPassword), {}});
    EXPECT_EQ(post("/api/v1/auth/register", "", body).status, 201);
    return log_in(login, kPassword);
  }
  std::string token_with(const std::string& login_token, const std::string& scopes) {
    const auto known = must(plane_->accounts.authenticate(login_token));
    return must(plane_->accounts.create_token(known.actor, "t", scopes, {})).text.reveal();
  }
  std::string token_of_instance(const std::string& id) {
    std::string sealed;
    CHECK(store_
              ->read([&](Tx& tx) -> Status {
                TRY_ASSIGN(const auto found, tx.instances().find(InstanceId{id}));
                sealed = found->secrets_sealed;
                return {};
              })
              .has_value(),
          "an instance");
    return must(unseal_secrets(*deps_, sealed)).token.reveal();
  }
  void top_up(const std::string& login, const std::string& amount) {
    static int key = 0;
    const auto body = R"({"account":")" + login + R"(","amount":")" + amount + R"("})";
    EXPECT_EQ(post("/api/v1/admin/topups", admin_, body, "topup-" + std::to_string(++key)).status,
              201);
  }
  // Until nothing is due any more.
  void work() {
    for (int turn = 0; turn < 200; ++turn) {
      if (must(plane_->operations.run_one())) continue;
      const auto next = must(plane_->operations.next_due());
      if (!next) return;
      if (*next > clock_.now()) clock_.set(*next);
    }
    FAIL() << "work that never ends";
  }
  wire::InstanceView rent(const std::string& token, const std::string& key,
                          const std::string& body = R"({"gpu_model":"4090"})") {
    const auto made = read<wire::InstanceView>(post("/api/v1/instances", token, body, key));
    work();
    return read<wire::InstanceView>(get("/api/v1/instances/" + made.id.text, token));
  }

  SimClock clock_;
  SimEntropy entropy_{7};
  SimEngine engine_{clock_, {host_with_cards()}, engine_options(clock_)};
  SimProbe probe_{engine_};
  Policy policy_;
  Catalog catalog_ = load_models();
  NetworkPlan network_;
  std::unique_ptr<SqlStore> store_;
  std::unique_ptr<Deps> deps_;
  std::unique_ptr<ControlPlane> plane_;
  std::vector<Endpoint> endpoints_;
  std::unique_ptr<Router> router_;
  std::string admin_;
  std::string renter_;
};

// "/api/v1/instances/{id}/stop" with something in the place of {id}.
inline std::string some_path(std::string path) {
  for (size_t open = path.find('{'); open != std::string::npos; open = path.find('{')) {
    path.replace(open, path.find('}') - open + 1, "i0123456789ab");
  }
  return path;
}

}  // namespace cardhour::http
