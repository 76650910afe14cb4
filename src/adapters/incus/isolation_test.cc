// What a tenant can do to others, tried from inside an instance on a real daemon: disk
// quota, the host's ports, other tenants, the networks around the host, mail, floods,
// IPv6, spoofing. Each attack has a control: the same thing where it is meant to work, so
// that none passes because the network is down.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "adapters/incus/host_ports.h"
#include "adapters/incus/test_world.h"
#include "base/size.h"

namespace cardhour {
namespace {

namespace json = boost::json;

void shell(const std::string& line) { ASSERT_EQ(std::system(line.c_str()), 0) << line; }

// A listener; the kernel completes handshakes without anybody accepting.
class Listener {
 public:
  Listener(int type, const std::string& address, int port)
      : fd_(::socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address.c_str(), &to.sin_addr);
    const int on = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0) << address;
    if (type == SOCK_STREAM) {
      EXPECT_EQ(::listen(fd_, 4096), 0);
    }
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    return ntohs(at.sin_port);
  }
  bool heard(int milliseconds_max) const {
    pollfd entry{fd_, POLLIN, 0};
    return ::poll(&entry, 1, milliseconds_max) == 1;
  }

 private:
  int fd_;
};

// Another machine beside the host, as a network namespace: with a public address, a private,
// a shared (CGNAT) and a link-local one, and listeners on each.
class Neighbour {
 public:
  Neighbour() : number_(static_cast<int>(std::random_device()() % 250) + 1) {
    name_ = fmt::format("chn{}", ::getpid());
    shell(
        fmt::format("ip netns add {0} && ip link add {0} type veth peer name eth0 netns {0} && "
                    "ip link set {0} up && ip -n {0} link set eth0 up && "
                    "ip -n {0} link set lo up",
                    name_));
    for (const std::string& net : {public_net(), private_net(), shared_net(), local_net()}) {
      shell(fmt::format("ip addr add {1}.1/30 dev {0} && ip -n {0} addr add {1}.2/30 dev eth0",
                        name_, net));
    }
    shell(fmt::format("ip -n {} route add default via {}.1", name_, public_net()));
    inside([this] {
      for (const int port : {25, 80}) {
        listeners_.push_back(std::make_unique<Listener>(SOCK_STREAM, "0.0.0.0", port));
      }
    });
  }
  ~Neighbour() {
    listeners_.clear();
    static_cast<void>(std::system(("ip link del " + name_ + "; ip netns del " + name_).c_str()));
  }

  // Runs it with the network of that machine.
  void inside(const std::function<void()>& work) const {
    std::thread([&] {
      const int fd = ::open(("/run/netns/" + name_).c_str(), O_RDONLY | O_CLOEXEC);
      ASSERT_GE(fd, 0);
      ASSERT_EQ(::setns(fd, CLONE_NEWNET), 0);
      ::close(fd);
      work();
    }).join();
  }

  std::string public_net() const { return fmt::format("11.22.{}", number_); }
  std::string private_net() const { return fmt::format("172.31.{}", number_); }
  std::string shared_net() const { return fmt::format("100.99.{}", number_); }
  std::string local_net() const { return fmt::format("169.254.{}", number_); }

 private:
  int number_;
  std::string name_;
  std::vector<std::unique_ptr<Listener>> listeners_;
};

class IsolationTest : public testing::Test {
 protected:
  void SetUp() override {
    world_ = TestWorld::make();
    if (world_ == nullptr) GTEST_SKIP() << "CARDHOUR_INCUS_SOCKET is not set";
  }

  // "open", or why not.
  std::string connect(const InstanceId& from, const std::string& to, int port) {
    return world_
        ->python(from, fmt::format("import socket\n"
                                   "try:\n"
                                   "  socket.create_connection(('{}', {}), 1.5)\n"
                                   "  print('open', end='')\n"
                                   "except OSError as e: print(e, end='')",
                                   to, port))
        .output;
  }
  void send_udp(const InstanceId& from, const std::string& to, int port) {
    world_->python(from, fmt::format("import socket\n"
                                     "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                                     "for i in range(5): s.sendto(b'x', ('{}', {}))",
                                     to, port));
  }
  std::string gateway() const { return gateway_of(world_->options().subnet); }

