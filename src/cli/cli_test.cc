#include "cli/cli.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/enum_text.h"
#include "base/size.h"
#include "cli/bill.h"
#include "cli/completion.h"
#include "cli/config.h"
#include "cli/decode.h"
#include "cli/fake_server.h"
#include "cli/format.h"
#include "cli/help.h"
#include "cli/parser.h"
#include "cli/ssh.h"
#include "cli/suggest.h"
#include "cli/table.h"
#include "wire/telemetry.h"

namespace cardhour::cli {
namespace {

constexpr const char* kInstance = "i23456723abcd";

// A home of its own, Shanghai's clock, and no variable of ours.
class CliTest : public ::testing::Test {
 protected:
  CliTest() {
    std::string pattern = ::testing::TempDir() + "cardhour-cli-XXXXXX";
    home_ = ::mkdtemp(pattern.data());
    ::setenv("HOME", home_.c_str(), 1);
    ::setenv("TZ", "Asia/Shanghai", 1);
    ::tzset();
    for (const char* name : {"XDG_CONFIG_HOME", "CARDHOUR_SERVER", "CARDHOUR_TOKEN",
                             "CARDHOUR_PROFILE", "LC_ALL", "LC_MESSAGES", "LANG"}) {
      ::unsetenv(name);
    }
  }
  ~CliTest() override { std::filesystem::remove_all(home_); }

  struct Ran {
    int exit = 0;
    std::string out;
    std::string err;
  };
  Ran run(std::vector<std::string> words) {
    words.insert(words.begin(), "cardhour");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Ran ran;
    ran.exit = cli_main(static_cast<int>(words.size()), argv.data());
    ran.out = ::testing::internal::GetCapturedStdout();
    ran.err = ::testing::internal::GetCapturedStderr();
    return ran;
  }

  // As after a login at the fake server.
  void log_in() {
    Config config;
    config.current = "default";
    config.profiles["default"] = Profile{server_.url(), "li", Secret("ch_token"), {}};
    ASSERT_TRUE(save_config(home_ + "/.config/cardhour", config));
    server_.on("GET /version", {{200,
                                 R"({"version":"9.9.9","currency":{"code":"CNY","symbol":"¥",
                                 "decimals":2},"registration":"open"})"}});
  }

  std::string home_;
  FakeServer server_;
};

wire::InstanceView an_instance(Observed observed) {
  wire::InstanceView view;
  view.id.text = kInstance;
  view.name = "train";
  view.account_id.text = "a23456723abcd";
  view.host_id.text = "h23456723abcd";
  view.observed = observed;
  view.settled = observed == Observed::running || observed == Observed::stopped;
  view.gpu_model = "rtx-4090";
  view.gpu_count = 1;
  view.simulated = true;
  view.rate_per_hour = Money{1'980'000};
  return view;
}

// ---- width and tables ----

TEST(Width, EastAsianTextTakesTwoColumns) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("卡时"), 4);
  EXPECT_EQ(display_width("４"), 2);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("🚀"), 2);
  EXPECT_EQ(display_width("¥1.98"), 5);
  EXPECT_EQ(display_width("\xff"), 1);
}

TEST(Width, CleaningTakesTheSteeringOut) {
  EXPECT_EQ(clean("a\033[31mb"), "a?[31mb");
  EXPECT_EQ(clean("a\nb"), "a?b");
  EXPECT_EQ(clean_lines("a\nb"), "a\nb");
  EXPECT_EQ(clean("\u202Eabc"), "?abc");
  EXPECT_EQ(clean("\u009Bx"), "?x");
  EXPECT_EQ(clean("\xc0\x80"), "??");
  EXPECT_EQ(clean("训练 ok"), "训练 ok");
}

TEST(Width, ShorteningNeverSplitsACharacter) {
  EXPECT_EQ(shortened("abcdef", 4), "abc…");
  EXPECT_EQ(shortened("卡时卡时", 4), "卡…");
  EXPECT_EQ(shortened("卡时", 4), "卡时");
}

