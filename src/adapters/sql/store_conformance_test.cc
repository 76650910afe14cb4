// What every Store must do, run on each kind of database; then what is SQLite's own: files,
// disks, migrations.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "adapters/sql/backup.h"
#include "adapters/sql/connection.h"
#include "adapters/sql/migrations.h"
#include "adapters/sql/sql_store.h"

namespace cardhour {
namespace {

constexpr int64_t kBig = 9'007'199'254'740'993;  // beyond 2^53 and far beyond 2^31
constexpr Timestamp kNow{1'800'000'000'000};

Timestamp at(int64_t second) { return kNow + seconds(second); }

// Unwraps inside a transaction; a failed expectation reads better than a crash.
template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().what.en);
  return std::move(*result);
}
void must(Status status) { CHECK(status.has_value(), status ? "" : status.error().what.en); }

ErrorCode code_of(const Status& status) {
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
void write(Store& store, const std::function<void(Tx&)>& body) {
  must(store.write([&](Tx& tx) -> Status {
    body(tx);
    return {};
  }));
}

Account account(const std::string& id) {
  return {.id = {id},
          .login = "login-" + id,
          .password_hash = "hash",
          .role = Role::admin,
          .state = AccountState::suspended,
          .created_at = kNow,
          .next_settlement_at = std::nullopt,
          .version = 3};
}

Host host(const std::string& id) {
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

Card card(const std::string& uuid, const std::string& host_id, const std::string& pci) {
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

Instance instance(const std::string& id) {
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

Operation operation(const std::string& id, const std::string& instance_id) {
  Operation out;
  out.id = {id};
  out.instance_id = {instance_id};
  out.created_at = kNow;
  out.not_before = kNow;
  return out;
}

Segment segment(const std::string& id, Timestamp opened_at) {
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

LedgerEntry entry(const std::string& id, Timestamp when,
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

Event event(const std::string& kind, std::optional<AccountId> account_id,
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

enum class Kind { memory, disk };

class StoreConformance : public testing::TestWithParam<Kind> {
 protected:
  StoreConformance() {
    const std::string path = GetParam() == Kind::memory ? ":memory:" : directory_.file("a=b.db");
    store_ = must(open_sqlite(path, {.durable = false}));
  }
  // One account, one host, two cards, two instances.
  void populate() {
    write(*store_, [](Tx& tx) {
      must(tx.accounts().insert(account("a1")));
      must(tx.hosts().upsert(host("h1")));
      must(tx.hosts().upsert_card(card("GPU-1", "h1", "0000:02:00.0")));
      must(tx.hosts().upsert_card(card("GPU-2", "h1", "0000:01:00.0")));
      must(tx.instances().insert(instance("i1")));
      must(tx.instances().insert(instance("i2")));
    });
  }
  Status try_write(const std::function<Status(Tx&)>& body) { return store_->write(body); }

  TemporaryDirectory directory_;
  std::unique_ptr<SqlStore> store_;
};
INSTANTIATE_TEST_SUITE_P(Sqlite, StoreConformance, testing::Values(Kind::memory, Kind::disk),
                         [](const auto& info) {
                           return info.param == Kind::memory ? "memory" : "disk";
                         });

TEST_P(StoreConformance, AccountsComeBackAsWritten) {
  Account a = account("a1");
  write(*store_, [&](Tx& tx) { must(tx.accounts().insert(a)); });
  EXPECT_EQ(shown(a),
            shown(read(*store_, [](Tx& tx) { return must(tx.accounts().find({"a1"})); })));
  a.next_settlement_at = Timestamp{kBig};
  a.role = Role::renter;
  a.version = kBig;
  write(*store_, [&](Tx& tx) { must(tx.accounts().update(a)); });
  EXPECT_EQ(
      shown(a),
      shown(read(*store_, [](Tx& tx) { return must(tx.accounts().find_login("login-a1")); })));
  EXPECT_EQ("nothing",
            shown(read(*store_, [](Tx& tx) { return must(tx.accounts().find({"x"})); })));
  EXPECT_EQ(1, read(*store_, [](Tx& tx) { return must(tx.accounts().count()); }));
}

TEST_P(StoreConformance, ARowThatIsNotThereIsNotFound) {
  EXPECT_EQ(ErrorCode::not_found,
            code_of(try_write([](Tx& tx) { return tx.accounts().update(account("a9")); })));
  EXPECT_EQ(
      ErrorCode::not_found,
      code_of(try_write([](Tx& tx) { return tx.accounts().set_next_settlement({"a9"}, kNow); })));
  EXPECT_EQ(ErrorCode::not_found, code_of(try_write([](Tx& tx) {
              Instance i = instance("i9");
              return tx.instances().update(i);
            })));
  EXPECT_EQ(ErrorCode::not_found, code_of(try_write([](Tx& tx) {
              return tx.instances().update_operation(operation("o9", "i9"));
            })));
  EXPECT_EQ(
      ErrorCode::not_found,
      code_of(try_write([](Tx& tx) { return tx.ledger().update_segment(segment("s9", kNow)); })));
}

TEST_P(StoreConformance, ALoginIsUnique) {
  write(*store_, [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
  Account other = account("a2");
  other.login = "login-a1";
  EXPECT_EQ(ErrorCode::conflict,
            code_of(try_write([&](Tx& tx) { return tx.accounts().insert(other); })));
  // A refused row leaves the transaction usable.
  write(*store_, [&](Tx& tx) {
    EXPECT_FALSE(tx.accounts().insert(other));
    must(tx.accounts().insert(account("a3")));
  });
  EXPECT_EQ(2, read(*store_, [](Tx& tx) { return must(tx.accounts().count()); }));
}

TEST_P(StoreConformance, AccountsAreDueInOrder) {
  write(*store_, [](Tx& tx) {
    for (int i = 1; i <= 5; ++i) must(tx.accounts().insert(account(fmt::format("a{}", i))));
    must(tx.accounts().set_next_settlement({"a1"}, at(30)));
    must(tx.accounts().set_next_settlement({"a2"}, at(10)));
    must(tx.accounts().set_next_settlement({"a3"}, at(20)));
    must(tx.accounts().set_next_settlement({"a4"}, at(21)));
    must(tx.accounts().set_next_settlement({"a4"}, std::nullopt));
  });
  const auto due = [&](Timestamp now, int limit) {
    return ids(read(*store_, [&](Tx& tx) { return must(tx.accounts().due(now, limit)); }));
  };
  EXPECT_EQ("", due(at(9), 10));
  EXPECT_EQ("a2 a3 ", due(at(29), 10));
  EXPECT_EQ("a2 a3 a1 ", due(at(30), 10));
  EXPECT_EQ("a2 ", due(at(30), 1));
}

TEST_P(StoreConformance, TokensAndTheirEnd) {
  const auto token = [](const std::string& id, TokenKind kind, int64_t second) {
    return Token{.id = {id},
                 .account_id = {"a1"},
                 .kind = kind,
                 .instance_id = std::nullopt,
                 .name = "laptop",
                 .secret_hash = "hash",
                 .scopes = "read money",
                 .created_at = at(second),
                 .expires_at = std::nullopt};
  };
  populate();
  Token guest = token("k3", TokenKind::instance, 3);
  guest.instance_id = InstanceId{"i1"};
  Token old = token("k4", TokenKind::api, 4);
  old.expires_at = at(100);
  write(*store_, [&](Tx& tx) {
    must(tx.accounts().insert_token(token("k1", TokenKind::session, 1)));
    must(tx.accounts().insert_token(token("k2", TokenKind::session, 2)));
    must(tx.accounts().insert_token(guest));
    must(tx.accounts().insert_token(old));
  });
  const auto tokens = [&] {
    return ids(read(*store_, [](Tx& tx) { return must(tx.accounts().tokens({"a1"})); }));
  };
  EXPECT_EQ("k4 k3 k2 k1 ", tokens());
  EXPECT_EQ(shown(guest),
            shown(read(*store_, [](Tx& tx) { return must(tx.accounts().find_token({"k3"})); })));
  write(*store_, [](Tx& tx) { must(tx.accounts().delete_sessions({"a1"}, {"k2"})); });
  EXPECT_EQ("k4 k3 k2 ", tokens());
  write(*store_, [](Tx& tx) { must(tx.accounts().delete_expired_tokens(at(99))); });
  EXPECT_EQ("k4 k3 k2 ", tokens());
  write(*store_, [](Tx& tx) { must(tx.accounts().delete_expired_tokens(at(100))); });
  EXPECT_EQ("k3 k2 ", tokens());
  write(*store_, [](Tx& tx) { must(tx.accounts().delete_tokens_of({"i1"})); });
  EXPECT_EQ("k2 ", tokens());
  write(*store_, [](Tx& tx) {
    EXPECT_TRUE(must(tx.accounts().delete_token({"k2"})));
    EXPECT_FALSE(must(tx.accounts().delete_token({"k2"})));
  });
  EXPECT_EQ("", tokens());
}

TEST_P(StoreConformance, SshKeysBelongToTheirAccount) {
  populate();
  const auto key = [](const std::string& id, const std::string& fingerprint, int64_t second) {
    return SshKey{{id}, {"a1"}, "laptop", "ssh-ed25519 AAAA x", fingerprint, at(second)};
  };
  write(*store_, [&](Tx& tx) {
    must(tx.accounts().insert_ssh_key(key("p1", "SHA256:1", 2)));
    must(tx.accounts().insert_ssh_key(key("p2", "SHA256:2", 1)));
  });
  EXPECT_EQ(ErrorCode::conflict, code_of(try_write([&](Tx& tx) {
              return tx.accounts().insert_ssh_key(key("p3", "SHA256:1", 3));
            })));
  EXPECT_EQ("p2 p1 ",
            ids(read(*store_, [](Tx& tx) { return must(tx.accounts().ssh_keys({"a1"})); })));
  write(*store_, [](Tx& tx) {
    EXPECT_FALSE(must(tx.accounts().delete_ssh_key({"a2"}, {"p1"})));
    EXPECT_TRUE(must(tx.accounts().delete_ssh_key({"a1"}, {"p1"})));
  });
  const auto left = read(*store_, [](Tx& tx) { return must(tx.accounts().ssh_keys({"a1"})); });
  ASSERT_EQ(1u, left.size());
  EXPECT_EQ(shown(key("p2", "SHA256:2", 1)), shown(left.front()));
}

TEST_P(StoreConformance, AnInvitationIsUsedOnce) {
  populate();
  Invitation invitation{{"v1"}, "code", {"a1"}, kNow, at(100), std::nullopt};
  write(*store_, [&](Tx& tx) {
    must(tx.accounts().insert(account("a2")));
    must(tx.accounts().insert_invitation(invitation));
    EXPECT_TRUE(must(tx.accounts().use_invitation({"v1"}, {"a2"})));
    EXPECT_FALSE(must(tx.accounts().use_invitation({"v1"}, {"a1"})));
  });
  invitation.used_by = AccountId{"a2"};
  EXPECT_EQ(
      shown(invitation),
      shown(read(*store_, [](Tx& tx) { return must(tx.accounts().find_invitation("code")); })));
}

TEST_P(StoreConformance, HostsCardsAndPricesAreReplaced) {
  populate();
  Host changed = host("h1");
  changed.reachable = false;
  changed.last_seen_at = at(5);
  Card moved = card("GPU-1", "h1", "0000:00:00.0");
  moved.numa_node = 1;
  moved.fault = "XID 79";
  write(*store_, [&](Tx& tx) {
    must(tx.hosts().upsert(changed));
    must(tx.hosts().upsert_card(moved));
    must(tx.hosts().set_price({"rtx-4090", Mode::on_demand, Money{1}}));
    must(tx.hosts().set_price({"rtx-4090", Mode::on_demand, Money{1'980'000}}));
    must(tx.hosts().set_price({"", Mode::no_gpu, Money{100'000}}));
  });
  const auto hosts = read(*store_, [](Tx& tx) { return must(tx.hosts().all()); });
  ASSERT_EQ(1u, hosts.size());
  EXPECT_EQ(shown(changed), shown(hosts[0]));
  const auto cards = read(*store_, [](Tx& tx) { return must(tx.hosts().cards()); });
  ASSERT_EQ(2u, cards.size());
  EXPECT_EQ(shown(moved), shown(cards[0]));
  EXPECT_EQ("GPU-2", cards[1].uuid.text);
  const auto prices = read(*store_, [](Tx& tx) { return must(tx.hosts().prices()); });
  ASSERT_EQ(2u, prices.size());
  EXPECT_EQ("|no_gpu|", shown(prices[0]).substr(1, 8));
  EXPECT_EQ(Money{1'980'000}, prices[1].per_hour);
}

TEST_P(StoreConformance, ACardHasOneActiveOwner) {
  populate();
  write(*store_, [](Tx& tx) {
    must(tx.hosts().insert_allocation({{"c1"}, {"GPU-1"}, {"i1"}, kNow, std::nullopt}));
    must(tx.hosts().insert_allocation({{"c2"}, {"GPU-2"}, {"i2"}, kNow, std::nullopt}));
  });
  const auto grant = [](Tx& tx) {
    return tx.hosts().insert_allocation({{"c3"}, {"GPU-1"}, {"i2"}, at(1), std::nullopt});
  };
  EXPECT_EQ(ErrorCode::conflict, code_of(try_write(grant)));
  write(*store_, [](Tx& tx) { must(tx.hosts().release_allocations({"i1"}, at(1))); });
  must(try_write(grant));
  EXPECT_EQ("c3 c2 ",
            ids(read(*store_, [](Tx& tx) { return must(tx.hosts().active_allocations()); })));
  const auto of_first =
      read(*store_, [](Tx& tx) { return must(tx.hosts().active_allocations_of({"i1"})); });
  EXPECT_EQ("", ids(of_first));
  const auto of_second =
      read(*store_, [](Tx& tx) { return must(tx.hosts().active_allocations_of({"i2"})); });
  EXPECT_EQ("c3 c2 ", ids(of_second));
  // Released for good: a second release does not move the time.
  EXPECT_TRUE(of_second[0].released_at == std::nullopt);
}

TEST_P(StoreConformance, ANumberHasOneOwner) {
  populate();
  const auto claim = [](int64_t number, const std::string& owner) {
    return Claim{{"h1"}, ClaimKind::ssh_port, number, {owner}};
  };
  const auto free_number = [&](int64_t first, int64_t last) {
    return read(*store_,
                [&](Tx& tx) {
                  return must(tx.hosts().free_number({"h1"}, ClaimKind::ssh_port, first, last));
                })
        .value_or(-1);
  };
  EXPECT_EQ(100, free_number(100, 105));
  write(*store_, [&](Tx& tx) {
    for (int64_t n : {100, 101, 103, 105}) must(tx.hosts().insert_claim(claim(n, "i1")));
    must(tx.hosts().insert_claim({{"h1"}, ClaimKind::ipv4, 102, {"i2"}}));
  });
  EXPECT_EQ(ErrorCode::conflict,
            code_of(try_write([&](Tx& tx) { return tx.hosts().insert_claim(claim(103, "i2")); })));
  EXPECT_EQ(99, free_number(99, 105));
  EXPECT_EQ(102, free_number(100, 105));
  EXPECT_EQ(104, free_number(103, 105));
  EXPECT_EQ(-1, free_number(100, 101));
  EXPECT_EQ(-1, free_number(105, 105));
  EXPECT_EQ(106, free_number(105, 106));
  EXPECT_EQ(-1, free_number(7, 6));
  EXPECT_EQ(5u, read(*store_, [](Tx& tx) { return must(tx.hosts().claims()); }).size());
  write(*store_, [](Tx& tx) { must(tx.hosts().delete_claims({"i1"})); });
  const auto left = read(*store_, [](Tx& tx) { return must(tx.hosts().claims()); });
  ASSERT_EQ(1u, left.size());
  EXPECT_EQ("0h1|0ipv4|102|0i2|", shown(left[0]));
}

TEST_P(StoreConformance, InstancesComeBackAsWritten) {
  populate();
  Instance i = instance("i1");
  EXPECT_EQ(shown(i),
            shown(read(*store_, [](Tx& tx) { return must(tx.instances().find({"i1"})); })));
  i.run_id = RunId{"r1"};
  i.ready_at = at(1);
  i.last_seen_running_at = at(2);
  i.stopped_at = at(3);
  i.bin_until = at(4);
  i.fault_what_zh = "显卡掉线";
  i.mode = Mode::no_gpu;
  write(*store_, [&](Tx& tx) { must(tx.instances().update(i)); });
  EXPECT_EQ(1, i.version);
  EXPECT_EQ(shown(i),
            shown(read(*store_, [](Tx& tx) { return must(tx.instances().find({"i1"})); })));
}

TEST_P(StoreConformance, AnOldVersionIsRefused) {
  populate();
  Instance mine = instance("i1");
  Instance theirs = instance("i1");
  write(*store_, [&](Tx& tx) { must(tx.instances().update(theirs)); });
  mine.name = "late";
  EXPECT_EQ(ErrorCode::conflict,
            code_of(try_write([&](Tx& tx) { return tx.instances().update(mine); })));
  EXPECT_EQ(0, mine.version);
  EXPECT_EQ(shown(theirs),
            shown(read(*store_, [](Tx& tx) { return must(tx.instances().find({"i1"})); })));
}

TEST_P(StoreConformance, InstancesAreFoundByIdOrName) {
  populate();
  write(*store_, [](Tx& tx) {
    must(tx.accounts().insert(account("a2")));
    Instance third = instance("i3");
    third.name = "名字 i1";
    must(tx.instances().insert(third));
    Instance gone = instance("i4");
    gone.name = "名字 i2";
    gone.observed = Observed::purged;
    must(tx.instances().insert(gone));
  });
  const auto named = [&](const std::string& account_id, const std::string& name) {
    return ids(
        read(*store_, [&](Tx& tx) { return must(tx.instances().find_named({account_id}, name)); }));
  };
  EXPECT_EQ("i1 ", named("a1", "i1"));
  EXPECT_EQ("i1 i3 ", named("a1", "名字 i1"));
  EXPECT_EQ("i2 ", named("a1", "名字 i2"));
  EXPECT_EQ("i4 ", named("a1", "i4"));
  EXPECT_EQ("", named("a2", "i1"));
  EXPECT_EQ("", named("a1", "名字"));
}

TEST_P(StoreConformance, PagesOfInstancesAreStable) {
  populate();
  write(*store_, [](Tx& tx) {
    must(tx.accounts().insert(account("a2")));
    for (int n = 10; n < 30; ++n) {
      Instance i = instance(fmt::format("i{}", n));
      i.created_at = at(n / 4);  // four at a time
      if (n % 5 == 0) i.observed = Observed::purged;
      if (n % 7 == 0) i.account_id = {"a2"};
      must(tx.instances().insert(i));
    }
  });
  const auto walk = [&](const InstanceFilter& filter, int limit) {
    std::string out;
    Page page{.after = "", .limit = limit};
    for (int added = 30;; ++added) {
      const auto rows =
          read(*store_, [&](Tx& tx) { return must(tx.instances().page(filter, page)); });
      if (rows.empty()) return out;
      out += ids(rows);
      page.after = rows.back().id.text;
      // A newer one that comes meanwhile moves nothing.
      write(*store_, [&](Tx& tx) {
        Instance newer = instance(fmt::format("n{}{}{}", limit, filter.with_purged, added));
        newer.created_at = at(1000);
        newer.observed = Observed::purged;
        must(tx.instances().insert(newer));
      });
    }
  };
  InstanceFilter of_one{.account = AccountId{"a2"}, .with_purged = true};
  EXPECT_EQ("i28 i21 i14 ", walk(of_one, 2));
  InstanceFilter alive{.account = AccountId{"a1"}, .with_purged = false};
  EXPECT_EQ("i29 i27 i26 i24 i23 i22 i19 i18 i17 i16 i13 i12 i11 i2 i1 ", walk(alive, 4));
  const auto every = read(*store_, [](Tx& tx) {
    return must(tx.instances().page({.account = {}, .with_purged = false}, {"", 100}));
  });
  EXPECT_EQ("i29 i28 i27 i26 i24 i23 i22 i21 i19 i18 i17 i16 i14 i13 i12 i11 i2 i1 ", ids(every));
}

TEST_P(StoreConformance, PagesOfAccountsAreStable) {
  write(*store_, [](Tx& tx) {
    for (int n = 10; n < 20; ++n) must(tx.accounts().insert(account(fmt::format("a{}", n))));
  });
  std::string seen;
  Page page{.after = "", .limit = 3};
  for (;;) {
    const auto rows = read(*store_, [&](Tx& tx) { return must(tx.accounts().page(page)); });
    if (rows.empty()) break;
    seen += ids(rows);
    page.after = rows.back().id.text;
    write(*store_, [](Tx& tx) { tx.accounts().insert(account("a0")); });
  }
  EXPECT_EQ("a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 ", seen);
}

TEST_P(StoreConformance, InstancesThatNeedAttention) {
  populate();
  write(*store_, [](Tx& tx) {
    const auto insert = [&](const std::string& id, Observed observed, Desired desired,
                            std::optional<Timestamp> bin_until) {
      Instance i = instance(id);
      i.observed = observed;
      i.desired = desired;
      i.bin_until = bin_until;
      must(tx.instances().insert(i));
    };
    insert("i3", Observed::starting, Desired::running, std::nullopt);
    insert("i4", Observed::stopping, Desired::stopped, std::nullopt);
    insert("i5", Observed::in_bin, Desired::released, at(20));
    insert("i6", Observed::in_bin, Desired::released, at(10));
    insert("i7", Observed::in_bin, Desired::purged, at(10));
    insert("i8", Observed::purged, Desired::purged, at(10));
    must(tx.instances().insert_operation(operation("o4", "i4")));
  });
  EXPECT_EQ("i3 i7 ", ids(read(*store_, [](Tx& tx) { return must(tx.instances().forgotten()); })));
  const auto expired = [&](Timestamp now, int limit) {
    return ids(read(*store_, [&](Tx& tx) { return must(tx.instances().bin_expired(now, limit)); }));
  };
  EXPECT_EQ("", expired(at(9), 9));
  EXPECT_EQ("i6 ", expired(at(10), 9));
  EXPECT_EQ("i6 i5 ", expired(at(20), 9));
  EXPECT_EQ("i6 ", expired(at(20), 1));
  EXPECT_EQ("i1 i2 i3 i4 i5 i6 i7 ",
            ids(read(*store_, [](Tx& tx) { return must(tx.instances().alive()); })));
  EXPECT_EQ("i1 i2 i3 i4 i5 i6 i7 ",
            ids(read(*store_, [](Tx& tx) { return must(tx.instances().of_account({"a1"})); })));
  EXPECT_EQ(7 * 80 * kGiB,
            read(*store_, [](Tx& tx) { return must(tx.instances().disk_quota_sum({"h1"})); }));
  EXPECT_EQ(0, read(*store_, [](Tx& tx) { return must(tx.instances().disk_quota_sum({"h2"})); }));
}

TEST_P(StoreConformance, AnInstanceHasOnePendingOperation) {
  populate();
  Operation first = operation("o1", "i1");
  write(*store_, [&](Tx& tx) { must(tx.instances().insert_operation(first)); });
  EXPECT_EQ(ErrorCode::conflict, code_of(try_write([](Tx& tx) {
              return tx.instances().insert_operation(operation("o2", "i1"));
            })));
  first.state = OperationState::done;
  first.deadline = at(9);
  first.last_error = "none";
  write(*store_, [&](Tx& tx) {
    must(tx.instances().update_operation(first));
    must(tx.instances().insert_operation(operation("o2", "i1")));
  });
  EXPECT_EQ(
      shown(first),
      shown(read(*store_, [](Tx& tx) { return must(tx.instances().find_operation({"o1"})); })));
  EXPECT_EQ(
      shown(operation("o2", "i1")),
      shown(read(*store_, [](Tx& tx) { return must(tx.instances().pending_operation({"i1"})); })));
  EXPECT_EQ(
      "nothing",
      shown(read(*store_, [](Tx& tx) { return must(tx.instances().pending_operation({"i2"})); })));
}

TEST_P(StoreConformance, OperationsAreClaimedWhenDue) {
  populate();
  write(*store_, [](Tx& tx) {
    Operation later = operation("o1", "i1");
    later.not_before = at(10);
    must(tx.instances().insert_operation(later));
    must(tx.instances().insert_operation(operation("o2", "i2")));
  });
  const auto claim = [&](Timestamp now, const std::string& token) {
    std::optional<Operation> out;
    write(*store_, [&](Tx& tx) {
      out = must(tx.instances().claim_operation(now, token, now + seconds(30)));
    });
    return out ? out->id.text + " " + out->lock_token : "nothing";
  };
  const auto next = [&] {
    return read(*store_, [](Tx& tx) { return must(tx.instances().next_operation_at()); });
  };
  EXPECT_EQ(kNow, next());
  EXPECT_EQ("o2 w1", claim(at(0), "w1"));
  EXPECT_EQ(at(10), next());
  EXPECT_EQ("nothing", claim(at(0), "w2"));
  EXPECT_EQ("o1 w2", claim(at(10), "w2"));
  EXPECT_EQ(std::nullopt, next());
  EXPECT_EQ("nothing", claim(at(29), "w3"));
  EXPECT_EQ("o2 w3", claim(at(30), "w3"));  // the lock of w1 has expired
  const auto stored =
      read(*store_, [](Tx& tx) { return must(tx.instances().find_operation({"o2"})); });
  EXPECT_EQ("w3", stored->lock_token);
  EXPECT_EQ(at(60), stored->lock_expires_at);
  write(*store_, [](Tx& tx) { must(tx.instances().unlock_operations()); });
  EXPECT_EQ(kNow, next());
  EXPECT_EQ("o2 w4", claim(at(31), "w4"));
  EXPECT_EQ("o1 w5", claim(at(31), "w5"));
}

TEST_P(StoreConformance, TheLedgerKeepsBalances) {
  populate();
  write(*store_, [](Tx& tx) {
    must(tx.ledger().append(entry("t1", at(1), {{"clearing", -kBig}, {"wallet:a1", kBig}})));
    must(tx.ledger().append(entry(
        "t2", at(2), {{"wallet:a1", -700}, {"revenue:on_demand", 600}, {"revenue:no_gpu", 100}})));
  });
  const auto balance = [&](const std::string& name) {
    return read(*store_, [&](Tx& tx) { return must(tx.ledger().balance(name)); }).micro;
  };
  EXPECT_EQ(kBig - 700, balance("wallet:a1"));
  EXPECT_EQ(-kBig, balance("clearing"));
  EXPECT_EQ(600, balance("revenue:on_demand"));
  EXPECT_EQ(0, balance("write_off"));
  EXPECT_EQ(700, read(*store_, [](Tx& tx) { return must(tx.ledger().posted_for({"s1"})); }).micro);
  EXPECT_EQ(0, read(*store_, [](Tx& tx) { return must(tx.ledger().posted_for({"s2"})); }).micro);
  EXPECT_TRUE(read(*store_, [](Tx& tx) { return must(tx.ledger().unproven_balances()); }).empty());
  const auto postings = read(*store_, [](Tx& tx) { return must(tx.ledger().postings({"t2"})); });
  ASSERT_EQ(3u, postings.size());
  EXPECT_EQ("0t2|1|0revenue:on_demand|600|0s1|", shown(postings[1]));
  EXPECT_EQ(ErrorCode::conflict, code_of(try_write([](Tx& tx) {
              return tx.ledger().append(entry("t1", at(3), {{"x", 1}, {"y", -1}}));
            })));
}

TEST_P(StoreConformance, TransactionsInPages) {
  populate();
  LedgerEntry last = entry("t99", at(99), {{"clearing", 5}, {"wallet:a1", -5}});
  last.transaction.corrects = TransactionId{"t10"};
  last.transaction.instance_id = InstanceId{"i1"};
  last.transaction.note = "退款";
  write(*store_, [&](Tx& tx) {
    for (int n = 10; n < 19; ++n) {
      must(tx.ledger().append(entry(fmt::format("t{}", n), at(n / 3), {{"x", 1}, {"y", -1}})));
    }
    must(tx.ledger().append(last));
  });
  std::string seen;
  Page page{.after = "", .limit = 4};
  for (;;) {
    const auto rows =
        read(*store_, [&](Tx& tx) { return must(tx.ledger().transactions({"a1"}, page)); });
    if (rows.empty()) break;
    if (seen.empty()) EXPECT_EQ(shown(last.transaction), shown(rows.front()));
    seen += ids(rows);
    page.after = rows.back().id.text;
  }
  EXPECT_EQ("t99 t18 t17 t16 t15 t14 t13 t12 t11 t10 ", seen);
}

TEST_P(StoreConformance, SegmentsOpenAndClose) {
  populate();
  Segment first = segment("s1", at(0));
  Segment second = segment("s2", at(10));
  second.instance_id = {"i2"};
  second.run_id = {"r2"};
  Segment minimum = segment("s3", at(10));
  minimum.meter = Meter::minimum;
  minimum.closed_at = at(10);
  minimum.close_cause = Cause::renter;
  write(*store_, [&](Tx& tx) {
    for (const Segment& s : {first, second, minimum}) must(tx.ledger().insert_segment(s));
  });
  EXPECT_EQ("s1 s2 ",
            ids(read(*store_, [](Tx& tx) { return must(tx.ledger().open_segments({"a1"})); })));
  first.closed_at = at(10);
  first.close_cause = Cause::arrears;
  first.posted = Money{kBig};
  write(*store_, [&](Tx& tx) { must(tx.ledger().update_segment(first)); });
  EXPECT_EQ("",
            ids(read(*store_, [](Tx& tx) { return must(tx.ledger().open_segments_of({"i1"})); })));
  const auto of_second =
      read(*store_, [](Tx& tx) { return must(tx.ledger().open_segments_of({"i2"})); });
  ASSERT_EQ(1u, of_second.size());
  EXPECT_EQ(shown(second), shown(of_second[0]));
  const auto of_run =
      read(*store_, [](Tx& tx) { return must(tx.ledger().segments_of_run({"r1"})); });
  ASSERT_EQ("s1 s3 ", ids(of_run));
  EXPECT_EQ(shown(first), shown(of_run[0]));

  const auto between = [&](std::optional<Timestamp> from, std::optional<Timestamp> to,
                           std::optional<InstanceId> id) {
    return ids(read(*store_, [&](Tx& tx) {
      return must(tx.ledger().segments({{"a1"}, from, to, id}));
    }));
  };
  EXPECT_EQ("s1 s2 s3 ", between({}, {}, {}));
  EXPECT_EQ("s1 ", between({}, at(10), {}));
  EXPECT_EQ("s2 s3 ", between(at(10), {}, {}));
  EXPECT_EQ("s1 s2 s3 ", between(at(9), at(11), {}));
  EXPECT_EQ("s2 ", between(at(11), at(12), {}));
  EXPECT_EQ("s1 s3 ", between({}, {}, InstanceId{"i1"}));
}

TEST_P(StoreConformance, EventsAreInOrder) {
  const AccountId a1{"a1"};
  const AccountId a2{"a2"};
  const InstanceId i1{"i1"};
  write(*store_, [&](Tx& tx) {
    must(tx.events().append(event("one", a1, i1)));
    must(tx.events().append(event("two", a2, std::nullopt)));
    must(tx.events().append(event("three", std::nullopt, std::nullopt)));
  });
  write(*store_, [&](Tx& tx) {
    must(tx.events().append(event("four", a1, std::nullopt)));
    must(tx.events().append(event("five", a2, i1)));
  });
  const auto kinds = [](const std::vector<Event>& events) {
    std::string out;
    for (const Event& e : events) out += fmt::format("{}:{} ", e.seq, e.kind);
    return out;
  };
  using MaybeAccount = std::optional<AccountId>;
  using MaybeInstance = std::optional<InstanceId>;
  const auto after = [&](int64_t seq, MaybeAccount who, MaybeInstance what, int limit) {
    return kinds(
        read(*store_, [&](Tx& tx) { return must(tx.events().after(seq, who, what, limit)); }));
  };
  const auto latest = [&](MaybeAccount who, MaybeInstance what, int limit) {
    return kinds(read(*store_, [&](Tx& tx) { return must(tx.events().latest(who, what, limit)); }));
  };
  EXPECT_EQ("1:one 2:two 3:three 4:four 5:five ", after(0, {}, {}, 9));
  EXPECT_EQ("3:three 4:four ", after(2, {}, {}, 2));
  EXPECT_EQ("4:four ", after(1, a1, {}, 9));
  EXPECT_EQ("1:one 5:five ", after(0, {}, i1, 9));
  EXPECT_EQ("1:one ", after(0, a1, i1, 9));
  EXPECT_EQ("", after(5, {}, {}, 9));
  EXPECT_EQ("4:four 5:five ", latest({}, {}, 2));
  EXPECT_EQ("1:one 4:four ", latest(a1, {}, 9));
  EXPECT_EQ("5:five ", latest({}, i1, 1));
  EXPECT_EQ("5:five ", latest(a2, i1, 9));
  Event first = event("one", a1, i1);
  first.seq = 1;
  EXPECT_EQ(shown(first),
            shown(read(*store_, [](Tx& tx) { return must(tx.events().after(0, {}, {}, 1)); })[0]));
}

TEST_P(StoreConformance, AnswersAndSettings) {
  const IdempotentAnswer answer{"a1", "key", "hash", "i1", kNow};
  write(*store_, [&](Tx& tx) {
    must(tx.keys().insert_answer(answer));
    must(tx.keys().insert_answer({"a2", "key", "hash", "i2", at(1)}));
    must(tx.keys().set_setting("deployment", "one"));
    must(tx.keys().set_setting("deployment", "two"));
  });
  EXPECT_EQ(ErrorCode::conflict,
            code_of(try_write([&](Tx& tx) { return tx.keys().insert_answer(answer); })));
  const auto find = [&](const std::string& who) {
    return shown(read(*store_, [&](Tx& tx) { return must(tx.keys().find_answer(who, "key")); }));
  };
  EXPECT_EQ(shown(answer), find("a1"));
  write(*store_, [](Tx& tx) { must(tx.keys().delete_answers_before(at(1))); });
  EXPECT_EQ("nothing", find("a1"));
  EXPECT_NE("nothing", find("a2"));
  EXPECT_EQ("two",
            read(*store_, [](Tx& tx) { return must(tx.keys().find_setting("deployment")); }));
  EXPECT_EQ(std::nullopt,
            read(*store_, [](Tx& tx) { return must(tx.keys().find_setting("nothing")); }));
}

TEST_P(StoreConformance, IntegersKeepAll64Bits) {
  populate();
  for (int64_t value : {int64_t{0}, int64_t{-1}, int64_t{1} << 31, -(int64_t{1} << 31) - 1, kBig,
                        INT64_MAX, INT64_MIN}) {
    Account a = account("a1");
    a.next_settlement_at = Timestamp{value};
    write(*store_, [&](Tx& tx) { must(tx.accounts().update(a)); });
    const auto back = read(*store_, [](Tx& tx) { return must(tx.accounts().find({"a1"})); });
    EXPECT_EQ(Timestamp{value}, back->next_settlement_at);
  }
}

TEST_P(StoreConformance, TextKeepsEveryByte) {
  std::string value = "\"'`;%_:name $1 ? \\ \n 卡时 \xF0\x9F\x8E\x89";
  value += std::string(100'000, 'x');
  write(*store_, [&](Tx& tx) { must(tx.keys().set_setting(value, value)); });
  EXPECT_EQ(value, read(*store_, [&](Tx& tx) { return must(tx.keys().find_setting(value)); }));
  write(*store_, [&](Tx& tx) { must(tx.keys().set_setting("empty", "")); });
  EXPECT_EQ("", read(*store_, [&](Tx& tx) { return must(tx.keys().find_setting("empty")); }));
}

TEST_P(StoreConformance, AnErrorRollsBack) {
  const Status status = try_write([](Tx& tx) -> Status {
    must(tx.accounts().insert(account("a1")));
    return fail(ErrorCode::no_capacity, text("no card is free", "没有空闲的卡"));
  });
  EXPECT_EQ(ErrorCode::no_capacity, code_of(status));
  EXPECT_EQ(0, read(*store_, [](Tx& tx) { return must(tx.accounts().count()); }));
}

TEST_P(StoreConformance, AnExceptionRollsBackAndGoesOn) {
  struct Crash {};
  EXPECT_THROW(try_write([](Tx& tx) -> Status {
                 must(tx.accounts().insert(account("a1")));
                 throw Crash{};
               }),
               Crash);
  EXPECT_THROW(store_->read([](Tx& tx) -> Status {
    must(tx.accounts().count());
    throw Crash{};
  }),
               Crash);
  write(*store_, [](Tx& tx) { must(tx.accounts().insert(account("a2"))); });
  EXPECT_EQ(1, read(*store_, [](Tx& tx) { return must(tx.accounts().count()); }));
}

TEST_P(StoreConformance, ARowThatPointsNowhereIsRefusedAtCommit) {
  const Status status = try_write([](Tx& tx) {
    must(tx.instances().insert(instance("i1")));
    return tx.accounts().insert(account("a1"));  // but no host
  });
  EXPECT_EQ(ErrorCode::internal, code_of(status));
  EXPECT_EQ(0, read(*store_, [](Tx& tx) { return must(tx.accounts().count()); }));
  populate();  // the order within a transaction is free, and the store goes on
}

TEST_P(StoreConformance, AFailureThatIsPassedOverDoomsTheTransaction) {
  const Status status = try_write([](Tx& tx) -> Status {
    must(tx.accounts().insert(account("a1")));
    EXPECT_FALSE(tx.hosts().set_price({"x", Mode::on_demand, Money{-1}}));  // a CHECK of the schema
    EXPECT_FALSE(tx.accounts().count());
    return {};
  });
  EXPECT_EQ(ErrorCode::internal, code_of(status));
  EXPECT_EQ(0, read(*store_, [](Tx& tx) { return must(tx.accounts().count()); }));
}

TEST_P(StoreConformance, ThreadsTakeTurns) {
  constexpr int kThreads = 2;
  constexpr int kEach = 100;
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) {
        write(*store_, [](Tx& tx) {
          const auto old = must(tx.keys().find_setting("n")).value_or("0");
          must(tx.keys().set_setting("n", std::to_string(std::stoi(old) + 1)));
          must(tx.events().append(event("counted", std::nullopt, std::nullopt)));
        });
        read(*store_, [](Tx& tx) { return must(tx.events().latest({}, {}, 5)); });
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(std::to_string(kThreads * kEach),
            read(*store_, [](Tx& tx) { return must(tx.keys().find_setting("n")); }));
  const auto last = read(*store_, [](Tx& tx) { return must(tx.events().latest({}, {}, 1)); });
  EXPECT_EQ(kThreads * kEach, last[0].seq);
}

TEST_P(StoreConformance, BackupAndIntegrity) {
  populate();
  must(store_->check_integrity());
  const std::string copy = directory_.file("it's a copy.db");
  std::ofstream(copy) << "an earlier copy";
  must(store_->backup_to(copy));
  write(*store_, [](Tx& tx) { must(tx.accounts().insert(account("a2"))); });
  struct stat info {};
  ASSERT_EQ(0, ::stat(copy.c_str(), &info));
  EXPECT_EQ(0600u, info.st_mode & 0777u);
  EXPECT_FALSE(std::filesystem::exists(copy + ".partial"));
  auto restored = must(open_sqlite(copy));
  must(restored->check_integrity());
  EXPECT_EQ(1, read(*restored, [](Tx& tx) { return must(tx.accounts().count()); }));
  EXPECT_EQ(ErrorCode::store_unavailable,
            code_of(store_->backup_to(directory_.file("no/such/directory.db"))));
}

using StoreDeathTest = StoreConformance;
INSTANTIATE_TEST_SUITE_P(Sqlite, StoreDeathTest, testing::Values(Kind::memory));

TEST_P(StoreDeathTest, ATransactionInsideATransactionIsABug) {
  EXPECT_DEATH((void)try_write([&](Tx&) { return try_write([](Tx&) { return Status{}; }); }),
               "inside a store transaction");
  EXPECT_DEATH((void)store_->read([&](Tx&) { return try_write([](Tx&) { return Status{}; }); }),
               "inside a store transaction");
}

TEST_P(StoreDeathTest, AChangeInsideAReadIsABug) {
  EXPECT_DEATH((void)store_->read([](Tx& tx) { return tx.accounts().insert(account("a1")); }),
               "outside a write transaction");
}

TEST_P(StoreDeathTest, AnUnbalancedEntryIsABug) {
  EXPECT_DEATH((void)try_write([](Tx& tx) {
                 return tx.ledger().append(entry("t1", kNow, {{"x", 1}, {"y", -2}}));
               }),
               "sum to zero");
}

// SQLite's own.

TEST(SqliteStore, AReaderSeesOneSnapshotAndIsNotBlocked) {
  TemporaryDirectory directory;
  auto store = must(open_sqlite(directory.file("db"), {.durable = false}));
  write(*store, [](Tx& tx) { must(tx.keys().set_setting("n", "1")); });
  const auto n = [](Tx& tx) { return must(tx.keys().find_setting("n")).value_or(""); };
  const auto in_thread = [](auto body) { std::thread(body).join(); };
  must(store->write([&](Tx& tx) -> Status {
    must(tx.keys().set_setting("n", "2"));
    in_thread([&] { EXPECT_EQ("1", read(*store, n)); });  // while the writer is at work
    return {};
  }));
  must(store->read([&](Tx& tx) -> Status {
    EXPECT_EQ("2", n(tx));
    in_thread([&] { write(*store, [](Tx& w) { must(w.keys().set_setting("n", "3")); }); });
    EXPECT_EQ("2", n(tx));
    return {};
  }));
  EXPECT_EQ("3", read(*store, n));
}

TEST(SqliteStore, MoreReadersThanConnectionsWait) {
  TemporaryDirectory directory;
  auto store = must(open_sqlite(directory.file("db"), {.readers = 1, .durable = false}));
  std::atomic<int> reads = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n)
        reads += read(*store, [](Tx& tx) { return must(tx.accounts().count()) == 0 ? 1 : 0; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(200, reads);
}

TEST(SqliteStore, ReopenedItHasWhatWasCommitted) {
  TemporaryDirectory directory;
  const std::string path = directory.file("db");
  write(*must(open_sqlite(path)), [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
  struct stat info {};
  ASSERT_EQ(0, ::stat(path.c_str(), &info));
  EXPECT_EQ(0600u, info.st_mode & 0777u);
  auto store = must(open_sqlite(path));
  EXPECT_EQ(1, read(*store, [](Tx& tx) { return must(tx.accounts().count()); }));
  EXPECT_FALSE(std::filesystem::exists(path + ".before-0001"));
}

TEST(SqliteStore, AnotherProcessThatHoldsItIsUnavailable) {
  TemporaryDirectory directory;
  const std::string path = directory.file("db");
  auto store = must(open_sqlite(path, {.busy_timeout = std::chrono::milliseconds(10)}));
  auto other = must(sql::Connection::open({.path = path}));
  must(other->begin_write());
  const auto insert = [](Tx& tx) { return tx.accounts().insert(account("a1")); };
  EXPECT_EQ(ErrorCode::store_unavailable, code_of(store->write(insert)));
  other->rollback();
  must(store->write(insert));
}

TEST(SqliteStore, APathThatCannotBeOpenedIsUnavailable) {
  TemporaryDirectory directory;
  const auto none = open_sqlite(directory.file("no/such/directory/db"));
  ASSERT_FALSE(none);
  EXPECT_EQ(ErrorCode::store_unavailable, none.error().code);
  const auto quoted = open_sqlite("a\"b");
  ASSERT_FALSE(quoted);
  EXPECT_EQ(ErrorCode::invalid_argument, quoted.error().code);
}

TEST(SqliteStore, AFileThatIsNoDatabaseIsRefused) {
  TemporaryDirectory directory;
  std::ofstream(directory.file("db")) << std::string(4096, 'x');
  const auto store = open_sqlite(directory.file("db"));
  ASSERT_FALSE(store);
  EXPECT_EQ(ErrorCode::internal, store.error().code);
}

// Grows the database until it is refused; the error it was refused with.
std::optional<Error> fill(Store& store) {
  const std::string ballast(50'000, 'x');
  for (int n = 0; n < 200; ++n) {
    const Status status = store.write(
        [&](Tx& tx) { return tx.keys().set_setting(fmt::format("ballast{}", n), ballast); });
    if (!status) return status.error();
  }
  return std::nullopt;
}

// No file of the process may grow beyond this while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    old_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    rlimit lower{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*old_handler_)(int) = nullptr;
};

TEST(SqliteStore, AFileThatCannotGrowIsUnavailableAndRecovers) {
  TemporaryDirectory directory;
  auto store = must(open_sqlite(directory.file("db"), {.durable = false}));
  {
    FileSizeLimit limit(1'000'000);
    const auto error = fill(*store);
    ASSERT_TRUE(error);
    EXPECT_EQ(ErrorCode::store_unavailable, error->code);
    EXPECT_EQ(0, read(*store, [](Tx& tx) { return must(tx.accounts().count()); }));
  }
  write(*store, [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
  must(store->check_integrity());
}

// A file system of its own, in memory; needs the right to mount.
class SmallDisk {
 public:
  SmallDisk() { mounted_ = ::mount("tmpfs", directory_.path.c_str(), "tmpfs", 0, "size=1m") == 0; }
  ~SmallDisk() {
    if (mounted_) ::umount2(directory_.path.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  bool remount(unsigned long flags, const char* data) {
    return ::mount("tmpfs", directory_.path.c_str(), "tmpfs", MS_REMOUNT | flags, data) == 0;
  }
  std::string file(const std::string& name) const { return directory_.file(name); }

 private:
  TemporaryDirectory directory_;
  bool mounted_ = false;
};

TEST(SqliteStore, AFullDiskIsUnavailableAndRecovers) {
  SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  auto store = must(open_sqlite(disk.file("db")));
  const auto error = fill(*store);
  ASSERT_TRUE(error);
  EXPECT_EQ(ErrorCode::store_unavailable, error->code);
  EXPECT_EQ("数据库所在磁盘已满", error->what.zh);
  EXPECT_EQ(ErrorCode::store_unavailable, code_of(store->backup_to(disk.file("copy.db"))));
  EXPECT_FALSE(std::filesystem::exists(disk.file("copy.db.partial")));
  ASSERT_TRUE(disk.remount(0, "size=8m"));
  write(*store, [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
  must(store->backup_to(disk.file("copy.db")));
  must(store->check_integrity());
}

TEST(SqliteStore, AReadOnlyDiskIsUnavailableAndRecovers) {
  SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  // A file system with a file open for writing cannot become read-only; so it is a database
  // that is opened on it.
  must(open_sqlite(disk.file("db")));
  ASSERT_TRUE(disk.remount(MS_RDONLY, "size=1m"));
  const auto refused = open_sqlite(disk.file("db"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(ErrorCode::store_unavailable, refused.error().code);
  ASSERT_TRUE(disk.remount(0, "size=1m"));
  write(*must(open_sqlite(disk.file("db"))),
        [](Tx& tx) { must(tx.accounts().insert(account("a1"))); });
}

TEST(SqliteConnection, AReadOnlyDatabaseIsUnavailableAndRecovers) {
  auto connection = must(sql::Connection::open({.path = ":memory:"}));
  must(connection->execute("create table t (n integer)"));
  const auto insert = [&]() -> Status {
    TRY(connection->begin_write());
    Status status = connection->run("insert into t (n) values (:n)", 1);
    return status ? connection->commit() : (connection->rollback(), status);
  };
  must(connection->execute("pragma query_only = on"));
  EXPECT_EQ(ErrorCode::store_unavailable, code_of(insert()));
  must(connection->execute("pragma query_only = off"));
  must(insert());
}

TEST(SqliteConnection, ARowThatDoesNotFitIsNamed) {
  auto connection = must(sql::Connection::open({.path = ":memory:"}));
  must(
      connection->execute("create table prices (model text, mode text, per_hour integer);"
                          "insert into prices values ('x', 'free', 1)"));
  const auto select = [&] {
    return connection->select<Price>(sql::select_sql<Price>("prices", "order by per_hour"));
  };
  const auto strange = select();
  ASSERT_FALSE(strange);
  EXPECT_EQ("a row of the database does not fit: column mode: unknown word \"free\"",
            strange.error().what.en);
  must(connection->execute("update prices set mode = null"));
  EXPECT_FALSE(select());
  must(connection->execute("update prices set mode = 'no_gpu'"));
  EXPECT_EQ(1u, must(select()).size());
  EXPECT_FALSE(connection->value<int>("select 3000000000"));
  EXPECT_FALSE(connection->select<int>("select no_such_column from prices"));
}

// Migrations.

class Migrations : public testing::Test {
 protected:
  std::unique_ptr<sql::Connection> connect() {
    return must(sql::Connection::open({.path = path_, .durable = false}));
  }
  std::string copy(int number) const { return fmt::format("{}.before-{:04}", path_, number); }
  static int version(sql::Connection& connection) {
    return must(connection.value<int>("select max(version) from schema_version"));
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("db");
  const std::span<const sql::Migration> all_ = sql::embedded_migrations();
};

TEST_F(Migrations, AreNumberedAsTheirFiles) {
  ASSERT_FALSE(all_.empty());
  for (size_t i = 0; i < all_.size(); ++i) {
    EXPECT_EQ(static_cast<int>(i) + 1, all_[i].number);
    EXPECT_EQ(fmt::format("{:04}_", i + 1), all_[i].name.substr(0, 5));
  }
}

TEST_F(Migrations, AnOlderDatabaseIsCopiedFirst) {
  {
    auto connection = connect();
    must(sql::migrate(*connection, all_.first(3), path_));
    must(connection->begin_write());
    must(connection->run(sql::insert_sql<Account>("accounts"), account("a1")));
    must(connection->commit());
  }
  auto store = must(open_sqlite(path_));
  EXPECT_EQ(1, read(*store, [](Tx& tx) { return must(tx.accounts().count()); }));
  ASSERT_TRUE(std::filesystem::exists(copy(4)));
  auto before = must(sql::Connection::open({.path = copy(4)}));
  EXPECT_EQ(3, version(*before));
  EXPECT_EQ(1, must(before->value<int>("select count(*) from accounts")));
}

TEST_F(Migrations, ANewerDatabaseIsRefusedUntouched) {
  must(sql::migrate(*connect(), all_, path_));
  const Status refused = sql::migrate(*connect(), all_.first(3), path_);
  EXPECT_EQ(ErrorCode::conflict, code_of(refused));
  EXPECT_EQ(
      fmt::format("the database is at schema {}, this Cardhour knows schemas up to 3", all_.size()),
      refused.error().what.en);
  EXPECT_FALSE(refused.error().next.zh.empty());
  EXPECT_EQ(static_cast<int>(all_.size()), version(*connect()));
}

TEST_F(Migrations, AForeignDatabaseIsRefused) {
  must(connect()->execute("create table accounts (id text)"));
  EXPECT_EQ(ErrorCode::conflict, code_of(sql::migrate(*connect(), all_, path_)));
}

TEST_F(Migrations, AFailedStepLeavesTheStepBefore) {
  const sql::Migration steps[] = {{1, "0001_one", "create table one (n integer);"},
                                  {2, "0002_two", "create table two (n integer); oops;"}};
  const Status failed = sql::migrate(*connect(), steps, path_);
  EXPECT_EQ(ErrorCode::internal, code_of(failed));
  EXPECT_EQ(0u, failed.error().what.en.find("migration 0002_two: "));
  EXPECT_EQ(1, version(*connect()));
  const sql::Migration mended[] = {steps[0], {2, "0002_two", "create table two (n integer);"}};
  must(sql::migrate(*connect(), mended, path_));
  EXPECT_EQ(2, version(*connect()));
  EXPECT_TRUE(std::filesystem::exists(copy(2)));
}

// What SQLite says about one step of a query.
struct PlanRow {
  int id = 0;
  int parent = 0;
  int unused = 0;
  std::string detail;
};
BOOST_DESCRIBE_STRUCT(PlanRow, (), (id, parent, unused, detail))

// Every query for what is due reads an index, and sorts nothing.
TEST_F(Migrations, DueQueriesUseTheirIndexes) {
  auto connection = connect();
  must(sql::migrate(*connection, all_, path_));
  struct Row {
    const char* index;
    const char* query;
  };
  const Row rows[] = {
      {"accounts_due",
       "select id from accounts where next_settlement_at <= 1"
       " order by next_settlement_at, id limit 9"},
      {"operations_due",
       "select id from operations where state = 'pending' and not_before <= 1"
       " and (lock_token = '' or lock_expires_at <= 1) order by not_before, id limit 1"},
      {"instances_bin",
       "select id from instances where observed = 'in_bin' and bin_until <= 1"
       " and desired <> 'purged' order by bin_until, id limit 9"},
      {"instances_moving",
       "select id from instances"
       " where (observed IN ('creating', 'starting', 'stopping', 'releasing')"
       " OR (desired = 'purged' AND observed <> 'purged')) order by id"},
      {"segments_open_of_account",
       "select id from segments where account_id = 'a' and closed_at is null"},
      {"segments_open_of_instance",
       "select id from segments where instance_id = 'i' and closed_at is null"},
      {"segments_of_run", "select id from segments where run_id = 'r'"},
      {"events_of_account", "select * from events where seq > 1 and account_id = 'a' order by seq"},
      {"events_of_instance",
       "select * from events where seq > 1 and instance_id = 'i' order by seq"},
      {"ledger_transactions_of_account",
       "select * from ledger_transactions where account_id = 'a' order by at desc, id desc"},
      {"instances_of_account",
       "select * from instances where account_id = 'a' order by created_at desc, id desc"},
  };
  for (const Row& row : rows) {
    std::string plan;
    for (const PlanRow& step :
         must(connection->select<PlanRow>(std::string("explain query plan ") + row.query))) {
      plan += step.detail + "; ";
    }
    EXPECT_NE(std::string::npos, plan.find(std::string("INDEX ") + row.index + " ")) << plan;
    EXPECT_EQ(std::string::npos, plan.find("TEMP B-TREE")) << plan;
  }
}

}  // namespace
}  // namespace cardhour
