// Terminals, from the upgrade's handler down to simulated shells. No socket: what a connection
// would do is done by hand.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "adapters/http/api/test_api.h"
#include "adapters/http/websocket.h"
#include "adapters/sim/sim_shells.h"
#include "base/limits.h"

namespace cardhour::http {
namespace {

using Fields = std::map<std::string, std::string>;
constexpr auto kDeadline = std::chrono::seconds(30);

// A connection that reads what there is to send, as long as it wants to.
class Reader {
 public:
  explicit Reader(std::shared_ptr<WebSocketHandler> handler) : handler_(std::move(handler)) {
    handler_->opened([this] {
      const std::lock_guard lock(mutex_);
      woken_ = true;
      changed_.notify_all();
    });
  }
  ~Reader() { leave(); }

  void leave() {
    if (handler_) handler_->closed();
    handler_.reset();
  }
  // Reads until the condition holds; false at the deadline.
  template <class Condition>
  bool until(Condition there) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (true) {
      while (auto next = handler_->next()) {
        take(*next);
        if (close_) break;
      }
      if (there()) return true;
      if (close_) return false;
      std::unique_lock lock(mutex_);
      if (!changed_.wait_until(lock, deadline, [this] { return woken_; })) return false;
      woken_ = false;
    }
  }
  bool sees(const std::string& wanted) {
    return until([&] { return output_.find(wanted) != std::string::npos; });
  }
  bool sees_close() {
    return until([&] { return close_.has_value(); });
  }
  // Offers it until it is taken, reading meanwhile.
  bool types(const std::string& bytes) {
    const WebSocketMessage message{WebSocketMessage::Kind::binary, bytes};
    return until([&] { return handler_->received(message); });
  }
  void says(const std::string& text) { handler_->received({WebSocketMessage::Kind::text, text}); }
  WebSocketHandler& handler() { return *handler_; }

  const std::string& output() const { return output_; }
  size_t bytes() const { return bytes_; }
  std::string terminal() const { return field("terminal"); }
  std::string offset() const { return field("offset"); }
  int close_code() const { return close_ ? close_->code : 0; }
  std::string exit() const { return exit_; }

 private:
  void take(const WebSocketHandler::Outgoing& next) {
    if (const auto* close = std::get_if<WebSocketClose>(&next)) {
      close_ = *close;
      return;
    }
    const auto& message = std::get<WebSocketMessage>(next);
    if (message.kind == WebSocketMessage::Kind::binary) {
      EXPECT_LE(message.data.size(), limits::kTerminalFrameBytes);
      bytes_ += message.data.size();
      output_ += message.data;
      if (output_.size() > 4'000'000) output_.erase(0, 2'000'000);
    } else if (message.data.find("\"exit\"") != std::string::npos) {
      exit_ = message.data;
    } else {
      attached_ = message.data;
    }
  }
  std::string field(const std::string& name) const {
    const auto value = parse_json(attached_);
    if (!value || !value->is_object()) return {};
    const auto* found = value->as_object().if_contains(name);
    if (found == nullptr) return {};
    return found->is_string() ? std::string(found->as_string()) : std::to_string(found->as_int64());
  }

  std::shared_ptr<WebSocketHandler> handler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::string output_;
  size_t bytes_ = 0;
  std::string attached_;
  std::string exit_;
  std::optional<WebSocketClose> close_;
};

class TerminalTest : public ApiTest {
 protected:
  TerminalTest() {
    deps_->shells = &shells_;
    plane_ = std::make_unique<ControlPlane>(*deps_);
    endpoints_ = make_endpoints(*plane_);
    router_ = std::make_unique<Router>(endpoints_, authorizer(*plane_));
    top_up("renter", "100");
    id_ = rent(renter_, "r").id.text;
  }
  ~TerminalTest() override { plane_->terminals.end_all(); }

