// The queries that stand in for a look at everything: they answer as the long way would.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>

#include "adapters/sql/sql_store.h"
#include "adapters/sql/store_test_rows.h"

namespace cardhour {
namespace {

using namespace store_test;

constexpr int kNoGpuSlots = 2;

// What domain/placement.h looks at, from every row.
std::vector<HostSpace> spaces_the_long_way(Tx& tx, const std::string& model) {
  std::set<CardId> busy;
  for (const Allocation& a : must(tx.hosts().active_allocations())) busy.insert(a.card_uuid);
  std::set<CardId> out;
  for (const CardCondition& c : must(tx.card_health().conditions())) out.insert(c.card_uuid);
  std::vector<HostSpace> spaces;
  for (const Host& row : must(tx.hosts().all())) {
    if (!row.reachable) continue;
    HostSpace space{
        .host = row.id, .disk_free_bytes = row.pool_total_bytes, .no_gpu_slots_free = kNoGpuSlots};
    for (const Instance& i : must(tx.instances().alive())) {
      if (i.host_id != row.id) continue;
      space.disk_free_bytes -= i.system_disk_bytes + i.data_disk_bytes;
      if (i.mode == Mode::no_gpu && i.run_id) --space.no_gpu_slots_free;
    }
    for (const Card& c : must(tx.hosts().cards_of(row.id))) {
      ++space.cards_total;
      if (busy.contains(c.uuid)) {
        ++space.cards_busy;
      } else if (c.present && c.fault.empty() && !out.contains(c.uuid) && c.model == model) {
        space.free_cards.push_back(FreeCard{c.uuid, c.pci_address, c.numa_node});
      }
    }
    spaces.push_back(std::move(space));
  }
  return spaces;
}

std::string shown(const std::optional<Placement>& placement) {
  return placement ? placement->host.text + ": " + ids(placement->cards) : "nowhere";
}

class ChangingHosts : public testing::Test {
 protected:
  static constexpr int kHosts = 5;
  static constexpr int kCards = 4;

  ChangingHosts() : store_(must(open_sqlite(":memory:"))) {
    write(*store_, [&](Tx& tx) {
      must(tx.accounts().insert(account("a1")));
      for (int h = 0; h < kHosts; ++h) {
        Host row = host(host_name(h));
        row.pool_total_bytes = 1'000;
        must(tx.hosts().upsert(row));
        for (int c = 0; c < kCards; ++c) must(tx.hosts().upsert_card(fresh_card(h, c)));
      }
    });
  }

  static std::string host_name(int number) { return fmt::format("h{}", number); }
  static Card fresh_card(int h, int c) {
    Card row = card(fmt::format("GPU-{}-{}", h, c), host_name(h), fmt::format("0000:0{}:00.0", c));
    row.model = c == 0 ? "a100" : "rtx-4090";
    row.numa_node = c / 2;
    return row;
  }
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  ConditionKind some_kind() {
    return below(2) == 0 ? ConditionKind::quarantine : ConditionKind::excluded;
  }

  // One change of the kinds that the product makes; what the guards refuse changes nothing.
  void change() {
    static_cast<void>(store_->write([&](Tx& tx) -> Status {
      const int h = below(kHosts);
      Card some = fresh_card(h, below(kCards));
      switch (below(8)) {
        case 0:
          some.fault = below(2) == 0 ? "XID 79" : "";
          some.present = below(4) != 0;
          return tx.hosts().upsert_card(some);
        case 1:  // moved to another host, perhaps
          some.host_id = {host_name(below(kHosts))};
          some.model = below(3) == 0 ? "a100" : "rtx-4090";
          return tx.hosts().upsert_card(some);
        case 2: {
          Host row = *must(tx.hosts().find({host_name(h)}));
          row.reachable = below(4) != 0;
          return tx.hosts().upsert(row);
        }
        case 3: {
          const auto alive = must(tx.instances().alive());
          if (alive.empty()) return {};
          Instance gone = alive[static_cast<size_t>(below(static_cast<int>(alive.size())))];
          gone.observed = Observed::purged;
          gone.run_id.reset();
          TRY(tx.hosts().release_allocations(gone.id, kNow));
          return tx.instances().update(gone);
        }
        case 4:
          return tx.card_health().set_condition(
              {some.uuid, some_kind(), "operator", "", "boss", kNow});
        case 5: {
          auto deleted = tx.card_health().delete_condition(some.uuid, some_kind());
          return deleted ? Status() : fail(deleted.error());
        }
        default:
          return add_instance(tx, h, some);
      }
    }));
  }

