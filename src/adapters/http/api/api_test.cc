// What every endpoint must keep to, walked from the list, and each resource by itself.
#include "adapters/http/api/test_api.h"
#include "adapters/sim/sim_shelf.h"
#include "wire/estimate.h"
#include "wire/telemetry.h"

namespace cardhour::http {
namespace {

// Endpoints that need no token. A new one is added here on purpose, or not at all.
const std::set<std::string> kOpen = {"auth_login",    "auth_browser_login", "auth_register",
                                     "health_get",    "openapi_get",        "version_get",
                                     "readiness_get", "openapi_get_v1"};

// Every scope but one.
std::string scopes_without(Permission permission) {
  std::string scopes;
  for (const char* scope : {"read", "instances", "money", "admin"}) {
    if (enum_text(permission) != scope) scopes += (scopes.empty() ? "" : " ") + std::string(scope);
  }
  return scopes;
}

// ---- every endpoint, from the list ----

TEST_F(ApiTest, EveryEndpointIsClosedToWhoIsNotLoggedIn) {
  for (const Endpoint& endpoint : endpoints_) {
    if (endpoint.permission == Permission::anyone) {
      EXPECT_TRUE(kOpen.contains(endpoint.operation_id))
          << endpoint.operation_id << " is open to anyone, and kOpen does not say so";
      continue;
    }
    for (const std::string token : {"", "ch_k0123456789ab_wrong", "nonsense"}) {
      const Response response =
          ask(endpoint.method, some_path(endpoint.path), {.token = token, .key = "k"});
      EXPECT_EQ(response.status, 401) << endpoint.operation_id << " with \"" << token << "\"";
      EXPECT_EQ(code_of(response), "unauthenticated");
    }
  }
}

TEST_F(ApiTest, EveryEndpointIsClosedToTheWrongScope) {
  top_up("renter", "100");
  const std::string guest = token_of_instance(rent(renter_, "r").id.text);
  std::map<Permission, std::string> operators;  // one token a permission: an account may have few
  for (const Endpoint& endpoint : endpoints_) {
    if (endpoint.permission == Permission::anyone) continue;
    // Who may do everything but this.
    std::map<std::string, std::string> wrong;
    if (endpoint.permission == Permission::guest) {
      wrong["an operator"] = admin_;
      wrong["a renter"] = renter_;
    } else {
      std::string& token = operators[endpoint.permission];
      if (token.empty()) token = token_with(admin_, scopes_without(endpoint.permission));
      wrong["an operator's token without the scope"] = token;
      wrong["an instance"] = guest;
    }
    if (endpoint.permission == Permission::admin) wrong["a renter"] = renter_;
    for (const auto& [who, token] : wrong) {
      const Response response =
          ask(endpoint.method, some_path(endpoint.path), {.token = token, .key = "k"});
      EXPECT_EQ(response.status, 403) << endpoint.operation_id << " by " << who;
      EXPECT_EQ(code_of(response), "forbidden") << endpoint.operation_id << " by " << who;
    }
  }
}

// Somebody else's is not there, for every endpoint that names one thing of a renter. A new one gets
// a body here that is right in all but whose it is.
TEST_F(ApiTest, EveryEndpointOfAThingIsClosedToOtherRenters) {
  const std::map<std::string, std::string> bodies = {
      {"instance_start", R"({"mode":"no_gpu"})"},
      {"instance_start_quote", R"({"mode":"no_gpu"})"},
      {"instance_release", "{}"},
      {"instance_rename", R"({"name":"taken over"})"},
      {"idle_set", R"({"after_ms":1800000})"},
      {"idle_hold", R"({"for_ms":1})"}};
  top_up("renter", "100");
  std::map<std::string, std::string> things = {
      {"/api/v1/instances/{id}", rent(renter_, "r").id.text}};
  const std::string key =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJWvLx3f8vh0k7W4vB4oGJwWZrVxv6p5m3n2b1c0d9e8 me@home";
  things["/api/v1/ssh-keys/{id}"] =
      read<wire::SshKeyView>(
          post("/api/v1/ssh-keys", renter_, to_json_text(wire::SshKeyRequest{key, {}})))
          .id.text;
  things["/api/v1/tokens/{id}"] =
      read<wire::TokenAnswer>(post("/api/v1/tokens", renter_, R"({"name":"ci"})")).about.id.text;
  const std::string other = add_renter("other");
  int asked = 0;
  for (const Endpoint& endpoint : endpoints_) {
    const bool of_a_renter =
        endpoint.permission != Permission::admin && endpoint.permission != Permission::guest;
    const size_t brace = endpoint.path.find("{id}");
    if (brace == std::string::npos || !of_a_renter) continue;
    const auto thing = things.find(endpoint.path.substr(0, brace + 4));
    ASSERT_NE(thing, things.end()) << "make one of " << endpoint.path << " here";
    const auto body = bodies.find(endpoint.operation_id);
    ASSERT_TRUE(endpoint.request == nullptr || body != bodies.end())
        << "give " << endpoint.operation_id << " a body here";
    std::string path = endpoint.path;
    path.replace(brace, 4, thing->second);
    const Response response =
        ask(endpoint.method, path,
            {.token = other, .body = body == bodies.end() ? "" : body->second, .key = "k"});
    EXPECT_EQ(response.status, 404) << endpoint.operation_id << ": " << response.body;
    ++asked;
  }
  EXPECT_GE(asked, 12);
  for (const char* path : {"/api/v1/statements", "/api/v1/events", "/api/v1/events/latest"}) {
    const std::string id = things.at("/api/v1/instances/{id}");
    EXPECT_EQ(get(path, other, {{"instance", id}}).status, 404) << path;
  }
}

// What an endpoint's path and method say that it must ask for.
Permission permission_for(const Endpoint& endpoint) {
  const auto under = [&](std::string_view prefix) { return endpoint.path.starts_with(prefix); };
  if (kOpen.contains(endpoint.operation_id)) return Permission::anyone;
  if (under("/api/v1/admin/")) return Permission::admin;
  if (under("/guest/")) return Permission::guest;
  for (const char* money : {"/api/v1/wallet", "/api/v1/transactions", "/api/v1/statements"}) {
    if (under(money)) return Permission::money;
  }
  const bool changes = (endpoint.method != Method::get && !endpoint.path.ends_with("quote")) ||
                       endpoint.path.ends_with("/terminal");
  const bool reaches_instances = under("/api/v1/instances") || under("/api/v1/ssh-keys");
  return changes && reaches_instances ? Permission::instances : Permission::read;
}

TEST_F(ApiTest, PermissionsFollowThePath) {
  for (const Endpoint& endpoint : endpoints_) {
    EXPECT_EQ(enum_text(endpoint.permission), enum_text(permission_for(endpoint)))
        << endpoint.operation_id;
  }
}

TEST_F(ApiTest, NoBodyMakesTheServerFail) {
  const std::vector<std::string> bodies = {"",
                                           "{",
                                           "[]",
                                           "null",
                                           "7",
                                           "\"text\"",
                                           R"({"unknown":1})",
                                           R"({"login":7,"name":{}})",
                                           R"({"amount":"1e9","account":"x"})",
                                           R"({"gpu_count":9999999999})",
                                           "\xff\xfe",
                                           R"({"name":"\u0000"})",
                                           std::string(100, '[')};
  top_up("renter", "100");
  const std::string guest = token_of_instance(rent(renter_, "r").id.text);
  int key = 0;
  for (const Endpoint& endpoint : endpoints_) {
    if (endpoint.request == nullptr) continue;
    for (const std::string& body : bodies) {
      const std::string token = endpoint.permission == Permission::guest ? guest : admin_;
      const Response response = ask(endpoint.method, some_path(endpoint.path),
                                    {.token = token, .body = body, .key = std::to_string(++key)});
      EXPECT_LT(response.status, 500) << endpoint.operation_id << " with " << body;
      EXPECT_GE(response.status, 400) << endpoint.operation_id << " with " << body;
    }
  }
}

TEST_F(ApiTest, WhatPaysOrCreatesNeedsAnIdempotencyKey) {
  const std::set<std::string> needed = {"instance_rent", "instance_start", "topup_create"};
  std::set<std::string> found;
  for (const Endpoint& endpoint : endpoints_) {
    if (!endpoint.idempotent_key) continue;
    found.insert(endpoint.operation_id);
    EXPECT_EQ(ask(endpoint.method, some_path(endpoint.path), {.token = admin_}).status, 400);
  }
  EXPECT_EQ(found, needed);
}

TEST_F(ApiTest, TheCheckedInContractIsWhatTheProgramPrints) {
  std::ifstream stream(CARDHOUR_SOURCE_DIR "/api/openapi.json");
  const std::string checked_in{std::istreambuf_iterator<char>(stream), {}};
  const std::string printed = api_document(endpoints_);
  EXPECT_TRUE(printed == checked_in) << "run: cardhour docs openapi > api/openapi.json";
  EXPECT_EQ(get("/openapi.json", "").body, printed);
  EXPECT_EQ(get("/api/v1/openapi.json", "").body, printed);
}

TEST_F(ApiTest, TheGuestListenerServesNothingElse) {
  const auto endpoints = make_guest_endpoints(*plane_);
  ASSERT_FALSE(endpoints.empty());
  for (const Endpoint& endpoint : endpoints) {
    EXPECT_EQ(endpoint.permission, Permission::guest);
    EXPECT_TRUE(endpoint.path.starts_with("/guest/"));
  }
}

// ---- accounts ----

TEST_F(ApiTest, ASessionEndsWithLogoutAndWithAPasswordChange) {
  const auto me = read<wire::MeView>(get("/api/v1/me", renter_));
  EXPECT_EQ(me.account.login, "renter");
  EXPECT_EQ(me.scopes, "read instances money");
  const std::string other = log_in("renter", kPassword);
  EXPECT_EQ(post("/api/v1/auth/logout", other).status, 204);
  EXPECT_EQ(get("/api/v1/me", other).status, 401);

  const std::string third = log_in("renter", kPassword);
  const auto change = [&](const std::string& old) {
    return ask(Method::put, "/api/v1/me/password",
               {.token = renter_,
                .body = to_json_text(wire::PasswordRequest{Secret(old), Secret("a new one 123")})})
        .status;
  };
  EXPECT_EQ(change("wrong"), 400);
  EXPECT_EQ(change(kPassword), 204);
  EXPECT_EQ(get("/api/v1/me", third).status, 401);
  EXPECT_EQ(get("/api/v1/me", renter_).status, 200);
  log_in("renter", "a new one 123");
}

TEST_F(ApiTest, GuessingAPasswordIsSlowedDown) {
  const auto guess = [&] {
    return post("/api/v1/auth/login", "", R"({"login":"renter","password":"guess"})").status;
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(guess(), 401);
  EXPECT_EQ(guess(), 429);
}

TEST_F(ApiTest, RegistrationFollowsThePolicy) {
  policy_.registration = Registration::invitation;
  const auto join = [&](const std::string& login, std::optional<Secret> code) {
    return post("/api/v1/auth/register", "",
                to_json_text(wire::RegisterRequest{login, Secret(kPassword), std::move(code)}))
        .status;
  };
  EXPECT_EQ(join("newcomer", {}), 400);
  const auto invitation = read<wire::InvitationView>(post("/api/v1/admin/invitations", admin_, ""));
  EXPECT_EQ(join("newcomer", invitation.code), 201);
  EXPECT_EQ(join("another", invitation.code), 400);
  policy_.registration = Registration::closed;
  EXPECT_EQ(join("third", {}), 403);
  const auto version = read<wire::VersionView>(get("/api/v1/version", ""));
  EXPECT_EQ(version.registration, Registration::closed);
}

TEST_F(ApiTest, AnApiTokenCannotWidenItself) {
  const std::string token = token_with(renter_, "read instances money");
  EXPECT_EQ(post("/api/v1/tokens", token, R"({"name":"more"})").status, 403);
  EXPECT_EQ(ask(Method::put, "/api/v1/me/password", {.token = token}).status, 403);
  const auto made = read<wire::TokenAnswer>(
      post("/api/v1/tokens", renter_, R"({"name":"ci","scopes":"read","lifetime_ms":60000})"));
  EXPECT_EQ(made.about.scopes, "read");
  EXPECT_EQ(post("/api/v1/tokens", renter_, R"({"name":"x","scopes":"admin"})").status, 403);
  EXPECT_EQ(get("/api/v1/me", made.token.reveal()).status, 200);
  clock_.advance(minutes(2));
  EXPECT_EQ(get("/api/v1/me", made.token.reveal()).status, 401);
  EXPECT_EQ(ask(Method::delete_, "/api/v1/tokens/" + made.about.id.text, {.token = token}).status,
            403);
  EXPECT_EQ(ask(Method::delete_, "/api/v1/tokens/" + made.about.id.text, {.token = renter_}).status,
            204);
}

TEST_F(ApiTest, SshKeysAreOnesOwn) {
  const std::string key =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJWvLx3f8vh0k7W4vB4oGJwWZrVxv6p5m3n2b1c0d9e8 me@home";
  const auto body = to_json_text(wire::SshKeyRequest{key, {}});
  const auto made = read<wire::SshKeyView>(post("/api/v1/ssh-keys", renter_, body));
  EXPECT_EQ(made.name, "me@home");
  const auto listed = read<wire::Page<wire::SshKeyView>>(get("/api/v1/ssh-keys", renter_));
  ASSERT_EQ(listed.items.size(), 1u);
  const std::string path = "/api/v1/ssh-keys/" + made.id.text;
  EXPECT_EQ(ask(Method::delete_, path, {.token = add_renter("other")}).status, 404);
  EXPECT_EQ(ask(Method::delete_, path, {.token = renter_}).status, 204);
}

// ---- the market ----

TEST_F(ApiTest, OffersAreFilteredByMemoryAndModel) {
  const auto count = [&](std::map<std::string, std::string> query) {
    return read<wire::Page<wire::OfferView>>(get("/api/v1/offers", renter_, std::move(query)))
        .items.size();
  };
  EXPECT_EQ(count({}), 1u);
  EXPECT_EQ(count({{"vram", "24G"}, {"model", "4090"}}), 1u);
  EXPECT_EQ(count({{"vram", "25G"}}), 0u);
  EXPECT_EQ(count({{"model", "h100"}}), 0u);
  EXPECT_EQ(get("/api/v1/offers", renter_, {{"model", "no such card"}}).status, 400);
  EXPECT_EQ(get("/api/v1/offers", renter_, {{"vram", "much"}}).status, 400);
}

TEST_F(ApiTest, AnOperatorSetsThePriceThatRentersSee) {
  const Response set = ask(Method::put, "/api/v1/admin/prices",
                           {.token = admin_, .body = R"({"model":"4090","per_hour":"2.5"})"});
  EXPECT_EQ(read<wire::PriceView>(set).model, "rtx-4090");
  const auto offers = read<wire::Page<wire::OfferView>>(get("/api/v1/offers", renter_));
  EXPECT_EQ(offers.items.at(0).on_demand_per_hour, Money{2'500'000});
  EXPECT_NE(get("/api/v1/offers", renter_).body.find("\"on_demand_per_hour\":\"2.500000\""),
            std::string::npos);
}

// ---- instances ----

TEST_F(ApiTest, ARentIsQuotedPaidRunsAndIsBilled) {
  EXPECT_EQ(code_of(post("/api/v1/instances", renter_, R"({"gpu_model":"4090"})", "early")),
            "insufficient_balance");
  top_up("renter", "100");
  const auto quote = read<wire::QuoteView>(
      post("/api/v1/instances/quote", renter_, R"({"gpu_model":"4090","gpu_count":2})"));
  EXPECT_EQ(quote.rate_per_hour, Money{3'960'000});
  EXPECT_TRUE(quote.affordable && quote.placeable);

  const wire::InstanceView running =
      rent(renter_, "rent", R"({"gpu_model":"4090","gpu_count":2,"name":"mine"})");
  EXPECT_EQ(running.observed, Observed::running);
  EXPECT_TRUE(running.settled);
  EXPECT_EQ(running.rate_per_hour, Money{3'960'000});
  EXPECT_EQ(running.cards.size(), 2u);
  EXPECT_TRUE(running.simulated);
  ASSERT_TRUE(running.connection);
  EXPECT_EQ(running.connection->ssh_command,
            fmt::format("ssh -p {} root@127.0.0.1", running.connection->port));
  EXPECT_FALSE(running.connection->password.empty());
  EXPECT_TRUE(running.connection->known_hosts_line.starts_with("[127.0.0.1]:"));

  clock_.advance(hours(1));
  EXPECT_EQ(read<wire::InstanceView>(post("/api/v1/instances/mine/stop", renter_)).desired,
            Desired::stopped);
  work();
  const auto stopped = read<wire::InstanceView>(get("/api/v1/instances/mine", renter_));
  EXPECT_EQ(stopped.observed, Observed::stopped);
  EXPECT_FALSE(stopped.connection);
  const auto bill = read<wire::BillView>(
      get("/api/v1/statements", renter_, {{"explain", "true"}, {"instance", "mine"}}));
  ASSERT_EQ(bill.lines.size(), 1u);
  EXPECT_TRUE(bill.agrees);
  EXPECT_EQ(bill.lines[0].card_uuids.size(), 2u);
  EXPECT_EQ(bill.total, stopped.cost_so_far);
  const auto wallet = read<wire::WalletView>(get("/api/v1/wallet", renter_));
  EXPECT_EQ(wallet.available, Money{100'000'000} - bill.total);
  EXPECT_EQ(wallet.burn_per_hour, Money{});
}

TEST_F(ApiTest, ARetryWithTheSameKeyIsTheSameThing) {
  const std::string body = R"({"account":"renter","amount":"50"})";
  const auto first =
      read<wire::TransactionView>(post("/api/v1/admin/topups", admin_, body, "same"));
  EXPECT_EQ(read<wire::TransactionView>(post("/api/v1/admin/topups", admin_, body, "same")).id,
            first.id);
  const Response other =
      post("/api/v1/admin/topups", admin_, R"({"account":"renter","amount":"51"})", "same");
  EXPECT_EQ(code_of(other), "idempotency_mismatch");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(read<wire::WalletView>(get("/api/v1/wallet", renter_)).balance, Money{50'000'000});

  const auto made = read<wire::InstanceView>(
      post("/api/v1/instances", renter_, R"({"gpu_model":"4090"})", "rent"));
  const Response again = post("/api/v1/instances", renter_, R"({"gpu_model":"4090"})", "rent");
  EXPECT_EQ(read<wire::InstanceView>(again).id, made.id);
  EXPECT_EQ(again.headers.find("Location"), "/api/v1/instances/" + made.id.text);
  EXPECT_EQ(read<wire::Page<wire::InstanceView>>(get("/api/v1/instances", renter_)).items.size(),
            1u);
}

TEST_F(ApiTest, AnotherAccountsInstanceDoesNotExist) {
  top_up("renter", "100");
  const std::string id = rent(renter_, "r").id.text;
  const std::string other = add_renter("other");
  for (const Endpoint& endpoint : endpoints_) {
    const std::string prefix = "/api/v1/instances/{id}";
    if (!endpoint.path.starts_with(prefix)) continue;
    const std::string path = "/api/v1/instances/" + id + endpoint.path.substr(prefix.size());
    static const std::map<std::string, std::string> kBodies = {
        {"instance_rename", R"({"name":"x"})"},
        {"idle_set", R"({"after_ms":1800000})"},
        {"idle_hold", R"({"for_ms":1})"}};
    const auto needed = kBodies.find(endpoint.operation_id);
    const std::string body = needed == kBodies.end() ? "{}" : needed->second;
    const Response response =
        ask(endpoint.method, path, {.token = other, .body = body, .key = "k"});
    EXPECT_EQ(response.status, 404) << endpoint.operation_id << response.body;
  }
  EXPECT_EQ(get("/api/v1/statements", other, {{"instance", id}}).status, 404);
  EXPECT_EQ(get("/api/v1/events", other, {{"instance", id}}).status, 404);
  EXPECT_TRUE(read<wire::Page<wire::InstanceView>>(get("/api/v1/instances", other)).items.empty());
  EXPECT_TRUE(read<wire::Page<wire::EventView>>(
                  get("/api/v1/events/latest", other, {{"after", "0"}, {"limit", "100"}}))
                  .items.size() < 5);
}

TEST_F(ApiTest, OnlyItsRenterWithTheScopeSeesHowToLogIn) {
  top_up("renter", "100");
  const std::string path = "/api/v1/instances/" + rent(renter_, "r").id.text;
  EXPECT_TRUE(read<wire::InstanceView>(get(path, renter_)).connection);
  const auto by_reader = read<wire::InstanceView>(get(path, token_with(renter_, "read")));
  EXPECT_FALSE(by_reader.connection);
  const auto by_admin = read<wire::InstanceView>(get(path, admin_));
  EXPECT_EQ(by_admin.owner, "renter");
  EXPECT_FALSE(by_admin.connection);
  const auto all = read<wire::Page<wire::InstanceView>>(get("/api/v1/admin/instances", admin_));
  ASSERT_EQ(all.items.size(), 1u);
  EXPECT_FALSE(all.items[0].connection);
}

TEST_F(ApiTest, ATransitionWaitsUntilItHasSettled) {
  top_up("renter", "100");
  const Response response = ask(Method::post, "/api/v1/instances",
                                {.token = renter_,
                                 .body = R"({"gpu_model":"4090"})",
                                 .key = "r",
                                 .query = {{"wait", "30s"}}});
  ASSERT_NE(response.later, nullptr);
  EXPECT_EQ(response.later->wait, seconds(30));
  EXPECT_EQ(response.later->ask(Deferred::Chance::may_wait), std::nullopt);
  const auto unfinished = response.later->ask(Deferred::Chance::last);
  ASSERT_TRUE(unfinished);
  EXPECT_FALSE(read<wire::InstanceView>(*unfinished).settled);
  work();
  const auto finished = response.later->ask(Deferred::Chance::may_wait);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 201);
  EXPECT_EQ(read<wire::InstanceView>(*finished).observed, Observed::running);
  EXPECT_EQ(
      ask(Method::post, "/api/v1/instances/x/stop", {.token = renter_, .query = {{"wait", "soon"}}})
          .status,
      400);
}

TEST_F(ApiTest, AStartKeepsTheLastShapeUnlessToldOtherwise) {
  top_up("renter", "100");
  const std::string path =
      "/api/v1/instances/" + rent(renter_, "r", R"({"gpu_model":"4090","gpu_count":3})").id.text;
  const auto stop = [&] {
    EXPECT_EQ(post(path + "/stop", renter_).status, 200);
    work();
  };
  const auto start = [&](const std::string& body, const std::string& key) {
    EXPECT_EQ(post(path + "/start", renter_, body, key).status, 200);
    work();
    return read<wire::InstanceView>(get(path, renter_));
  };
  stop();
  EXPECT_EQ(start("", "1").gpu_count, 3);
  stop();
  EXPECT_EQ(start(R"({"mode":"no_gpu"})", "2").mode, Mode::no_gpu);
  const auto quote =
      read<wire::QuoteView>(post(path + "/start-quote", renter_, R"({"gpu_model":"4090"})"));
  EXPECT_EQ(quote.rate_per_hour, Money{1'980'000});
  const auto with_card = start(R"({"gpu_model":"4090"})", "3");
  EXPECT_EQ(with_card.mode, Mode::on_demand);
  EXPECT_EQ(with_card.gpu_count, 1);
}

TEST_F(ApiTest, WhatIsReleasedCanBeRestoredUntilItIsPurgedByName) {
  top_up("renter", "100");
  const std::string path =
      "/api/v1/instances/" + rent(renter_, "r", R"({"gpu_model":"4090","name":"old"})").id.text;
  const Response renamed =
      ask(Method::patch, path, {.token = renter_, .body = R"({"name":"thesis"})"});
  EXPECT_EQ(read<wire::InstanceView>(renamed).name, "thesis");
  EXPECT_EQ(post(path + "/restart", renter_).status, 200);
  work();
  EXPECT_EQ(post(path + "/release", renter_).status, 200);
  work();
  EXPECT_EQ(read<wire::InstanceView>(get(path, renter_)).observed, Observed::in_bin);
  EXPECT_EQ(post(path + "/restore", renter_).status, 200);
  work();
  EXPECT_EQ(read<wire::InstanceView>(get(path, renter_)).observed, Observed::stopped);
  EXPECT_GE(post(path + "/release", renter_, R"({"purge":true})").status, 400);
  EXPECT_GE(post(path + "/release", renter_, R"({"purge":true,"confirm_name":"old"})").status, 400);
  EXPECT_EQ(post(path + "/release", renter_, R"({"purge":true,"confirm_name":"thesis"})").status,
            200);
  work();
  EXPECT_EQ(read<wire::InstanceView>(get(path, renter_)).observed, Observed::purged);
  EXPECT_TRUE(
      read<wire::Page<wire::InstanceView>>(get("/api/v1/instances", renter_)).items.empty());
  EXPECT_EQ(read<wire::Page<wire::InstanceView>>(
                get("/api/v1/instances", renter_, {{"with_purged", "true"}}))
                .items.size(),
            1u);
}

TEST_F(ApiTest, AGuestStopsItselfAndNobodyElse) {
  top_up("renter", "100");
  const std::string first = rent(renter_, "1").id.text;
  const std::string second = rent(renter_, "2").id.text;
  const std::string token = token_of_instance(first);
  EXPECT_EQ(post("/guest/shutdown", token, R"({"kind":"reboot"})").status, 204);
  work();
  EXPECT_EQ(read<wire::InstanceView>(get("/api/v1/instances/" + first, renter_)).observed,
            Observed::running);
  EXPECT_EQ(post("/guest/shutdown", token, R"({"kind":"poweroff"})").status, 204);
  work();
  EXPECT_EQ(read<wire::InstanceView>(get("/api/v1/instances/" + first, renter_)).observed,
            Observed::stopped);
  EXPECT_EQ(read<wire::InstanceView>(get("/api/v1/instances/" + second, renter_)).observed,
            Observed::running);
}

TEST_F(ApiTest, PagesFollowEachOther) {
  top_up("renter", "100");
  std::set<std::string> made;
  for (int i = 0; i < 3; ++i) {
    made.insert(rent(renter_, std::to_string(i), R"({"mode":"no_gpu"})").id.text);
  }
  std::set<std::string> seen;
  std::map<std::string, std::string> query{{"limit", "2"}};
  for (int page_number = 0; page_number < 3; ++page_number) {
    const auto page =
        read<wire::Page<wire::InstanceView>>(get("/api/v1/instances", renter_, query));
    for (const auto& instance : page.items) seen.insert(instance.id.text);
    if (!page.next) break;
    EXPECT_EQ(page.items.size(), 2u);
    query["after"] = *page.next;
  }
  EXPECT_EQ(seen, made);
  EXPECT_EQ(get("/api/v1/instances", renter_, {{"limit", "101"}}).status, 400);
  EXPECT_EQ(read<wire::Page<wire::TransactionView>>(
                get("/api/v1/transactions", renter_, {{"limit", "1"}}))
                .items.size(),
            1u);
}

// ---- events ----

TEST_F(ApiTest, TheStreamResumesAndEndsWithItsToken) {
  const std::string token = log_in("renter", kPassword);
  const Response opened = get("/api/v1/events", token);
  ASSERT_NE(opened.stream, nullptr) << opened.body;
  EXPECT_TRUE(must(opened.stream->next("", 10)).empty());
  top_up("renter", "10");
  const auto frames = must(opened.stream->next("", 10));
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].event, "wallet.topup");
  EXPECT_EQ(std::to_string(must(from_json<wire::EventView>(frames[0].data)).seq), frames[0].id);
  EXPECT_TRUE(must(opened.stream->next(frames[0].id, 10)).empty());
  const Response resumed = get("/api/v1/events", token, {{"after", "0"}});
  EXPECT_GT(must(resumed.stream->next("", 100)).size(), 2u);

