// The Engine on a real daemon: the port's conformance suite, and what is Incus's alone.
#include "adapters/incus/incus_engine.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "adapters/incus/incus_shells.h"
#include "adapters/incus/test_world.h"
#include "base/size.h"
#include "tests/conformance/engine_conformance.h"
#include "tests/conformance/shell_conformance.h"

namespace cardhour {
namespace {

namespace json = boost::json;

constexpr const char* kSkip = "CARDHOUR_INCUS_SOCKET is not set: no Incus to test with";

class IncusEngineWorld final : public EngineWorld {
 public:
  explicit IncusEngineWorld(std::unique_ptr<TestWorld> world) : world_(std::move(world)) {}

  Engine& engine() override { return world_->engine(); }
  EngineSpec fresh_spec() override { return world_->fresh_spec(); }
  GuestIdentity identity(const EngineSpec& spec) override { return world_->identity(spec); }
  EngineShape shape() override { return world_->shape(1); }
  void pass(Duration time) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(time.ms));
  }
  void add_foreign() override {
    name_ = "foreign-" + world_->options().deployment;
    world_->add_foreign(name_);
    static_cast<void>(world_->client().change(
        {.method = "PUT",
         .path = "/1.0/instances/" + name_ + "/state",
         .body = json::object{{"action", "start"}, {"timeout", -1}, {"force", false}}}));
  }
  bool foreign_runs() override { return world_->foreign_is(name_, "Running"); }

 private:
  std::unique_ptr<TestWorld> world_;
  std::string name_;
};

class IncusShellWorld final : public ShellWorld {
 public:
  explicit IncusShellWorld(std::unique_ptr<TestWorld> world)
      : world_(std::move(world)),
        running_(world_->ready().id),
        shells_(world_->options(), world_->engine()) {}

  Shells& shells() override { return shells_; }
  InstanceId running() override { return running_; }
  InstanceId not_there() override { return make_id<InstanceTag>(1ULL); }

 private:
  std::unique_ptr<TestWorld> world_;
  InstanceId running_;
  IncusShells shells_;
};

std::unique_ptr<ShellWorld> incus_shell_world() {
  auto world = TestWorld::make();
  if (world == nullptr) return nullptr;
  return std::make_unique<IncusShellWorld>(std::move(world));
}

INSTANTIATE_TEST_SUITE_P(Incus, ShellConformance,
                         testing::Values(ShellAdapter{"incus", incus_shell_world}),
                         shell_adapter_name);

std::unique_ptr<EngineWorld> incus_world() {
  auto world = TestWorld::make();
  if (world == nullptr) return nullptr;
  return std::make_unique<IncusEngineWorld>(std::move(world));
}

INSTANTIATE_TEST_SUITE_P(Incus, EngineConformance,
                         testing::Values(EngineAdapter{"incus", incus_world}), engine_adapter_name);

class IncusEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    world_ = TestWorld::make();
    if (world_ == nullptr) GTEST_SKIP() << kSkip;
  }

  IncusEngine& engine() { return world_->engine(); }
  static void ok(const Status& status) {
    ASSERT_TRUE(status.has_value()) << (status ? "" : status.error().what.en);
  }
  // Of an instance of ours.
  std::string config(const InstanceId& id, const char* key) {
    const auto instance = world_->client().get("/1.0/instances/" + id.text);
    if (!instance) return "absent";
    const json::value* value = instance->at("config").as_object().if_contains(key);
    return value == nullptr ? "" : std::string(value->as_string());
  }
  bool exists(const std::string& path) { return world_->client().get(path).has_value(); }

  std::unique_ptr<TestWorld> world_;
};

// A listener of another program on a port of the host.
class Listener {
 public:
  explicit Listener(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    address.sin_port = htons(static_cast<uint16_t>(port));
    const int on = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_, 4), 0);
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  int fd_;
};

TEST_F(IncusEngineTest, CreateToBannerIsTimed) {
  using Clock = std::chrono::steady_clock;
  const EngineSpec spec = world_->fresh_spec();
  const auto begin = Clock::now();
  ok(engine().ensure_created(spec, world_->identity(spec)));
  const auto created = Clock::now();
  ok(engine().ensure_started(spec, world_->shape(1)));
  const auto started = Clock::now();
  ASSERT_TRUE(engine().ssh_answers(spec, seconds(60)).value_or(false));
  const auto banner = Clock::now();
  const auto cards = engine().visible_cards(spec.id);
  ASSERT_TRUE(cards.has_value()) << cards.error().what.en;
  const auto seen = Clock::now();
  const auto ms = [](Clock::duration d) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  };
  fmt::print("create {} ms, start {} ms, banner {} ms, cards {} ms\n", ms(created - begin),
             ms(started - created), ms(banner - started), ms(seen - banner));
}

