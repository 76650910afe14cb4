#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <variant>

#include "adapters/files/catalog_file.h"
#include "adapters/gpu/gpu_child.h"
#include "adapters/sql/sql_store.h"
#include "adapters/system/entropy.h"
#include "bin/backends.h"
#include "bin/background.h"
#include "bin/data_dir.h"
#include "bin/docs.h"
#include "bin/restore.h"
#include "bin/serve_options.h"

namespace cardhour {
namespace {

namespace fs = std::filesystem;

class DataDirTest : public testing::Test {
 protected:
  void SetUp() override {
    crypto_init();
    char name[] = "/tmp/cardhour-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    scratch_ = name;
  }
  void TearDown() override { fs::remove_all(scratch_); }

  static int mode_of(const std::string& path) {
    struct stat now {};
    return ::stat(path.c_str(), &now) == 0 ? static_cast<int>(now.st_mode & 0777) : -1;
  }

  std::string scratch_;
  SystemEntropy entropy_;
};

TEST_F(DataDirTest, ASecondServerIsRefusedUntilTheFirstIsGone) {
  const std::string path = scratch_ + "/deep/data";
  {
    const auto first = DataDir::open(path);
    ASSERT_TRUE(first) << first.error().what.en;
    EXPECT_EQ(mode_of(path), 0700);
    const auto second = DataDir::open(path);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::conflict);
  }
  EXPECT_TRUE(DataDir::open(path));
}

TEST_F(DataDirTest, TheKeyIsMadeOnceForItsOwnerAlone) {
  auto data = DataDir::open(scratch_ + "/data");
  ASSERT_TRUE(data);
  const auto made = data->secret_key(entropy_);
  ASSERT_TRUE(made);
  EXPECT_EQ(mode_of(data->path() + "/secret.key"), 0600);
  EXPECT_EQ(data->secret_key(entropy_), made);
}

TEST_F(DataDirTest, ADatabaseWithoutItsKeyIsRefused) {
  auto data = DataDir::open(scratch_ + "/data");
  ASSERT_TRUE(data);
  std::ofstream(data->database()) << "rows";
  EXPECT_FALSE(data->secret_key(entropy_));
  EXPECT_FALSE(fs::exists(data->path() + "/secret.key"));
}

TEST_F(DataDirTest, ADamagedKeyIsRefusedAndKept) {
  auto data = DataDir::open(scratch_ + "/data");
  ASSERT_TRUE(data);
  std::ofstream(data->path() + "/secret.key") << "short";
  EXPECT_FALSE(data->secret_key(entropy_));
  EXPECT_EQ(fs::file_size(data->path() + "/secret.key"), 5u);
}

class RestoreTest : public DataDirTest {
 protected:
  // A data directory with a database that has this account, and a backup of it.
  void populate(const std::string& login) {
    auto data = DataDir::open(path_);
    ASSERT_TRUE(data);
    ASSERT_TRUE(data->secret_key(entropy_));
    add(login);
  }
  void add(const std::string& login) {
    const auto store = open_sqlite(path_ + "/cardhour.db");
    ASSERT_TRUE(store);
    Account account;
    account.id = AccountId{"a-" + login};
    account.login = login;
    ASSERT_TRUE((*store)->write([&](Tx& tx) { return tx.accounts().insert(account); }));
    ASSERT_TRUE((*store)->backup_to(scratch_ + "/" + login + ".db"));
  }
  static bool has(const std::string& database, const std::string& login) {
    bool found = false;
    const auto store = open_sqlite(database);
    EXPECT_TRUE(store);
    EXPECT_TRUE((*store)->read([&](Tx& tx) -> Status {
      TRY_ASSIGN(const auto account, tx.accounts().find_login(login));
      found = account.has_value();
      return {};
    }));
    return found;
  }
  std::vector<std::string> files_like(const std::string& part) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(path_)) {
      const std::string file = entry.path().string();
      if (file.find(part) != std::string::npos) found.push_back(file);
    }
    return found;
  }

  std::string path_;
  void SetUp() override {
    DataDirTest::SetUp();
    path_ = scratch_ + "/data";
  }
};

TEST_F(RestoreTest, PutsTheBackupInPlaceAndKeepsWhatWasThere) {
  populate("early");
  add("late");
  const auto done = restore_database(path_, scratch_ + "/early.db");
  ASSERT_TRUE(done) << done.error().what.en;
  EXPECT_TRUE(has(path_ + "/cardhour.db", "early"));
  EXPECT_FALSE(has(path_ + "/cardhour.db", "late"));
  const auto aside = files_like(".before-restore-");
  ASSERT_EQ(aside.size(), 1u);
  EXPECT_NE(done->en.find(aside[0]), std::string::npos);
  EXPECT_EQ(mode_of(aside[0]), 0600);
  EXPECT_TRUE(has(aside[0], "late"));
  // Again, in the same second or not: nothing is written over.
  ASSERT_TRUE(restore_database(path_, scratch_ + "/late.db"));
  EXPECT_GE(files_like(".before-restore-").size(), 2u);
  EXPECT_TRUE(has(path_ + "/cardhour.db", "late"));
  EXPECT_TRUE(files_like(".restoring").empty());
}

