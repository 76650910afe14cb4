// What every Store must do, run on each kind of database.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "adapters/sql/sql_store.h"
#include "adapters/sql/store_test_rows.h"

namespace cardhour {
namespace {

using namespace store_test;

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
                         [](const auto& which) {
                           return which.param == Kind::memory ? "memory" : "disk";
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

TEST_P(StoreConformance, ConditionsAreOneOfAKindForEachCard) {
  populate();
  CardCondition condition{{"GPU-1"}, ConditionKind::unfit, "memory_held", "", "system", kNow};
  write(*store_, [&](Tx& tx) {
    must(tx.card_health().set_condition(condition));
    condition.reason = "process_left";
    must(tx.card_health().set_condition(condition));
    CardCondition other = condition;
    other.kind = ConditionKind::excluded;
    must(tx.card_health().set_condition(other));
  });
  const auto rows = read(*store_, [](Tx& tx) { return must(tx.card_health().conditions()); });
  ASSERT_EQ(2u, rows.size());
  EXPECT_EQ(ConditionKind::excluded, rows[0].kind);
  EXPECT_EQ(condition, rows[1]);
  write(*store_, [&](Tx& tx) {
    EXPECT_TRUE(must(tx.card_health().delete_condition({"GPU-1"}, ConditionKind::unfit)));
    EXPECT_FALSE(must(tx.card_health().delete_condition({"GPU-1"}, ConditionKind::unfit)));
  });
  EXPECT_EQ(1u, read(*store_, [](Tx& tx) { return must(tx.card_health().conditions()); }).size());
  condition.card_uuid = {"GPU-9"};
  EXPECT_FALSE(try_write([&](Tx& tx) { return tx.card_health().set_condition(condition); }));
}

TEST_P(StoreConformance, XidsAreCounted) {
  populate();
  write(*store_, [](Tx& tx) {
    must(tx.card_health().count_xid({"GPU-1"}, 31, kNow));
    must(tx.card_health().count_xid({"GPU-1"}, 79, kNow + seconds(1)));
    must(tx.card_health().count_xid({"GPU-1"}, 31, kNow + seconds(2)));
  });
  const auto rows = read(*store_, [](Tx& tx) { return must(tx.card_health().xids()); });
  ASSERT_EQ(2u, rows.size());
  EXPECT_EQ((CardXid{{"GPU-1"}, 31, 2, kNow, kNow + seconds(2)}), rows[0]);
  EXPECT_EQ(79, rows[1].code);
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
  guest.cookie_hash = "another hash";
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
  EXPECT_EQ("0|0no_gpu|100000|", shown(prices[0]));
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
  i.notice_deadline = at(2);
  i.notice_reason = "arrears";
  i.guest_current = false;
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
    Instance stale = instance("i2");
    stale.guest_current = false;
    must(tx.instances().update(stale));
  });
  EXPECT_EQ("i2 i3 i7 ",
            ids(read(*store_, [](Tx& tx) { return must(tx.instances().forgotten()); })));
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
    if (seen.empty()) {
      EXPECT_EQ(shown(last.transaction), shown(rows.front()));
    }
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
    return kinds(read(*store_, [&](Tx& tx) {
      return must(tx.events().after(seq, {who, what, {}}, limit));
    }));
  };
  const auto before = [&](int64_t seq, const EventFilter& filter, int limit) {
    return kinds(
        read(*store_, [&](Tx& tx) { return must(tx.events().before(seq, filter, limit)); }));
  };
  const auto latest = [&](MaybeAccount who, MaybeInstance what, int limit) {
    return before(INT64_MAX, {who, what, {}}, limit);
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
  EXPECT_EQ("2:two 3:three ", before(4, {}, 2));
  EXPECT_EQ("1:one ", before(4, {a1, {}, {}}, 9));
  const std::string actor = event("", a1, i1).actor;
  EXPECT_EQ("1:one 2:two ", before(3, {{}, {}, actor}, 9));
  EXPECT_EQ("", before(3, {{}, {}, actor + "x"}, 9));
  Event first = event("one", a1, i1);
  first.seq = 1;
  EXPECT_EQ(shown(first),
            shown(read(*store_, [](Tx& tx) { return must(tx.events().after(0, {}, 1)); })[0]));
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
        read(*store_, [](Tx& tx) { return must(tx.events().before(INT64_MAX, {}, 5)); });
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(std::to_string(kThreads * kEach),
            read(*store_, [](Tx& tx) { return must(tx.keys().find_setting("n")); }));
  const auto last =
      read(*store_, [](Tx& tx) { return must(tx.events().before(INT64_MAX, {}, 1)); });
  EXPECT_EQ(kThreads * kEach, last[0].seq);
}

TEST_P(StoreConformance, RestoresAndAdoptions) {
  populate();
  EXPECT_EQ(std::nullopt, read(*store_, [](Tx& tx) { return must(tx.restores().latest()); }));
  Restore first{at(1), "one.db", std::nullopt, std::nullopt};
  write(*store_, [&](Tx& tx) {
    must(tx.restores().put(Restore{at(2), "two.db", at(3), std::nullopt}));
    must(tx.restores().put(first));
    first.rested_at = at(4);
    must(tx.restores().put(first));
  });
  const auto latest = read(*store_, [](Tx& tx) { return must(tx.restores().latest()); });
  EXPECT_EQ(at(2), latest->restored_at);
  EXPECT_EQ(at(3), latest->rested_at);

  const Adoption found{{"i2"}, AdoptionKind::run, {"a-gone"}, kBig, at(9)};
  write(*store_, [&](Tx& tx) {
    must(tx.restores().put_adoption(found));
    must(tx.restores().put_adoption({{"i1"}, AdoptionKind::instance, {"a1"}, 1, at(10)}));
    must(tx.restores().put_adoption(found));
  });
  const auto all = read(*store_, [](Tx& tx) { return must(tx.restores().adoptions()); });
  ASSERT_EQ(2u, all.size());
  EXPECT_EQ(shown(found), shown(all[0]));
  write(*store_, [&](Tx& tx) { must(tx.restores().delete_adoption({"i2"})); });
  EXPECT_EQ(std::nullopt, read(*store_, [](Tx& tx) {
              const auto gone = must(tx.restores().find_adoption({"i2"}));
              return gone ? std::optional<int64_t>(gone->generation) : std::nullopt;
            }));
  // An adoption is of an instance that is there.
  EXPECT_FALSE(
      try_write([&](Tx& tx) {
        return tx.restores().put_adoption({{"no-such"}, AdoptionKind::run, {"a1"}, 1, at(1)});
      }).has_value());
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

}  // namespace
}  // namespace cardhour