TEST_F(IncusEngineTest, LimitsAreTheOnesSeenInside) {
  const EngineSpec spec = world_->ready();
  EXPECT_EQ(world_->inside(spec.id, "nproc").output, "2\n");  // 1500 millicores
  EXPECT_EQ(world_->inside(spec.id, "awk '/MemTotal/{print $2}' /proc/meminfo").output, "524288\n");
  EXPECT_EQ(world_->inside(spec.id, "grep -c SwapTotal.*[1-9] /proc/meminfo").output, "0\n");
  EXPECT_EQ(world_->inside(spec.id, "findmnt -no TARGET /root/data").output, "/root/data\n");
  // A quota says EDQUOT, and it says it at the quota.
  const ExecOutcome full = world_->inside(
      spec.id, "dd if=/dev/urandom of=/root/data/x bs=1M count=1100; stat -c %s /root/data/x",
      seconds(60));
  EXPECT_NE(full.output.find("quota exceeded"), std::string::npos) << full.output;
}

TEST_F(IncusEngineTest, TagsAndFencesAreInTheConfiguration) {
  const EngineSpec spec = world_->fresh_spec();
  ok(engine().ensure_created(spec, world_->identity(spec)));
  ok(engine().ensure_started(spec, world_->shape(2)));
  EXPECT_EQ(config(spec.id, "user.cardhour.deployment"), world_->options().deployment);
  EXPECT_EQ(config(spec.id, "user.cardhour.instance"), spec.id.text);
  EXPECT_EQ(config(spec.id, "user.cardhour.account"), spec.account.text);
  EXPECT_EQ(config(spec.id, "user.cardhour.generation"), "1");
  EXPECT_EQ(config(spec.id, "user.cardhour.cards"),
            "GPU-00000000-1111-2222-3333-444444444444,GPU-00000001-1111-2222-3333-444444444444");
  EXPECT_EQ(config(spec.id, "boot.autostart"), "false");
  EXPECT_EQ(config(spec.id, "security.idmap.base"), std::to_string(spec.idmap_base));
  EXPECT_EQ(world_->inside(spec.id, "awk '{print $2}' /proc/self/uid_map").output,
            std::to_string(spec.idmap_base) + "\n");
}

TEST_F(IncusEngineTest, CardsChangeFromRunToRun) {
  const EngineSpec spec = world_->fresh_spec();
  ok(engine().ensure_created(spec, world_->identity(spec)));
  for (const int count : {2, 0, 1}) {
    ok(engine().ensure_started(spec, world_->shape(count)));
    ASSERT_TRUE(engine().ssh_answers(spec, seconds(60)).value_or(false));
    const auto cards = engine().visible_cards(spec.id);
    ASSERT_TRUE(cards.has_value()) << cards.error().what.en;
    ASSERT_EQ(cards->size(), static_cast<size_t>(count));
    for (size_t i = 0; i < cards->size(); ++i) {
      EXPECT_EQ(cards->at(i).uuid, world_->shape(count).cards[i].uuid);
      EXPECT_EQ(cards->at(i).memory_used_bytes, 0);
    }
    ok(engine().force_stop(spec.id));
  }
}

TEST_F(IncusEngineTest, ARealCardIsPassedByAddressOnly) {
  const EngineSpec spec = world_->fresh_spec();
  ok(engine().ensure_created(spec, world_->identity(spec)));
  EngineShape shape = world_->shape(1);
  shape.cards[0].simulated = false;
  shape.cards[0].pci_address.clear();
  const Status without = engine().ensure_started(spec, shape);
  ASSERT_FALSE(without.has_value());
  EXPECT_EQ(without.error().code, ErrorCode::engine_failed);
  // An address where nothing is: the engine refuses, and the instance stays stopped.
  shape.cards[0].pci_address = "0000:fe:1f.0";
  const Status wrong = engine().ensure_started(spec, shape);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::engine_failed) << wrong.error().what.en;
  // No trace of it in the next run.
  ok(engine().ensure_started(spec, world_->shape(0)));
}

TEST_F(IncusEngineTest, AForeignListenerOnThePortIsNoCapacity) {
  const EngineSpec spec = world_->fresh_spec();
  ok(engine().ensure_created(spec, world_->identity(spec)));
  {
    const Listener listener(spec.ssh_port);
    EXPECT_FALSE(*engine().port_is_free(spec.ssh_port));
    const Status started = engine().ensure_started(spec, world_->shape(0));
    ASSERT_FALSE(started.has_value());
    EXPECT_EQ(started.error().code, ErrorCode::no_capacity);
  }
  ok(engine().ensure_started(spec, world_->shape(0)));
}