TEST_F(RestoreTest, ADamagedPresentDatabaseIsNoHindrance) {
  populate("early");
  // Nor is what a restore left that was cut off.
  std::ofstream(path_ + "/cardhour.db.restoring") << "half";
  std::ofstream(path_ + "/cardhour.db.restoring-wal") << "half a log";
  std::ofstream(path_ + "/cardhour.db", std::ios::trunc) << "damaged";
  ASSERT_TRUE(restore_database(path_, scratch_ + "/early.db"));
  EXPECT_TRUE(has(path_ + "/cardhour.db", "early"));
}

TEST_F(RestoreTest, RefusesAndChangesNothing) {
  populate("early");
  add("late");
  const std::string backup = scratch_ + "/early.db";
  std::ofstream(scratch_ + "/nonsense") << std::string(9000, 'x');
  EXPECT_EQ(restore_database(path_, scratch_ + "/no-such").error().code, ErrorCode::not_found);
  EXPECT_FALSE(restore_database(path_, scratch_ + "/nonsense"));
  EXPECT_EQ(restore_database(path_, path_ + "/cardhour.db").error().code, ErrorCode::conflict);
  {
    const auto running = DataDir::open(path_);  // as the server does
    ASSERT_TRUE(running);
    EXPECT_EQ(restore_database(path_, backup).error().code, ErrorCode::conflict);
  }
  fs::rename(path_ + "/secret.key", scratch_ + "/secret.key");
  EXPECT_EQ(restore_database(path_, backup).error().code, ErrorCode::not_found);
  EXPECT_FALSE(fs::exists(path_ + "/secret.key")) << "a new key would open nothing";
  fs::rename(scratch_ + "/secret.key", path_ + "/secret.key");
  EXPECT_TRUE(has(path_ + "/cardhour.db", "late"));
  EXPECT_TRUE(files_like(".before-restore-").empty());
  EXPECT_TRUE(files_like(".restoring").empty());
}

TEST_F(RestoreTest, TheKeyMustBeTheOneOfTheBackup) {
  populate("early");
  {
    const auto store = open_sqlite(path_ + "/cardhour.db");
    ASSERT_TRUE(store);
    Instance instance;
    instance.id = InstanceId{"i1"};
    instance.account_id = AccountId{"a-early"};
    instance.host_id = HostId{"h1"};
    instance.secrets_sealed = seal(SealKey{9}, "of another key", {});
    ASSERT_TRUE((*store)->write([&](Tx& tx) -> Status {
      TRY(tx.hosts().upsert(Host{.id = instance.host_id}));
      return tx.instances().insert(instance);
    }));
    ASSERT_TRUE((*store)->backup_to(scratch_ + "/other.db"));
  }
  const auto refused = restore_database(path_, scratch_ + "/other.db");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_NE(refused.error().what.en.find("secret.key"), std::string::npos);
}

std::variant<ServeOptions, int> parse(std::vector<std::string> words) {
  words.insert(words.begin(), "serve");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return parse_serve(static_cast<int>(argv.size()), argv.data());
}

TEST(ServeOptions, UnderstandsWhatIsTyped) {
  const auto parsed =
      parse({"--gpus", "sim:4xA100-80G", "--subnet", "10.99.0.0/16", "--listen", "0.0.0.0:443",
             "--registration", "invitation", "--ssh-ports", "30000-30099"});
  const auto* options = std::get_if<ServeOptions>(&parsed);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->gpus, ServeOptions::GpuKind::sim);
  EXPECT_EQ(options->simulated_cards, "4xA100-80G");
  EXPECT_EQ(options->gateway(), "10.99.0.1");
  EXPECT_EQ(options->listen.port, 443);
  EXPECT_EQ(options->guest_listen->address, "10.99.0.1");
  EXPECT_EQ(options->registration, Registration::invitation);
  EXPECT_EQ(options->ssh_listen, options->ssh_address);
  EXPECT_EQ(options->ssh_ports, (PortRange{30'000, 30'099}));
}

TEST(ServeOptions, TheSimulatedEngineHasNoGuests) {
  const auto parsed = parse({"--engine", "sim", "--gpus", "sim"});
  EXPECT_EQ(std::get<ServeOptions>(parsed).guest_listen, std::nullopt);
}

