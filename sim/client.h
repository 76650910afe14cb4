// Client: a renter's program. It asks the real router as people do, with a token, and reads the
// JSON; it follows the event stream and resumes where an answer was lost. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/http/http.h"
#include "sim/world.h"
#include "wire/wire.h"

namespace cardhour {

namespace http {
class Router;
}

class Client {
 public:
  Client(World& world, const Actor& actor);
  ~Client();

  // nullopt: no answer of success.
  std::optional<wire::WalletView> wallet();
  std::optional<wire::BillView> statement();
  std::optional<std::vector<wire::InstanceView>> instances();
  std::optional<std::vector<wire::TransactionView>> transactions();
  std::optional<wire::QuoteView> quote(const RentRequest& request);
  // Reads what is new of the stream; `lost`: the answer does not arrive, and it asks again later.
  void follow_events(bool lost);
  // The numbers of the events that arrived, in order.
  const std::vector<int64_t>& heard() const { return heard_; }

 private:
  http::Response ask(http::Method method, const std::string& path,
                     std::map<std::string, std::string> query, std::string body);
  template <class T>
  std::optional<T> read(const http::Response& response);
  template <class T>
  std::optional<std::vector<T>> read_pages(const std::string& path,
                                           std::map<std::string, std::string> query);

  World& world_;
  std::string token_;
  std::unique_ptr<http::Router> router_;
  int router_of_ = -1;  // the process that it belongs to
  std::string last_event_id_;
  std::vector<int64_t> heard_;
};

}  // namespace cardhour
