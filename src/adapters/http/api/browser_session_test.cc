// The console's session and what a stranger can do with parts of it. A browser sends its
// cookies to every port of a host name, so a tenant's service beside the console sees them all.
#include "adapters/http/api/test_api.h"
#include "adapters/http/browser.h"
#include "base/limits.h"

namespace cardhour::http {
namespace {

using Fields = std::map<std::string, std::string>;

// What a browser keeps of a login: the cookie for all ports of the host, and the header secret
// for the pages of the console's own origin.
struct Browser {
  std::string cookie;  // "cardhour_session=..."
  std::string header_secret;

  Fields to_the_console() const {
    return {{"Cookie", cookie}, {"Cardhour-Session", header_secret}};
  }
  // To a tenant's service on another port of the same host name.
  Fields to_a_neighbour() const { return {{"Cookie", cookie}}; }
  std::string cookie_secret() const { return cookie.substr(cookie.find('=') + 1); }
};

class BrowserSessionTest : public ApiTest {
 protected:
  Response browser_login(const std::string& login, const std::string& password,
                         Fields headers = {}) {
    return ask(Method::post, "/api/v1/auth/browser-login",
               {.body = to_json_text(wire::LoginRequest{login, Secret(password)}),
                .headers = std::move(headers)});
  }
  Browser open_browser(const std::string& login) {
    const Response response = browser_login(login, kPassword);
    const std::string set(response.headers.find("Set-Cookie").value_or(""));
    return {set.substr(0, set.find(';')),
            read<wire::BrowserSessionAnswer>(response).header_secret.reveal()};
  }
  // An operator in a browser: whose parts are worth most.
  Browser operators_browser() {
    EXPECT_EQ(
        post("/api/v1/admin/accounts", admin_,
             R"({"login":"chief","password":")" + std::string(kPassword) + R"(","role":"admin"})")
            .status,
        201);
    return open_browser("chief");
  }
  Response with(Method method, const std::string& path, Fields headers, Fields query = {}) {
    return ask(method, path,
               {.key = "k", .query = std::move(query), .headers = std::move(headers)});
  }
  int me(const Fields& headers, Fields query = {}) {
    return with(Method::get, "/api/v1/me", headers, std::move(query)).status;
  }
  std::string ticket(const Browser& browser) {
    return read<wire::TicketAnswer>(
               with(Method::post, "/api/v1/auth/tickets", browser.to_the_console()))
        .ticket.reveal();
  }
  int events_with(const std::string& ticket, Fields headers = {}) {
    return with(Method::get, "/api/v1/events", std::move(headers), {{"ticket", ticket}}).status;
  }
  // The whole history: what an attack changed would be in it.
  size_t events() {
    return read<wire::Page<wire::EventView>>(
               get("/api/v1/admin/events", admin_, {{"after", "0"}, {"limit", "100"}}))
        .items.size();
  }
  // Every endpoint that asks who it is refuses these headers.
  void expect_closed(const std::string& attack, const Fields& headers, const Fields& query,
                     int status) {
    for (const Endpoint& endpoint : endpoints_) {
      if (endpoint.permission == Permission::anyone) continue;
      const Response response = with(endpoint.method, some_path(endpoint.path), headers, query);
      EXPECT_EQ(response.status, status) << attack << " on " << endpoint.operation_id;
    }
  }
};

TEST_F(BrowserSessionTest, BothSecretsTogetherAreALogin) {
  const Response login = browser_login("renter", kPassword);
  ASSERT_EQ(login.status, 201) << login.body;
  const std::string set(login.headers.find("Set-Cookie").value_or(""));
  EXPECT_NE(set.find("; HttpOnly; SameSite=Strict; Max-Age="), std::string::npos) << set;
  const auto answer = read<wire::BrowserSessionAnswer>(login);
  EXPECT_EQ(answer.account.login, "renter");
  EXPECT_EQ(answer.about.kind, TokenKind::session);
  EXPECT_EQ(answer.about.name, "browser");
  const Browser browser{set.substr(0, set.find(';')), answer.header_secret.reveal()};
  EXPECT_EQ(login.body.find(browser.cookie_secret()), std::string::npos);
  EXPECT_EQ(set.find(browser.header_secret), std::string::npos);

  const auto view = read<wire::MeView>(with(Method::get, "/api/v1/me", browser.to_the_console()));
  EXPECT_EQ(view.scopes, "read instances money");
  // As from a page of ours.
  Fields page = browser.to_the_console();
  page.insert(
      {{"Host", "cloud:8080"}, {"Origin", "http://cloud:8080"}, {"Sec-Fetch-Site", "same-origin"}});
  EXPECT_EQ(me(page), 200);
  EXPECT_EQ(browser_login("renter", "wrong").status, 401);
}

TEST_F(BrowserSessionTest, OneSecretWithoutTheOtherOpensNothing) {
  const Browser browser = operators_browser();
  const size_t before = events();
  expect_closed("the cookie alone", browser.to_a_neighbour(), {}, 401);
  expect_closed("the header alone", {{"Cardhour-Session", browser.header_secret}}, {}, 401);
  expect_closed("the header as a bearer's", {{"Authorization", "Bearer " + browser.header_secret}},
                {}, 401);
  Fields both = browser.to_the_console();
  both["Authorization"] = "Bearer " + browser.header_secret;
  expect_closed("the header as a bearer's with its cookie", both, {}, 401);
  EXPECT_EQ(events(), before);
  EXPECT_EQ(me(browser.to_the_console()), 200);
}

// The attack that the two secrets are for.
TEST_F(BrowserSessionTest, ATenantsServiceOnTheSameHostCanDoNothingWithWhatItSees) {
  const Browser victim = operators_browser();
  const Browser attacker = open_browser("renter");
  const size_t before = events();
  const Fields seen = victim.to_a_neighbour();
  const std::string stolen = victim.cookie_secret();

  expect_closed("what it saw", seen, {}, 401);
  expect_closed("the cookie as a token", {{"Authorization", "Bearer " + stolen}}, {}, 401);
  expect_closed("the cookie as both secrets",
                {{"Cookie", victim.cookie}, {"Cardhour-Session", stolen}}, {}, 401);
  expect_closed("the cookie as a ticket", seen, {{"ticket", stolen}}, 401);
  expect_closed("the cookie with the attacker's own header",
                {{"Cookie", victim.cookie}, {"Cardhour-Session", attacker.header_secret}}, {}, 401);
  expect_closed("both cookies with the attacker's header",
                {{"Cookie", victim.cookie + "; " + attacker.cookie},
                 {"Cardhour-Session", attacker.header_secret}},
                {}, 401);
  // An id is no secret: it is in the list of tokens, and in the header's text.
  const std::string id = victim.header_secret.substr(0, victim.header_secret.rfind('_') + 1);
  expect_closed("the id with the cookie's secret",
                {{"Cookie", victim.cookie}, {"Cardhour-Session", id + stolen}}, {}, 401);
  // A page of that service makes the victim's browser ask the console.
  for (const std::string site : {"same-site", "cross-site"}) {
    Fields forged = seen;
    forged.insert({{"Host", "cloud:8080"},
                   {"Origin", "http://cloud:8888"},
                   {"Sec-Fetch-Site", site},
                   {"Content-Type", "text/plain"}});
    expect_closed("a forged request, " + site, forged, {}, 401);
  }
  EXPECT_EQ(events(), before);
  EXPECT_EQ(me(victim.to_the_console()), 200);
}

TEST_F(BrowserSessionTest, AnotherSiteCannotAskEvenWithBothSecrets) {
  const Browser browser = operators_browser();
  const size_t before = events();
  const std::vector<Fields> marks = {{{"Sec-Fetch-Site", "cross-site"}},
                                     {{"Sec-Fetch-Site", "same-site"}},
                                     {{"Origin", "https://evil.example"}},
                                     {{"Origin", "http://cloud:8888"}},
                                     {{"Origin", "null"}}};
  for (Fields mark : marks) {
    mark.insert({"Host", "cloud:8080"});
    Fields headers = browser.to_the_console();
    headers.insert(mark.begin(), mark.end());
    expect_closed("from " + mark.begin()->second, headers, {}, 403);
    // Nor log the browser into an account of the attacker's.
    EXPECT_EQ(browser_login("renter", kPassword, mark).status, 403);
    EXPECT_EQ(events_with(ticket(browser), mark), 403);
  }
  EXPECT_EQ(events(), before);
}

TEST_F(BrowserSessionTest, ABearerWins) {
  const Browser browser = operators_browser();
  Fields headers = browser.to_the_console();
  headers["Authorization"] = "Bearer " + renter_;
  EXPECT_EQ(read<wire::MeView>(with(Method::get, "/api/v1/me", headers)).account.login, "renter");
  headers["Authorization"] = "Bearer ch_k0123456789ab_wrong";
  EXPECT_EQ(me(headers), 401);
}

TEST_F(BrowserSessionTest, LogoutEndsItAndTakesTheCookieAway) {
  const Browser browser = open_browser("renter");
  const Browser other = open_browser("renter");
  const Response out = with(Method::post, "/api/v1/auth/logout", browser.to_the_console());
  EXPECT_EQ(out.status, 204);
  EXPECT_EQ(out.headers.find("Set-Cookie"),
            "cardhour_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
  EXPECT_EQ(me(browser.to_the_console()), 401);
  EXPECT_EQ(me(other.to_the_console()), 200);
  // A program's logout has no cookie to take away.
  const Response plain = post("/api/v1/auth/logout", log_in("renter", kPassword));
  EXPECT_FALSE(plain.headers.find("Set-Cookie"));
}

TEST_F(BrowserSessionTest, EndsLikeAnyOtherSession) {
  const Browser revoked = open_browser("renter");
  const auto tokens = read<wire::Page<wire::TokenView>>(get("/api/v1/tokens", renter_));
  const auto listed = std::find_if(tokens.items.begin(), tokens.items.end(),
                                   [](const auto& token) { return token.name == "browser"; });
  ASSERT_NE(listed, tokens.items.end());
  EXPECT_EQ(ask(Method::delete_, "/api/v1/tokens/" + listed->id.text, {.token = renter_}).status,
            204);
  EXPECT_EQ(me(revoked.to_the_console()), 401);

  const Browser changes = open_browser("renter");
  const Browser ended = open_browser("renter");
  const auto body = to_json_text(wire::PasswordRequest{Secret(kPassword), Secret("a new one 123")});
  EXPECT_EQ(
      ask(Method::put, "/api/v1/me/password", {.body = body, .headers = changes.to_the_console()})
          .status,
      204);
  EXPECT_EQ(me(changes.to_the_console()), 200);
  EXPECT_EQ(me(ended.to_the_console()), 401);
  clock_.advance(policy_.session);
  EXPECT_EQ(me(changes.to_the_console()), 401);
}

TEST_F(BrowserSessionTest, OverTlsTheCookieBelongsToThisHostAlone) {
  const Response login = browser_login("renter", kPassword, {{"X-Forwarded-Proto", "https"}});
  const std::string set(login.headers.find("Set-Cookie").value_or(""));
  EXPECT_TRUE(set.starts_with("__Host-cardhour_session=")) << set;
  EXPECT_TRUE(set.ends_with("; Secure")) << set;
}

// ---- tickets ----

TEST_F(BrowserSessionTest, ATicketIsGoodOnce) {
  const Browser browser = open_browser("renter");
  const std::string once = ticket(browser);
  EXPECT_EQ(events_with(once), 200);
  EXPECT_EQ(events_with(once), 401);
  EXPECT_EQ(events_with(once, browser.to_a_neighbour()), 401);
  EXPECT_EQ(events_with(""), 401);
  EXPECT_EQ(events_with("nonsense"), 401);
}

TEST_F(BrowserSessionTest, ATicketIsGoodForThirtySeconds) {
  const Browser browser = open_browser("renter");
  const std::string in_time = ticket(browser);
  const std::string late = ticket(browser);
  clock_.advance(seconds(limits::kTicketSeconds) - milliseconds(1));
  EXPECT_EQ(events_with(in_time), 200);
  clock_.advance(milliseconds(1));
  EXPECT_EQ(events_with(late), 401);
}

TEST_F(BrowserSessionTest, ATicketIsGoodOnlyWhereHeadersCannotBeSent) {
  const Browser browser = operators_browser();
  std::set<std::string> takers;
  for (const Endpoint& endpoint : endpoints_) {
    if (endpoint.permission == Permission::anyone) continue;
    if (endpoint.takes_ticket) {
      takers.insert(endpoint.operation_id);
      continue;
    }
    EXPECT_EQ(
        with(endpoint.method, some_path(endpoint.path), {}, {{"ticket", ticket(browser)}}).status,
        401)
        << endpoint.operation_id;
  }
  EXPECT_EQ(takers, (std::set<std::string>{"event_stream", "terminal_open"}));
}

TEST_F(BrowserSessionTest, ATicketEndsWithItsSession) {
  const Browser browser = open_browser("renter");
  const std::string left = ticket(browser);
  with(Method::post, "/api/v1/auth/logout", browser.to_the_console());
  EXPECT_EQ(events_with(left), 401);
}

TEST_F(BrowserSessionTest, TicketsAreBounded) {
  const Browser greedy = open_browser("renter");
  const std::string first = ticket(greedy);
  const std::string modest = ticket(open_browser("renter"));
  std::string last;
  for (size_t i = 0; i < limits::kTicketsPerSession; ++i) last = ticket(greedy);
  EXPECT_EQ(events_with(first), 401);  // gave way to the newer ones of its session
  EXPECT_EQ(events_with(last), 200);
  EXPECT_EQ(events_with(modest), 200);
}

TEST_F(BrowserSessionTest, TooManyTicketsAreRefusedUntilTheyAreOld) {
  const auto issue = [&](int session) {
    return plane_->tickets.issue(TokenId{"session " + std::to_string(session)}).has_value();
  };
  int session = 0;
  while (issue(session)) ++session;
  EXPECT_EQ(session, static_cast<int>(limits::kTickets));
  EXPECT_FALSE(issue(0));
  clock_.advance(seconds(limits::kTicketSeconds));
  EXPECT_TRUE(issue(0));
}

}  // namespace
}  // namespace cardhour::http
