#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "guest/commands.h"
#include "guest/descriptor.h"
#include "guest/files.h"
#include "guest/http.h"
#include "guest/identity.h"

namespace cardhour::guest {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDocument = R"({
  "instance": "iabcdefghijkm", "hostname": "train-1", "guest_url": "http://127.0.0.1:1",
  "token": "secret-token", "authorized_keys": ["ssh-ed25519 AAAA me", "ssh-rsa BBBB"],
  "password": "pass:word", "unknown": {"later": true},
  "host_key": {"private": "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END-----",
               "public": "ssh-ed25519 CCCC"}})";

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}
void put(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }
int mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return static_cast<int>(status.st_mode & 07777);
}

// A scratch root with a recorder in place of the system.
class GuestTest : public testing::Test {
 protected:
  GuestTest() {
    std::string name = testing::TempDir() + "cardhour_guest_XXXXXX";
    root_ = mkdtemp(name.data());
    for (const char* directory : {"etc/ssh", "root", "run", "var/lib"}) {
      fs::create_directories(root_ / directory);
    }
    machine_.root = root_;
    machine_.run = [this](const Command& command) -> Result<std::string> {
      ran_.push_back(command.arguments[0] + "<" + command.input);
      if (command_error_) return fail(*command_error_, Text{"no such luck", "失败"});
      return command_output_;
    };
    machine_.start_detached = [this](const std::vector<std::string>& arguments) -> Status {
      ran_.push_back(arguments[0] + " " + arguments[1]);
      return {};
    };
    machine_.set_hostname = [this](const std::string& name_given) -> Status {
      hostname_ = name_given;
      return {};
    };
    machine_.ask_to_reload = [this](int process) { reloaded_ = process; };
  }
  ~GuestTest() override { fs::remove_all(root_); }

  Answer run(Answer (*command)(const Machine&, const Invocation&), const std::string& input,
             std::vector<std::string> arguments = {}) {
    put(root_ / "input", input);
    std::FILE* file = std::fopen((root_ / "input").c_str(), "r");
    Answer answer = command(machine_, {std::move(arguments), fileno(file)});
    std::fclose(file);
    return answer;
  }

  fs::path root_;
  Machine machine_;
  std::vector<std::string> ran_;
  std::string command_output_;
  std::optional<ErrorCode> command_error_;
  std::string hostname_;
  int reloaded_ = 0;
};

TEST_F(GuestTest, ApplyDoesEverythingOnceAndNothingTwice) {
  const Answer first = run(apply, kDocument);
  EXPECT_EQ(first.exit_code, 0) << first.line;
  EXPECT_EQ(first.line,
            R"({"ok":true,"steps":{"host_key":"changed","authorized_keys":"changed",)"
            R"("password":"changed","hostname":"changed","run_directory":"unchanged"}})");
  EXPECT_EQ(content(root_ / "etc/ssh/ssh_host_ed25519_key"),
            "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END-----\n");
  EXPECT_EQ(mode_of(root_ / "etc/ssh/ssh_host_ed25519_key"), 0600);
  EXPECT_EQ(content(root_ / "etc/ssh/ssh_host_ed25519_key.pub"), "ssh-ed25519 CCCC\n");
  EXPECT_EQ(mode_of(root_ / "etc/ssh/ssh_host_ed25519_key.pub"), 0644);
  EXPECT_NE(
      content(root_ / "root/.ssh/authorized_keys").find("\nssh-ed25519 AAAA me\nssh-rsa BBBB\n"),
      std::string::npos);
  EXPECT_EQ(mode_of(root_ / "root/.ssh/authorized_keys"), 0600);
  EXPECT_EQ(mode_of(root_ / "root/.ssh"), 0700);
  EXPECT_EQ(content(root_ / "var/lib/cardhour/identity.json"), kDocument);
  EXPECT_EQ(mode_of(root_ / "var/lib/cardhour/identity.json"), 0600);
  EXPECT_EQ(mode_of(root_ / "var/lib/cardhour"), 0700);
  EXPECT_EQ(content(root_ / "etc/hostname"), "train-1\n");
  EXPECT_EQ(hostname_, "train-1");
  EXPECT_TRUE(fs::is_directory(root_ / "run/cardhour"));
  EXPECT_EQ(ran_, std::vector<std::string>{"chpasswd<root:pass:word\n"});

  const Answer second = run(apply, kDocument);
  EXPECT_EQ(second.line,
            R"({"ok":true,"steps":{"host_key":"unchanged","authorized_keys":"unchanged",)"
            R"("password":"unchanged","hostname":"unchanged","run_directory":"unchanged"}})");
  EXPECT_EQ(ran_.size(), 1u);
}

