// What the tests of this room share: rows with values that are easily lost (beyond 2^53, not
// ASCII, absent), and short ways to run transactions that must go well.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/sql/row.h"
#include "base/size.h"
#include "ports/store.h"

namespace cardhour::store_test {

inline constexpr int64_t kBig = 9'007'199'254'740'993;  // beyond 2^53 and far beyond 2^31
inline constexpr Timestamp kNow{1'800'000'000'000};

inline Timestamp at(int64_t second) { return kNow + seconds(second); }

// Unwraps inside a transaction; a failed expectation reads better than a crash.
template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().what.en);
  return std::move(*result);
}
inline void must(Status status) { CHECK(status.has_value(), status ? "" : status.error().what.en); }

inline ErrorCode code_of(const Status& status) {
  EXPECT_FALSE(status.has_value());
  return status ? ErrorCode::invalid_argument : status.error().code;
}

struct TemporaryDirectory {
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cardhour-sql XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr, "mkdtemp");
    path = pattern;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

// A result of a transaction that must go well.
template <class F>
auto read(Store& store, F body) {
  decltype(body(std::declval<Tx&>())) out{};
  must(store.read([&](Tx& tx) -> Status {
    out = body(tx);
    return {};
  }));
  return out;
}
inline void write(Store& store, const std::function<void(Tx&)>& body) {
  must(store.write([&](Tx& tx) -> Status {
    body(tx);
    return {};
  }));
}

inline Account account(const std::string& id) {
  return {.id = {id},
          .login = "login-" + id,
          .password_hash = "hash",
          .role = Role::admin,
          .state = AccountState::suspended,
          .created_at = kNow,
          .next_settlement_at = std::nullopt,
          .version = 3};
}

inline Host host(const std::string& id) {
  return {.id = {id},
          .name = "host " + id,
          .cpu_total = 128,
          .memory_bytes = kBig,
          .pool_total_bytes = 4'000'000'000,
          .pool_used_bytes = 1,
          .driver_version = "550.54.14",
          .cuda_version = "12.4",
          .last_seen_at = kNow,
          .reachable = true};
}

inline Card card(const std::string& uuid, const std::string& host_id, const std::string& pci) {
  return {.uuid = {uuid},
          .host_id = {host_id},
          .model = "rtx-4090",
          .driver_name = "NVIDIA GeForce RTX 4090",
          .pci_address = pci,
          .card_index = 7,
          .vram_bytes = 25'757'220'864,
          .numa_node = std::nullopt,
          .simulated = true,
          .present = true,
          .fault = ""};
}

inline Instance instance(const std::string& id) {
  Instance out;
  out.id = {id};
  out.account_id = {"a1"};
  out.name = "名字 " + id;
  out.image = "pytorch";
  out.purpose = "it's \"quoted\"; drop table instances; --";
  out.host_id = {"h1"};
  out.desired = Desired::running;
  out.observed = Observed::running;
  out.gpu_model = "rtx-4090";
  out.gpu_count = 8;
  out.millicores = 128'000;
  out.memory_bytes = kBig;
  out.system_disk_bytes = 30 * kGiB;
  out.data_disk_bytes = 50 * kGiB;
  out.nesting = true;
  out.ssh_port = 22001;
  out.ipv4 = "10.177.1.0";
  out.idmap_base = 5'000'000'000;
  out.rate_per_hour = Money{kBig};
  out.created_at = kNow;
  return out;
}

inline Operation operation(const std::string& id, const std::string& instance_id) {
  Operation out;
  out.id = {id};
  out.instance_id = {instance_id};
  out.created_at = kNow;
  out.not_before = kNow;
  return out;
}

inline Segment segment(const std::string& id, Timestamp opened_at) {
  Segment out;
  out.id = {id};
  out.account_id = {"a1"};
  out.instance_id = {"i1"};
  out.run_id = {"r1"};
  out.quantity = 8;
  out.rate_per_hour = Money{1'980'000};
  out.unit = seconds(1);
  out.carried = milliseconds(250);
  out.opened_at = opened_at;
  out.posted = Money{-kBig};
  out.booked_until = opened_at;
  out.gpu_model = "rtx-4090";
  out.card_uuids = "GPU-1 GPU-2";
  return out;
}

inline LedgerEntry entry(const std::string& id, Timestamp when,
                         const std::vector<std::pair<std::string, int64_t>>& amounts) {
  LedgerEntry out;
  out.transaction = {.id = {id},
                     .kind = TransactionKind::usage,
                     .account_id = {"a1"},
                     .at = when,
                     .actor = "system:settle",
                     .note = "",
                     .instance_id = std::nullopt,
                     .corrects = std::nullopt};
  for (const auto& [name, amount] : amounts) {
    out.postings.push_back({.transaction_id = {id},
                            .position = static_cast<int>(out.postings.size()),
                            .ledger_account = name,
                            .amount = Money{amount},
                            .segment_id = SegmentId{"s1"}});
  }
  return out;
}

inline Event event(const std::string& kind, std::optional<AccountId> account_id,
                   std::optional<InstanceId> instance_id) {
  return {.seq = 0,
          .at = kNow,
          .account_id = account_id,
          .instance_id = instance_id,
          .kind = kind,
          .actor = "tester",
          .reason = "renter",
          .detail = "a=1"};
}

// Compares all described members, by way of the cells that they become.
template <class T>
std::string shown(const T& value) {
  std::vector<sql::Cell> cells(sql::types_of<T>().size());
  sql::Cell* cell = cells.data();
  sql::put_all(cell, value);
  std::string out;
  for (const sql::Cell& c : cells) {
    out += c.null ? "null|" : fmt::format("{}{}|", c.integer, c.text);
  }
  return out;
}
template <class T>
std::string shown(const std::optional<T>& value) {
  return value ? shown(*value) : "nothing";
}
template <class T>
std::string ids(const std::vector<T>& values) {
  std::string out;
  for (const T& value : values) {
    if constexpr (requires { value.id; }) {
      out += value.id.text + " ";
    } else {
      out += value.text + " ";
    }
  }
  return out;
}

}  // namespace cardhour::store_test