  std::unique_ptr<TestWorld> world_;
};

// Tries the four ioctls that make subvolumes: plainly, with high bits that the kernel
// ignores, and by the 32-bit entry. Prints the errno of each; 0: a subvolume was made.
constexpr const char* kSubvolumes = R"(
import ctypes, mmap, os, struct, sys, tempfile
libc = ctypes.CDLL(None, use_errno=True)
libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.syscall.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
os.setuid(int(sys.argv[1])) if len(sys.argv) > 1 else None
low = libc.mmap(None, 8192, 7, 0x62, -1, 0)  # anonymous, private, below 4 GiB
code = bytes.fromhex('53b83600000089fb89f1cd805bc3')  # ioctl by int 0x80
ctypes.memmove(low + 4096, code, len(code))
old_entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p)(low + 4096)
out = []
n = 0
for place in PLACES:
    where = os.open(place, os.O_RDONLY)
    source = os.open(place, os.O_RDONLY)
    for number in (0x5000940e, 0x50009418, 0x50009401, 0x50009417):
        for way in ('plain', 'high', 'old'):
            n += 1
            name = b'sub%d' % n
            v2 = number in (0x50009418, 0x50009417)
            fd = source if number in (0x50009401, 0x50009417) else 0
            args = struct.pack('=qQQ32s', fd, 0, 0, b'') + name if v2 else struct.pack('=q', fd) + name
            ctypes.memmove(low, args + b'\0' * (4096 - len(args)), 4096)
            if way == 'old':
                result = -old_entry(where, number, low)
            else:
                wanted = number | (0xdead << 32 if way == 'high' else 0)
                result = 0 if libc.ioctl(where, wanted, low) == 0 else ctypes.get_errno()
            if result == 0 and not os.path.exists(os.path.join(place, name.decode())): result = -1
            out.append(result)
print(sorted(set(out)))
)";

std::string subvolumes(const std::string& places) {
  std::string script = kSubvolumes;
  return script.replace(script.find("PLACES"), 6, places);
}

TEST_F(IsolationTest, NobodyInsideMakesSubvolumes) {
  const EngineSpec spec = world_->ready();
  EXPECT_EQ(world_->python(spec.id, subvolumes("['/root/data', '/root', '/tmp']")).output, "[1]\n");
  world_->inside(spec.id, "mkdir -m 777 /home/open /root/data/open; chmod 711 /root");
  const auto as_user = incus_exec(
      world_->client(),
      {.instance = spec.id.text,
       .command = {"python3", "-c", subvolumes("['/home/open', '/root/data/open']"), "65534"}});
  ASSERT_TRUE(as_user.has_value());
  EXPECT_EQ(as_user->output, "[1]\n") << as_user->errors;
}

TEST_F(IsolationTest, TheSubvolumeAttackWorksWhereNothingForbidsIt) {
  const std::string name = "control-" + world_->options().deployment;
  world_->add_foreign(name);
  ASSERT_TRUE(world_->client()
                  .change({.method = "PUT",
                           .path = "/1.0/instances/" + name + "/state",
                           .body = json::object{{"action", "start"}, {"timeout", -1}}})
                  .has_value());
  EXPECT_EQ(world_->python({name}, subvolumes("['/root']")).output.substr(0, 2), "[0");
}