  Status add_instance(Tx& tx, int h, const Card& some) {
    Instance i = instance(fmt::format("i{}", ++made_));
    i.host_id = {host_name(h)};
    i.system_disk_bytes = below(300);
    i.data_disk_bytes = 0;
    i.run_id = RunId{"r1"};
    if (below(3) == 0) i.mode = Mode::no_gpu;
    TRY(tx.instances().insert(i));
    if (i.mode == Mode::no_gpu) return {};
    return tx.hosts().insert_allocation(
        {{fmt::format("c{}", made_)}, some.uuid, i.id, kNow, std::nullopt});
  }

  std::unique_ptr<SqlStore> store_;
  std::mt19937 random_{7};
  int made_ = 0;
};

TEST_F(ChangingHosts, TheBestSpaceIsTheOneThatPlaceTakes) {
  int placed = 0;
  for (int step = 0; step < 400; ++step) {
    change();
    PlacementRequest wanted{below(kCards + 1), below(400), std::nullopt};
    if (below(4) == 0) wanted.only_host = HostId{host_name(below(kHosts))};
    const std::string model = below(4) == 0 ? "a100" : "rtx-4090";
    const auto best = read(*store_, [&](Tx& tx) {
      return must(tx.hosts().best_space(SpaceWanted{wanted, model, kNoGpuSlots}));
    });
    const auto all = read(*store_, [&](Tx& tx) { return spaces_the_long_way(tx, model); });
    const auto expected = place(wanted, all);
    const auto found = best ? place(wanted, {*best}) : std::nullopt;
    ASSERT_EQ(shown(expected), shown(found)) << "step " << step;
    if (found) ++placed;
    if (!best) continue;
    for (const HostSpace& space : all) {
      if (space.host != best->host) continue;
      EXPECT_EQ(space.cards_total, best->cards_total);
      EXPECT_EQ(space.disk_free_bytes, best->disk_free_bytes);
    }
  }
  EXPECT_GT(placed, 100);  // and not only refusals
}

TEST_F(ChangingHosts, ModelsAreCountedOverHosts) {
  write(*store_, [&](Tx& tx) {
    Card gone = fresh_card(0, 1);
    gone.present = false;
    must(tx.hosts().upsert_card(gone));
    Host silent = *must(tx.hosts().find({"h1"}));
    silent.reachable = false;
    must(tx.hosts().upsert(silent));
    must(tx.instances().insert(instance("i1")));
    for (int h = 2; h < kHosts; ++h) {
      must(tx.hosts().insert_allocation(
          {{fmt::format("c{}", h)}, fresh_card(h, 2).uuid, {"i1"}, kNow, std::nullopt}));
    }
  });
  read(*store_, [](Tx& tx) {
    const auto models = must(tx.hosts().models());
    EXPECT_EQ(2u, models.size());
    EXPECT_EQ("a100", models[0].model);
    EXPECT_EQ(1, models[0].cards_free);
    EXPECT_EQ(3 - 1, models[1].cards_free);  // h1 has three, but is silent
    EXPECT_TRUE(models[1].simulated);
    EXPECT_TRUE(must(tx.hosts().has_model("a100")));
    EXPECT_FALSE(must(tx.hosts().has_model("h800")));
    return true;
  });
}

// A store with one account, one host with two cards, and three instances.
std::unique_ptr<SqlStore> store_with_instances() {
  auto store = must(open_sqlite(":memory:"));
  write(*store, [](Tx& tx) {
    must(tx.accounts().insert(account("a1")));
    must(tx.hosts().upsert(host("h1")));
    must(tx.hosts().upsert_card(card("GPU-1", "h1", "0000:02:00.0")));
    must(tx.hosts().upsert_card(card("GPU-2", "h1", "0000:01:00.0")));
    for (int n = 1; n <= 3; ++n) {
      Instance i = instance(fmt::format("i{}", n));
      i.created_at = at(n);
      must(tx.instances().insert(i));
    }
  });
  return store;
}

TEST(Overviews, ShowWhatBelongsToEach) {
  const auto store = store_with_instances();
  write(*store, [](Tx& tx) {
    Operation pending = operation("o1", "i2");
    pending.step = Step::boot;
    pending.last_error = "slow";
    must(tx.instances().insert_operation(pending));
    Operation done = operation("o2", "i1");
    done.state = OperationState::done;
    must(tx.instances().insert_operation(done));
    must(tx.hosts().insert_allocation({{"c1"}, {"GPU-2"}, {"i2"}, kNow, std::nullopt}));
    must(tx.hosts().insert_allocation({{"c2"}, {"GPU-1"}, {"i2"}, kNow, std::nullopt}));
    must(tx.hosts().insert_allocation({{"c0"}, {"GPU-1"}, {"i1"}, kNow, at(1)}));
    for (const char* id : {"s1", "s2", "s3"}) {
      Segment closed = segment(id, at(1));
      closed.instance_id = {"i2"};
      closed.posted = Money{7};
      closed.closed_at = at(2);
      closed.close_cause = Cause::renter;
      must(tx.ledger().insert_segment(closed));
    }
    Segment open = segment("s4", at(3));
    open.instance_id = {"i2"};
    must(tx.ledger().insert_segment(open));
  });
  const auto rows = read(*store, [](Tx& tx) {
    return must(tx.instances().overviews({.account = AccountId{"a1"}}, {"", 2}));
  });
  ASSERT_EQ(2u, rows.size());
  EXPECT_EQ("i3", rows[0].instance.id.text);
  EXPECT_EQ("login-a1", rows[0].owner);
  EXPECT_EQ("", rows[0].step);
  EXPECT_TRUE(rows[0].open.empty() && rows[0].cards.empty());
  EXPECT_EQ("boot slow", rows[1].step + " " + rows[1].last_error);
  EXPECT_EQ("GPU-1 GPU-2 ", ids(rows[1].cards));
  EXPECT_TRUE(rows[1].simulated);
  EXPECT_EQ(Money{21}, rows[1].closed_cost);
  EXPECT_EQ("s4 ", ids(rows[1].open));
  const auto rest = read(*store, [](Tx& tx) {
    return must(tx.instances().overviews({.account = AccountId{"a1"}}, {"i2", 2}));
  });
  ASSERT_EQ(1u, rest.size());
  EXPECT_EQ("i1", rest[0].instance.id.text);
  EXPECT_TRUE(rest[0].cards.empty());  // given back
  const auto one = read(*store, [](Tx& tx) {
    return must(tx.instances().overviews({.account = {}, .id = InstanceId{"i2"}}, {}));
  });
  ASSERT_EQ(1u, one.size());
  EXPECT_EQ(Money{21}, one[0].closed_cost);
}

TEST(Segments, BookingMovesWhatIsBookedAndNothingElse) {
  const auto store = store_with_instances();
  Segment s = segment("s1", at(1));
  write(*store, [&](Tx& tx) { must(tx.ledger().insert_segment(s)); });
  s.posted = Money{5};
  s.booked_until = at(9);
  Segment booked = s;
  booked.gpu_model = "not written";
  write(*store, [&](Tx& tx) { must(tx.ledger().book_segment(booked)); });
  const auto open = read(*store, [](Tx& tx) { return must(tx.ledger().open_segments({"a1"})); });
  ASSERT_EQ(1u, open.size());
  EXPECT_EQ(store_test::shown(s), store_test::shown(open[0]));
  EXPECT_EQ(
      ErrorCode::not_found,
      code_of(store->write([](Tx& tx) { return tx.ledger().book_segment(segment("s9", at(1))); })));
}

TEST(Instances, WarnedOnesAreFound) {
  const auto store = store_with_instances();
  write(*store, [](Tx& tx) {
    Instance warned = *must(tx.instances().find({"i2"}));
    warned.notice_reason = "arrears";
    must(tx.instances().update(warned));
    must(tx.hosts().insert_claim({{"h1"}, ClaimKind::ssh_port, 22'005, {"i2"}}));
    must(tx.hosts().insert_claim({{"h1"}, ClaimKind::ipv4, 7, {"i2"}}));
  });
  read(*store, [](Tx& tx) {
    EXPECT_EQ("i2 ", ids(must(tx.instances().warned({"a1"}))));
    EXPECT_EQ("", ids(must(tx.instances().warned({"a2"}))));
    EXPECT_EQ(std::vector<int64_t>{22'005}, must(tx.hosts().claimed_numbers(ClaimKind::ssh_port)));
    return true;
  });
}

// A writer that begins again at once does not get ahead of one that waits.
TEST(FairMutex, IsHandedOverInTheOrderOfArrival) {
  FairMutex mutex;
  std::string order;
  mutex.lock();
  std::thread waiter([&] {
    mutex.lock();
    order += "waiter ";
    mutex.unlock();
  });
  while (mutex.waiting() < 1) std::this_thread::yield();
  order += "first ";
  mutex.unlock();
  mutex.lock();
  order += "again";
  mutex.unlock();
  waiter.join();
  EXPECT_EQ("first waiter again", order);
}

}  // namespace
}  // namespace cardhour
