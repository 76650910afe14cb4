#include "sim/restore.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/enum_text.h"
#include "sim/invariants.h"
#include "sim/world.h"

namespace cardhour {
namespace {

constexpr int kRenters = 3;
constexpr int kStepsPerStretch = 25;

class RestoreLife {
 public:
  RestoreLife(uint64_t seed, bool with_faults, Paths& paths)
      : world_(WorldOptions{.seed = seed}), paths_(paths), random_(seed ^ 0xbac0) {
    for (int i = 0; i < kRenters; ++i) {
      renters_.push_back(world_.add_renter(fmt::format("renter-{}", i)));
      top_up(renters_.back());
    }
    if (!with_faults) return;
    for (Fault fault : {Fault::unavailable, Fault::lost_request, Fault::lost_answer,
                        Fault::crash_before, Fault::crash_inside, Fault::crash_after}) {
      world_.faults().set(fault, 3);
    }
  }

  std::vector<std::string> live() {
    stretch();
    world_.outside([&] { world_.take_backup(); });
    stretch();
    world_.outside([&] { world_.restore_backup(); });
    hurry();
    settle("after the restore");
    check_adopted();
    decide();
    stretch();
    settle("after the decisions");
    return broken_;
  }

 private:
  uint64_t below(uint64_t bound) { return random_.below(bound); }

  void top_up(const Actor& renter) {
    world_.outside([&] {
      const auto done = world_.plane().wallet.top_up(world_.admin(), renter.account,
                                                     Money{1'000'000'000}, "", {});
      CHECK(done.has_value(), "a top-up");
    });
  }

  std::vector<Instance> rows() {
    std::vector<Instance> all;
    const Status read = world_.store().read([&](Tx& tx) -> Status {
      TRY_ASSIGN(all, tx.instances().alive());
      return {};
    });
    CHECK(read.has_value(), "instances can be read");
    return all;
  }

  // What anybody may do; refusals are as good as anything.
  void act() {
    Instances& instances = world_.plane().instances;
    const Actor& renter = renters_[below(renters_.size())];
    const auto all = rows();
    const uint64_t kind = below(100);
    if (all.empty() || kind < 25) {
      RentRequest request;
      request.shape = shape();
      static_cast<void>(instances.rent(renter, request, {}));
      return;
    }
    const Instance& instance = all[below(all.size())];
    const std::string& id = instance.id.text;
    const Actor& by = world_.admin();
    if (kind < 50) {
      static_cast<void>(instances.start(by, id, shape(), {}));
    } else if (kind < 62) {
      static_cast<void>(instances.stop(by, id));
    } else if (kind < 67) {
      static_cast<void>(instances.restart(by, id));
    } else if (kind < 75) {
      static_cast<void>(instances.release(by, id));
    } else if (kind < 83) {
      static_cast<void>(instances.restore(by, id));
    } else if (kind < 90) {
      static_cast<void>(instances.purge(by, id, instance.name));
    } else if (kind < 94) {
      world_.engine().stop_behind_our_back(instance.id);
    } else if (kind < 96) {
      world_.engine().delete_behind_our_back(instance.id);
    } else if (kind < 98) {
      world_.restart();
    } else {
      world_.engine().reboot_host();
    }
  }

  ShapeRequest shape() {
    const uint64_t kind = below(10);
    if (kind < 3) return ShapeRequest{Mode::no_gpu, "", 0};
    if (kind < 5) return ShapeRequest{Mode::on_demand, "a100-80g", 1};
    return ShapeRequest{Mode::on_demand, "4090", 1 + static_cast<int>(below(2))};
  }

  void stretch() {
    for (int step = 0; step < kStepsPerStretch; ++step) {
      world_.run([&] { act(); });
      world_.pass(milliseconds(static_cast<int64_t>(below(chance(70) ? 3'000 : 120'000))));
    }
  }
  bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }

  // Right after the start, before anything was looked at: nothing is granted.
  void hurry() {
    RentRequest request;
    request.shape = ShapeRequest{Mode::no_gpu, "", 0};
    world_.outside([&] {
      const auto rented = world_.plane().instances.rent(renters_.front(), request, {});
      if (rented) broken_.push_back("a restored database granted before the first look");
    });
    if (chance(50)) world_.restart();  // the process may die again at once
  }

  void settle(const std::string& when) {
    const auto add = [&](const std::vector<std::string>& found) {
      for (const std::string& line : found) broken_.push_back(when + ": " + line);
    };
    add(world_.settle_down());
    Paths fresh;
    Invariants invariants(world_, fresh);
    add(invariants.check());
    add(invariants.check_at_rest());
    add(world_.broken());
    for (const auto& [name, times] : fresh.counts()) paths_.hit(name, times);
  }

  std::vector<AdoptionView> adoptions() {
    std::vector<AdoptionView> views;
    world_.outside([&] {
      auto list = world_.plane().adoptions.list();
      CHECK(list.has_value(), "adoptions can be read");
      views = std::move(*list);
    });
    return views;
  }

  // Held, and free.
  void check_adopted() {
    std::optional<Restore> restore;
    const Status read = world_.store().read([&](Tx& tx) -> Status {
      TRY_ASSIGN(restore, tx.restores().latest());
      for (const AdoptionView& view : adoptions_in(tx)) {
        TRY_ASSIGN(const auto open, tx.ledger().open_segments_of(view.adoption.instance_id));
        for (const Segment& segment : open) {
          if (segment.rate_per_hour == Money{}) continue;
          broken_.push_back(segment.instance_id.text + " is charged before a decision");
        }
      }
      return {};
    });
    CHECK(read.has_value(), "restores can be read");
    if (!restore || !restore->reconciled_at) broken_.push_back("the restore is not reconciled");
  }

  std::vector<AdoptionView> adoptions_in(Tx& tx) {
    std::vector<AdoptionView> views;
    const auto rows = tx.restores().adoptions();
    CHECK(rows.has_value(), "adoptions can be read");
    for (const Adoption& row : *rows) {
      views.push_back({row, {}, "", {}});
      paths_.hit("adopted: " + std::string(enum_text(row.kind)));
    }
    return views;
  }

  void decide() {
    for (const AdoptionView& view : adoptions()) {
      const std::string& id = view.adoption.instance_id.text;
      const std::string account = chance(50) ? renters_[below(renters_.size())].account.text : "";
      world_.run([&] {
        Adoptions& plane = world_.plane().adoptions;
        if (chance(70)) {
          if (plane.keep(world_.admin(), id, account)) paths_.hit("adopted: kept");
        } else if (plane.remove(world_.admin(), id)) {
          paths_.hit("adopted: removed");
        }
      });
      world_.pass(milliseconds(static_cast<int64_t>(below(5'000))));
    }
  }

  World world_;
  Paths& paths_;
  Xoshiro random_;
  std::vector<Actor> renters_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> live_through_restore(uint64_t seed, bool with_faults, Paths& paths) {
  return RestoreLife(seed, with_faults, paths).live();
}

}  // namespace cardhour