TEST_F(GuestTest, BootAppliesWhatIsStored) {
  EXPECT_EQ(run(boot, "").line, R"({"ok":true,"steps":{}})");
  run(apply, kDocument);
  fs::remove_all(root_ / "root/.ssh");
  fs::permissions(root_ / "var/lib/cardhour/identity.json", fs::perms(0644));
  EXPECT_EQ(run(boot, "").exit_code, 0);
  EXPECT_TRUE(fs::exists(root_ / "root/.ssh/authorized_keys"));
  EXPECT_EQ(mode_of(root_ / "var/lib/cardhour/identity.json"), 0600);

  put(root_ / "var/lib/cardhour/identity.json", "{");
  EXPECT_EQ(run(boot, "").exit_code, 1);
}

TEST_F(GuestTest, APasswordIsSetAgainOnlyWhenItChanges) {
  run(apply, R"({"instance":"i1","password":"one"})");
  run(apply, R"({"instance":"i1","password":"one"})");
  run(apply, R"({"instance":"i1","password":"two"})");
  run(apply, R"({"instance":"i2","password":"two"})");
  run(apply, R"({"instance":"i2"})");
  EXPECT_EQ(ran_, (std::vector<std::string>{"chpasswd<root:one\n", "chpasswd<root:two\n",
                                            "chpasswd<root:two\n"}));
}

TEST_F(GuestTest, WhatTheRenterAddedStays) {
  fs::create_directories(root_ / "root/.ssh");
  put(root_ / "root/.ssh/authorized_keys", "ssh-rsa MINE");  // without a line end
  run(apply, kDocument);
  std::ofstream(root_ / "root/.ssh/authorized_keys", std::ios::app) << "ssh-rsa LATER\n";
  run(apply, R"({"instance":"i1","authorized_keys":["ssh-rsa NEW"]})");
  const std::string keys = content(root_ / "root/.ssh/authorized_keys");
  EXPECT_TRUE(keys.starts_with("ssh-rsa MINE\n")) << keys;
  EXPECT_TRUE(keys.ends_with("\nssh-rsa LATER\n")) << keys;
  EXPECT_NE(keys.find("\nssh-rsa NEW\n"), std::string::npos);
  EXPECT_EQ(keys.find("BBBB"), std::string::npos);
}

TEST_F(GuestTest, LinksAreRefusedAndTheOtherStepsGoOn) {
  fs::create_directories(root_ / "root/.ssh");
  put(root_ / "victim", "precious");
  fs::create_symlink(root_ / "victim", root_ / "root/.ssh/authorized_keys");
  const Answer answer = run(apply, kDocument);
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_NE(answer.line.find(R"("failed":["authorized_keys"])"), std::string::npos) << answer.line;
  EXPECT_NE(answer.line.find(R"("hostname":"changed")"), std::string::npos) << answer.line;
  EXPECT_EQ(content(root_ / "victim"), "precious");
  EXPECT_TRUE(fs::is_symlink(root_ / "root/.ssh/authorized_keys"));

  fs::remove_all(root_ / "root/.ssh");
  fs::create_directories(root_ / "elsewhere");
  fs::create_directory_symlink(root_ / "elsewhere", root_ / "root/.ssh");
  EXPECT_EQ(run(apply, kDocument).exit_code, 1);
  EXPECT_TRUE(fs::is_empty(root_ / "elsewhere"));
}

