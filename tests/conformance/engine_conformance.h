// The conformance suite of the Engine port: what every adapter must do, the simulated one
// and Incus alike. A test program includes this file once and says:
//
//   INSTANTIATE_TEST_SUITE_P(Sim, EngineConformance, testing::Values(EngineAdapter{
//       "sim", [] { return std::make_unique<SimWorld>(); }}), engine_adapter_name);
//
// A factory that returns null skips the test: the adapter's outside is not there.
// Single-threaded. No test sleeps by itself: time passes through EngineWorld::pass().
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ports/engine.h"

namespace cardhour {

// An engine with an outside, made anew for each test and cleaned up by its destructor.
class EngineWorld {
 public:
  virtual ~EngineWorld() = default;
  virtual Engine& engine() = 0;
  // A spec that can be created: id, address, port and id map unused, with a data disk.
  virtual EngineSpec fresh_spec() = 0;
  virtual GuestIdentity identity(const EngineSpec& spec) = 0;
  // A shape that can be started; with as many cards as the world has, at most one.
  virtual EngineShape shape() = 0;
  virtual void pass(Duration time) = 0;
  // An instance of somebody else that runs beside ours, and whether it still does.
  virtual void add_foreign() = 0;
  virtual bool foreign_runs() = 0;
};

struct EngineAdapter {
  std::string name;
  std::function<std::unique_ptr<EngineWorld>()> make;
};

inline std::string engine_adapter_name(const testing::TestParamInfo<EngineAdapter>& info) {
  return info.param.name;
}

class EngineConformance : public testing::TestWithParam<EngineAdapter> {
 protected:
  void SetUp() override {
    world_ = GetParam().make();
    if (world_ == nullptr) GTEST_SKIP() << "no " << GetParam().name << " here";
  }

  Engine& engine() { return world_->engine(); }
  EngineWorld& world() { return *world_; }

  bool eventually(const std::function<bool()>& predicate, Duration deadline = seconds(60)) {
    constexpr Duration kStep = milliseconds(200);
    for (Duration waited; waited <= deadline; waited = waited + kStep) {
      if (predicate()) return true;
      world_->pass(kStep);
    }
    return false;
  }
  // The engine's word about an instance; a test that uses it expects an answer.
  std::optional<EngineInstance> look(const InstanceId& id) {
    auto found = engine().find(id);
    EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().what.en);
    return found ? *found : std::nullopt;
  }
  bool has_status(const InstanceId& id, EngineStatus status) {
    const auto found = look(id);
    return found && found->status == status;
  }
  bool becomes(const InstanceId& id, EngineStatus status) {
    return eventually([&] { return has_status(id, status); });
  }
  bool is_listed(const InstanceId& id) {
    const auto all = engine().list();
    EXPECT_TRUE(all.has_value());
    return all && std::ranges::find(*all, id, &EngineInstance::id) != all->end();
  }
  void expect_ok(const Status& status) {
    EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().what.en);
  }
  EngineSpec created() {
    EngineSpec spec = world_->fresh_spec();
    expect_ok(engine().ensure_created(spec, world_->identity(spec)));
    return spec;
  }
  EngineSpec running() {
    EngineSpec spec = created();
    expect_ok(engine().ensure_started(spec, world_->shape()));
    EXPECT_TRUE(becomes(spec.id, EngineStatus::running));
    return spec;
  }
  EngineSpec ready() {
    EngineSpec spec = running();
    EXPECT_TRUE(eventually([&] { return banner(spec); }));
    return spec;
  }
  bool banner(const EngineSpec& spec) {
    const auto answers = engine().ssh_answers(spec, milliseconds(500));
    return answers && *answers;
  }

 private:
  std::unique_ptr<EngineWorld> world_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EngineConformance);

TEST_P(EngineConformance, TellsOfItsHosts) {
  const auto hosts = engine().hosts();
  ASSERT_TRUE(hosts.has_value());
  ASSERT_FALSE(hosts->empty());
  EXPECT_FALSE(hosts->front().name.empty());
  EXPECT_FALSE(hosts->front().version.empty());
  EXPECT_GT(hosts->front().cpu_total, 0);
  EXPECT_GT(hosts->front().memory_bytes, 0);
  EXPECT_GT(hosts->front().pool_total_bytes, 0);
  EXPECT_GE(hosts->front().pool_used_bytes, 0);
}

TEST_P(EngineConformance, ListsTheImages) {
  const auto images = engine().images();
  ASSERT_TRUE(images.has_value());
  EXPECT_NE(std::ranges::find(*images, "base"), images->end());
}