  EXPECT_EQ(post("/api/v1/auth/logout", token).status, 204);
  const auto refused = opened.stream->next(frames[0].id, 10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unauthenticated);
}

TEST_F(ApiTest, AStreamRefusesAnIdThatIsNone) {
  const auto open_with = [&](const std::string& id) {
    return ask(Method::get, "/api/v1/events",
               {.token = renter_, .headers = {{"Last-Event-ID", id}}})
        .status;
  };
  EXPECT_EQ(open_with("17"), 200);
  for (const char* id : {"x", "-1", "1.5", "99999999999999999999", "1 "}) {
    EXPECT_EQ(open_with(id), 400) << id;
  }
}

TEST_F(ApiTest, TheAuditLogIsForOperators) {
  const auto all = read<wire::Page<wire::EventView>>(
      get("/api/v1/admin/events", admin_, {{"after", "0"}, {"limit", "100"}}));
  std::set<std::string> accounts;
  for (const auto& event : all.items) {
    if (event.account_id) accounts.insert(event.account_id->text);
  }
  EXPECT_GE(accounts.size(), 2u);
}

TEST_F(ApiTest, TheAuditLogAnswersWhoDidWhatAndGoesBack) {
  top_up("renter", "100");
  const std::string id = rent(renter_, "r").id.text;
  const auto kinds = [&](std::map<std::string, std::string> query) {
    std::string out;
    const auto page =
        read<wire::Page<wire::EventView>>(get("/api/v1/admin/events", admin_, std::move(query)));
    for (const auto& event : page.items) out += event.kind + " ";
    return out;
  };
  EXPECT_EQ(kinds({{"actor", "boss"}}), "account.login wallet.topup ");
  EXPECT_EQ(kinds({{"account", "renter"}, {"actor", "boss"}}), "wallet.topup ");
  EXPECT_NE(kinds({{"instance", id}}).find("instance.running"), std::string::npos);
  EXPECT_EQ(kinds({{"instance", id}, {"actor", "boss"}}), "");
  EXPECT_EQ(get("/api/v1/admin/events", admin_, {{"account", "nobody"}}).status, 404);
  EXPECT_EQ(get("/api/v1/admin/events", admin_, {{"after", "1"}, {"before", "9"}}).status, 400);

  // Backwards, page by page, is the whole history.
  std::vector<int64_t> seen;
  std::map<std::string, std::string> query{{"limit", "3"}, {"before", "1000000"}};
  while (true) {
    const auto page = read<wire::Page<wire::EventView>>(get("/api/v1/admin/events", admin_, query));
    for (auto event = page.items.rbegin(); event != page.items.rend(); ++event) {
      seen.push_back(event->seq);
    }
    if (!page.next) break;
    query["before"] = *page.next;
  }
  ASSERT_GT(seen.size(), 6u);
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], static_cast<int64_t>(seen.size() - i));
  }
}