TEST_F(IsolationTest, OnlyTheGuestApiAndDnsOfTheHostAreReachable) {
  const EngineSpec spec = world_->ready();
  const Neighbour neighbour;
  const Listener tcp(SOCK_STREAM, "0.0.0.0", 0);
  const Listener udp(SOCK_DGRAM, "0.0.0.0", 0);
  const Listener api(SOCK_STREAM, gateway(), world_->options().guest_api_port);
  EXPECT_EQ(connect(spec.id, gateway(), world_->options().guest_api_port), "open");
  EXPECT_EQ(connect(spec.id, gateway(), 53), "open");
  for (const std::string& address :
       {gateway(), neighbour.public_net() + ".1", neighbour.private_net() + ".1"}) {
    EXPECT_NE(connect(spec.id, address, tcp.port()), "open") << address;
    send_udp(spec.id, address, udp.port());
  }
  EXPECT_NE(connect(spec.id, neighbour.public_net() + ".1", world_->options().guest_api_port),
            "open");
  EXPECT_FALSE(udp.heard(200));
}

TEST_F(IsolationTest, TheNetworksAroundTheHostAreOutOfReach) {
  const EngineSpec spec = world_->ready();
  const Neighbour neighbour;
  ASSERT_EQ(connect(spec.id, neighbour.public_net() + ".2", 80), "open");
  EXPECT_NE(connect(spec.id, neighbour.private_net() + ".2", 80), "open");
  EXPECT_NE(connect(spec.id, neighbour.shared_net() + ".2", 80), "open");
  EXPECT_NE(connect(spec.id, neighbour.local_net() + ".2", 80), "open");
  EXPECT_NE(connect(spec.id, neighbour.public_net() + ".2", 25), "open");
  // And back: nobody outside reaches an instance but by a forwarded port.
  neighbour.inside(
      [&] { EXPECT_FALSE(ssh_banner_comes(spec.ipv4, 22, milliseconds(1500)).value_or(true)); });
  EXPECT_TRUE(ssh_banner_comes(spec.ipv4, 22, seconds(2)).value_or(false));
}

TEST_F(IsolationTest, AFloodOfConnectionsIsCut) {
  const EngineSpec spec = world_->ready();
  const Neighbour neighbour;
  const ExecOutcome flood = world_->python(
      spec.id, fmt::format("import socket, time, select\n"
                           "begin = time.time(); all = []\n"
                           "for i in range(900):\n"
                           "  s = socket.socket(); s.setblocking(False); all.append(s)\n"
                           "  s.connect_ex(('{}.2', 80))\n"
                           "time.sleep(max(0, 0.8 - (time.time() - begin)))\n"
                           "print(len(select.select([], all, [], 0)[1]), time.time() - begin)",
                           neighbour.public_net()));
  int connected = 0;
  double took = 0;
  ASSERT_EQ(std::sscanf(flood.output.c_str(), "%d %lf", &connected, &took), 2) << flood.output;
  EXPECT_GT(connected, 150) << flood.output;
  EXPECT_LT(connected, 200 + 200 * (took + 0.5)) << flood.output;
}

