#include "adapters/http/router.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <stdexcept>

#include "adapters/http/json_codec.h"
#include "adapters/http/openapi.h"
#include "adapters/http/problem.h"

namespace cardhour::http {
namespace {

struct StartRequest {
  int cards = 1;
};
BOOST_DESCRIBE_STRUCT(StartRequest, (), (cards))

struct Instance {
  InstanceId id;
  Money price;
};
BOOST_DESCRIBE_STRUCT(Instance, (), (id, price))

Handler says(const std::string& text) {
  return [text](const Request& request) -> Result<Response> {
    std::string answer = text;
    for (const auto& [name, value] : request.params) answer += " " + name + "=" + value;
    return text_response(200, answer);
  };
}

// Lets "Authorization: renter1" in everywhere but to admin endpoints.
Result<Authorized> authorize(const Request& request, Permission permission) {
  if (permission == Permission::anyone) return Authorized{};
  const auto who = request.header("authorization");
  if (!who) return fail(ErrorCode::unauthenticated, {"no token", "没有令牌"});
  if (permission == Permission::admin) {
    return fail(ErrorCode::forbidden, {"operators only", "仅限运营者"});
  }
  Actor actor;
  actor.name = *who;
  return Authorized{std::make_shared<const Actor>(actor), actor.name};
}

std::vector<Endpoint> endpoints() {
  return {
      {.path = "/healthz",
       .operation_id = "health",
       .summary = {"Alive", "存活"},
       .handler = says("health")},
      {.path = "/api/v1/instances",
       .permission = Permission::read,
       .operation_id = "instance_list",
       .handler = says("list"),
       .query = {{"limit", {"page size", "每页数量"}}}},
      {.path = "/api/v1/instances/{id}",
       .permission = Permission::read,
       .operation_id = "instance_show",
       .handler = says("show"),
       .response = schema_of<Instance>},
      {.path = "/api/v1/instances/trash",
       .permission = Permission::read,
       .operation_id = "instance_trash",
       .handler = says("trash")},
      {.method = Method::delete_,
       .path = "/api/v1/instances/{id}",
       .permission = Permission::instances,
       .operation_id = "instance_release",
       .handler = [](const Request&) -> Result<Response> { return no_content(); },
       .success_status = 204},
      {.method = Method::post,
       .path = "/api/v1/instances/{id}/start",
       .permission = Permission::instances,
       .operation_id = "instance_start",
       .handler = says("start"),
       .request = request_schema_of<StartRequest>,
       .response = schema_of<Instance>,
       .idempotent_key = true},
      {.path = "/api/v1/admin/audit",
       .permission = Permission::admin,
       .operation_id = "audit",
       .handler = says("audit")},
      {.path = "/api/v1/broken",
       .operation_id = "broken",
       .handler = [](const Request&) -> Result<Response> {
         throw std::runtime_error("secret detail");
       }},
      {.path = "/api/v1/full",
       .operation_id = "full",
       .handler = [](const Request&) -> Result<Response> {
         return fail(ErrorCode::no_capacity, {"no card is free", "没有空闲的卡"},
                     {"Queue for one.", "可以排队。"}, "cards");
       }},
      {.path = "/api/v1/events",
       .permission = Permission::read,
       .operation_id = "events",
       .handler = says("events"),
       .event_stream = true},
  };
}

Response ask(Method method, const std::string& path,
             Headers headers = {{{"Authorization", "renter1"}}}, Language language = Language::en) {
  static const Router router(endpoints(), authorize);
  Request request;
  request.method = method;
  request.path = path;
  request.headers = std::move(headers);
  request.language = language;
  return router.handle(std::move(request));
}

boost::json::value problem(const Response& response) {
  EXPECT_EQ(response.headers.find("content-type"), "application/problem+json");
  return boost::json::parse(response.body);
}

TEST(Router, FindsLiteralsBeforeParameters) {
  EXPECT_EQ(ask(Method::get, "/healthz").body, "health");
  EXPECT_EQ(ask(Method::get, "/api/v1/instances").body, "list");
  EXPECT_EQ(ask(Method::get, "/api/v1/instances/trash").body, "trash");
  EXPECT_EQ(ask(Method::get, "/api/v1/instances/i1").body, "show id=i1");
  EXPECT_EQ(ask(Method::delete_, "/api/v1/instances/i1").status, 204);
  // The literal leads to no DELETE, but the path is the literal's.
  EXPECT_EQ(ask(Method::delete_, "/api/v1/instances/trash").status, 405);
}

TEST(Router, UnknownPathsAre404) {
  for (const char* path :
       {"/", "/nothing", "/api/v1/instances/", "/api/v1/instances/i1/fly", "/healthz/", "*", ""}) {
    const Response response = ask(Method::get, path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(problem(response).at("code").as_string(), "not_found");
  }
}

TEST(Router, WrongMethodsAre405WithAllow) {
  const Response response = ask(Method::put, "/api/v1/instances/i1");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.headers.find("Allow"), "GET, HEAD, DELETE, OPTIONS");
  EXPECT_EQ(problem(response).at("status").as_int64(), 405);
  EXPECT_EQ(problem(response).at("type").as_string(), "about:blank");
}

TEST(Router, HeadAndOptions) {
  EXPECT_EQ(ask(Method::head, "/healthz").status, 200);
  EXPECT_EQ(ask(Method::head, "/api/v1/instances/i1/start").status, 405);
  const Response options = ask(Method::options, "/api/v1/instances/i1/start");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.headers.find("Allow"), "POST, OPTIONS");
  EXPECT_EQ(ask(Method::options, "/nothing").status, 404);
}

TEST(Router, AuthorizesBeforeTheHandler) {
  const Response nobody = ask(Method::get, "/api/v1/instances", {});
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(nobody.headers.find("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(ask(Method::get, "/api/v1/admin/audit").status, 403);
  const Response renter1 = ask(Method::get, "/api/v1/instances");
  EXPECT_EQ(renter1.actor_id, "renter1");
  EXPECT_EQ(renter1.operation_id, "instance_list");
}

TEST(Router, IdempotencyKeyIsNeededAndChecked) {
  const auto start = [](Headers headers) {
    headers.set("Authorization", "renter1");
    return ask(Method::post, "/api/v1/instances/i1/start", std::move(headers));
  };
  EXPECT_EQ(start({}).status, 400);
  EXPECT_EQ(problem(start({})).at("field").as_string(), "Idempotency-Key");
  EXPECT_EQ(start({{{"idempotency-key", "a b"}}}).status, 400);
  EXPECT_EQ(start({{{"idempotency-key", std::string(129, 'k')}}}).status, 400);
  EXPECT_EQ(start({{{"idempotency-key", "abc-1"}}}).body, "start id=i1");
}

TEST(Router, ErrorsBecomeProblemsInTheLanguageAsked) {
  const Response response = ask(Method::get, "/api/v1/full", {}, Language::zh);
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.body,
            R"({"type":"urn:cardhour:problem:no_capacity","title":"没有空闲资源","status":409,)"
            R"("detail":"没有空闲的卡","next":"可以排队。","code":"no_capacity","field":"cards",)"
            R"("exit_code":6})");
  EXPECT_TRUE(response.failure.empty());
}

TEST(Router, ExceptionsAreInternalAndStaySecret) {
  const Response response = ask(Method::get, "/api/v1/broken");
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body.find("secret"), std::string::npos);
  EXPECT_EQ(response.failure, "broken threw: secret detail");
}

TEST(Router, BusyAnswersSayWhenToComeBack) {
  const Error busy{ErrorCode::overloaded, {"full", "满"}, {}, {}};
  EXPECT_EQ(problem_response(busy, Language::en).headers.find("Retry-After"), "1");
  const Error down{ErrorCode::store_unavailable, {"locked", "被锁"}, {}, {}};
  EXPECT_EQ(problem_response(down, Language::en).headers.find("Retry-After"), "5");
  EXPECT_EQ(problem_response(down, Language::en).failure, "locked");
}

TEST(RouterDeathTest, RefusesEndpointsThatContradict) {
  const auto twice = [](const std::string& other_path, const std::string& other_id) {
    return std::vector<Endpoint>{
        {.path = "/a/{x}", .operation_id = "one", .handler = says("")},
        {.path = other_path, .operation_id = other_id, .handler = says("")}};
  };
  EXPECT_DEATH(Router(twice("/a/{y}", "two"), nullptr), "two endpoints answer");
  EXPECT_DEATH(Router(twice("/b", "one"), nullptr), "operation_id");
  EXPECT_DEATH(Router({{.path = "/a",
                        .permission = Permission::read,
                        .operation_id = "x",
                        .handler = says("")}},
                      nullptr),
               "authorizer");
}

TEST(OpenApi, ListsEveryEndpointWithItsTypes) {
  const std::string text = openapi_document({.version = "0.1.0"}, endpoints());
  EXPECT_EQ(text, openapi_document({.version = "0.1.0"}, endpoints()));
  const auto document = boost::json::parse(text);
  EXPECT_EQ(document.at("openapi").as_string(), "3.1.0");
  size_t operations = 0;
  for (const auto& path : document.at("paths").as_object()) {
    operations += path.value().as_object().size();
  }
  EXPECT_EQ(operations, endpoints().size());
  const auto& start = document.at("paths").at("/api/v1/instances/{id}/start").at("post");
  EXPECT_EQ(start.at("x-permission").as_string(), "instances");
  EXPECT_EQ(start.at("parameters").as_array().size(), 2u);  // id, Idempotency-Key
  EXPECT_EQ(start.at("requestBody")
                .at("content")
                .at("application/json")
                .at("schema")
                .at("$ref")
                .as_string(),
            "#/components/schemas/StartRequest");
  EXPECT_TRUE(document.at("components").at("schemas").as_object().contains("Problem"));
  EXPECT_TRUE(document.at("paths").at("/healthz").at("get").at("security").as_array().empty());
}

}  // namespace
}  // namespace cardhour::http