TEST(ServeOptions, RefusesWhatCannotBe) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--gpus", "magic"},
      {"--subnet", "10.177.0.0/24"},
      {"--subnet", "999.177.0.0/16"},
      {"--guest-listen", "192.168.1.5:8079"},
      {"--guest-listen", "0.0.0.0:8079"},
      {"--tls-cert", "a.pem"},
      {"--engine", "docker"},
      {"--registration", "everybody"},
      {"--listen", "nonsense"},
      {"--ssh-ports", "22000"},
      {"--ssh-ports", "300-400"},
      {"--no-such-option"},
      {"stray"},
  };
  for (const auto& words : wrong) {
    const auto parsed = parse(words);
    const int* code = std::get_if<int>(&parsed);
    ASSERT_NE(code, nullptr) << words.front() << " " << words.back();
    EXPECT_EQ(*code, 2);
  }
}

TEST(Hint, WakesWhoeverWaitsAndMissesNothing) {
  Hint hint;
  const uint64_t seen = hint.seen();
  hint.raise();
  hint.wait(seen, hours(1));  // raised already: returns at once
  std::atomic<bool> woken = false;
  std::thread waiter([&] {
    hint.wait(seen + 1, hours(1));
    woken = true;
  });
  hint.raise();
  waiter.join();
  EXPECT_TRUE(woken);
  hint.stop();
  hint.wait(hint.seen(), hours(1));
  EXPECT_FALSE(hint.sleep(hours(1)));
}

TEST(FailureLog, WaitsLongerWhileItFailsAndNotAtAllAfterwards) {
  FailureLog failures("test");
  const Status down = fail(ErrorCode::engine_unavailable, Text{"down", "不可用"});
  EXPECT_EQ(failures.note({}), Duration{});
  EXPECT_EQ(failures.note(down), seconds(1));
  EXPECT_EQ(failures.note(down), seconds(2));
  EXPECT_EQ(failures.note(down), seconds(4));
  EXPECT_EQ(failures.note(down), seconds(5));
  EXPECT_EQ(failures.note({}), Duration{});
  EXPECT_EQ(failures.note(down), seconds(1));
}

// The whole of it but HTTP, on real threads and the real clock.
TEST(Background, CarriesARentThroughAndStops) {
  crypto_init();
  SystemClock clock;
  SystemEntropy entropy;
  auto parsed = parse(
      {"--engine", "sim", "--gpus", "sim:2xRTX4090", "--sim-library", CARDHOUR_NVML_SIM_LIBRARY});
  auto& options = std::get<ServeOptions>(parsed);
  const auto backends = make_backends(options, PortRange{}, clock, "");
  ASSERT_TRUE(backends) << backends.error().what.en;
  const auto store = open_sqlite(":memory:");
  ASSERT_TRUE(store);
  const Policy policy;
  const auto catalog = load_catalog(CARDHOUR_SOURCE_DIR "/catalog/gpu-models.toml");
  ASSERT_TRUE(catalog);
  const NetworkPlan network;
  Hint hint;
  Deps deps{**store, *backends->engine, clock,   entropy, *backends->probe,
            policy,  *catalog,          network, {},      PasswordCost::cheap};
  deps.changed = [&hint] { hint.raise(); };
  ControlPlane plane(deps);
  const auto boss = plane.accounts.ensure_first_operator("boss");
  ASSERT_TRUE(boss);
  const Actor actor{(*boss)->account.id, Role::admin, all_scopes(Role::admin), {}, "boss"};
  ASSERT_TRUE(plane.wallet.top_up(actor, actor.account, Money{100'000'000}, "", {"key", "hash"}));
  ASSERT_TRUE(plane.inventory.seed_prices({{"rtx-4090", Mode::on_demand, Money{1'980'000}}}));
  const Background background(plane, clock, hint);

  const Timestamp deadline = clock.now() + seconds(30);
  const auto wait_until = [&](const std::function<bool()>& done) {
    for (uint64_t seen = hint.seen(); !done(); seen = hint.seen()) {
      if (clock.now() > deadline) return false;
      hint.wait(seen, milliseconds(100));
    }
    return true;
  };
  ASSERT_TRUE(wait_until([&] {
    const auto offers = plane.inventory.offers({});
    return offers && !offers->empty();
  }));
  RentRequest request;
  request.shape.gpu_model = "4090";
  const auto rented = plane.instances.rent(actor, request, {"rent", "hash"});
  ASSERT_TRUE(rented) << rented.error().what.en;
  EXPECT_TRUE(wait_until([&] {
    const auto view = plane.instances.get(actor, rented->id.text);
    return view && view->instance.observed == Observed::running;
  }));
}

TEST(Docs, PrintsTheContractWithoutAServer) {
  const auto printed = openapi_text();
  ASSERT_TRUE(printed) << printed.error().what.en;
  EXPECT_NE(printed->find("\"/api/v1/instances/{id}/start\""), std::string::npos);
}

}  // namespace
}  // namespace cardhour

// The GPU reader is this program again, as in production.
int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "gpu-reader") {
    return cardhour::gpu_child_main(argc - 1, argv + 1);
  }
  ::signal(SIGPIPE, SIG_IGN);  // as the server does
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
