// Endpoints as data, and the router that serves them. A method, a path, who may call it
// and the handler stand side by side; the OpenAPI document and the "not logged in" and
// "not allowed" tests walk the same list.
// Invariant: no two endpoints answer the same method and path; a literal segment wins
// over a parameter ("/instances/trash" before "/instances/{id}").
// Thread-safe after construction: handle() is const and called by every worker.
#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/http/http.h"
#include "base/error.h"
#include "domain/access.h"

namespace cardhour {

struct SchemaComponents;  // adapters/http/json_codec.h

namespace http {

using cardhour::Permission;  // domain/access.h

using Handler = std::function<Result<Response>(const Request&)>;

// schema_of<T> for answers, request_schema_of<T> for bodies (json_codec.h).
using Schema = boost::json::value (*)(SchemaComponents&);

struct QueryParameter {
  std::string name;
  Text summary;
  Schema schema = nullptr;  // a string when null
};

struct Endpoint {
  Method method = Method::get;
  std::string path;  // "/api/v1/instances/{id}/start"; {name} takes one segment
  Permission permission = Permission::anyone;
  std::string operation_id;  // unique, snake_case: "instance_start"
  Text summary;
  Handler handler;
  Schema request = nullptr;   // of the JSON body
  Schema response = nullptr;  // of the JSON answer
  int success_status = 200;   // as documented; the handler decides what is sent
  std::vector<QueryParameter> query = {};
  // An Idempotency-Key is required, and checked for form: on what creates or pays.
  bool idempotent_key = false;
  bool event_stream = false;  // answers text/event-stream
  // `?ticket=` may stand for the session: where a browser cannot send headers.
  bool takes_ticket = false;
};

// Who is asking, or the Error (unauthenticated, forbidden) that answers instead of the
// handler. `actor` may be null for Permission::anyone.
struct Authorized {
  std::shared_ptr<const Actor> actor;
  std::string actor_id;
  std::string token_id;
};
using Authorizer = std::function<Result<Authorized>(const Request&, Permission)>;

// Answers paths that no endpoint has; nullopt: nor does this.
using Fallback = std::function<std::optional<Response>(const Request&)>;

class Router {
 public:
  // CHECKs the invariant, and that every endpoint has a handler and an operation_id.
  Router(std::vector<Endpoint> endpoints, Authorizer authorizer, Fallback fallback = nullptr);
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  // Finds the endpoint, authorizes, calls the handler, and turns every Error (and a
  // thrown exception, as internal) into a problem document. HEAD is served by GET's
  // endpoint; OPTIONS answers 204 with Allow; other methods of a known path get 405.
  Response handle(Request request) const;

  const std::vector<Endpoint>& endpoints() const { return endpoints_; }

 private:
  struct Node;
  struct Match;
  Match find(const Request& request) const;

  std::vector<Endpoint> endpoints_;
  Authorizer authorizer_;
  Fallback fallback_;
  std::unique_ptr<Node> root_;
};

}  // namespace http
}  // namespace cardhour