// ---- operators, and the server itself ----

TEST_F(ApiTest, OperatorsSeeAccountsHostsAndCards) {
  top_up("renter", "12.5");
  const auto accounts = read<wire::Page<wire::AccountView>>(get("/api/v1/admin/accounts", admin_));
  ASSERT_EQ(accounts.items.size(), 2u);
  for (const auto& account : accounts.items) {
    EXPECT_EQ(account.available, account.login == "renter" ? Money{12'500'000} : Money{});
  }
  const auto made = read<wire::AccountView>(
      post("/api/v1/admin/accounts", admin_,
           R"({"login":"second","password":"a long password","role":"admin"})"));
  EXPECT_EQ(made.role, Role::admin);
  const auto hosts = read<wire::Page<wire::HostView>>(get("/api/v1/admin/hosts", admin_));
  ASSERT_EQ(hosts.items.size(), 1u);
  const auto states = [&] {
    std::multiset<std::string> out;
    for (const auto& card :
         read<wire::Page<wire::CardView>>(get("/api/v1/admin/cards", admin_)).items) {
      out.insert(card.state);
    }
    return out;
  };
  EXPECT_EQ(post("/api/v1/instances", renter_, R"({"gpu_model":"4090"})", "r").status, 201);
  EXPECT_EQ(states().count("promised"), 1u);  // granted, and not ready yet
  work();
  EXPECT_EQ(states().count("promised"), 0u);
  const std::string id = rent(renter_, "r").id.text;  // the same one
  int rented = 0;
  for (const auto& card :
       read<wire::Page<wire::CardView>>(get("/api/v1/admin/cards", admin_)).items) {
    if (card.state != "rented") continue;
    ++rented;
    EXPECT_EQ(card.instance_id, InstanceId{id});
    EXPECT_EQ(card.renter, "renter");
  }
  EXPECT_EQ(rented, 1);
}

