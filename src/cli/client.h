// Client: the API of one server, over libcurl. Every failure is an Error of the closed set,
// so that one table gives the exit code; a server that cannot be reached is exit 9, with
// the address that was tried. Requests that create or pay carry a random Idempotency-Key and
// are sent a second time, with the same key, when the connection broke before the answer
// came: the server carries them out once. Redirects are not followed: a token goes nowhere
// but to its server. A self-signed server is trusted by the SHA-256 fingerprint of its
// certificate, which it prints at start. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"
#include "cli/sse.h"

namespace cardhour::cli {

using Query = std::map<std::string, std::string>;

// "?a=1&b=x%20y"; empty for none.
std::string query_text(const Query& query);
// One segment of a path, percent-encoded.
std::string path_segment(const std::string& text);

enum class Effect {
  plain,
  creates_or_pays,  // with an Idempotency-Key
};

class Client {
 public:
  struct Options {
    std::string server;  // as normalize_server gives it
    Secret token;        // empty: nobody
    Language language = Language::en;
    std::optional<std::string> fingerprint;  // "AB:CD:..."; trusts this certificate alone
    std::string version;                     // for User-Agent
  };
  explicit Client(Options options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::string& server() const { return options_.server; }
  // The fingerprint of the certificate that was refused last; empty: none was.
  const std::string& refused_fingerprint() const { return refused_fingerprint_; }
  bool has_token() const { return !options_.token.empty(); }

  // `path` is below /api/v1, e.g. "/wallet". The body of the answer is JSON, or empty (204).
  Result<std::string> get(const std::string& path, const Query& query = {});
  Result<std::string> post(const std::string& path, const std::string& json,
                           Effect effect = Effect::plain);
  Result<std::string> put(const std::string& path, const std::string& json);
  Result<std::string> patch(const std::string& path, const std::string& json);
  Result<std::string> remove(const std::string& path);

  // Reads the event stream after `last_id` until it is cut, or `on_event` returns false.
  // Returns the id to resume from.
  enum class Next { go_on, stop };
  struct StreamEnd {
    std::string last_id;
    bool stopped = false;        // by on_event or Ctrl-C
    std::optional<Error> error;  // why it was cut; absent: the server ended it
    bool refused = false;        // the server answered with an error: resuming is no use
  };
  StreamEnd stream(const std::string& path, const Query& query, const std::string& last_id,
                   const std::function<Next(const StreamEvent&)>& on_event);

 private:
  struct Call;
  struct Answer;
  struct Tls;
  Result<std::string> request(const Call& call);
  Answer perform(const Call& call);
  Error unreachable(const Answer& answer) const;

  Options options_;
  std::string refused_fingerprint_;
  void* curl_;  // CURL*: kept for its connection
};

}  // namespace cardhour::cli
