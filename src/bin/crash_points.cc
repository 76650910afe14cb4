#include "bin/crash_points.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/enum_text.h"
#include "bin/watched_tx.h"
#include "domain/operation.h"

namespace cardhour {
namespace {

// The engine calls that each step makes on its way; a new step does not compile without.
std::vector<std::string_view> calls_of(OperationKind kind, Step step) {
  switch (step) {
    case Step::halt:
      return {"find", "shut_down", "force_stop"};
    case Step::create:
      return {"ensure_created"};
    case Step::boot:
      return {"ensure_started"};
    case Step::await_ready:
      return {"ssh_answers"};
    case Step::verify:
      return {"visible_cards", "apply_identity", "find"};
    case Step::shut_down:
      return {"find", "shut_down"};
    case Step::force:
      return {"force_stop"};
    case Step::confirm:
      return {"find"};
    case Step::remove:
      return {"ensure_removed"};
    case Step::deliver:
      return {"apply_identity", "put_notice"};
  }
  CHECK(false, fmt::format("no calls of {}.{}", enum_text(kind), enum_text(step)));
  return {};
}

std::string place_of(OperationKind kind, Step step) {
  return fmt::format("{}.{}", enum_text(kind), enum_text(step));
}

// What the thread is in the middle of: "start.create" from its claim until its result is
// applied; empty: nothing.
thread_local std::string in_step;

// Whose thread it is, when it is in no step.
std::string room() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  const std::string_view thread = name;
  if (thread == "http-worker") return "request";
  if (thread.starts_with("ch-")) return std::string(thread.substr(3, thread.find('-', 3) - 3));
  return "startup";
}

class ArmedPoints final : public CrashPoints {
 public:
  ArmedPoints(Store& store, Engine& engine, std::string point, int nth)
      : point_(std::move(point)), left_(nth), store_(store, *this), engine_(engine, *this) {}

  Store& store() override { return store_; }
  Engine& engine() override { return engine_; }

 private:
  void reach(const std::string& place, std::string_view moment) {
    if (place + " " + std::string(moment) != point_ || --left_ != 0) return;
    ::kill(::getpid(), SIGKILL);
    while (true) ::pause();
  }

  class PointedStore final : public Store {
   public:
    PointedStore(Store& inner, ArmedPoints& points) : inner_(inner), points_(points) {}
    Status read(const std::function<Status(Tx&)>& body) override { return inner_.read(body); }
    Status write(const std::function<Status(Tx&)>& body) override;

   private:
    Store& inner_;
    ArmedPoints& points_;
  };

  class PointedEngine final : public Engine {
   public:
    PointedEngine(Engine& inner, ArmedPoints& points) : inner_(inner), points_(points) {}

    Result<std::vector<EngineHost>> hosts() override {
      return amid("hosts", [&] { return inner_.hosts(); });
    }
    Result<std::vector<EngineInstance>> list() override {
      return amid("list", [&] { return inner_.list(); });
    }
    Result<std::vector<EngineUsage>> usage() override {
      return amid("usage", [&] { return inner_.usage(); });
    }
    Result<std::optional<EngineInstance>> find(const InstanceId& id) override {
      return amid("find", [&] { return inner_.find(id); });
    }
    Result<std::optional<EngineObject>> describe(const InstanceId& id) override {
      return amid("describe", [&] { return inner_.describe(id); });
    }
    Result<std::vector<std::string>> images() override {
      return amid("images", [&] { return inner_.images(); });
    }
    Status ensure_created(const EngineSpec& spec, const GuestIdentity& identity) override {
      return amid("ensure_created", [&] { return inner_.ensure_created(spec, identity); });
    }
    Status ensure_started(const EngineSpec& spec, const EngineShape& shape) override {
      return amid("ensure_started", [&] { return inner_.ensure_started(spec, shape); });
    }
    Result<bool> ssh_answers(const EngineSpec& spec, Duration patience) override {
      return amid("ssh_answers", [&] { return inner_.ssh_answers(spec, patience); });
    }
    Result<std::vector<VisibleCard>> visible_cards(const InstanceId& id) override {
      return amid("visible_cards", [&] { return inner_.visible_cards(id); });
    }
    Status apply_identity(const InstanceId& id, const GuestIdentity& identity) override {
      return amid("apply_identity", [&] { return inner_.apply_identity(id, identity); });
    }
    Status put_notice(const InstanceId& id, const std::string& json) override {
      return amid("put_notice", [&] { return inner_.put_notice(id, json); });
    }
    Status shut_down(const InstanceId& id, Duration grace) override {
      return amid("shut_down", [&] { return inner_.shut_down(id, grace); });
    }
    Status force_stop(const InstanceId& id) override {
      return amid("force_stop", [&] { return inner_.force_stop(id); });
    }
    Status ensure_removed(const InstanceId& id) override {
      return amid("ensure_removed", [&] { return inner_.ensure_removed(id); });
    }
    Result<bool> port_is_free(int port) override {
      return amid("port_is_free", [&] { return inner_.port_is_free(port); });
    }