TEST_F(ApiTest, OperatorsSeeWhatCardsDoAndTakeThemOut) {
  const Status measured = plane_->measure.pass();
  ASSERT_TRUE(measured) << measured.error().what.en;
  const auto cards = read<wire::Page<wire::GpuView>>(get("/api/v1/admin/gpus", admin_)).items;
  ASSERT_EQ(cards.size(), 4u);
  ASSERT_TRUE(cards[0].reading);
  EXPECT_EQ(cards[0].reading->gpu_percent, 0);
  EXPECT_EQ(cards[0].reading->power_milliwatts, std::nullopt);
  const std::string path = "/api/v1/admin/gpus/" + cards[2].card.uuid.text;
  const auto out = read<wire::GpuView>(post(path + "/quarantine", admin_, R"({"note":"a fan"})"));
  EXPECT_EQ(out.card.state, "quarantine");
  ASSERT_EQ(out.conditions.size(), 1u);
  EXPECT_EQ(out.conditions[0].note, "a fan");
  EXPECT_EQ(out.conditions[0].actor, "boss");
  EXPECT_EQ(read<wire::GpuView>(post(path + "/return", admin_)).card.state, "free");
  EXPECT_EQ(post(path + "/return", admin_).status, 409);
  EXPECT_EQ(post("/api/v1/admin/gpus/GPU-none/return", admin_).status, 404);
  EXPECT_EQ(get("/api/v1/admin/gpus", renter_).status, 403);
}