// How many of `tries` connections are accepted, all begun at once.
int connected(const std::string& address, int port, int tries) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  std::vector<pollfd> sockets;
  for (int i = 0; i < tries; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    sockets.push_back({fd, POLLOUT, 0});
  }
  ::poll(sockets.data(), sockets.size(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // less than a SYN is sent again
  ::poll(sockets.data(), sockets.size(), 0);
  int count = 0;
  for (const pollfd& entry : sockets) {
    if ((entry.revents & POLLOUT) != 0 && (entry.revents & (POLLERR | POLLHUP)) == 0) ++count;
    ::close(entry.fd);
  }
  return count;
}

TEST_F(IsolationTest, SshConnectionsArePacedPerSource) {
  const Neighbour neighbour;
  const Listener ssh(SOCK_STREAM, "0.0.0.0", 0);
  Firewall firewall({.bridge = "chpace0",
                     .bridge_address = "10.1.0.1",
                     .ssh_port_first = ssh.port(),
                     .ssh_port_last = ssh.port(),
                     .ssh_connections_per_minute_max = 20});
  ASSERT_TRUE(firewall.ensure().has_value());
  int from_outside = 0;
  neighbour.inside(
      [&] { from_outside = connected(neighbour.public_net() + ".1", ssh.port(), 100); });
  EXPECT_GE(from_outside, 15);
  EXPECT_LE(from_outside, 25);
  EXPECT_EQ(connected("127.0.0.1", ssh.port(), 100), 100);  // the host's own are not counted
  EXPECT_TRUE(firewall.remove().has_value());
  neighbour.inside(
      [&] { from_outside = connected(neighbour.public_net() + ".1", ssh.port(), 100); });
  EXPECT_EQ(from_outside, 100);
}

TEST_F(IsolationTest, TenantsDoNotReachEachOther) {
  const EngineSpec a = world_->ready();
  const EngineSpec b = world_->ready();
  EXPECT_NE(connect(a.id, b.ipv4, 22), "open");

  ExecOutcome heard;
  std::thread listener([&] {
    heard = world_->python(b.id,
                           "import socket\n"
                           "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                           "s.bind(('', 5555)); s.settimeout(8)\n"
                           "try: print(s.recvfrom(9))\n"
                           "except OSError as e: print('nothing', end='')");
  });
  // By way of the gateway, which would route it back to the bridge.
  world_->inside(a.id, fmt::format("ip route add {}/32 via {}", b.ipv4, gateway()));
  EXPECT_NE(connect(a.id, b.ipv4, 22), "open");
  send_udp(a.id, b.ipv4, 5555);
  world_->inside(a.id, fmt::format("ip route del {}/32", b.ipv4));
  // Straight to the other's MAC address, without asking for it.
  const std::string mac = world_->inside(b.id, "cat /sys/class/net/eth0/address").output;
  world_->inside(a.id, fmt::format("ip neigh replace {} dev eth0 lladdr {}", b.ipv4, mac));
  EXPECT_NE(connect(a.id, b.ipv4, 22), "open");
  send_udp(a.id, b.ipv4, 5555);
  // By the port of the host that leads to the other.
  EXPECT_NE(connect(a.id, gateway(), b.ssh_port), "open");
  listener.join();
  EXPECT_EQ(heard.output, "nothing");
}

TEST_F(IsolationTest, AddressesCannotBeSpoofed) {
  const EngineSpec spec = world_->ready();
  ASSERT_EQ(connect(spec.id, gateway(), 53), "open");
  const EngineSpec unused = world_->fresh_spec();
  const std::string script =
      "import socket\n"
      "s = socket.socket(); s.settimeout(1.5); s.bind(('{}', 0))\n"
      "try:\n"
      "  s.connect(('{}', 53)); print('open', end='')\n"
      "except OSError as e: print(e, end='')";
  const auto from = [&](const std::string& address) {
    return world_->python(spec.id, fmt::format(fmt::runtime(script), address, gateway())).output;
  };
  EXPECT_EQ(from(spec.ipv4), "open");
  world_->inside(spec.id, fmt::format("ip addr add {}/16 dev eth0", unused.ipv4));
  EXPECT_NE(from(unused.ipv4), "open");
  world_->inside(spec.id,
                 "ip link set eth0 down; ip link set eth0 address 02:00:00:00:00:07; "
                 "ip link set eth0 up; sleep 1");
  EXPECT_NE(connect(spec.id, gateway(), 53), "open");
}

// The bridge of a host whose administrator turned IPv6 on.
class Ipv6OnBridge {
 public:
  explicit Ipv6OnBridge(const std::string& bridge) : bridge_(bridge) {
    shell(
        fmt::format("sysctl -qw net.ipv6.conf.{0}.disable_ipv6=0 && "
                    "ip -6 addr add fd42:77::1/64 dev {0} nodad",
                    bridge_));
  }
  ~Ipv6OnBridge() {
    static_cast<void>(std::system(fmt::format("ip -6 addr del fd42:77::1/64 dev {0}; "
                                              "sysctl -qw net.ipv6.conf.{0}.disable_ipv6=1",
                                              bridge_)
                                      .c_str()));
  }

 private:
  std::string bridge_;
};

TEST_F(IsolationTest, ThereIsNoIpv6) {
  const EngineSpec spec = world_->ready();
  const Ipv6OnBridge on(world_->options().network);
  world_->inside(spec.id,
                 "sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0; "
                 "ip -6 addr add fe80::77/64 dev eth0 nodad; "
                 "ip -6 addr add fd42:77::77/64 dev eth0 nodad");
  const auto answers = [&](const std::string& to) {
    const ExecOutcome ping = world_->inside(spec.id, "ping -6 -c 2 -W 1 " + to);
    return ping.output.find("bytes from") != std::string::npos;
  };
  EXPECT_TRUE(answers("fd42:77::77"));
  EXPECT_FALSE(answers("fd42:77::1"));
  EXPECT_NE(connect(spec.id, "fd42:77::1", 53), "open");
}

TEST_F(IsolationTest, WithoutTheRulesNothingStartsAndTheyArePutBack) {
  const EngineSpec spec = world_->fresh_spec();
  ASSERT_TRUE(world_->engine().ensure_created(spec, world_->identity(spec)).has_value());
  Firewall firewall({.bridge = world_->options().network,
                     .bridge_address = gateway(),
                     .guest_api_port = world_->options().guest_api_port});
  ASSERT_TRUE(firewall.ensure().has_value());
  EXPECT_TRUE(firewall.present());
  // Emptied, not only removed: the name alone is no proof.
  shell("nft flush table inet " + firewall.table());
  EXPECT_FALSE(firewall.present());
  ASSERT_TRUE(world_->engine().ensure_started(spec, world_->shape(0)).has_value());
  EXPECT_TRUE(firewall.present());
  shell("nft delete table inet " + firewall.table());
  EXPECT_FALSE(firewall.present());
  ASSERT_TRUE(world_->engine().hosts().has_value());
  EXPECT_TRUE(firewall.present());
  // Options that make no rules: nothing starts.
  IncusOptions wrong = world_->options();
  wrong.allow = {{.cidr = "everything", .protocol = "tcp", .port = 0}};
  IncusEngine engine(wrong);
  ASSERT_TRUE(world_->engine().force_stop(spec.id).has_value());
  EXPECT_FALSE(engine.ensure_started(spec, world_->shape(0)).has_value());
}

TEST_F(IsolationTest, WhatIsOursIsReadOnlyInside) {
  const EngineSpec spec = world_->fresh_spec();
  ASSERT_TRUE(world_->engine().ensure_created(spec, world_->identity(spec)).has_value());
  ASSERT_TRUE(world_->engine().ensure_started(spec, world_->shape(1)).has_value());
  ASSERT_TRUE(world_->engine().ssh_answers(spec, seconds(60)).value_or(false));
  EXPECT_NE(world_->inside(spec.id, "touch /opt/cardhour/x").exit_status, 0);
  EXPECT_NE(world_->inside(spec.id, "echo x >> /opt/cardhour-sim/cards").exit_status, 0);
  EXPECT_NE(world_
                ->inside(spec.id,
                         "mount -o remount,rw /opt/cardhour-sim && "
                         "echo x >> /opt/cardhour-sim/cards")
                .exit_status,
            0);
  EXPECT_NE(world_->inside(spec.id, "test -S /dev/incus/sock").exit_status, 0);
}

TEST_F(IsolationTest, WithNatTheClientIsSeenAndTheRulesHold) {
  const Neighbour neighbour;
  const std::string address = neighbour.public_net() + ".1";
  const auto world = TestWorld::make(address);
  const EngineSpec spec = world->ready();
  neighbour.inside(
      [&] { EXPECT_TRUE(ssh_banner_comes(address, spec.ssh_port, seconds(5)).value_or(false)); });
  const std::string seen =
      world->inside(spec.id, "journalctl -u ssh --no-pager; ss -Htn state all sport = :22").output;
  EXPECT_NE(seen.find(neighbour.public_net() + ".2"), std::string::npos) << seen;
  EXPECT_TRUE(*world->engine().port_is_free(spec.ssh_port)) << "NAT binds no port";
}

}  // namespace
}  // namespace cardhour