TEST_P(EngineConformance, KnowsNothingOfWhatWasNeverMade) {
  const EngineSpec spec = world().fresh_spec();
  EXPECT_EQ(look(spec.id), std::nullopt);
  EXPECT_FALSE(is_listed(spec.id));
  EXPECT_FALSE(engine().ensure_started(spec, world().shape()).has_value());
  EXPECT_FALSE(banner(spec));
}

TEST_P(EngineConformance, CreatesStoppedAndTwiceIsNothing) {
  const EngineSpec spec = created();
  EXPECT_TRUE(has_status(spec.id, EngineStatus::stopped));
  EXPECT_TRUE(is_listed(spec.id));
  expect_ok(engine().ensure_created(spec, world().identity(spec)));
  EXPECT_TRUE(has_status(spec.id, EngineStatus::stopped));
}

// What a database that has lost an instance needs to know of it.
TEST_P(EngineConformance, DescribesWhatAnInstanceIsMadeOf) {
  const EngineSpec spec = created();
  EXPECT_EQ(engine().describe(world().fresh_spec().id).value(), std::nullopt);
  const auto fresh = engine().describe(spec.id);
  ASSERT_TRUE(fresh.has_value() && fresh->has_value());
  const EngineSpec& made = (*fresh)->spec;
  EXPECT_EQ(made.id, spec.id);
  EXPECT_EQ(made.account, spec.account);
  EXPECT_EQ(made.image, spec.image);
  EXPECT_EQ(made.system_disk_bytes, spec.system_disk_bytes);
  EXPECT_EQ(made.data_disk_bytes, spec.data_disk_bytes);
  EXPECT_EQ(made.nesting, spec.nesting);
  EXPECT_EQ(made.ipv4, spec.ipv4);
  EXPECT_EQ(made.idmap_base, spec.idmap_base);
  EXPECT_EQ(made.ssh_port, spec.ssh_port);
  EXPECT_EQ((*fresh)->seen.status, EngineStatus::stopped);
  const EngineShape shape = world().shape();
  expect_ok(engine().ensure_started(spec, shape));
  ASSERT_TRUE(becomes(spec.id, EngineStatus::running));
  const auto running = engine().describe(spec.id);
  ASSERT_TRUE(running.has_value() && running->has_value());
  EXPECT_EQ((*running)->seen.run, look(spec.id)->run);
  EXPECT_EQ((*running)->millicores, shape.millicores);
  EXPECT_EQ((*running)->memory_bytes, shape.memory_bytes);
  EXPECT_GT((*running)->generation, (*fresh)->generation);
  ASSERT_EQ((*running)->cards.size(), shape.cards.size());
  for (size_t i = 0; i < shape.cards.size(); ++i) {
    EXPECT_EQ((*running)->cards[i], shape.cards[i].uuid);
  }
  expect_ok(engine().force_stop(spec.id));
}

TEST_P(EngineConformance, RefusesAnUnknownImage) {
  EngineSpec spec = world().fresh_spec();
  spec.image = "no-such-image";
  EXPECT_FALSE(engine().ensure_created(spec, world().identity(spec)).has_value());
  EXPECT_EQ(look(spec.id), std::nullopt);
  expect_ok(engine().ensure_removed(spec.id));
}

TEST_P(EngineConformance, StartsAndTwiceIsTheSameRun) {
  const EngineSpec spec = running();
  const std::string run = look(spec.id)->run;
  EXPECT_FALSE(run.empty());
  expect_ok(engine().ensure_started(spec, world().shape()));
  ASSERT_TRUE(becomes(spec.id, EngineStatus::running));
  EXPECT_EQ(look(spec.id)->run, run);
}

TEST_P(EngineConformance, GivesABannerOnlyWhileItRuns) {
  const EngineSpec spec = created();
  EXPECT_FALSE(banner(spec));
  expect_ok(engine().ensure_started(spec, world().shape()));
  EXPECT_TRUE(eventually([&] { return banner(spec); }));
  expect_ok(engine().force_stop(spec.id));
  ASSERT_TRUE(becomes(spec.id, EngineStatus::stopped));
  EXPECT_FALSE(banner(spec));
}

TEST_P(EngineConformance, EveryStartHasItsOwnMark) {
  const EngineSpec spec = running();
  const std::string first = look(spec.id)->run;
  expect_ok(engine().force_stop(spec.id));
  ASSERT_TRUE(becomes(spec.id, EngineStatus::stopped));
  expect_ok(engine().ensure_started(spec, world().shape()));
  ASSERT_TRUE(becomes(spec.id, EngineStatus::running));
  EXPECT_NE(look(spec.id)->run, first);
}