TEST_F(ApiTest, CurvesAreRefusedOutsideReason) {
  const auto cards = read<wire::Page<wire::CardView>>(get("/api/v1/admin/cards", admin_)).items;
  const std::string path = "/api/v1/admin/gpus/" + cards[0].uuid.text + "/metrics";
  const auto view = read<wire::MetricsView>(get(path, admin_, {{"step", "1m"}}));
  EXPECT_EQ(view.step_ms, minutes(1));
  EXPECT_GE(view.at.size(), 60u);
  EXPECT_EQ(view.series.at("gpu_percent").size(), view.at.size());
  EXPECT_EQ(view.series.at("gpu_percent")[0], std::nullopt);
  EXPECT_EQ(get(path, admin_, {{"from", "yesterday"}}).status, 400);
  EXPECT_EQ(get(path, admin_, {{"step", "0s"}}).status, 400);
  EXPECT_EQ(get(path, admin_, {{"from", "2000-01-01T00:00:00Z"}, {"step", "1s"}}).status, 400);
}

TEST_F(ApiTest, PrometheusIsForOperatorsAndWellFormed) {
  ASSERT_TRUE(plane_->measure.pass());
  EXPECT_EQ(get("/metrics", "").status, 401);
  EXPECT_EQ(get("/metrics", renter_).status, 403);
  const Response page = get("/metrics", admin_);
  ASSERT_EQ(page.status, 200);
  EXPECT_NE(page.body.find("# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\","),
            std::string::npos);
  EXPECT_NE(page.body.find("cardhour_driver_answers 1\n"), std::string::npos);
  EXPECT_EQ(page.body.find("DCGM_FI_DEV_POWER_USAGE"), std::string::npos);  // unknown, not 0
  EXPECT_EQ(page.body.find("nan"), std::string::npos);
}

