#include "adapters/incus/firewall.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nftables/libnftables.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

namespace cardhour {
namespace {

// What no instance has business with: RFC 6890 special ranges, of which private, shared
// (CGNAT), loopback and link-local (cloud metadata services) matter most, and multicast.
constexpr std::string_view kForbiddenRanges =
    "0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, "
    "192.0.0.0/24, 192.0.2.0/24, 192.168.0.0/16, 198.18.0.0/15, 198.51.100.0/24, "
    "203.0.113.0/24, 224.0.0.0-255.255.255.255";

struct NftResult {
  bool ok = false;
  std::string output;
  std::string error;
};

// A context per call: they are cheap, and not thread-safe.
NftResult nft(const std::string& commands, unsigned int output_flags = 0) {
  const std::unique_ptr<nft_ctx, decltype(&nft_ctx_free)> context(nft_ctx_new(NFT_CTX_DEFAULT),
                                                                  nft_ctx_free);
  if (context == nullptr) return {false, {}, "libnftables does not start"};
  nft_ctx_output_set_flags(context.get(), output_flags);
  nft_ctx_buffer_output(context.get());
  nft_ctx_buffer_error(context.get());
  NftResult result;
  result.ok = nft_run_cmd_from_buffer(context.get(), commands.c_str()) == 0;
  result.output = nft_ctx_get_output_buffer(context.get());
  result.error = nft_ctx_get_error_buffer(context.get());
  return result;
}

bool is_ipv4(const std::string& text) {
  in_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool is_cidr(const std::string& text) {
  const size_t slash = text.find('/');
  if (!is_ipv4(text.substr(0, slash))) return false;
  if (slash == std::string::npos) return true;
  const std::string_view digits = std::string_view(text).substr(slash + 1);
  int bits = -1;
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  return wrong == std::errc{} && end == digits.data() + digits.size() && bits >= 0 && bits <= 32;
}

bool is_interface(const std::string& name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= 15 && std::ranges::all_of(name, plain);
}

Status valid(const FirewallOptions& options) {
  if (!is_interface(options.bridge)) {
    return invalid("network",
                   text("\"{}\" is not a bridge name", "“{}”不是网桥名", options.bridge));
  }
  if (!is_ipv4(options.bridge_address)) {
    return invalid("subnet", text("\"{}\" is not an IPv4 address", "“{}”不是 IPv4 地址",
                                  options.bridge_address));
  }
  for (const FirewallAllow& allow : options.allow) {
    const bool protocol = allow.protocol == "tcp" || allow.protocol == "udp";
    if (!is_cidr(allow.cidr) || !protocol || allow.port < 0 || allow.port > 65535) {
      return invalid("allow", text("{} {} {} is no address, protocol and port",
                                   "{} {} {} 不是有效的地址、协议和端口", allow.cidr,
                                   allow.protocol, allow.port));
    }
  }
  return {};
}

std::string allow_rules(const FirewallOptions& options) {
  std::string rules;
  for (const FirewallAllow& allow : options.allow) {
    const std::string ports = allow.port == 0
                                  ? fmt::format("meta l4proto {}", allow.protocol)
                                  : fmt::format("{} dport {}", allow.protocol, allow.port);
    rules += fmt::format("    ip daddr {} {} accept\n", allow.cidr, ports);
  }
  return rules;
}

std::string guest_api_rule(const FirewallOptions& options) {
  if (options.guest_api_port == 0) return {};
  return fmt::format("    ip daddr {} tcp dport {} accept\n", options.bridge_address,
                     options.guest_api_port);
}

// New SSH connections per source, before any NAT; the host's own are not counted.
std::string ssh_rule(const FirewallOptions& options) {
  if (options.ssh_port_last == 0) return {};
  return fmt::format(
      "    iifname != \"lo\" tcp dport {}-{} ct state new add @knockers {{ ip saddr limit rate "
      "over {}/minute burst {} packets }} counter drop\n",
      options.ssh_port_first, options.ssh_port_last, options.ssh_connections_per_minute_max,
      options.ssh_connections_per_minute_max);
}

std::string table_name(std::string bridge) {
  // nft takes no dash in a name.
  std::ranges::replace(bridge, '-', '_');
  return "cardhour_" + bridge;
}

}  // namespace

Result<std::string> firewall_script(const FirewallOptions& options, const std::string& table) {
  TRY(valid(options));
  // Replies are recognised by their direction: a connection that an instance opened is
  // judged packet by packet, so that one from before the rules does not outlive them.
  constexpr std::string_view kTable = R"(
add table inet {table}
delete table inet {table}
table inet {table} {{
  set openers {{
    type ipv4_addr
    size 65535
    flags dynamic,timeout
    timeout 10s
  }}
  set knockers {{
    type ipv4_addr
    size 65535
    flags dynamic,timeout
    timeout 2m
  }}
  chain judge {{
    meta nfproto != ipv4 counter drop
    ct direction reply ct state established,related accept
  }}
  chain pace {{
    ct state new meta l4proto tcp add @openers {{ ip saddr limit rate over {rate}/second burst {rate} packets }} counter drop
  }}
  chain to_host {{
    jump judge
    udp dport 67 accept
    ip daddr {address} udp dport 53 accept
    jump pace
    ip daddr {address} tcp dport 53 accept
{guest_api}{allow}    counter drop
  }}
  chain onward {{
    oifname "{bridge}" counter drop
    jump judge
    jump pace
{allow}    tcp dport 25 counter drop
    ip daddr {{ {forbidden} }} counter drop
  }}
  chain inward {{
    meta nfproto != ipv4 counter drop
    ct direction reply ct state established,related accept
    ct status dnat accept
    counter drop
  }}
  chain arrivals {{
    type filter hook prerouting priority -150; policy accept;
{ssh}  }}
  chain input {{
    type filter hook input priority -10; policy accept;
    iifname "{bridge}" jump to_host
  }}
  chain forward {{
    type filter hook forward priority -10; policy accept;
    iifname "{bridge}" goto onward
    oifname "{bridge}" goto inward
  }}
}}
)";
  using namespace fmt::literals;
  return fmt::format(fmt::runtime(kTable), "table"_a = table, "bridge"_a = options.bridge,
                     "address"_a = options.bridge_address,
                     "rate"_a = options.connections_per_second_max,
                     "guest_api"_a = guest_api_rule(options), "ssh"_a = ssh_rule(options),
                     "allow"_a = allow_rules(options), "forbidden"_a = kForbiddenRanges);
}

Firewall::Firewall(FirewallOptions options)
    : options_(std::move(options)), table_(table_name(options_.bridge)) {}

std::string Firewall::listing() {
  // Without counters and learned addresses: only what the rules say.
  const NftResult result =
      nft("list table inet " + table_, NFT_CTX_OUTPUT_STATELESS | NFT_CTX_OUTPUT_TERSE);
  return result.ok ? result.output : std::string();
}

Status Firewall::ensure_locked() {
  TRY_ASSIGN(const std::string script, firewall_script(options_, table_));
  const NftResult result = nft(script);
  if (!result.ok) {
    return fail(ErrorCode::engine_failed,
                text("isolation rules are missing and cannot be put in place: {}",
                     "隔离规则缺失，且无法写入：{}", result.error),
                Text{"Cardhour needs root (CAP_NET_ADMIN) and nf_tables in the kernel.",
                     "Cardhour 需要 root（CAP_NET_ADMIN）权限以及内核的 nf_tables。"});
  }
  applied_ = listing();
  if (!applied_.empty()) return {};
  return fail(ErrorCode::engine_failed, Text{"isolation rules are missing", "隔离规则缺失"});
}

Status Firewall::ensure() {
  std::lock_guard lock(mutex_);
  return ensure_locked();
}

bool Firewall::present() {
  std::lock_guard lock(mutex_);
  return !applied_.empty() && listing() == applied_;
}

Status Firewall::keep() {
  std::lock_guard lock(mutex_);
  if (!applied_.empty() && listing() == applied_) return {};
  return ensure_locked();
}

Status Firewall::remove() {
  std::lock_guard lock(mutex_);
  applied_.clear();
  const NftResult result = nft(fmt::format("add table inet {0}\ndelete table inet {0}\n", table_));
  if (result.ok) return {};
  return fail(ErrorCode::engine_failed, text("nftables: {}", "nftables：{}", result.error));
}

}  // namespace cardhour