   private:
    template <class Call>
    auto amid(std::string_view name, const Call& call) -> decltype(call()) {
      const std::string place = in_step.empty() ? room() : in_step;
      points_.reach(place, std::string(name) + ".before");
      auto answer = call();
      points_.reach(place, std::string(name) + ".after");
      return answer;
    }

    Engine& inner_;
    ArmedPoints& points_;
  };

  const std::string point_;
  std::atomic<int> left_;
  PointedStore store_;
  PointedEngine engine_;
};

Status ArmedPoints::PointedStore::write(const std::function<Status(Tx&)>& body) {
  const std::string applies = std::exchange(in_step, {});
  const std::string plain = room();
  if (!applies.empty()) points_.reach(applies, "apply.before");
  if (applies.empty()) points_.reach(plain, "write.before");
  TxSight sight;
  const auto reach = [&](std::string_view moment) {
    const std::string at(moment);
    if (!applies.empty()) {
      points_.reach(applies, "apply." + at);
    } else if (sight.claimed) {
      points_.reach(place_of(sight.claimed->kind, sight.claimed->step), "claim." + at);
    } else {
      if (sight.asked) points_.reach("ask." + std::string(enum_text(*sight.asked)), at);
      points_.reach(plain, "write." + at);
    }
  };
  const Status status = inner_.write([&](Tx& tx) -> Status {
    sight = {};
    WatchedTx watched(tx, sight);
    TRY(body(watched));
    reach("inside");
    return {};
  });
  if (!status) return status;
  reach("after");
  if (applies.empty() && sight.claimed) {
    in_step = place_of(sight.claimed->kind, sight.claimed->step);
  }
  return status;
}

void add(std::vector<std::string>& to, const std::string& place, std::string_view call,
         std::initializer_list<std::string_view> moments) {
  for (std::string_view moment : moments)
    to.push_back(fmt::format("{} {}.{}", place, call, moment));
}

void add_steps(std::vector<std::string>& to, OperationKind kind) {
  const std::string word(enum_text(kind));
  to.push_back("ask." + word + " inside");
  to.push_back("ask." + word + " after");
  for (Step step : steps_of(kind)) {
    const std::string place = place_of(kind, step);
    add(to, place, "claim", {"inside", "after"});
    for (std::string_view call : calls_of(kind, step)) add(to, place, call, {"before", "after"});
    add(to, place, "apply", {"before", "inside", "after"});
  }
}

}  // namespace

std::vector<std::string> crash_points() {
  std::vector<std::string> all;
  add(all, "startup", "write", {"before", "inside", "after"});
  add(all, "request", "port_is_free", {"before", "after"});
  add(all, "request", "write", {"before", "inside", "after"});
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<OperationKind>>(
      [&](auto kind) { add_steps(all, kind.value); });
  add(all, "loops", "write", {"before", "inside", "after"});
  add(all, "observe", "hosts", {"before", "after"});
  add(all, "observe", "list", {"before", "after"});
  add(all, "observe", "images", {"before", "after"});
  add(all, "observe", "find", {"before", "after"});
  add(all, "observe", "write", {"before", "inside", "after"});
  add(all, "measure", "usage", {"before", "after"});
  return all;
}

Result<std::unique_ptr<CrashPoints>> crash_points_from_environment(Store& store, Engine& engine) {
  const char* asked = std::getenv("CARDHOUR_CRASH_AT");
  if (asked == nullptr) return nullptr;
  std::string point = asked;
  int nth = 1;
  if (const size_t colon = point.rfind(':'); colon != std::string::npos) {
    std::from_chars(point.data() + colon + 1, point.data() + point.size(), nth);
    point.resize(colon);
  }
  const auto all = crash_points();
  if (std::ranges::find(all, point) == all.end() || nth < 1) {
    return fail(ErrorCode::invalid_argument,
                text("CARDHOUR_CRASH_AT names no crash point: \"{}\"",
                     "CARDHOUR_CRASH_AT 指定的崩溃点不存在：“{}”", point),
                Text{"`cardhour docs crash-points` lists them.",
                     "运行 `cardhour docs crash-points` 查看列表。"});
  }
  return std::make_unique<ArmedPoints>(store, engine, std::move(point), nth);
}

}  // namespace cardhour