TEST_F(ApiTest, AnInstanceIsWatchedOverAsItsRenterSays) {
  top_up("renter", "100");
  const auto made = read<wire::InstanceView>(
      post("/api/v1/instances", renter_, R"({"gpu_model":"4090"})", "watched"));
  const std::string path = "/api/v1/instances/" + made.id.text;
  EXPECT_EQ(get(path + "/idle", renter_).status, 404);
  const auto put = [&](const std::string& token, const std::string& body) {
    return ask(Method::put, path + "/idle", {token, body, "", {}, {}});
  };
  EXPECT_EQ(put(renter_, R"({"after_ms":1})").status, 400);
  EXPECT_EQ(put(renter_, R"({})").status, 400);
  const auto rule = read<wire::IdleRuleView>(put(renter_, R"({"after_ms":1800000})"));
  EXPECT_EQ(rule.action, IdleAction::stop);
  EXPECT_EQ(rule.after_ms, minutes(30));
  EXPECT_EQ(put(add_renter("stranger"), R"({"after_ms":1800000})").status, 404);
  EXPECT_TRUE(
      read<wire::IdleRuleView>(post(path + "/hold", renter_, R"({"for_ms":60000})")).hold_until);
  EXPECT_EQ(ask(Method::delete_, path + "/idle", {renter_, "", "", {}, {}}).status, 204);
  EXPECT_EQ(ask(Method::delete_, path + "/idle", {renter_, "", "", {}, {}}).status, 409);
  const auto diagnosis = read<wire::DiagnosisView>(get(path + "/diagnosis", renter_));
  EXPECT_FALSE(diagnosis.runs);
  EXPECT_TRUE(diagnosis.findings.empty());
  EXPECT_EQ(read<wire::UsageView>(get(path + "/now", renter_)).name, made.name);
}

TEST_F(ApiTest, ReadyMeansThatDatabaseAndEngineAnswer) {
  EXPECT_EQ(get("/healthz", "").status, 200);
  EXPECT_EQ(get("/readyz", "").status, 200);
  engine_.set_silent(true);
  clock_.advance(minutes(1));
  EXPECT_FALSE(plane_->observe.pass().has_value());
  const Response silent = get("/readyz", "");
  EXPECT_EQ(silent.status, 503);
  const auto view = must(from_json<wire::HealthView>(silent.body));
  EXPECT_FALSE(view.ok);
  EXPECT_TRUE(view.checks.at(0).ok);
  EXPECT_FALSE(view.checks.at(1).ok);
  EXPECT_FALSE(view.checks.at(1).detail.empty());
  engine_.set_silent(false);
  EXPECT_TRUE(plane_->observe.pass().has_value());
  EXPECT_EQ(get("/readyz", "").status, 200);
}

TEST_F(ApiTest, WhatItWaitsForSpeaksTheReadersLanguage) {
  top_up("renter", "100");
  const auto made =
      read<wire::InstanceView>(post("/api/v1/instances", renter_, R"({"gpu_model":"4090"})", "r"));
  engine_.set_silent(true);
  EXPECT_TRUE(must(plane_->operations.run_one()));
  Request request;
  request.path = "/api/v1/instances/" + made.id.text;
  request.headers.add("Authorization", "Bearer " + renter_);
  const auto english = read<wire::InstanceView>(router_->handle(request)).waiting_for;
  request.language = Language::zh;
  const auto chinese = read<wire::InstanceView>(router_->handle(request)).waiting_for;
  EXPECT_FALSE(english.empty());
  EXPECT_FALSE(chinese.empty());
  EXPECT_NE(english, chinese);
  engine_.set_silent(false);
  work();
}

