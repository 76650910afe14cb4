// What needs no daemon: the configuration that is sent, the rules, the list of cards, ports.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <thread>

#include "adapters/gpu/simulated_cards.h"
#include "adapters/incus/firewall.h"
#include "adapters/incus/guest_identity.h"
#include "adapters/incus/host_ports.h"
#include "adapters/incus/incus_devices.h"
#include "adapters/incus/sim_cards.h"
#include "base/size.h"

namespace cardhour {
namespace {

EngineSpec some_spec() {
  return {.id = make_id<InstanceTag>(7),
          .account = make_id<AccountTag>(8),
          .image = "base",
          .system_disk_bytes = 30 * kGiB,
          .data_disk_bytes = 50 * kGiB,
          .ipv4 = "10.177.3.4",
          .idmap_base = 2'000'000,
          .ssh_port = 22022};
}

EngineCard card(const std::string& uuid, const std::string& pci) {
  return {.uuid = {uuid}, .pci_address = pci, .driver_name = "NVIDIA H20", .vram_bytes = kGiB};
}

TEST(IncusDevices, ShareOfACoreIsAQuotaAndWholeCoresAreCounted) {
  const auto half = incus::shape_config({.millicores = 500, .memory_bytes = kGiB});
  EXPECT_EQ(half.at("limits.cpu").as_string(), "1");
  EXPECT_EQ(half.at("limits.cpu.allowance").as_string(), "50ms/100ms");
  EXPECT_EQ(half.at("limits.memory").as_string(), "1073741824B");
  const auto more = incus::shape_config({.millicores = 12'500, .memory_bytes = kGiB});
  EXPECT_EQ(more.at("limits.cpu").as_string(), "13");
  EXPECT_EQ(more.at("limits.cpu.allowance").as_string(), "1250ms/100ms");
}

TEST(IncusDevices, CardsGoByAddressAndNeverWithout) {
  EngineShape shape{.millicores = 1000, .memory_bytes = kGiB};
  const auto none = incus::devices({}, some_spec(), shape);
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(boost::json::serialize(*none).find("gpu"), std::string::npos);
  EXPECT_TRUE(incus::shape_config(shape).at("nvidia.runtime").is_null());

  shape.cards = {card("GPU-a", "0000:01:00.0"), card("GPU-b", "0000:02:00.0")};
  const auto two = incus::devices({}, some_spec(), shape);
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->at("gpu0").at("pci").as_string(), "0000:01:00.0");
  EXPECT_EQ(two->at("gpu1").at("pci").as_string(), "0000:02:00.0");
  EXPECT_FALSE(two->contains("sim-cards"));
  EXPECT_EQ(incus::shape_config(shape).at("nvidia.runtime").as_string(), "true");
  EXPECT_EQ(incus::shape_config(shape).at("user.cardhour.cards").as_string(), "GPU-a,GPU-b");

  shape.cards[1].pci_address.clear();
  EXPECT_FALSE(incus::devices({}, some_spec(), shape).has_value());
}

TEST(IncusDevices, SimulatedCardsAreADirectoryAndNoDevice) {
  EngineShape shape{.millicores = 1000, .memory_bytes = kGiB, .cards = {card("GPU-a", "")}};
  shape.cards[0].simulated = true;
  const auto devices = incus::devices({}, some_spec(), shape);
  ASSERT_TRUE(devices.has_value());
  EXPECT_TRUE(devices->contains("sim-cards"));
  EXPECT_FALSE(devices->contains("gpu0"));
  EXPECT_TRUE(incus::shape_config(shape).at("nvidia.runtime").is_null());
}

TEST(IncusDevices, NatWhereTheHostHasAnAddress) {
  EXPECT_FALSE(incus::uses_nat("127.0.0.1"));
  EXPECT_FALSE(incus::uses_nat("0.0.0.0"));
  EXPECT_TRUE(incus::uses_nat("192.168.1.10"));
  const auto devices = incus::devices({.ssh_listen = "192.168.1.10"}, some_spec(), {});
  EXPECT_EQ(devices->at("ssh").at("listen").as_string(), "tcp:192.168.1.10:22022");
  EXPECT_EQ(devices->at("ssh").at("connect").as_string(), "tcp:10.177.3.4:22");
}

TEST(SimCards, TheListIsTheOneThatTheLibraryReads) {
  std::vector<EngineCard> cards = {card("GPU-a", "0000:01:00.0"), card("GPU-b", "0000:02:00.0"),
                                   card("GPU-c", "0000:03:00.0")};
  cards[0].simulated = cards[2].simulated = true;
  cards[2].driver_name = "evil\nuuid=GPU-x name=y memory=1";  // from a driver, not from us
  const auto read = parse_simulated_cards(sim_cards_text(cards));
  ASSERT_TRUE(read.has_value()) << read.error().what.en;
  ASSERT_EQ(read->cards.size(), 2u);
  EXPECT_EQ(read->cards[0].uuid, "GPU-a");
  EXPECT_EQ(read->cards[1].uuid, "GPU-c");
  EXPECT_EQ(read->cards[1].pci_bus, 3u);
}

TEST(Firewall, OptionsCannotSmuggleRulesIn) {
  const FirewallOptions good{.bridge = "cardhour0", .bridge_address = "10.177.0.1"};
  EXPECT_TRUE(firewall_script(good, "t").has_value());
  FirewallOptions bad = good;
  bad.bridge = "x\" accept; #";
  EXPECT_FALSE(firewall_script(bad, "t").has_value());
  bad = good;
  bad.bridge_address = "10.177.0.1 accept";
  EXPECT_FALSE(firewall_script(bad, "t").has_value());
  for (const char* cidr : {"", "everything", "10.0.0.0/33", "10.0.0.0/8 accept", "10.0.0.0/"}) {
    bad = good;
    bad.allow = {{.cidr = cidr}};
    EXPECT_FALSE(firewall_script(bad, "t").has_value()) << cidr;
  }
}

TEST(Firewall, WhatTheOperatorAllowsComesBeforeWhatIsForbidden) {
  const auto script = firewall_script(
      {.bridge = "br", .bridge_address = "10.1.0.1", .allow = {{"10.9.0.0/16", "tcp", 443}}}, "t");
  ASSERT_TRUE(script.has_value());
  const size_t onward = script->find("chain onward");
  EXPECT_LT(script->find("ip daddr 10.9.0.0/16 tcp dport 443 accept", onward),
            script->find("10.0.0.0/8", onward));
}

TEST(Identity, IsADocumentThatTheGuestReads) {
  const Secret document =
      identity_json({"iabc"}, "http://10.177.0.1:8081",
                    {.hostname = "h", .token = Secret("t"), .authorized_keys = {"k1"}});
  EXPECT_EQ(document.reveal(),
            R"({"instance":"iabc","hostname":"h","guest_url":"http://10.177.0.1:8081","token":"t",)"
            R"("authorized_keys":["k1"],"password":"","host_key":{"private":"","public":""}})");
}

TEST(HostPorts, AListenerTakesAPortAndATalkativeOneIsNotSsh) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  const int port = ntohs(address.sin_port);
  ASSERT_EQ(::listen(fd, 4), 0);
  EXPECT_FALSE(*can_bind("127.0.0.1", port));
  const auto serve = [fd](const char* line) {
    return std::thread([fd, line] {
      const int peer = ::accept(fd, nullptr, nullptr);
      EXPECT_GT(::send(peer, line, 14, MSG_NOSIGNAL), 0);
      ::close(peer);
    });
  };
  std::thread http = serve("HTTP/1.1 200 O");
  EXPECT_FALSE(*ssh_banner_comes("127.0.0.1", port, milliseconds(40)));
  http.join();
  std::thread ssh = serve("SSH-2.0-Open\r\n");
  EXPECT_TRUE(*ssh_banner_comes("127.0.0.1", port, seconds(5)));
  ssh.join();
  ::close(fd);
  EXPECT_TRUE(*can_bind("127.0.0.1", port));
  EXPECT_FALSE(*ssh_banner_comes("127.0.0.1", port, milliseconds(10)));
  EXPECT_FALSE(can_bind("127.0.0.1", 0).has_value());
  EXPECT_FALSE(can_bind("not an address", 80).has_value());
}

}  // namespace
}  // namespace cardhour