TEST_F(IncusEngineTest, AHuskIsNeverListedOrStartedAndIsReplaced) {
  const EngineSpec spec = world_->fresh_spec();
  // Ours by its tags, without the mark: what a kill in the middle of a creation leaves.
  world_->add_foreign(spec.id.text);
  ok(world_->client().change(
      {.method = "PATCH",
       .path = "/1.0/instances/" + spec.id.text,
       .body = json::object{{"config",
                             {{"user.cardhour.deployment", world_->options().deployment},
                              {"user.cardhour.instance", spec.id.text}}}}}));
  EXPECT_EQ(*engine().find(spec.id), std::nullopt);
  EXPECT_TRUE(engine().list()->empty());
  EXPECT_FALSE(engine().ensure_started(spec, world_->shape(0)).has_value());
  ok(engine().ensure_created(spec, world_->identity(spec)));
  EXPECT_EQ(config(spec.id, "user.cardhour.created"), "1");
  ok(engine().ensure_started(spec, world_->shape(0)));
}

TEST_F(IncusEngineTest, AForeignInstanceWithOurNameIsLeftAlone) {
  const EngineSpec spec = world_->fresh_spec();
  world_->add_foreign(spec.id.text);
  EXPECT_EQ(*engine().find(spec.id), std::nullopt);
  EXPECT_TRUE(engine().list()->empty());
  EXPECT_FALSE(engine().ensure_created(spec, world_->identity(spec)).has_value());
  EXPECT_FALSE(engine().ensure_started(spec, world_->shape(0)).has_value());
  ok(engine().force_stop(spec.id));
  ok(engine().ensure_removed(spec.id));
  EXPECT_TRUE(world_->foreign_is(spec.id.text, "Stopped"));
}

TEST_F(IncusEngineTest, RemovalLeavesNothing) {
  const EngineSpec spec = world_->fresh_spec();
  ok(engine().ensure_created(spec, world_->identity(spec)));
  ok(engine().ensure_started(spec, world_->shape(1)));
  const std::string volume = fmt::format("/1.0/storage-pools/{}/volumes/custom/{}-data",
                                         world_->options().pool, spec.id.text);
  const std::string sim_dir = world_->options().state_dir + "/sim-cards/" + spec.id.text;
  EXPECT_TRUE(exists(volume));
  EXPECT_TRUE(std::filesystem::exists(sim_dir));
  ok(engine().force_stop(spec.id));
  ok(engine().ensure_removed(spec.id));
  EXPECT_FALSE(exists(volume));
  EXPECT_FALSE(exists("/1.0/instances/" + spec.id.text));
  EXPECT_FALSE(std::filesystem::exists(sim_dir));
}

TEST_F(IncusEngineTest, AStopDuringAStartWins) {
  const EngineSpec spec = world_->fresh_spec();
  ok(engine().ensure_created(spec, world_->identity(spec)));
  for (int round = 0; round < 3; ++round) {
    std::thread starter(
        [&] { static_cast<void>(engine().ensure_started(spec, world_->shape(0))); });
    // Until the start is under way: then the plain engine would say "already stopped".
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
      const auto now = engine().find(spec.id);
      if (now && *now && (*now)->status != EngineStatus::stopped) break;
    }
    ok(engine().force_stop(spec.id));
    const auto after = engine().find(spec.id);
    starter.join();
    ASSERT_TRUE(after && *after);
    EXPECT_EQ((*after)->status, EngineStatus::stopped);
    EXPECT_EQ((*engine().find(spec.id))->status, EngineStatus::stopped);
  }
}

TEST_F(IncusEngineTest, TheIdentityIsTheInstancesOwn) {
  const EngineSpec spec = world_->ready();
  EXPECT_EQ(world_
                ->inside(spec.id,
                         "stat -c '%a %u' /var/lib/cardhour "
                         "/var/lib/cardhour/identity.json")
                .output,
            "700 0\n600 0\n");
  EXPECT_EQ(world_->inside(spec.id, "grep -c IGtest /root/.ssh/authorized_keys").output, "1\n");
  GuestIdentity identity = world_->identity(spec);
  identity.authorized_keys = {"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGother other"};
  ok(engine().apply_identity(spec.id, identity));
  EXPECT_EQ(world_->inside(spec.id, "grep -c IGother /root/.ssh/authorized_keys").output, "1\n");
  EXPECT_EQ(world_->inside(spec.id, "grep -c IGtest /root/.ssh/authorized_keys").output, "0\n");
  ok(engine().put_notice(spec.id, R"({"reason":"arrears"})"));
  EXPECT_EQ(world_->inside(spec.id, "cat /run/cardhour/notice.json").output,
            R"({"reason":"arrears"})");
  ok(engine().put_notice(spec.id, ""));
  EXPECT_NE(world_->inside(spec.id, "cat /run/cardhour/notice.json").exit_status, 0);
}