TEST_F(ApiTest, FaultsSpeakTheReadersLanguage) {
  top_up("renter", "100");
  const auto running = rent(renter_, "r");
  engine_.stop_behind_our_back(running.id);
  for (int i = 0; i < 3; ++i) {
    clock_.advance(seconds(10));
    EXPECT_TRUE(plane_->observe.pass().has_value());
  }
  Request request;
  request.path = "/api/v1/instances/" + running.id.text;
  request.headers.add("Authorization", "Bearer " + renter_);
  const auto english = read<wire::InstanceView>(router_->handle(request));
  request.language = Language::zh;
  const auto chinese = read<wire::InstanceView>(router_->handle(request));
  ASSERT_TRUE(english.fault && chinese.fault);
  EXPECT_EQ(english.fault->code, "vanished");
  EXPECT_NE(english.fault->what, chinese.fault->what);
}

// ---- the estimator ----

TEST_F(ApiTest, VramAnswersWithPartsCardsAndSentences) {
  const auto view = read<wire::VramView>(
      post("/api/v1/estimates/vram", renter_, R"({"model":{"params":"7B"},"context":128})"));
  EXPECT_EQ(view.model.params, 7e9);
  int64_t sum = 0;
  for (const auto& part : view.parts) {
    sum += part.size.likely_bytes;
    EXPECT_FALSE(part.name.empty());
    EXPECT_NE(part.formula.find(" = "), std::string::npos) << part.formula;
  }
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(view.per_card.likely_bytes), 10);
  EXPECT_EQ(view.fits.size(), catalog_.models().size());
  const auto small = std::find_if(view.fits.begin(), view.fits.end(),
                                  [](const auto& fit) { return fit.gpu_model == "rtx-4090"; });
  EXPECT_EQ(small->cards, 1);
  EXPECT_EQ(small->fit, estimate::Fit::comfortable);
  EXPECT_EQ(small->rate_per_hour, Money{1'980'000});
  EXPECT_FALSE(view.changes.empty());
  EXPECT_EQ(view.disk.data_disk_bytes, 50 * kGiB);
}

TEST_F(ApiTest, TimeAndCostGiveTheWorkedExamples) {
  const auto time = read<wire::TimeView>(
      post("/api/v1/estimates/time", renter_,
           R"({"step_seconds":0.9,"samples":50000,"batch":8,"epochs":3,"gpu_model":"4090"})"));
  EXPECT_EQ(time.steps, 18'750);
  EXPECT_EQ(time.run_ms, seconds(16'875));
  EXPECT_EQ(time.trial_factor, 2.5);
  EXPECT_EQ(time.cost, Money{23'203'125});
  EXPECT_EQ(time.pays_up_to_cards, 4);
  EXPECT_FALSE(time.plans.empty());
  const auto cost = read<wire::CostView>(post(
      "/api/v1/estimates/cost", renter_, R"({"gpu_model":"4090","hours_per_day":22,"days":14})"));
  std::map<estimate::PayMode, wire::CostRowView> rows;
  for (const auto& row : cost.rows) rows[row.mode] = row;
  EXPECT_EQ(to_decimal(rows[estimate::PayMode::on_demand].total), "609.840000");
  EXPECT_EQ(to_decimal(rows[estimate::PayMode::week].total), "465.696000");
  EXPECT_EQ(rows[estimate::PayMode::week].saves_percent, 24);
  EXPECT_FALSE(rows[estimate::PayMode::week].for_sale);
  EXPECT_TRUE(rows[estimate::PayMode::on_demand].for_sale);
  EXPECT_EQ(cost.balance.keep, Money{609'840'000} * 2);
}

TEST_F(ApiTest, EstimatesFollowTheLivePrices) {
  const auto total = [&] {
    return read<wire::CostView>(
               post("/api/v1/estimates/cost", renter_, R"({"gpu_model":"4090","run_ms":3600000})"))
        .balance.keep;
  };
  EXPECT_EQ(total(), Money{1'980'000} * 2);
  EXPECT_LT(ask(Method::put, "/api/v1/admin/prices",
                {admin_, R"({"model":"4090","per_hour":"3"})", "", {}, {}})
                .status,
            300);
  EXPECT_EQ(total(), Money{3'000'000} * 2);
  // The dearest price and the longest work that are allowed: sums still hold.
  EXPECT_LT(ask(Method::put, "/api/v1/admin/prices",
                {admin_, R"({"model":"4090","per_hour":"10000"})", "", {}, {}})
                .status,
            300);
  const std::string longest =
      R"({"gpu_model":"4090","cards":16,"hours_per_day":24,"days":3653,"known":false})";
  EXPECT_EQ(post("/api/v1/estimates/cost", renter_, longest).status, 200);
  const std::string slowest =
      R"({"gpu_model":"4090","cards":64,"step_seconds":86400,"steps":3700})";
  EXPECT_EQ(post("/api/v1/estimates/time", renter_, slowest).status, 200);
  EXPECT_EQ(post("/api/v1/estimates/own", renter_,
                 R"({"hours_per_month":744,"cards":16,"price_per_kwh":"1000","machine_watts":100000,
                     "machine_price":"1000000000","upkeep_per_month":"1000000000"})")
                .status,
            200);
}

TEST_F(ApiTest, OwnCardsAndThroughputStandAlone) {
  const auto own =
      read<wire::OwnView>(post("/api/v1/estimates/own", renter_, R"({"hours_per_month":50})"));
  EXPECT_EQ(own.advice, estimate::OwnAdvice::rent);
  EXPECT_GT(own.break_even_hours.value_or(0), own.rule_hours);
  EXPECT_FALSE(own.curve.empty());
  const auto cards = read<wire::CardsView>(
      post("/api/v1/estimates/cards", renter_,
           R"({"task":"training","need":{"model":{"preset":"llama-3.1-8b"},"workload":"lora"}})"));
  ASSERT_FALSE(cards.rows.empty());
  EXPECT_EQ(cards.rows.front().rank, 1);
  EXPECT_NE(cards.sentence.find(cards.rows.front().gpu_name), std::string::npos);
  const auto bounds =
      read<wire::ThroughputView>(post("/api/v1/estimates/throughput", renter_,
                                      R"({"model":{"preset":"llama-3.1-8b"},"gpu_model":"4090"})"));
  ASSERT_EQ(bounds.rows.size(), 1u);
  EXPECT_LT(bounds.rows[0].decode_tokens_per_s_max, 1008e9 / (2 * 8.03e9));
  EXPECT_NE(bounds.sentence.find("bounds"), std::string::npos);
  const auto presets = read<wire::Page<wire::ModelView>>(get("/api/v1/estimates/presets", renter_));
  EXPECT_EQ(presets.items.size(), catalog_.presets().all().size());
}

TEST_F(ApiTest, EstimatesNameTheFieldThatIsWrong) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"vram", R"({"model":{"params":"7GB"}})", "params"},
      {"vram", R"({"model":{"preset":"gpt-9"}})", "preset"},
      {"vram", R"({"model":{"params":"7B","preset":"llama-3.1-8b"}})", "model"},
      {"vram", R"({"model":{"params":"7B"},"context":-1})", "context"},
      {"vram", R"({"model":{"shape":{"layers":2}}})", "shape"},
      {"vram", R"({"model":{"params":"7B"},"tensor_parallel":2})", "tensor_parallel"},
      {"throughput", R"({"model":{"preset":"sdxl"}})", "model"},
      {"throughput", R"({"model":{"params":"7B"},"gpu_model":"9090"})", "gpu_model"},
      {"time", R"({"samples":5})", "step_seconds"},
      {"time", R"({"log":"nothing here","steps":5})", "log"},
      {"time", R"({"step_seconds":1,"steps":5,"speedup":9})", "speedup"},
      {"cost", R"({"gpu_model":"4090"})", "run_ms"},
      {"cost", R"({"gpu_model":"4090","run_ms":1,"checkpoint_ms":5})", "checkpoint_ms"},
      {"cost", R"({"gpu_model":"4090","hours_per_day":25,"days":1})", "hours_per_day"},
      {"own", R"({"hours_per_month":50,"machine_watts":-1})", "machine_watts"},
      {"cards", R"({"task":"training"})", "vram_bytes"}};
  for (const auto& [what, body, field] : rows) {
    const Response response = post(std::string("/api/v1/estimates/") + what, renter_, body);
    EXPECT_EQ(response.status, 400) << body << response.body;
    const auto problem = must(parse_json(response.body));
    EXPECT_EQ(problem.as_object().at("field").as_string(), field) << body << response.body;
  }
}