TEST_F(GuestTest, AWriteNeverFollowsALinkNorLeavesHalfAFile) {
  put(root_ / "victim", "precious");
  const fs::path link = root_ / "link";
  fs::create_symlink(root_ / "victim", link);
  EXPECT_FALSE(write_file(link, "x", 0600));
  EXPECT_FALSE(ensure_file(link, "precious", 0777));
  EXPECT_FALSE(read_file(link, 100));
  EXPECT_EQ(content(root_ / "victim"), "precious");

  put(root_ / ".victim.cardhour", "left by a killed run");
  EXPECT_TRUE(write_file(root_ / "victim", "new", 0600));
  EXPECT_FALSE(fs::exists(root_ / ".victim.cardhour"));
  EXPECT_EQ(content(root_ / "victim"), "new");
  EXPECT_EQ(read_file(root_ / "victim", 2).error().code, ErrorCode::too_large);
  EXPECT_EQ(read_file(root_ / "none", 2).error().code, ErrorCode::not_found);
}

TEST_F(GuestTest, WhatWaitsForeverIsNotRead) {
  fs::create_directories(root_ / "root/.ssh");
  ASSERT_EQ(mkfifo((root_ / "root/.ssh/authorized_keys").c_str(), 0600), 0);
  EXPECT_EQ(run(apply, kDocument).exit_code, 1);
}

TEST_F(GuestTest, AWrongDocumentChangesNothing) {
  run(apply, R"({"instance":"i1","hostname":"good"})");
  for (const std::string document :
       {"", "{", "[]", "null", "garbage", R"({"hostname":"x"})", R"({"instance":5})",
        R"({"instance":"i1","hostname":"a b"})", R"({"instance":"i1","hostname":"-x"})",
        R"({"instance":"i1","password":"a\nroot2:b"})", R"({"instance":"i1","token":"a\r\nX: y"})",
        R"({"instance":"i1","authorized_keys":"x"})",
        R"({"instance":"i1","authorized_keys":["a\nb"]})", R"({"instance":"i1","host_key":"x"})",
        R"({"instance":"i1"} x)"}) {
    EXPECT_EQ(run(apply, document).exit_code, 2) << document;
  }
  EXPECT_EQ(run(apply, R"({"instance":"i1","x":")" + std::string(kDocumentBytesMax, 'x') + "\"}")
                .exit_code,
            2);
  EXPECT_EQ(content(root_ / "var/lib/cardhour/identity.json"),
            R"({"instance":"i1","hostname":"good"})");
  EXPECT_EQ(content(root_ / "etc/hostname"), "good\n");
}

TEST_F(GuestTest, LivesWithoutSshAndWithoutChpasswd) {
  fs::remove_all(root_ / "etc/ssh");
  command_error_ = ErrorCode::not_found;
  const Answer answer = run(apply, kDocument);
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_NE(answer.line.find(R"("host_key":"skipped")"), std::string::npos) << answer.line;
  EXPECT_NE(answer.line.find(R"("failed":["password"])"), std::string::npos) << answer.line;
  EXPECT_FALSE(fs::exists(root_ / "etc/ssh"));
  command_error_.reset();
  EXPECT_EQ(run(boot, "").exit_code, 0);  // it was not remembered as done
  EXPECT_EQ(ran_.size(), 2u);
}

TEST_F(GuestTest, ANewHostKeyDropsTheImagesOthersAndReloadsSshd) {
  put(root_ / "etc/ssh/ssh_host_rsa_key", "shared");
  put(root_ / "etc/ssh/ssh_host_rsa_key.pub", "shared");
  put(root_ / "run/sshd.pid", "4711\n");
  fs::create_directories(root_ / "proc/4711");
  put(root_ / "proc/4711/comm", "sshd\n");
  run(apply, kDocument);
  EXPECT_FALSE(fs::exists(root_ / "etc/ssh/ssh_host_rsa_key"));
  EXPECT_FALSE(fs::exists(root_ / "etc/ssh/ssh_host_rsa_key.pub"));
  EXPECT_EQ(reloaded_, 4711);

  reloaded_ = 0;
  put(root_ / "etc/ssh/ssh_host_rsa_key", "the renter's own");
  run(apply, kDocument);
  EXPECT_TRUE(fs::exists(root_ / "etc/ssh/ssh_host_rsa_key"));
  EXPECT_EQ(reloaded_, 0);

  put(root_ / "proc/4711/comm", "postgres\n");
  put(root_ / "etc/ssh/ssh_host_ed25519_key", "other");
  run(apply, kDocument);
  EXPECT_EQ(reloaded_, 0);
}

