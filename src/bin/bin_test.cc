#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <variant>

#include "adapters/files/catalog_file.h"
#include "adapters/sql/sql_store.h"
#include "adapters/system/entropy.h"
#include "bin/backends.h"
#include "bin/background.h"
#include "bin/data_dir.h"
#include "bin/docs.h"
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