TEST_F(ApiTest, EstimatesSpeakTheReadersLanguage) {
  Request request;
  request.method = Method::post;
  request.path = "/api/v1/estimates/own";
  request.body = R"({"hours_per_month":50})";
  request.headers.add("Authorization", "Bearer " + renter_);
  request.language = Language::zh;
  EXPECT_TRUE(read<wire::OwnView>(router_->handle(request)).sentence.starts_with("租用"));
}

TEST_F(ApiTest, BackupsAreMadeListedAndDropped) {
  EXPECT_EQ(code_of(post("/api/v1/admin/backups", admin_)), "conflict") << "none are kept";
  SimShelf shelf;
  deps_->shelf = &shelf;
  policy_.backup_keep = 2;
  ControlPlane plane(*deps_);
  Router router(make_endpoints(plane), authorizer(plane));
  const auto ask = [&](Method method) {
    Request request;
    request.method = method;
    request.path = "/api/v1/admin/backups";
    request.client_address = "192.0.2.1";
    request.headers.add("Authorization", "Bearer " + admin_);
    return router.handle(std::move(request));
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(Method::post).status, 201);
  const auto page = read<wire::Page<wire::BackupView>>(ask(Method::get));
  ASSERT_EQ(page.items.size(), 2u);
  EXPECT_EQ(page.items[0].name, "backup-3");
  // Daily, by itself; and overdue when it cannot.
  clock_.advance(hours(23));
  EXPECT_TRUE(plane.backups.pass().has_value());
  EXPECT_EQ(must(shelf.list())[0].name, "backup-3");
  clock_.advance(hours(2));
  EXPECT_TRUE(plane.backups.pass().has_value());
  EXPECT_EQ(must(shelf.list())[0].name, "backup-4");
  EXPECT_FALSE(plane.backups.health().is_overdue);
  shelf.set_full(true);
  clock_.advance(hours(49));
  EXPECT_FALSE(plane.backups.pass().has_value());
  EXPECT_TRUE(plane.backups.health().is_overdue);
}

TEST_F(ApiTest, NothingIsGrantedBeforeTheFirstLook) {
  top_up("renter", "100");
  deps_->first_look = std::make_shared<FirstLook>();
  ControlPlane plane(*deps_);
  const auto known = must(plane.accounts.authenticate(renter_));
  RentRequest request;
  request.shape.gpu_model = "4090";
  const auto early = plane.instances.rent(known.actor, request, {});
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, ErrorCode::engine_unavailable);
  EXPECT_TRUE(plane.observe.pass().has_value());
  EXPECT_TRUE(plane.instances.rent(known.actor, request, {}).has_value());
}

// An instance that only the engine has: as after the restore of an older backup.
TEST_F(ApiTest, WhatOnlyTheEngineHasIsAdoptedAndDecided) {
  EngineSpec spec;
  spec.id = InstanceId{id_text('i', 12'345)};
  spec.account = AccountId{"a-gone"};
  spec.image = "base";
  spec.system_disk_bytes = kGiB;
  spec.ipv4 = "10.177.1.7";
  spec.idmap_base = 1'000'000 + 65'536;
  spec.ssh_port = 22'007;
  EngineShape shape{1'000, kGiB, {}};
  shape.cards.push_back({CardId{"GPU-00000001-0000-0000-0000-000000000000"}, "0000:01:00.0"});
  EXPECT_TRUE(engine_.ensure_created(spec, {}).has_value());
  EXPECT_TRUE(engine_.ensure_started(spec, shape).has_value());
  clock_.advance(seconds(5));
  EXPECT_TRUE(plane_->observe.pass().has_value());

  const auto page = read<wire::Page<wire::AdoptionView>>(get("/api/v1/admin/adoptions", admin_));
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].instance_id, spec.id);
  EXPECT_EQ(page.items[0].owner, "boss");
  EXPECT_EQ(page.items[0].cards.size(), 1u);
  EXPECT_EQ(page.items[0].ssh_port, 22'007);
  const std::string path = "/api/v1/admin/adoptions/" + spec.id.text;
  EXPECT_EQ(code_of(post(path + "/keep", admin_)), "invalid_argument") << "its account is gone";
  EXPECT_EQ(code_of(post(path + "/keep", admin_, R"({"account":"nobody"})")), "invalid_argument");
  EXPECT_EQ(code_of(post(path + "x/keep", admin_)), "not_found");
  EXPECT_EQ(get("/api/v1/instances/" + spec.id.text, admin_).status, 200);

  const auto kept =
      read<wire::InstanceView>(post(path + "/keep", admin_, R"({"account":"renter"})"));
  EXPECT_EQ(kept.owner, "renter");
  EXPECT_EQ(kept.burn_per_hour, Money{1'980'000});
  work();
  const auto view = read<wire::InstanceView>(get("/api/v1/instances/" + spec.id.text, renter_));
  ASSERT_TRUE(view.connection.has_value());
  EXPECT_FALSE(view.connection->password.reveal().empty());
  EXPECT_EQ(code_of(post(path + "/remove", admin_)), "not_found") << "decided";
  EXPECT_TRUE(
      read<wire::Page<wire::AdoptionView>>(get("/api/v1/admin/adoptions", admin_)).items.empty());
}

}  // namespace
}  // namespace cardhour::http
