#include "adapters/incus/test_world.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "adapters/incus/host_ports.h"
#include "base/size.h"

namespace cardhour {
namespace json = boost::json;
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

uint64_t random_bits() {
  static std::random_device device;
  return (uint64_t{device()} << 32) ^ device();
}

// An address in the upper half of the bridge's network, away from others' first ones.
std::string random_address(const std::string& subnet) {
  in_addr address{};
  inet_pton(AF_INET, gateway_of(subnet).c_str(), &address);
  const uint32_t host = 0x8000u + static_cast<uint32_t>(random_bits() % 0x7f00u) + 1;
  address.s_addr = htonl((ntohl(address.s_addr) & 0xffff0000u) + host);
  char text[INET_ADDRSTRLEN];
  return inet_ntop(AF_INET, &address, text, sizeof text);
}

}  // namespace

std::unique_ptr<TestWorld> TestWorld::make(const std::string& ssh_listen) {
  const std::string socket = environment("CARDHOUR_INCUS_SOCKET", "");
  if (socket.empty()) return nullptr;
  IncusOptions options;
  options.socket = socket;
  options.project = environment("CARDHOUR_INCUS_PROJECT", "cardhour");
  options.pool = environment("CARDHOUR_INCUS_POOL", "chlab");
  options.network = environment("CARDHOUR_INCUS_NETWORK", "chlab0");
  options.subnet = environment("CARDHOUR_INCUS_SUBNET", "10.178.0.1/16");
  options.deployment = fmt::format("test-{:x}", random_bits());
  options.sim_library = CARDHOUR_NVML_SIM_LIBRARY;
  options.guest_api_port = std::stoi(environment("CARDHOUR_INCUS_GUEST_PORT", "18081"));
  options.ssh_listen = ssh_listen;
  options.disk_bytes_per_second_max = 400 * kMiB;
  return std::unique_ptr<TestWorld>(new TestWorld(std::move(options)));
}

TestWorld::TestWorld(IncusOptions options) : options_(std::move(options)) {
  scratch_ = (fs::temp_directory_path() / options_.deployment).string();
  options_.state_dir = scratch_ + "/state";
  options_.guest_dir = scratch_ + "/guest";
  fs::create_directories(options_.guest_dir);
  for (const char* program : {CARDHOUR_GUEST, CARDHOUR_CARDS}) {
    fs::copy_file(program, fs::path(options_.guest_dir) / fs::path(program).filename());
  }
  client_ = std::make_unique<IncusClient>(options_.socket, options_.project);
  engine_ = std::make_unique<IncusEngine>(options_);
}

TestWorld::~TestWorld() {
  for (const InstanceId& id : made_) {
    static_cast<void>(engine_->force_stop(id));
    const Status removed = engine_->ensure_removed(id);
    EXPECT_TRUE(removed.has_value()) << (removed ? "" : removed.error().what.en);
  }
  for (const std::string& name : foreign_) remove_foreign(name);
  fs::remove_all(scratch_);
}

EngineSpec TestWorld::fresh_spec() {
  EngineSpec spec;
  spec.id = make_id<InstanceTag>(random_bits());
  spec.account = make_id<AccountTag>(random_bits());
  spec.image = environment("CARDHOUR_INCUS_IMAGE", "base");
  spec.system_disk_bytes = 3 * kGiB;
  spec.data_disk_bytes = kGiB;
  spec.ipv4 = random_address(options_.subnet);
  spec.idmap_base = options_.idmap_first + static_cast<int64_t>(random_bits() % 4000) * 65536;
  do {
    spec.ssh_port = 21000 + static_cast<int>(random_bits() % 10000);
  } while (!can_bind(options_.ssh_listen, spec.ssh_port).value_or(false));
  made_.push_back(spec.id);
  return spec;
}

GuestIdentity TestWorld::identity(const EngineSpec& spec) const {
  GuestIdentity identity;
  identity.hostname = spec.id.text;
  identity.token = Secret("token-of-" + spec.id.text);
  identity.authorized_keys = {"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtest test"};
  identity.password = Secret("correct horse battery");
  return identity;
}

EngineShape TestWorld::shape(int simulated_cards) const {
  EngineShape shape{.millicores = 1500, .memory_bytes = 512 * kMiB};
  for (int i = 0; i < simulated_cards; ++i) {
    shape.cards.push_back({.uuid = {fmt::format("GPU-0000000{}-1111-2222-3333-444444444444", i)},
                           .pci_address = fmt::format("0000:{:02x}:00.0", 0x10 + i),
                           .driver_name = "NVIDIA GeForce RTX 4090",
                           .vram_bytes = 24 * kGiB,
                           .simulated = true});
  }
  return shape;
}

EngineSpec TestWorld::ready() {
  EngineSpec spec = fresh_spec();
  const Status created = engine_->ensure_created(spec, identity(spec));
  EXPECT_TRUE(created.has_value()) << (created ? "" : created.error().what.en);
  const Status started = engine_->ensure_started(spec, shape(0));
  EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().what.en);
  EXPECT_TRUE(engine_->ssh_answers(spec, seconds(60)).value_or(false));
  return spec;
}

ExecOutcome TestWorld::inside(const InstanceId& id, const std::string& line, Duration patience) {
  auto outcome = incus_exec(
      *client_,
      {.instance = id.text, .command = {"sh", "-c", "exec 2>&1; " + line}, .patience = patience});
  if (!outcome) return {.exit_status = -1, .output = outcome.error().what.en};
  return std::move(*outcome);
}

ExecOutcome TestWorld::python(const InstanceId& id, const std::string& script, Duration patience) {
  auto outcome = incus_exec(
      *client_, {.instance = id.text, .command = {"python3", "-c", script}, .patience = patience});
  if (!outcome) return {.exit_status = -1, .output = outcome.error().what.en};
  outcome->output += outcome->errors;
  return std::move(*outcome);
}

void TestWorld::add_foreign(const std::string& name, const std::string& extra_config_key) {
  json::object config = {{"boot.autostart", "false"}};
  if (!extra_config_key.empty()) config[extra_config_key] = options_.deployment;
  const json::object root = {{"type", "disk"}, {"path", "/"}, {"pool", options_.pool}};
  const Status made = client_->change(
      {.method = "POST",
       .path = "/1.0/instances",
       .body = json::object{{"name", name},
                            {"type", "container"},
                            {"start", false},
                            {"profiles", json::array()},
                            {"source",
                             {{"type", "image"},
                              {"alias", environment("CARDHOUR_INCUS_IMAGE", "base")}}},
                            {"config", std::move(config)},
                            {"devices", {{"root", root}}}},
       .patience = minutes(5)});
  ASSERT_TRUE(made.has_value()) << made.error().what.en;
  foreign_.push_back(name);
}

bool TestWorld::foreign_is(const std::string& name, const std::string& status) {
  const auto there = client_->get("/1.0/instances/" + name);
  return there && there->at("status").as_string() == status;
}

void TestWorld::remove_foreign(const std::string& name) {
  const std::string path = "/1.0/instances/" + name;
  static_cast<void>(client_->change(
      {.method = "PUT",
       .path = path + "/state",
       .body = json::object{{"action", "stop"}, {"timeout", -1}, {"force", true}}}));
  static_cast<void>(client_->change({.method = "DELETE", .path = path}));
}

}  // namespace cardhour