TEST(ManagedBlock, ReplacesOnlyACompleteBlock) {
  const std::string block = with_managed_block("", {"k"});
  EXPECT_EQ(with_managed_block(block, {"k"}), block);
  const std::string begin = block.substr(0, block.find('\n') + 1);
  const std::string broken = begin + "renter\n";
  const std::string mended = with_managed_block(broken, {"k"});
  EXPECT_EQ(mended, broken + block);
  EXPECT_EQ(with_managed_block(mended, {"k"}), mended);
  EXPECT_EQ(with_managed_block(mended, {}).find(broken), 0u);
}

RC_GTEST_PROP(ManagedBlock, IsIdempotentAndKeepsTheRest,
              (const std::vector<std::string>& before, const std::vector<std::string>& after)) {
  const auto joined = [](const std::vector<std::string>& lines) {
    std::string text;
    for (std::string line : lines) {
      std::erase(line, '\n');
      text += line + "\n";
    }
    return text;
  };
  const std::string once =
      joined(before) + with_managed_block("", {"old", "older"}) + joined(after);
  const std::string twice = with_managed_block(once, {"new"});
  RC_ASSERT(twice == joined(before) + with_managed_block("", {"new"}) + joined(after));
  RC_ASSERT(with_managed_block(twice, {"new"}) == twice);
}

