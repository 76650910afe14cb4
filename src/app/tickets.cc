#include "app/tickets.h"

#include <algorithm>

#include "app/secrets.h"
#include "base/limits.h"

namespace cardhour {

Result<NewTicket> Tickets::issue(const TokenId& session) {
  constexpr size_t kCharacters = 40;  // 200 bits
  const Secret text = random_secret(deps_.entropy, kCharacters);
  const Timestamp now = deps_.clock.now();
  const Timestamp expires_at = now + seconds(limits::kTicketSeconds);
  const std::lock_guard lock(mutex_);
  forget_expired(now);
  if (tickets_.size() >= limits::kTickets) {
    return fail(ErrorCode::overloaded, Text{"too many tickets are out", "待使用的票据过多"},
                Text{"try again in half a minute", "请半分钟后重试"});
  }
  std::deque<std::string>& own = of_session_[session];
  const std::string hash = hash_token(text.reveal());
  tickets_.emplace(hash, Ticket{session, expires_at});
  own.push_back(hash);
  if (own.size() > limits::kTicketsPerSession) forget(session, own.front());
  return NewTicket{text, expires_at};
}

Result<TokenId> Tickets::redeem(const std::string& text) {
  const std::string hash = hash_token(text);
  const Timestamp now = deps_.clock.now();
  const std::lock_guard lock(mutex_);
  const auto found = tickets_.find(hash);
  if (found == tickets_.end() || found->second.expires_at <= now) {
    return fail(ErrorCode::unauthenticated,
                Text{"the ticket is unknown, used or too old", "票据无效、已使用或已过期"},
                Text{"ask for a new one", "请重新获取"});
  }
  TokenId session = found->second.session;
  forget(session, hash);
  return session;
}

void Tickets::forget(const TokenId& session, const std::string& hash) {
  const std::string gone = hash;  // may be an element of what it is taken from
  tickets_.erase(gone);
  const auto own = of_session_.find(session);
  std::erase(own->second, gone);
  if (own->second.empty()) of_session_.erase(own);
}

void Tickets::forget_expired(Timestamp now) {
  if (now < looked_at_ + seconds(1)) return;
  looked_at_ = now;
  std::vector<std::pair<TokenId, std::string>> expired;
  for (const auto& [hash, ticket] : tickets_) {
    if (ticket.expires_at <= now) expired.emplace_back(ticket.session, hash);
  }
  for (const auto& [session, hash] : expired) forget(session, hash);
}

}  // namespace cardhour