TEST_P(EngineConformance, ShutsDownAndTwiceIsNothing) {
  const EngineSpec spec = ready();
  expect_ok(engine().shut_down(spec.id, seconds(30)));
  ASSERT_TRUE(becomes(spec.id, EngineStatus::stopped));
  expect_ok(engine().shut_down(spec.id, seconds(30)));
  EXPECT_TRUE(has_status(spec.id, EngineStatus::stopped));
  EXPECT_TRUE(is_listed(spec.id));
}

TEST_P(EngineConformance, ForcesAndTwiceIsNothing) {
  const EngineSpec spec = running();
  expect_ok(engine().force_stop(spec.id));
  ASSERT_TRUE(becomes(spec.id, EngineStatus::stopped));
  expect_ok(engine().force_stop(spec.id));
  EXPECT_TRUE(has_status(spec.id, EngineStatus::stopped));
}

TEST_P(EngineConformance, NeverRemovesWhatRuns) {
  const EngineSpec spec = running();
  const Status removed = engine().ensure_removed(spec.id);
  ASSERT_FALSE(removed.has_value());
  EXPECT_EQ(removed.error().code, ErrorCode::engine_failed);
  EXPECT_TRUE(has_status(spec.id, EngineStatus::running));
}

TEST_P(EngineConformance, RemovesAndTwiceIsNothing) {
  const EngineSpec spec = created();
  expect_ok(engine().ensure_removed(spec.id));
  EXPECT_EQ(look(spec.id), std::nullopt);
  EXPECT_FALSE(is_listed(spec.id));
  expect_ok(engine().ensure_removed(spec.id));
  // The same id can be made again: nothing of it was left behind.
  expect_ok(engine().ensure_created(spec, world().identity(spec)));
  EXPECT_TRUE(has_status(spec.id, EngineStatus::stopped));
}

TEST_P(EngineConformance, ShowsExactlyTheCardsOfTheRun) {
  const EngineSpec spec = created();
  EXPECT_FALSE(engine().visible_cards(spec.id).has_value());
  const EngineShape shape = world().shape();
  expect_ok(engine().ensure_started(spec, shape));
  ASSERT_TRUE(eventually([&] { return banner(spec); }));
  const auto visible = engine().visible_cards(spec.id);
  ASSERT_TRUE(visible.has_value()) << visible.error().what.en;
  ASSERT_EQ(visible->size(), shape.cards.size());
  for (size_t i = 0; i < shape.cards.size(); ++i) {
    EXPECT_EQ(visible->at(i).uuid, shape.cards[i].uuid);
  }
}

TEST_P(EngineConformance, BringsIdentityAndNoticeInOnlyWhileItRuns) {
  const EngineSpec spec = created();
  EXPECT_FALSE(engine().apply_identity(spec.id, world().identity(spec)).has_value());
  EXPECT_FALSE(engine().put_notice(spec.id, "{}").has_value());
  expect_ok(engine().ensure_started(spec, world().shape()));
  ASSERT_TRUE(eventually([&] { return banner(spec); }));
  expect_ok(engine().apply_identity(spec.id, world().identity(spec)));
  expect_ok(engine().put_notice(spec.id, R"({"reason":"arrears"})"));
  expect_ok(engine().put_notice(spec.id, ""));
  expect_ok(engine().put_notice(spec.id, ""));
}

TEST_P(EngineConformance, AFreshPortCanBeBound) {
  const EngineSpec spec = created();
  const auto before = engine().port_is_free(spec.ssh_port);
  ASSERT_TRUE(before.has_value());
  EXPECT_TRUE(*before);
}

TEST_P(EngineConformance, LeavesForeignInstancesAlone) {
  world().add_foreign();
  const auto before = engine().list();
  ASSERT_TRUE(before.has_value());
  EXPECT_TRUE(before->empty());
  const EngineSpec spec = running();
  expect_ok(engine().force_stop(spec.id));
  ASSERT_TRUE(becomes(spec.id, EngineStatus::stopped));
  expect_ok(engine().ensure_removed(spec.id));
  EXPECT_TRUE(world().foreign_runs());
}

TEST_P(EngineConformance, SeveralInstancesDoNotDisturbEachOther) {
  const EngineSpec a = running();
  const EngineSpec b = created();
  expect_ok(engine().ensure_removed(b.id));
  EXPECT_TRUE(has_status(a.id, EngineStatus::running));
  EXPECT_EQ(look(b.id), std::nullopt);
}

}  // namespace cardhour