TEST_F(GuestTest, ANoticeIsPutUpAndTakenDown) {
  EXPECT_EQ(run(notice, R"({"reason":"spot"})").line, R"({"ok":true,"started":false})");
  EXPECT_EQ(content(root_ / "run/cardhour/notice.json"), R"({"reason":"spot"})");
  EXPECT_EQ(mode_of(root_ / "run/cardhour/notice.json"), 0644);
  EXPECT_TRUE(ran_.empty());

  fs::create_directories(root_ / "etc/cardhour");
  put(root_ / "etc/cardhour/on-notice", "#!/bin/sh\n");
  EXPECT_EQ(run(notice, R"({})").line, R"({"ok":true,"started":false})");
  fs::permissions(root_ / "etc/cardhour/on-notice", fs::perms(0755));
  EXPECT_EQ(run(notice, R"({})").line, R"({"ok":true,"started":true})");
  EXPECT_EQ(ran_, std::vector<std::string>{(root_ / "etc/cardhour/on-notice").string() + " " +
                                           (root_ / "run/cardhour/notice.json").string()});

  EXPECT_EQ(run(notice, "", {"--withdraw"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(root_ / "run/cardhour/notice.json"));
  EXPECT_EQ(run(notice, "", {"--withdraw"}).exit_code, 0);
  EXPECT_EQ(run(notice, "", {"--what"}).exit_code, 2);
  EXPECT_EQ(run(notice, "no json").exit_code, 2);
  EXPECT_EQ(run(notice, "{\"x\":\"" + std::string(16 * 1024, 'x') + "\"}").exit_code, 2);
  EXPECT_FALSE(fs::exists(root_ / "run/cardhour/notice.json"));
}

TEST(ShutdownKind, ComesFromTheJobsOfSystemd) {
  EXPECT_EQ(shutdown_kind(""), std::nullopt);
  EXPECT_EQ(shutdown_kind("12 cardhour-guest.service stop running\n"), std::nullopt);
  EXPECT_EQ(shutdown_kind("  9 poweroff.target                 start waiting\n"), "poweroff");
  EXPECT_EQ(shutdown_kind("9 shutdown.target start waiting\n10 halt.target start waiting\n"),
            "poweroff");
  EXPECT_EQ(shutdown_kind("9 shutdown.target start waiting\n10 reboot.target start waiting\n"),
            "reboot");
  EXPECT_EQ(shutdown_kind("9 poweroff.target stop waiting\n"), std::nullopt);
  EXPECT_EQ(shutdown_kind("9 my-reboot.target start waiting\n"), std::nullopt);
}

// Answers the connections it is given answers for, and keeps what was asked.
class OneShotServer {
 public:
  explicit OneShotServer(std::vector<std::string> answers, const std::string& unix_path = "")
      : answers_(std::move(answers)),
        listener_(socket(unix_path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM, 0)) {
    if (unix_path.empty()) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
      socklen_t size = sizeof address;
      getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
      port_ = ntohs(address.sin_port);
    } else {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
      EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    EXPECT_EQ(listen(listener_.get(), 8), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~OneShotServer() { finish(); }

  int port() const { return port_; }
  // Waits until every answer was given; what was asked.
  const std::vector<std::string>& finish() {
    if (thread_.joinable()) thread_.join();
    return asked_;
  }

 private:
  void serve() {
    for (const std::string& answer : answers_) {
      const Descriptor connection(accept(listener_.get(), nullptr, nullptr));
      std::string asked;
      char buffer[4096];
      while (asked.find('}') == std::string::npos) {
        const ssize_t got = recv(connection.get(), buffer, sizeof buffer, 0);
        if (got <= 0) break;
        asked.append(buffer, static_cast<size_t>(got));
      }
      asked_.push_back(asked);
      send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

  std::vector<std::string> answers_;
  std::vector<std::string> asked_;
  Descriptor listener_;
  int port_ = 0;
  std::thread thread_;
};

constexpr const char* kNoContent = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n";
constexpr const char* kServerError = "HTTP/1.1 503 Busy\r\n\r\n";
constexpr const char* kForbidden = "HTTP/1.1 403 Forbidden\r\n\r\n";

std::string document_for(int port) {
  return R"({"instance":"i1","token":"t0ken","guest_url":"http://127.0.0.1:)" +
         std::to_string(port) + R"("})";
}

TEST_F(GuestTest, AShutdownIsToldOnceWithTheToken) {
  OneShotServer server({kNoContent});
  run(apply, document_for(server.port()));
  command_output_ = "9 reboot.target start waiting\n";
  EXPECT_EQ(run(shutdown_notice, "").line, R"({"ok":true,"sent":true,"why":"reboot"})");
  const std::string asked = server.finish().at(0);
  EXPECT_TRUE(asked.starts_with("POST /guest/shutdown HTTP/1.1\r\n")) << asked;
  EXPECT_NE(asked.find("\r\nAuthorization: Bearer t0ken\r\n"), std::string::npos) << asked;
  EXPECT_TRUE(asked.ends_with("\r\n\r\n{\"kind\":\"reboot\"}")) << asked;
}

TEST_F(GuestTest, AShutdownIsToldTwiceWhenTheServerIsBusy) {
  OneShotServer server({kServerError, kNoContent});
  run(apply, document_for(server.port()));
  EXPECT_EQ(run(shutdown_notice, "", {"poweroff"}).line,
            R"({"ok":true,"sent":true,"why":"poweroff"})");
  EXPECT_EQ(server.finish().size(), 2u);
}

TEST_F(GuestTest, ARefusedNoticeIsNotRepeatedAndNeverFails) {
  OneShotServer server({kForbidden});
  run(apply, document_for(server.port()));
  const Answer answer = run(shutdown_notice, "", {"poweroff"});
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_EQ(answer.line, R"({"ok":true,"sent":false,"why":"HTTP 403"})");
}

TEST_F(GuestTest, WithoutAShutdownNothingIsSent) {
  run(apply, document_for(1));
  command_output_ = "9 cardhour-guest.service stop running\n";
  EXPECT_EQ(run(shutdown_notice, "").line,
            R"({"ok":true,"sent":false,"why":"no shutdown is going on"})");
  command_error_ = ErrorCode::internal;  // systemd is there, but does not answer
  EXPECT_EQ(run(shutdown_notice, "").line,
            R"({"ok":true,"sent":false,"why":"no shutdown is going on"})");
  command_error_ = ErrorCode::not_found;  // no systemd: nobody listens on port 1
  EXPECT_EQ(run(shutdown_notice, "").line,
            R"({"ok":true,"sent":false,"why":"no answer: Connection refused"})");
}

TEST_F(GuestTest, ReadyIsToldToTheEngine) {
  EXPECT_EQ(run(ready, "").exit_code, 0);
  fs::create_directories(root_ / "dev/incus");
  OneShotServer server({"HTTP/1.1 200 OK\r\n\r\n{}"}, root_ / "dev/incus/sock");
  EXPECT_EQ(run(ready, "").line, R"({"ok":true,"sent":true,"why":"HTTP 200"})");
  EXPECT_TRUE(server.finish().at(0).starts_with("PATCH /1.0 HTTP/1.1\r\nHost: localhost\r\n"));
  EXPECT_TRUE(server.finish().at(0).ends_with(R"({"state":"Ready"})"));
}

TEST(Http, RefusesWhatIsNotHttpAndWhatIsTooMuch) {
  for (const std::string& answer : {std::string("SSH-2.0-OpenSSH_9.2\r\n\r\n"), std::string(),
                                    "HTTP/1.1 200 OK\r\nX: " + std::string(200 * 1024, 'x')}) {
    OneShotServer server({answer});
    const auto status = send_request({"", "127.0.0.1", server.port(), ""}, {"POST", "/", "", "{}"},
                                     std::chrono::seconds(3));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::engine_unavailable);
  }
}

TEST(Http, GivesUpOnASilentServer) {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  socklen_t size = sizeof address;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const auto status = send_request({"", "127.0.0.1", ntohs(address.sin_port), ""},
                                   {"POST", "/", "", "{}"}, std::chrono::milliseconds(50));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().what.en, "no answer: timeout");
}

TEST(Http, ParsesOnlyPlainAddresses) {
  const auto address = parse_url("http://10.177.0.1:7070/api/");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, "10.177.0.1");
  EXPECT_EQ(address->port, 7070);
  EXPECT_EQ(address->prefix, "/api");
  EXPECT_EQ(parse_url("http://10.0.0.1")->port, 80);
  for (const char* url : {"", "https://10.0.0.1", "http://", "http://name:80", "http://10.0.0.1:",
                          "http://10.0.0.1:0", "http://10.0.0.1:65536", "http://10.0.0.1:8x",
                          "http://10.0.0.1/a b", "http://10.0.0.1/\r\nX: y", "http://[::1]:80"}) {
    EXPECT_FALSE(parse_url(url)) << url;
  }
}

TEST(RealMachine, RunsStopsAndMissesPrograms) {
  const Machine machine = real_machine("");
  EXPECT_EQ(machine.run({{"cat"}, "hello"}), "hello");
  const auto missing = machine.run({{"cardhour-no-such-program"}, ""});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  const auto failed = machine.run({{"sh", "-c", "echo why; exit 3"}, ""});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what.en, "sh: failed: why\n");
}

TEST(Program, IsStaticAndRunsUnderARoot) {
  EXPECT_LT(fs::file_size(CARDHOUR_GUEST), 5u << 20);
  std::string name = testing::TempDir() + "cardhour_guest_XXXXXX";
  const fs::path root = mkdtemp(name.data());
  const std::string command =
      "echo '{\"instance\":\"i1\",\"hostname\":\"h\"}' | CARDHOUR_GUEST_ROOT=" + root.string() +
      " " CARDHOUR_GUEST " apply > " + (root / "out").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_TRUE(content(root / "out").starts_with("{\"ok\":true,")) << content(root / "out");
  EXPECT_EQ(content(root / "etc/hostname"), "h\n");
  EXPECT_EQ(std::system(CARDHOUR_GUEST " version > /dev/null"), 0);
  EXPECT_NE(std::system(CARDHOUR_GUEST " nonsense 2> /dev/null"), 0);
  fs::remove_all(root);
}

}  // namespace
}  // namespace cardhour::guest
