#include "app/claims.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "app/events.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

constexpr int64_t kIdmapSize = 65'536;

// The number after the nth dot; 0 when there is none.
int64_t number_after_dot(const std::string& ipv4, int dots) {
  size_t at = 0;
  for (int i = 0; i < dots && at != std::string::npos; ++i) {
    at = ipv4.find('.', at);
    if (at != std::string::npos) ++at;
  }
  int64_t number = 0;
  if (at != std::string::npos) {
    std::from_chars(ipv4.data() + at, ipv4.data() + ipv4.size(), number);
  }
  return number;
}

std::array<Claim, 3> claims_of(const NetworkPlan& network, const Instance& instance) {
  const int64_t idmap = (instance.idmap_base - network.idmap_base) / kIdmapSize;
  return {Claim{instance.host_id, ClaimKind::ssh_port, instance.ssh_port, instance.id},
          Claim{instance.host_id, ClaimKind::ipv4, index_of_ipv4(instance.ipv4), instance.id},
          Claim{instance.host_id, ClaimKind::idmap, idmap, instance.id}};
}

// Who has one of these numbers, and may be moved.
Result<std::set<InstanceId>> owners_of(Tx& tx, const std::array<Claim, 3>& wanted,
                                       const std::set<InstanceId>& in_engine) {
  std::set<InstanceId> owners;
  TRY_ASSIGN(const auto claims, tx.hosts().claims());
  for (const Claim& claim : claims) {
    for (const Claim& mine : wanted) {
      const bool same = claim.host_id == mine.host_id && claim.kind == mine.kind &&
                        claim.number == mine.number && claim.instance_id != mine.instance_id;
      if (!same) continue;
      if (in_engine.contains(claim.instance_id)) {
        return fail(ErrorCode::conflict,
                    text("{} {} of {} belongs to {}, which exists too", "{} {}（{}）已属于 {}",
                         std::string(enum_text(claim.kind)), claim.number, mine.instance_id.text,
                         claim.instance_id.text),
                    Text{"delete one of the two in the engine", "请在引擎中删除其中之一"});
      }
      owners.insert(claim.instance_id);
    }
  }
  return owners;
}

// It has nothing in the engine that would know its old numbers.
Status renumber(Tx& tx, const Deps& deps, const InstanceId& id, Timestamp now) {
  TRY_ASSIGN(auto instance, tx.instances().find(id));
  if (!instance) return {};
  TRY_ASSIGN(const int64_t port,
             claim_number(tx, *instance, ClaimKind::ssh_port, deps.network.ssh_ports.first,
                          deps.network.ssh_ports.last));
  instance->ssh_port = static_cast<int>(port);
  TRY(claim_address(tx, deps.network, *instance));
  TRY(tx.instances().update(*instance));
  return record(tx, *instance, now, "instance.renumbered", "system:observe", "adopted",
                fmt::format("port={} address={}", port, instance->ipv4));
}

}  // namespace

std::string ipv4_of(const NetworkPlan& network, int64_t index) {
  const size_t second_dot = network.subnet.find('.', network.subnet.find('.') + 1);
  return fmt::format("{}.{}.{}", network.subnet.substr(0, second_dot), index / 256, index % 256);
}

int64_t index_of_ipv4(const std::string& ipv4) {
  return number_after_dot(ipv4, 2) * 256 + number_after_dot(ipv4, 3);
}

int64_t idmap_base_of(const NetworkPlan& network, int64_t index) {
  return network.idmap_base + index * kIdmapSize;
}

Result<int64_t> claim_number(Tx& tx, const Instance& instance, ClaimKind kind, int64_t first,
                             int64_t last) {
  TRY_ASSIGN(const auto number, tx.hosts().free_number(instance.host_id, kind, first, last));
  if (!number) {
    return fail(ErrorCode::no_capacity, text("the host has no free {} left", "主机上没有可用的 {}",
                                             std::string(enum_text(kind))));
  }
  TRY(tx.hosts().insert_claim(Claim{instance.host_id, kind, *number, instance.id}));
  return *number;
}

Status claim_address(Tx& tx, const NetworkPlan& network, Instance& instance) {
  TRY_ASSIGN(const int64_t address,
             claim_number(tx, instance, ClaimKind::ipv4, network.ipv4_first, network.ipv4_last));
  instance.ipv4 = ipv4_of(network, address);
  TRY_ASSIGN(const int64_t idmap,
             claim_number(tx, instance, ClaimKind::idmap, network.idmap_first, network.idmap_last));
  instance.idmap_base = idmap_base_of(network, idmap);
  return {};
}

Status claim_as_it_is(Tx& tx, const Deps& deps, const Instance& instance,
                      const std::set<InstanceId>& in_engine, Timestamp now) {
  const auto wanted = claims_of(deps.network, instance);
  TRY_ASSIGN(const auto owners, owners_of(tx, wanted, in_engine));
  for (const InstanceId& owner : owners) TRY(tx.hosts().delete_claims(owner));
  for (const Claim& claim : wanted) TRY(tx.hosts().insert_claim(claim));
  for (const InstanceId& owner : owners) TRY(renumber(tx, deps, owner, now));
  return {};
}

}  // namespace cardhour