  static Fields upgrade() {
    return {{"Upgrade", "websocket"},
            {"Connection", "Upgrade"},
            {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
            {"Sec-WebSocket-Version", "13"},
            {"Host", "cloud:8080"}};
  }
  std::string path(const std::string& id) const { return "/api/v1/instances/" + id + "/terminal"; }
  Response connect(const std::string& token, Fields query = {}, Fields more = {},
                   const std::string& id = {}) {
    Fields headers = upgrade();
    headers.insert(more.begin(), more.end());
    return ask(Method::get, path(id.empty() ? id_ : id),
               {.token = token, .query = std::move(query), .headers = std::move(headers)});
  }
  std::unique_ptr<Reader> open(const std::string& token, Fields query = {},
                               const std::string& id = {}) {
    Response response = connect(token, std::move(query), {}, id);
    EXPECT_NE(response.socket, nullptr) << response.body;
    return std::make_unique<Reader>(response.socket);
  }
  // The code that the connection is closed with.
  int refused(const std::string& token, Fields query = {}, const std::string& id = {}) {
    const auto reader = open(token, std::move(query), id);
    EXPECT_TRUE(reader->sees_close());
    return reader->close_code();
  }
  size_t open_terminals() {
    return read<wire::Page<wire::TerminalView>>(
               get("/api/v1/instances/" + id_ + "/terminals", renter_))
        .items.size();
  }
  std::vector<std::string> events(const std::string& kind) {
    std::vector<std::string> reasons;
    for (const auto& event :
         read<wire::Page<wire::EventView>>(get("/api/v1/instances/" + id_ + "/events", renter_,
                                               {{"after", "0"}, {"limit", "100"}}))
             .items) {
      if (event.kind == kind) reasons.push_back(event.reason);
    }
    return reasons;
  }

  SimShells shells_{engine_};
  std::string id_;
};

TEST_F(TerminalTest, IsAShellThatSaysWhatItIs) {
  const auto reader = open(renter_, {{"cols", "120"}, {"rows", "33"}});
  ASSERT_TRUE(reader->sees("SIMULATED"));
  EXPECT_EQ(reader->offset(), "0");
  EXPECT_FALSE(reader->terminal().empty());
  ASSERT_TRUE(reader->types("stty size\r"));
  EXPECT_TRUE(reader->sees("33 120\r\n"));
  reader->says(R"({"type":"resize","cols":90,"rows":20})");
  ASSERT_TRUE(reader->types("stty size\r"));
  EXPECT_TRUE(reader->sees("20 90\r\n"));
  ASSERT_TRUE(reader->types("exit 3\r"));
  EXPECT_TRUE(reader->sees_close());
  EXPECT_EQ(reader->close_code(), 1000);
  EXPECT_EQ(reader->exit(), R"({"type":"exit","code":3,"reason":"the shell ended"})");
  EXPECT_TRUE(plane_->terminals.sweep().has_value());
  EXPECT_EQ(open_terminals(), 0u);
  EXPECT_EQ(events("terminal.opened"), (std::vector<std::string>{"renter"}));
  EXPECT_EQ(events("terminal.closed"), (std::vector<std::string>{"exited"}));
}

TEST_F(TerminalTest, GoesOnWhereALostConnectionWas) {
  auto first = open(renter_);
  ASSERT_TRUE(first->types("echo one\r"));
  ASSERT_TRUE(first->sees("\none\r\n# "));
  const std::string terminal = first->terminal();
  const size_t had = first->bytes();
  first->leave();
  EXPECT_EQ(open_terminals(), 1u);

  auto second = open(renter_, {{"terminal", terminal}, {"from", std::to_string(had)}});
  ASSERT_TRUE(second->types("echo two\r"));
  ASSERT_TRUE(second->sees("\ntwo\r\n"));
  EXPECT_EQ(second->offset(), std::to_string(had));
  EXPECT_EQ(second->output().find("one"), std::string::npos);
  second->leave();

  const auto third = open(renter_, {{"terminal", terminal}});
  ASSERT_TRUE(third->sees("two\r\n# "));  // all of it
  EXPECT_NE(third->output().find("SIMULATED"), std::string::npos);
  EXPECT_EQ(third->offset(), "0");
}

TEST_F(TerminalTest, MissesNothingOfWhatTheScrollbackHolds) {
  auto first = open(renter_);
  ASSERT_TRUE(first->sees("# "));
  const std::string terminal = first->terminal();
  const size_t had = first->bytes();
  ASSERT_TRUE(first->types("yes\r"));
  first->leave();
  const auto produced = [&] {
    return read<wire::Page<wire::TerminalView>>(
               get("/api/v1/instances/" + id_ + "/terminals", renter_))
        .items.at(0)
        .output_bytes;
  };
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (produced() < 3'000'000 && std::chrono::steady_clock::now() < deadline) {
  }
  ASSERT_GE(produced(), 3'000'000);
  const auto second = open(renter_, {{"terminal", terminal}, {"from", std::to_string(had)}});
  ASSERT_TRUE(second->until([&] { return second->bytes() > limits::kTerminalOutputBytes; }));
  EXPECT_GT(std::stoll(second->offset()), 2'000'000);  // what is gone is told
  ASSERT_TRUE(second->types("\x03"));
  ASSERT_TRUE(second->types("echo done\r"));
  EXPECT_TRUE(second->sees("\ndone\r\n"));
}

TEST_F(TerminalTest, EndlessOutputWaitsForItsReader) {
  const auto reader = open(renter_);
  ASSERT_TRUE(reader->sees("# "));
  ASSERT_TRUE(reader->types("yes\r"));
  const auto state = [&] {
    return read<wire::Page<wire::TerminalView>>(
               get("/api/v1/instances/" + id_ + "/terminals", renter_))
        .items.at(0)
        .output_bytes;
  };
  // Nobody reads: it stops by itself, a piece over the limit at most.
  int64_t before = -1;
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  const auto limit = static_cast<int64_t>(limits::kTerminalOutputBytes);
  while (state() < limit && std::chrono::steady_clock::now() < deadline) before = state();
  EXPECT_GE(state(), limit);
  for (int look = 0; look < 1'000; ++look) before = state();
  EXPECT_LE(before, limit + 128 * 1024);
  // And goes on as it is read, without a gap.
  ASSERT_TRUE(reader->until([&] { return reader->bytes() > 5'000'000; }));
  const std::string tail = reader->output().substr(reader->output().size() - 300'000);
  EXPECT_EQ(tail.find("yy"), std::string::npos);
  EXPECT_EQ(tail.find("\n\n"), std::string::npos);
}

TEST_F(TerminalTest, ALargePasteArrivesWhole) {
  const auto reader = open(renter_);
  ASSERT_TRUE(reader->types("wc -c\r"));
  const std::string line = std::string(63, 'x') + "\n";
  std::string paste;
  while (paste.size() < 1'000'000) paste += line;
  for (size_t at = 0; at < paste.size(); at += limits::kTerminalFrameBytes) {
    ASSERT_TRUE(reader->types(paste.substr(at, limits::kTerminalFrameBytes)));
  }
  ASSERT_TRUE(reader->types("\x04"));
  EXPECT_TRUE(reader->sees("\n" + std::to_string(paste.size()) + "\r\n"));
}

TEST_F(TerminalTest, InputWaitsForAShellThatDoesNotTakeIt) {
  const auto reader = open(renter_);
  ASSERT_TRUE(reader->sees("# "));
  ASSERT_TRUE(reader->types("wc -c\r"));
  // Its echo is not read, so it takes nothing more; what was typed piles up to the limit.
  const WebSocketMessage piece{WebSocketMessage::Kind::binary,
                               std::string(limits::kTerminalFrameBytes, '\n')};
  size_t taken = 0;
  while (reader->handler().received(piece) && taken < 1'000) ++taken;
  EXPECT_LT(taken, 1'000u);
  EXPECT_GE(taken * piece.data.size(), limits::kTerminalInputBytes);
  // All of it arrives once it is read.
  ASSERT_TRUE(reader->types("\x04"));
  EXPECT_TRUE(reader->sees("\n" + std::to_string(taken * piece.data.size()) + "\r\n"));
}

TEST_F(TerminalTest, ASecondReaderTakesThePlaceOfTheFirst) {
  const auto first = open(renter_);
  ASSERT_TRUE(first->sees("# "));
  const auto second = open(renter_, {{"terminal", first->terminal()}});
  ASSERT_TRUE(second->sees("# "));
  EXPECT_TRUE(first->sees_close());
  EXPECT_EQ(first->close_code(), 4410);
  first->leave();  // does not detach the second
  ASSERT_TRUE(second->types("echo mine\r"));
  EXPECT_TRUE(second->sees("\nmine\r\n"));
}

TEST_F(TerminalTest, IsClosedByItsReader) {
  const auto reader = open(renter_);
  ASSERT_TRUE(reader->sees("# "));
  reader->says(R"({"type":"close"})");
  EXPECT_TRUE(reader->sees_close());
  EXPECT_EQ(reader->close_code(), 1000);
  EXPECT_EQ(open_terminals(), 0u);
  EXPECT_TRUE(plane_->terminals.sweep().has_value());
  EXPECT_EQ(events("terminal.closed"), (std::vector<std::string>{"closed"}));
  EXPECT_EQ(refused(renter_, {{"terminal", reader->terminal()}}), 4404);
}

TEST_F(TerminalTest, StrangeWordsEndTheConnectionAndNotTheShell) {
  for (const std::string word :
       {"", "{", "[]", R"({"type":"resize"})", R"({"type":"resize","cols":0,"rows":5})",
        R"({"type":"resize","cols":5,"rows":99999})", R"({"type":"attached"})"}) {
    const auto reader = open(renter_);
    ASSERT_TRUE(reader->sees("# "));
    reader->says(word);
    EXPECT_TRUE(reader->sees_close());
    EXPECT_EQ(reader->close_code(), 1008) << word;
    EXPECT_EQ(open_terminals(), 1u);
    plane_->terminals.end_all();
  }
}

TEST_F(TerminalTest, EndsWithTheSessionThatOpenedIt) {
  const std::string session = log_in("renter", kPassword);
  const auto reader = open(session);
  ASSERT_TRUE(reader->sees("# "));
  EXPECT_TRUE(plane_->terminals.sweep().has_value());
  EXPECT_EQ(open_terminals(), 1u);
  EXPECT_EQ(post("/api/v1/auth/logout", session).status, 204);
  EXPECT_TRUE(plane_->terminals.sweep().has_value());
  EXPECT_TRUE(reader->sees_close());
  EXPECT_EQ(reader->close_code(), 4401);
  EXPECT_EQ(events("terminal.closed"), (std::vector<std::string>{"session_ended"}));
}

TEST_F(TerminalTest, EndsWithTheInstancesRun) {
  const auto reader = open(renter_);
  ASSERT_TRUE(reader->sees("# "));
  EXPECT_EQ(post("/api/v1/instances/" + id_ + "/stop", renter_).status, 200);
  EXPECT_TRUE(plane_->terminals.sweep().has_value());
  EXPECT_TRUE(reader->sees_close());
  EXPECT_EQ(reader->close_code(), 4409);
  work();
  EXPECT_EQ(refused(renter_), 4409);
}

TEST_F(TerminalTest, EndsWhenNobodyLooksForTenMinutes) {
  const auto watched = open(renter_);
  auto left = open(renter_);
  ASSERT_TRUE(watched->sees("# "));
  ASSERT_TRUE(left->sees("# "));
  left->leave();
  clock_.advance(seconds(limits::kTerminalDetachedSeconds) - milliseconds(1));
  EXPECT_TRUE(plane_->terminals.sweep().has_value());
  EXPECT_EQ(open_terminals(), 2u);
  clock_.advance(milliseconds(1));
  EXPECT_TRUE(plane_->terminals.sweep().has_value());
  EXPECT_EQ(open_terminals(), 1u);
  EXPECT_EQ(events("terminal.closed"), (std::vector<std::string>{"abandoned"}));
}

TEST_F(TerminalTest, AnUpgradeThatCameToNothingLeavesNone) {
  connect(renter_);  // the connection went before the upgrade was done
  EXPECT_EQ(open_terminals(), 0u);
}

TEST_F(TerminalTest, TheirNumberIsLimited) {
  std::vector<std::unique_ptr<Reader>> readers;
  for (size_t i = 0; i < limits::kTerminalsPerInstance; ++i) readers.push_back(open(renter_));
  EXPECT_EQ(refused(renter_), 1013);
  readers.pop_back();
  EXPECT_EQ(refused(renter_), 1013);  // detached is still open
  readers.front()->says(R"({"type":"close"})");
  EXPECT_TRUE(open(renter_)->sees("# "));
}

TEST_F(TerminalTest, AnAccountsNumberIsLimited) {
  std::vector<std::string> ids{id_};
  while (ids.size() * limits::kTerminalsPerInstance <= limits::kTerminalsPerAccount) {
    ids.push_back(rent(renter_, std::to_string(ids.size()), R"({"mode":"no_gpu"})").id.text);
  }
  std::vector<std::unique_ptr<Reader>> readers;
  for (size_t i = 0; i < limits::kTerminalsPerAccount; ++i) {
    readers.push_back(open(renter_, {}, ids[i / limits::kTerminalsPerInstance]));
  }
  EXPECT_EQ(refused(renter_, {}, ids.back()), 1013);
}

TEST_F(TerminalTest, BelongsToTheRenterAlone) {
  const auto reader = open(renter_);
  ASSERT_TRUE(reader->sees("# "));
  const std::string other = add_renter("other");
  EXPECT_EQ(refused(other), 4404);
  EXPECT_EQ(refused(other, {{"terminal", reader->terminal()}}), 4404);
  EXPECT_EQ(refused(admin_), 4404);  // an operator has no business inside
  EXPECT_EQ(refused(renter_, {{"terminal", "unknown"}}), 4404);
  EXPECT_EQ(connect(token_with(renter_, "read money")).status, 403);
  // Without an upgrade the same is told by problem documents.
  EXPECT_EQ(get(path(id_), other).status, 404);
  EXPECT_EQ(get(path(id_), renter_).status, 426);
  EXPECT_EQ(get(path(id_), renter_).headers.find("Upgrade"), "websocket");
}

TEST_F(TerminalTest, AForeignPageOpensNone) {
  for (const Fields& mark :
       {Fields{{"Origin", "https://evil.example"}}, Fields{{"Origin", "http://cloud:8888"}},
        Fields{{"Origin", "null"}}, Fields{{"Sec-Fetch-Site", "cross-site"}}}) {
    EXPECT_EQ(connect(renter_, {}, mark).status, 403);
  }
  EXPECT_NE(connect(renter_, {}, {{"Origin", "http://cloud:8080"}}).socket, nullptr);
}

TEST_F(TerminalTest, ATicketOpensOne) {
  const auto ticket = [&] {
    return read<wire::TicketAnswer>(post("/api/v1/auth/tickets", renter_)).ticket.reveal();
  };
  const std::string once = ticket();
  const auto reader = open("", {{"ticket", once}});
  EXPECT_TRUE(reader->sees("# "));
  EXPECT_EQ(connect("", {{"ticket", once}}).status, 401);
  EXPECT_EQ(connect("", {}).status, 401);
  EXPECT_EQ(connect("", {{"ticket", ticket()}}, {{"Origin", "http://cloud:8888"}}).status, 403);
}

TEST_F(TerminalTest, StrangeQueriesAreRefused) {
  for (const Fields& query : {Fields{{"cols", "0"}}, Fields{{"rows", "-1"}},
                              Fields{{"cols", "99999999999999999999"}}, Fields{{"cols", "wide"}},
                              Fields{{"from", "5"}}, Fields{{"terminal", "t"}, {"from", "x"}}}) {
    EXPECT_EQ(connect(renter_, query).status, 400) << query.begin()->first;
  }
  const auto reader = open(renter_);
  ASSERT_TRUE(reader->sees("# "));
  EXPECT_EQ(refused(renter_, {{"terminal", reader->terminal()}, {"from", "1000000"}}), 1008);
}

TEST_F(TerminalTest, AShellThatCannotBeginSaysWhy) {
  engine_.stop_behind_our_back(InstanceId{id_});
  const auto reader = open(renter_);
  EXPECT_TRUE(reader->sees_close());
  EXPECT_EQ(reader->close_code(), 1000);
  EXPECT_EQ(reader->exit(),
            R"({"type":"exit","code":null,"reason":"the instance is not running"})");
}

}  // namespace
}  // namespace cardhour::http