TEST(TableText, ColumnsAlignByDisplayWidth) {
  Table table({{{"NAME", "名称"}}, {{"", ""}}, {{"N", "数"}, Align::right}}, Language::en);
  table.add({"训练", "", "1"});
  table.add({"a\tb", "", "200"});
  EXPECT_EQ(table.text(),
            "NAME    N\n"
            "训练    1\n"
            "a?b   200\n");
}

// ---- configuration ----

TEST_F(CliTest, ConfigurationRoundTripsWithPrivateModes) {
  const std::string directory = home_ + "/a/cardhour";
  Config config;
  config.current = "lab";
  config.profiles["lab"] = Profile{"https://gpu.example.org", "li", Secret("ch_x"), "AB:CD"};
  ASSERT_TRUE(save_config(directory, config));
  const auto read = load_config(directory);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->current, "lab");
  const Profile* profile = read->find("lab");
  ASSERT_NE(profile, nullptr);
  EXPECT_EQ(profile->token.reveal(), "ch_x");
  EXPECT_EQ(profile->fingerprint, "AB:CD");
  struct stat found {};
  ASSERT_EQ(::stat((directory + "/config.json").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(directory.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);
  // Nothing half-written is left beside it.
  const std::filesystem::directory_iterator files(directory);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(CliTest, DamagedConfigurationSaysWhatToDo) {
  std::filesystem::create_directories(home_ + "/.config/cardhour");
  std::ofstream(home_ + "/.config/cardhour/config.json") << "{\"profiles\":";
  const Ran ran = run({"wallet"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("log in again"), std::string::npos);
}

TEST(Server, AddressesAreNormalized) {
  EXPECT_EQ(*normalize_server("gpu.example.org/"), "https://gpu.example.org");
  EXPECT_EQ(*normalize_server("localhost:8080"), "http://localhost:8080");
  EXPECT_EQ(*normalize_server("http://[::1]:8080"), "http://[::1]:8080");
  for (const char* bad : {"ftp://x", "https://", "http://a/b", "http://u:p@h", "a b", ""}) {
    EXPECT_FALSE(normalize_server(bad)) << bad;
  }
  EXPECT_TRUE(is_clear_text("http://gpu.example.org"));
  EXPECT_FALSE(is_clear_text("http://127.0.0.1:8080"));
  EXPECT_FALSE(is_clear_text("https://gpu.example.org"));
}

// ---- grammar ----

TEST(Grammar, SizesCountGibibytes) {
  EXPECT_EQ(*parse_gib("--vram", "24G"), 24 * kGiB);
  EXPECT_EQ(*parse_gib("--vram", "24"), 24 * kGiB);
  EXPECT_EQ(*parse_gib("--vram", "512MiB"), 512 * kMiB);
  EXPECT_EQ(parse_gib("--vram", "much").error().field, "--vram");
}

TEST_F(CliTest, MonthsAreCalendarMonthsOfTheReadersZone) {
  const auto month = parse_month("2026-11");
  ASSERT_TRUE(month);
  EXPECT_EQ(to_rfc3339(month->from), "2026-10-31T16:00:00.000Z");
  EXPECT_EQ(to_rfc3339(month->to), "2026-11-30T16:00:00.000Z");
  EXPECT_EQ(to_rfc3339(parse_month("2026-12")->to), "2026-12-31T16:00:00.000Z");
  for (const char* bad : {"2026-13", "2026-1", "2026", "2026-11-01", "x", ""}) {
    EXPECT_FALSE(parse_month(bad)) << bad;
  }
}

TEST_F(CliTest, MomentsAreLocalOrRfc3339) {
  EXPECT_EQ(to_rfc3339(*parse_moment("--from", "2026-11-03")), "2026-11-02T16:00:00.000Z");
  EXPECT_EQ(to_rfc3339(*parse_moment("--from", "2026-11-03 10:30")), "2026-11-03T02:30:00.000Z");
  EXPECT_EQ(to_rfc3339(*parse_moment("--from", "2026-11-03T10:30:00Z")),
            "2026-11-03T10:30:00.000Z");
  for (const char* bad : {"2026-02-30", "2026-11-03 24:00", "2026-11-03 10:30x", "yesterday"}) {
    EXPECT_FALSE(parse_moment("--from", bad)) << bad;
  }
}

TEST(Grammar, PricesKeepTheDecimalsTheyHave) {
  const Currency yuan;
  EXPECT_EQ(price(yuan, Money{1'980'000}), "¥1.98");
  EXPECT_EQ(price(yuan, Money{2'000'000}), "¥2.00");
  EXPECT_EQ(price(yuan, Money{6'600}), "¥0.0066");
  EXPECT_EQ(price(yuan, Money{-833}), "-¥0.000833");
  EXPECT_EQ(price(Currency{"JPY", "¥", 0}, Money{3'000'000}), "¥3");
}

TEST(Csv, FieldsAreQuotedAndFormulasDefused) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_field("=1+1", CsvField::people), "'=1+1");
  EXPECT_EQ(csv_field("-5"), "-5");
}

TEST(Csv, BillCarriesMicroUnits) {
  wire::BillView bill;
  bill.currency = {"CNY", "¥", 2};
  wire::BillLineView line;
  line.instance_name = "=a,b";
  line.rate_per_hour = Money{1'980'000};
  line.amount = Money{833};
  bill.lines.push_back(line);
  const std::string csv = bill_csv(bill);
  EXPECT_NE(csv.find("\"'=a,b\""), std::string::npos);
  EXPECT_NE(csv.find(",0.000833,833,CNY,"), std::string::npos);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 2);
}

TEST(BillText, DisagreementIsLoud) {
  wire::BillView bill;
  bill.currency = {"CNY", "¥", 2};
  bill.explained = true;
  bill.agrees = false;
  wire::BillLineView line;
  line.rate_per_hour = Money{1'980'000};
  line.explain = wire::BillExplainView{hours(1), Money{1'980'000}, Money{1'000'000}, false};
  bill.lines.push_back(line);
  const std::string text = bill_text(bill, Language::en);
  EXPECT_NE(text.find("1 × ¥1.98/h × 3600.000 s = ¥1.98"), std::string::npos);
  EXPECT_NE(text.find("the ledger has ¥1.00"), std::string::npos);
  EXPECT_NE(text.find("NOT agree"), std::string::npos);
}

TEST(Shell, WordsAreQuoted) {
  EXPECT_EQ(shell_quoted("train-1"), "train-1");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

// ---- commands, help, suggestions ----

TEST(Suggest, TheNearestCommand) {
  const std::vector<std::string> known = {"rent", "release", "restart", "stop", "ls"};
  EXPECT_EQ(nearest("retn", known), "rent");
  EXPECT_EQ(nearest("relase", known), "release");
  EXPECT_EQ(nearest("rest", known), "restart");
  EXPECT_EQ(nearest("dance", known), std::nullopt);
  EXPECT_EQ(edit_distance("ab", "ba"), 1);
}

TEST(Help, MentionsEveryCommandInBothLanguages) {
  const auto commands = all_commands();
  for (const Language language : {Language::en, Language::zh}) {
    const std::string help = root_help(commands, language);
    for (const Command& command : commands) {
      EXPECT_NE(help.find("\n  " + command.path + " "), std::string::npos) << command.path;
    }
  }
}

TEST(Help, EveryTextIsInBothLanguages) {
  const auto check = [](const Text& text, const std::string& where) {
    EXPECT_FALSE(text.en.empty()) << where;
    EXPECT_FALSE(text.zh.empty()) << where;
  };
  for (const Command& command : all_commands()) {
    check(command.summary, command.path);
    for (const Option& option : command.options) check(option.help, command.path + option.names);
    for (const Positional& each : command.positionals) check(each.help, command.path + each.name);
    for (const Example& example : command.examples) {
      EXPECT_EQ(example.help.en.empty(), example.help.zh.empty()) << example.line;
    }
  }
}

// An example that the parser refuses teaches something wrong.
TEST(Help, ExamplesParse) {
  const auto commands = all_commands();
  for (const Command& command : commands) {
    for (const Example& example : command.examples) {
      if (example.line.find_first_of("<>\"") != std::string::npos) continue;  // needs a shell
      auto words = path_words(example.line);
      words.erase(words.begin());
      const auto parsed = parse(commands, words);
      ASSERT_TRUE(parsed) << example.line << ": " << parsed.error().what.en;
      EXPECT_EQ(parsed->command, &command) << example.line;
    }
  }
}

TEST(Parser, GlobalsMayStandAnywhereAndNamesMayBeCommands) {
  const auto commands = all_commands();
  const auto parsed = parse(commands, {"show", "ls", "--json", "--lang", "zh"});
  ASSERT_TRUE(parsed) << parsed.error().what.en;
  EXPECT_EQ(parsed->command->path, "show");
  EXPECT_EQ(parsed->arguments.text("ID"), "ls");
  EXPECT_TRUE(parsed->globals.json);
  EXPECT_EQ(parsed->globals.language, Language::zh);
}

TEST(Parser, WhatFollowsTwoDashesIsTheCommand) {
  const auto commands = all_commands();
  const auto parsed = parse(commands, {"ssh", "train", "--", "nvidia-smi", "-L", "--json"});
  ASSERT_TRUE(parsed) << parsed.error().what.en;
  EXPECT_EQ(parsed->arguments.text("ID"), "train");
  EXPECT_EQ(parsed->arguments.all("COMMAND"),
            (std::vector<std::string>{"nvidia-smi", "-L", "--json"}));
  EXPECT_FALSE(parsed->globals.json);
}

TEST(Parser, AnOptionTakesOneValueAndLeavesTheRest) {
  const auto commands = all_commands();
  const auto parsed =
      parse(commands, {"admin", "restore", "--yes", "--data", "/srv/data", "/srv/file.db"});
  ASSERT_TRUE(parsed) << parsed.error().what.en;
  EXPECT_EQ(parsed->arguments.text("--data"), "/srv/data");
  EXPECT_EQ(parsed->arguments.text("FILE"), "/srv/file.db");
  const auto money = parse(commands, {"admin", "topup", "--note", "receipt", "renter1", "100"});
  ASSERT_TRUE(money) << money.error().what.en;
  EXPECT_EQ(money->arguments.text("USER"), "renter1");
  EXPECT_EQ(money->arguments.text("AMOUNT"), "100");
}

TEST(Parser, MistakesAreNamed) {
  const auto commands = all_commands();
  const auto says = [&](const std::vector<std::string>& words, const std::string& what) {
    const auto parsed = parse(commands, words);
    ASSERT_FALSE(parsed) << what;
    EXPECT_NE(parsed.error().what.en.find(what), std::string::npos) << parsed.error().what.en;
    EXPECT_FALSE(parsed.error().what.zh.empty());
  };
  says({"retn"}, "did you mean cardhour rent?");
  says({"admin", "price", "sett"}, "did you mean cardhour admin price set?");
  says({"rent", "--gppu", "4090"}, "did you mean --gpu?");
  says({"show"}, "ID is missing");
  says({"show", "a", "b"}, "one argument too many: b");
  says({"rent", "--gpu"}, "--gpu needs a value");
  says({"offers", "--sort", "prise"}, "did you mean price?");
  says({"ls", "--lang", "fr"}, "--lang cannot be");
}

TEST(CompletionScripts, KnowEveryCommandAndOption) {
  const auto commands = all_commands();
  const auto completions = completions_of(commands);
  for (const Command& command : commands) {
    const auto it = std::find_if(completions.begin(), completions.end(),
                                 [&](const auto& each) { return each.path == command.path; });
    ASSERT_NE(it, completions.end()) << command.path;
    for (const Option& option : command.options) {
      EXPECT_NE(std::find(it->words.begin(), it->words.end(), option_key(option)), it->words.end());
    }
  }
  for (const Shell shell : {Shell::bash, Shell::zsh, Shell::fish}) {
    EXPECT_NE(completion_script(commands, shell, Language::en).find("ssh-key"), std::string::npos);
  }
}

TEST_F(CliTest, BashCompletionCompletes) {
  std::ofstream(home_ + "/c.bash") << completion_script(all_commands(), Shell::bash, Language::en);
  const auto complete = [&](const std::string& words, int at) {
    const std::string command = "bash -c 'source " + home_ + "/c.bash; COMP_WORDS=(" + words +
                                "); COMP_CWORD=" + std::to_string(at) +
                                "; _cardhour; echo ${COMPREPLY[*]}' > " + home_ + "/out";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::string line;
    std::ifstream file(home_ + "/out");
    std::getline(file, line);
    return line;
  };
  EXPECT_EQ(complete("cardhour ren", 1), "rent rename");
  EXPECT_EQ(complete("cardhour admin pri", 2), "price");
  EXPECT_EQ(complete("cardhour admin price s", 3), "set");
  EXPECT_EQ(complete("cardhour rent --gpu 4090 --vr", 4), "--vram");
  EXPECT_EQ(complete("cardhour completion f", 2), "fish");
}

TEST_F(CliTest, HelpAndUsageExitCodes) {
  EXPECT_EQ(run({}).exit, 0);
  EXPECT_NE(run({}).out.find("cardhour rent"), std::string::npos);
  EXPECT_NE(run({"--lang", "zh"}).out.find("按秒出租"), std::string::npos);
  ::setenv("LANG", "zh_CN.UTF-8", 1);
  EXPECT_NE(run({"--help"}).out.find("按秒出租"), std::string::npos);
  EXPECT_NE(run({"rent", "-h", "--lang", "en"}).out.find("cardhour rent [OPTIONS]"),
            std::string::npos);
  EXPECT_EQ(run({"ssh-key"}).exit, 2);
  EXPECT_EQ(run({"ssh-key", "--help"}).exit, 0);
  EXPECT_EQ(run({"help", "admin", "price", "set"}).exit, 0);
  EXPECT_EQ(run({"nonsense"}).exit, 2);
}

// ---- ssh ----

TEST(Ssh, KnowsTheHostByTheInstancesId) {
  const auto entry = known_hosts_entry(kInstance, "[10.0.0.1]:22001 ssh-ed25519 AAAAC3Nz");
  ASSERT_TRUE(entry);
  EXPECT_EQ(*entry, std::string(kInstance) + " ssh-ed25519 AAAAC3Nz\n");
  EXPECT_EQ(*known_hosts_entry(kInstance, "ssh-ed25519 AAAAC3Nz host"), *entry);
  EXPECT_FALSE(known_hosts_entry(kInstance, "* @cert-authority"));
  EXPECT_FALSE(known_hosts_entry(kInstance, ""));

  wire::InstanceView view = an_instance(Observed::running);
  view.connection = wire::ConnectionView{"-oProxyCommand=x", 22001, "root", {}, "", "", ""};
  const auto words = ssh_words(view, "/k h", {"nvidia-smi", "-L"});
  const auto dashes = std::find(words.begin(), words.end(), "--");
  ASSERT_NE(dashes, words.end());
  EXPECT_EQ(*(dashes + 1), "-oProxyCommand=x");  // a host, never an option
  EXPECT_EQ(words.back(), "-L");
  EXPECT_NE(std::find(words.begin(), words.end(), "UserKnownHostsFile=\"/k h\""), words.end());
}

// ---- streams ----

TEST(Sse, EventsSurviveAnyCut) {
  const std::string bytes =
      ": hello\r\nid: 7\nevent: instance.running\ndata: a\ndata: b\n\nid: 8\ndata: c\n\ndata: half";
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    SseParser parser;
    std::vector<StreamEvent> events;
    const auto keep = [&](const StreamEvent& event) { events.push_back(event); };
    EXPECT_TRUE(parser.feed(bytes.substr(0, cut), keep));
    EXPECT_TRUE(parser.feed(bytes.substr(cut), keep));
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].type, "instance.running");
    EXPECT_EQ(events[0].data, "a\nb");
    EXPECT_EQ(events[1].id, "8");
    EXPECT_EQ(parser.last_id(), "8");
  }
}

// ---- against a server ----

TEST_F(CliTest, UnreachableServerIsNineWithItsAddress) {
  const Ran ran = run({"version", "--server", "http://127.0.0.1:1"});
  EXPECT_EQ(ran.exit, 9);
  EXPECT_NE(ran.err.find("http://127.0.0.1:1"), std::string::npos);
}

TEST_F(CliTest, WithoutLoginThree) {
  const Ran ran = run({"wallet", "--lang", "zh"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_NE(ran.err.find("cardhour login"), std::string::npos);
}

TEST_F(CliTest, LoginWithATokenKeepsItAndSendsItNowhereElse) {
  server_.on("GET /version", {{200,
                               R"({"version":"1","currency":{"code":"CNY","symbol":"¥",
                               "decimals":2},"registration":"closed"})"}});
  server_.on("GET /me", {{200,
                          R"({"account":{"id":"a23456723abcd","login":"li","role":"renter",
                          "state":"active","created_at":"2026-11-01T00:00:00Z"},"scopes":"read",
                          "currency":{"code":"CNY","symbol":"¥","decimals":2}})"}});
  const Ran ran = run({"login", server_.url(), "--token", "ch_secret"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out.find("ch_secret"), std::string::npos);
  EXPECT_EQ(run({"whoami", "--json"}).exit, 0);
  EXPECT_EQ(server_.asked().back().header("Authorization"), "Bearer ch_secret");
  FakeServer other;
  EXPECT_EQ(run({"whoami", "--server", other.url()}).exit, 3);
  EXPECT_TRUE(other.asked().empty());
}

// The profile that is left must not be used by accident: it may be an operator's.
TEST_F(CliTest, AfterLogoutNobodyElseActs) {
  log_in();
  Config config = *load_config(home_ + "/.config/cardhour");
  config.profiles["other"] = Profile{server_.url(), "admin", Secret("ch_admin"), {}};
  config.current = "other";
  ASSERT_TRUE(save_config(home_ + "/.config/cardhour", config));
  server_.on("POST /auth/logout", {{204, ""}});
  EXPECT_EQ(run({"logout"}).exit, 0);
  const Ran ran = run({"wallet"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_NE(ran.err.find("default"), std::string::npos);
  EXPECT_TRUE(server_.asked("GET /api/v1/wallet").empty());
}

// A slash cannot stand in a path: such a name is looked for in the list.
TEST_F(CliTest, NamesWithASlashAreFound) {
  log_in();
  wire::InstanceView view = an_instance(Observed::stopped);
  view.name = "a/b";
  server_.on("GET /instances", {{200, "{\"items\":[" + encode(view) + "]}"}});
  server_.on("GET /instances/" + view.id.text, {{200, encode(view)}});
  EXPECT_EQ(run({"show", "a/b"}).exit, 0);
  EXPECT_EQ(run({"show", "a/c"}).exit, 4);
}

TEST_F(CliTest, ProblemsGiveTheirExitCodeAndText) {
  log_in();
  server_.on("GET /wallet", {{402, R"({"code":"insufficient_balance","detail":"too little",
                                   "next":"top up","exit_code":7})"}});
  Ran ran = run({"wallet"});
  EXPECT_EQ(ran.exit, 7);
  EXPECT_NE(ran.err.find("too little"), std::string::npos);
  EXPECT_NE(ran.err.find("top up"), std::string::npos);
  EXPECT_EQ(ran.out, "");
  server_.on("GET /wallet", {{418, R"({"code":"of_the_future","exit_code":6})"}});
  EXPECT_EQ(run({"wallet"}).exit, 6);
  server_.on("GET /wallet", {{502, "<html>", "text/html"}});
  EXPECT_EQ(run({"wallet"}).exit, 9);
}

TEST_F(CliTest, JsonIsTheServersOwn) {
  log_in();
  const std::string body = R"({"items":[{"name":"base","new_in_2030":1}]})";
  server_.on("GET /images", {{200, body}});
  EXPECT_EQ(run({"images", "--json"}).out, body + "\n");
  EXPECT_EQ(run({"images"}).out, "base\n");
}

TEST_F(CliTest, ListsFollowTheirPages) {
  log_in();
  const std::string one = encode(an_instance(Observed::running));
  server_.on("GET /instances", {{200, "{\"items\":[" + one + "],\"next\":\"i23456723abcd\"}"},
                                {200, "{\"items\":[" + one + "]}"}});
  const Ran ran = run({"ls"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 3);
  EXPECT_NE(ran.out.find("SIMULATED"), std::string::npos);
}

TEST_F(CliTest, RentSaysThePriceWaitsAndAddsTheKey) {
  log_in();
  std::filesystem::create_directories(home_ + "/.ssh");
  std::ofstream(home_ + "/.ssh/id_ed25519.pub") << "ssh-ed25519 AAAA li@laptop\n";
  server_.on("POST /instances/quote",
             {{200,
               R"({"gpu_model":"rtx-4090","gpu_count":1,"mode":"on_demand","cards_free":8,
      "millicores":8000,"memory_bytes":1073741824,"system_disk_bytes":32212254720,
      "data_disk_bytes":53687091200,"rate_per_hour":"1.98","stopped_per_day":"0","hold":"1.98",
      "available":"10","needed":"1.98","minimum_unit_ms":1000,"affordable":true,"placeable":true,
      "simulated":true})"}});
  server_.on("GET /ssh-keys", {{200, R"({"items":[]})"}});
  server_.on("POST /ssh-keys", {{201, "{}"}});
  wire::InstanceView creating = an_instance(Observed::creating);
  creating.activity = "create";
  wire::InstanceView ready = an_instance(Observed::running);
  ready.connection = wire::ConnectionView{"127.0.0.1",
                                          22001,
                                          "root",
                                          Secret("pw"),
                                          "SHA256:abc",
                                          "ssh-ed25519 AAAA",
                                          "ssh -p 22001 root@127.0.0.1"};
  server_.on("POST /instances", {{201, "", "", true}, {201, encode(creating)}});
  server_.on("GET /instances/" + std::string(kInstance),
             {{200, encode(creating)}, {200, encode(ready)}});
  const Ran ran = run({"rent", "--gpu", "4090", "--yes"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.err.find("¥1.98/h"), std::string::npos);
  EXPECT_NE(ran.err.find("SIMULATED"), std::string::npos);
  EXPECT_NE(ran.err.find("create"), std::string::npos);
  EXPECT_NE(ran.err.find("Added your key"), std::string::npos);
  EXPECT_NE(ran.out.find("ssh -p 22001 root@127.0.0.1"), std::string::npos);
  EXPECT_NE(ran.out.find("SHA256:abc"), std::string::npos);
  EXPECT_EQ(ran.out.find("pw"), std::string::npos);
  // The answer was lost once: asked again with the same key, so that it is rented once.
  const auto rents = server_.asked("POST /api/v1/instances ");
  ASSERT_EQ(rents.size(), 2U);
  EXPECT_GE(rents[0].header("Idempotency-Key").size(), 32U);
  EXPECT_EQ(rents[0].header("Idempotency-Key"), rents[1].header("Idempotency-Key"));
}

TEST_F(CliTest, RentDoesNotStartWhatCannotBePaid) {
  log_in();
  server_.on("POST /instances/quote",
             {{200,
               R"({"gpu_model":"rtx-4090","gpu_count":1,"mode":"on_demand","cards_free":8,
      "millicores":8000,"memory_bytes":1,"system_disk_bytes":1,"data_disk_bytes":1,
      "rate_per_hour":"1.98","stopped_per_day":"0","hold":"1.98","available":"1","needed":"1.98",
      "minimum_unit_ms":1000,"affordable":false,"placeable":true})"}});
  EXPECT_EQ(run({"rent", "--gpu", "4090", "--yes"}).exit, 7);
  EXPECT_TRUE(server_.asked("POST /api/v1/instances ").empty());
}

TEST_F(CliTest, FailedStartTellsTheFault) {
  log_in();
  wire::InstanceView failed = an_instance(Observed::stopped);
  failed.fault = wire::FaultView{"not_ready", "SSH did not answer in time", "try another image"};
  const std::string path = "/instances/" + std::string(kInstance);
  server_.on("GET /instances/train", {{200, encode(failed)}});
  server_.on("GET " + path, {{200, encode(failed)}});
  server_.on("POST " + path + "/restart", {{200, encode(failed)}});
  const Ran ran = run({"restart", "train"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_NE(ran.err.find("SSH did not answer"), std::string::npos);
  EXPECT_NE(ran.err.find("try another image"), std::string::npos);
}

TEST_F(CliTest, PurgeWantsTheName) {
  log_in();
  server_.on("GET /instances/train", {{200, encode(an_instance(Observed::stopped))}});
  EXPECT_EQ(run({"release", "train", "--now", "--confirm", "brain"}).exit, 2);
  EXPECT_EQ(server_.asked("POST").size(), 0U);
}

TEST_F(CliTest, EventsFollowResumesWhereItWasCut) {
  log_in();
  const auto event = [](int seq) {
    const std::string number = std::to_string(seq);
    return "id: " + number + "\nevent: instance.running\ndata: {\"seq\":" + number +
           ",\"at\":\"2026-11-01T00:00:00Z\",\"kind\":\"instance.running\",\"actor\":\"li\","
           "\"reason\":\"ready\",\"detail\":\"\"}\n\n";
  };
  server_.on("GET /events/latest", {{200, R"({"items":[],"next":"4"})"}});
  const std::string stream = "text/event-stream";
  server_.on("GET /events", {{200, event(5), stream},
                             {401, R"({"code":"unauthenticated","detail":"the token ended"})"}});
  const Ran ran = run({"events", "-f"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_NE(ran.out.find("ready"), std::string::npos);
  const auto streams = server_.asked("GET /api/v1/events ");
  ASSERT_EQ(streams.size(), 2U);
  EXPECT_EQ(streams[0].header("Last-Event-ID"), "4");
  EXPECT_EQ(streams[1].header("Last-Event-ID"), "5");
}

TEST_F(CliTest, UnknownReadingsAreNotZeros) {
  log_in();
  wire::GpuView gpu;
  gpu.card.uuid.text = "GPU-1";
  gpu.card.host_id.text = "h23456723abcd";
  gpu.card.model = "rtx-4090";
  gpu.card.state = "quarantine";
  gpu.card.vram_bytes = 24 * kGiB;
  gpu.reading = CardReading{};
  gpu.reading->gpu_percent = 80;
  gpu.conditions = {{ConditionKind::quarantine, "xid_79", "fell off", "look", "", "system", {}}};
  gpu.xids = {{79, 2, "fell off", {}, {}}};
  server_.on("GET /admin/gpus", {{200, "{\"items\":[" + encode(gpu) + "]}"}});
  const Ran ran = run({"admin", "gpu", "ls"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("80%"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("[N/A] / 24"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("fell off; Xid 79 x2"), std::string::npos) << ran.out;
}

TEST_F(CliTest, TopShowsWhatIsKnown) {
  log_in();
  const std::string one = encode(an_instance(Observed::running));
  server_.on("GET /instances", {{200, "{\"items\":[" + one + "]}"}});
  wire::UsageView usage;
  usage.id.text = kInstance;
  usage.name = "train";
  usage.values = {{"gpu_percent", 42.4}, {"sessions", 1}};
  server_.on(std::string("GET /instances/") + kInstance + "/now", {{200, encode(usage)}});
  const Ran ran = run({"top"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("42%"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("[N/A]"), std::string::npos) << ran.out;
}

TEST_F(CliTest, TheDoctorSaysWhatItSawAndWhatToDo) {
  log_in();
  const std::string one = encode(an_instance(Observed::running));
  server_.on(std::string("GET /instances/") + kInstance, {{200, one}});
  wire::DiagnosisView diagnosis;
  diagnosis.id.text = kInstance;
  diagnosis.runs = true;
  diagnosis.findings = {{"vram_climbs", FindingWeight::problem, "it climbs", "8 GiB an hour",
                         "detach", "docs/diagnosis.md#vram_climbs"}};
  server_.on(std::string("GET /instances/") + kInstance + "/diagnosis", {{200, encode(diagnosis)}});
  const Ran ran = run({"doctor", kInstance});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  for (const char* part : {"PROBLEM  it climbs", "8 GiB an hour", "detach", "#vram_climbs"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << ran.out;
  }
}

TEST_F(CliTest, NamesCannotSteerTheTerminal) {
  log_in();
  server_.on("GET /images", {{200, R"({"items":[{"name":"a\tb"}]})"}});
  EXPECT_EQ(run({"images"}).out, "a?b\n");
}

}  // namespace
}  // namespace cardhour::cli
