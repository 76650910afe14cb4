// Claims: the numbers of a host that an instance has for life: SSH port, address, id map.
// Inside the caller's transaction; the unique index of the claims is the guard. Internal to app/.
#pragma once

#include <set>
#include <string>

#include "app/deps.h"

namespace cardhour {

// "10.177.1.0" of index 256; and back, whatever the subnet is.
std::string ipv4_of(const NetworkPlan& network, int64_t index);
int64_t index_of_ipv4(const std::string& ipv4);
int64_t idmap_base_of(const NetworkPlan& network, int64_t index);

// Claims the lowest free number of a kind for the instance; no_capacity when there is none.
Result<int64_t> claim_number(Tx& tx, const Instance& instance, ClaimKind kind, int64_t first,
                             int64_t last);
// A free address and id map, written into the instance.
Status claim_address(Tx& tx, const NetworkPlan& network, Instance& instance);

// Claims the numbers that the instance says it has, as the engine has them. Whoever has one of
// them in the database, and nothing in the engine, gets others; conflict when it has.
Status claim_as_it_is(Tx& tx, const Deps& deps, const Instance& instance,
                      const std::set<InstanceId>& in_engine, Timestamp now);

}  // namespace cardhour