TEST_F(IncusEngineTest, DisksGrowAndNeverShrink) {
  EngineSpec spec = world_->fresh_spec();
  ok(engine().ensure_created(spec, world_->identity(spec)));
  spec.system_disk_bytes = 4 * kGiB;
  spec.data_disk_bytes = 2 * kGiB;
  ok(engine().ensure_started(spec, world_->shape(0)));
  ok(engine().force_stop(spec.id));
  spec.system_disk_bytes = kGiB;
  spec.data_disk_bytes = kGiB;
  ok(engine().ensure_started(spec, world_->shape(0)));
  const auto instance = world_->client().get("/1.0/instances/" + spec.id.text);
  EXPECT_EQ(instance->at("devices").at("root").at("size").as_string(), "4294967296B");
  const auto volume = world_->client().get(fmt::format(
      "/1.0/storage-pools/{}/volumes/custom/{}-data", world_->options().pool, spec.id.text));
  EXPECT_EQ(volume->at("config").at("size").as_string(), "2147483648B");
}

TEST_F(IncusEngineTest, AnIdMapOutsideTheRangeIsRefusedBeforeTheStart) {
  EngineSpec spec = world_->fresh_spec();
  spec.idmap_base = world_->options().idmap_end - 65535;
  EXPECT_FALSE(engine().ensure_created(spec, world_->identity(spec)).has_value());
  EXPECT_FALSE(exists("/1.0/instances/" + spec.id.text));
}

TEST_F(IncusEngineTest, AShutdownThatHangsIsAnErrorAndForceEndsIt) {
  const EngineSpec spec = world_->ready();
  // An init that does not hear.
  EXPECT_EQ(world_
                ->inside(spec.id,
                         "systemctl mask --now poweroff.target halt.target "
                         "shutdown.target; systemd-inhibit --what=shutdown true; true")
                .exit_status,
            0);
  ok(world_->client().change(
      {.method = "PUT",
       .path = "/1.0/instances/" + spec.id.text + "/state",
       .body = json::object{{"action", "freeze"}, {"timeout", 10}, {"force", false}}}));
  const Status asked = engine().shut_down(spec.id, seconds(2));
  ASSERT_FALSE(asked.has_value());
  EXPECT_EQ(asked.error().code, ErrorCode::engine_failed);
  ok(engine().force_stop(spec.id));
  EXPECT_EQ((*engine().find(spec.id))->status, EngineStatus::stopped);
}

TEST_F(IncusEngineTest, APowerOffInsideIsSeenAsStopped) {
  const EngineSpec spec = world_->ready();
  world_->inside(spec.id, "systemctl --no-block poweroff");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  EngineStatus status = EngineStatus::running;
  while (status != EngineStatus::stopped && std::chrono::steady_clock::now() < end) {
    status = (*engine().find(spec.id))->status;
  }
  EXPECT_EQ(status, EngineStatus::stopped);
}

TEST_F(IncusEngineTest, WhatAProgramInsideSaysIsBoundedInSizeAndTime) {
  const EngineSpec spec = world_->ready();
  const auto flood = incus_exec(
      world_->client(),
      {.instance = spec.id.text, .command = {"cat", "/dev/zero"}, .output_bytes_max = 65536});
  ASSERT_FALSE(flood.has_value());
  EXPECT_EQ(flood.error().code, ErrorCode::engine_failed);
  const auto hang =
      incus_exec(world_->client(),
                 {.instance = spec.id.text, .command = {"sleep", "12345"}, .patience = seconds(1)});
  ASSERT_FALSE(hang.has_value());
  // Killed, both.
  const std::string left = world_->inside(spec.id, "pgrep -x cat; pgrep -fx 'sleep 12345'").output;
  EXPECT_EQ(left, "");
}

TEST_F(IncusEngineTest, ADaemonThatIsNotThereIsUnavailable) {
  IncusOptions options = world_->options();
  options.socket = "/nonexistent/unix.socket";
  IncusEngine engine(options);
  const auto hosts = engine.hosts();
  ASSERT_FALSE(hosts.has_value());
  EXPECT_EQ(hosts.error().code, ErrorCode::engine_unavailable);
  const auto found = engine.find(world_->fresh_spec().id);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::engine_unavailable);
}

TEST_F(IncusEngineTest, EightCreationsAtOnce) {
  constexpr size_t kCount = 8;
  std::vector<EngineSpec> specs;
  for (size_t i = 0; i < kCount; ++i) specs.push_back(world_->fresh_spec());
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (const EngineSpec& spec : specs) {
    threads.emplace_back([&, spec] {
      const Status status = engine().ensure_created(spec, world_->identity(spec));
      EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().what.en);
      if (status) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, static_cast<int>(kCount));
  EXPECT_EQ(engine().list()->size(), kCount);
}

}  // namespace
}  // namespace cardhour
