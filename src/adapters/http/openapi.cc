#include "adapters/http/openapi.h"

#include <algorithm>
#include <map>

#include "adapters/http/browser.h"
#include "adapters/http/json_codec.h"
#include "adapters/http/problem.h"

namespace cardhour::http {
namespace {

namespace json = boost::json;

json::value content(std::string_view type, json::value schema) {
  json::object media;
  media["schema"] = std::move(schema);
  json::object object;
  object[json::string_view(type.data(), type.size())] = std::move(media);
  return object;
}

json::value parameter(std::string_view in, const std::string& name, const std::string& description,
                      json::value schema) {
  json::object object;
  object["name"] = name;
  object["in"] = json::string_view(in.data(), in.size());
  if (in != "query") object["required"] = true;
  if (!description.empty()) object["description"] = description;
  object["schema"] = std::move(schema);
  return object;
}

void add_path_parameters(const std::string& path, json::array& parameters) {
  size_t open = path.find('{');
  while (open != std::string::npos) {
    const size_t close = path.find('}', open);
    parameters.push_back(parameter("path", path.substr(open + 1, close - open - 1), "",
                                   json_detail::schema_of_type("string")));
    open = path.find('{', close);
  }
}

json::array parameters_of(const OpenApiInfo& info, const Endpoint& endpoint,
                          SchemaComponents& components) {
  json::array parameters;
  add_path_parameters(endpoint.path, parameters);
  for (const QueryParameter& query : endpoint.query) {
    parameters.push_back(parameter("query", query.name, query.summary.in(info.language),
                                   query.schema != nullptr
                                       ? query.schema(components)
                                       : json_detail::schema_of_type("string")));
  }
  if (endpoint.idempotent_key) {
    parameters.push_back(parameter("header", "Idempotency-Key",
                                   "a fresh random value; the same one on a retry",
                                   json_detail::schema_of_type("string")));
  }
  return parameters;
}

json::object responses_of(const Endpoint& endpoint, SchemaComponents& components) {
  json::object success;
  success["description"] = endpoint.success_status == 204 ? "done" : "the answer";
  if (endpoint.event_stream) {
    success["content"] = content("text/event-stream", json_detail::schema_of_type("string"));
  } else if (endpoint.response != nullptr) {
    success["content"] = content("application/json", endpoint.response(components));
  }
  json::object problem;
  problem["description"] = "a problem document (RFC 9457)";
  problem["content"] = content("application/problem+json", schema_of<Problem>(components));
  json::object responses;
  responses[std::to_string(endpoint.success_status)] = std::move(success);
  responses["default"] = std::move(problem);
  return responses;
}

json::object operation_of(const OpenApiInfo& info, const Endpoint& endpoint,
                          SchemaComponents& components) {
  const std::string permission(enum_text(endpoint.permission));
  json::object operation;
  operation["operationId"] = endpoint.operation_id;
  operation["summary"] = endpoint.summary.in(info.language);
  operation["x-permission"] = permission;
  json::array security;
  if (endpoint.permission != Permission::anyone) {
    json::object scheme;
    scheme["bearer"] = json::array{json::string(permission)};
    security.push_back(std::move(scheme));
    if (endpoint.permission != Permission::guest) {
      security.push_back(
          json::object{{"browser_header", json::array{}}, {"browser_cookie", json::array{}}});
    }
    if (endpoint.takes_ticket) security.push_back(json::object{{"ticket", json::array{}}});
  }
  operation["security"] = std::move(security);
  json::array parameters = parameters_of(info, endpoint, components);
  if (!parameters.empty()) operation["parameters"] = std::move(parameters);
  if (endpoint.request != nullptr) {
    json::object body;
    body["required"] = true;
    body["content"] = content("application/json", endpoint.request(components));
    operation["requestBody"] = std::move(body);
  }
  operation["responses"] = responses_of(endpoint, components);
  return operation;
}

json::object key_scheme(std::string_view in, std::string_view name) {
  return json::object{{"type", "apiKey"},
                      {"in", json::string_view(in.data(), in.size())},
                      {"name", json::string_view(name.data(), name.size())}};
}

std::string lower_method(Method method) {
  std::string text(method_text(method));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(c - 'A' + 'a'); });
  return text;
}

json::object sorted(const json::object& object) {
  std::map<std::string, const json::value*> by_name;
  for (const auto& field : object) by_name.emplace(std::string(field.key()), &field.value());
  json::object out;
  for (const auto& [name, value] : by_name) out[name] = *value;
  return out;
}

}  // namespace

std::string openapi_document(const OpenApiInfo& info, const std::vector<Endpoint>& endpoints) {
  SchemaComponents components;
  json::object paths;
  for (const Endpoint& endpoint : endpoints) {
    json::value& path = paths[endpoint.path];
    if (path.is_null()) path.emplace_object();
    path.get_object()[lower_method(endpoint.method)] = operation_of(info, endpoint, components);
  }
  json::object about;
  about["title"] = info.title;
  about["version"] = info.version;
  json::object bearer;
  bearer["type"] = "http";
  bearer["scheme"] = "bearer";
  json::object schemes;
  schemes["bearer"] = std::move(bearer);
  schemes["browser_header"] = key_scheme("header", kSessionHeader);
  schemes["browser_cookie"] = key_scheme("cookie", "cardhour_session");
  schemes["ticket"] = key_scheme("query", "ticket");
  json::object shared;
  shared["schemas"] = sorted(components.schemas);
  shared["securitySchemes"] = std::move(schemes);
  json::object document;
  document["openapi"] = "3.1.0";
  document["info"] = std::move(about);
  document["paths"] = sorted(paths);
  document["components"] = std::move(shared);
  return json_text(document, JsonLayout::indented);
}

}  // namespace cardhour::http
