// Tickets: a short text that stands for a session once, where a browser cannot send headers (a
// WebSocket's address). Kept in memory only, as hashes; a restart forgets them.
// Invariant: a ticket is redeemed at most once, and never later than its end.
// Thread-safe.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "app/deps.h"

namespace cardhour {

struct NewTicket {
  Secret text;
  Timestamp expires_at;
};

class Tickets {
 public:
  explicit Tickets(const Deps& deps) : deps_(deps) {}

  // overloaded when too many are out. A session that asks for too many loses its oldest.
  Result<NewTicket> issue(const TokenId& session);
  // The session that it stands for; unauthenticated when it is unknown, spent or too old.
  Result<TokenId> redeem(const std::string& text);

 private:
  struct Ticket {
    TokenId session;
    Timestamp expires_at;
  };
  void forget_expired(Timestamp now);
  void forget(const TokenId& session, const std::string& hash);

  Deps deps_;
  std::mutex mutex_;
  Timestamp looked_at_;                    // for expired ones: once a second is enough
  std::map<std::string, Ticket> tickets_;  // by the hash of the text
  std::map<TokenId, std::deque<std::string>> of_session_;  // hashes, oldest first
};

}  // namespace cardhour
