#include "app/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/enum_text.h"
#include "base/size.h"

namespace cardhour {
namespace {

using Kind = StepResult::Kind;

StepResult next(Step step, std::optional<Timestamp> deadline = std::nullopt) {
  return StepResult{.kind = Kind::next, .step = step, .deadline = deadline};
}
StepResult done(std::string engine_run = "") {
  return StepResult{.kind = Kind::done, .engine_run = std::move(engine_run)};
}
StepResult again(Duration wait, Error error = {}) {
  return StepResult{.kind = Kind::again, .wait = wait, .error = std::move(error)};
}
StepResult failed(Error error) {
  return StepResult{.kind = Kind::failed, .error = std::move(error)};
}
StepResult failed(ErrorCode code, Text what, Text remedy) {
  return failed(Error{code, std::move(what), std::move(remedy), ""});
}

bool may_fail(OperationKind kind) {
  return kind == OperationKind::start || kind == OperationKind::restart;
}

// What an error means for this step: causes that pass are waited for, a start gives up after
// a while, and the others never do: a silent engine is no reason to end a run.
StepResult after_error(const Deps& deps, const Operation& operation, const Error& error) {
  const StepResult retry = again(backoff(operation.attempt), error);
  if (!may_fail(operation.kind)) return retry;
  if (error.code == ErrorCode::engine_unavailable) {
    const bool patient = operation.kind == OperationKind::restart ||
                         deps.clock.now() - operation.created_at < deps.policy.start_patience;
    return patient ? retry : failed(error);
  }
  if (error.code != ErrorCode::engine_failed) return failed(error);
  return operation.attempt + 1 < deps.policy.start_attempts ? retry : failed(error);
}

class Performer {
 public:
  Performer(const Deps& deps, const Operation& operation, const Instance& instance,
            const StepInput& input)
      : deps_(deps), operation_(operation), instance_(instance), input_(input) {}

  StepResult perform() {
    switch (operation_.step) {
      case Step::halt:
        return halt();
      case Step::create:
        return create();
      case Step::boot:
        return boot();
      case Step::await_ready:
        return await_ready();
      case Step::verify:
        return verify();
      case Step::shut_down:
        return shut_down();
      case Step::force:
        return force();
      case Step::confirm:
        return confirm();
      case Step::remove:
        return remove();
      case Step::deliver:
        return deliver();
    }
    return done();
  }

 private:
  StepResult after(const Error& error) const { return after_error(deps_, operation_, error); }

  Duration ready_patience() const {
    return operation_.kind == OperationKind::restart ? deps_.policy.restart_timeout
                                                     : deps_.policy.ready_timeout;
  }

  EngineSpec spec() const {
    EngineSpec spec;
    spec.id = instance_.id;
    spec.account = instance_.account_id;
    spec.image = instance_.image;
    spec.system_disk_bytes = instance_.system_disk_bytes;
    spec.data_disk_bytes = instance_.data_disk_bytes;
    spec.nesting = instance_.nesting;
    spec.ipv4 = instance_.ipv4;
    spec.idmap_base = instance_.idmap_base;
    spec.ssh_port = instance_.ssh_port;
    return spec;
  }

  // Start and restart: the earlier run has to be down before the next one begins.
  StepResult halt() const {
    const auto found = deps_.engine.find(instance_.id);
    if (!found) return after(found.error());
    const Step then = operation_.kind == OperationKind::start ? Step::create : Step::boot;
    if (!*found || (*found)->status == EngineStatus::stopped) return next(then);
    if ((*found)->status == EngineStatus::busy) return again(milliseconds(500));
    const Status asked = operation_.attempt == 0
                             ? deps_.engine.shut_down(instance_.id, deps_.policy.stop_grace)
                             : deps_.engine.force_stop(instance_.id);
    if (!asked && asked.error().code == ErrorCode::engine_unavailable) {
      return after(asked.error());
    }
    return again(Duration{0});  // look again; a refusal is followed by force
  }

  StepResult create() const {
    if (input_.no_identity) return after(*input_.no_identity);
    EngineSpec wanted = spec();
    if (instance_.observed == Observed::creating) {
      auto shape = shape_now();
      if (!shape) return after(shape.error());
      wanted.first_shape = std::move(*shape);
    }
    const Status created = deps_.engine.ensure_created(wanted, input_.identity);
    return created ? next(Step::boot) : after(created.error());
  }

  // The PCI address of each allocated card, as the driver says it now: never from memory.
  Result<std::vector<EngineCard>> cards_now() const {
    std::vector<EngineCard> cards;
    if (instance_.mode == Mode::no_gpu) return cards;
    TRY_ASSIGN(const ProbedGpus probed, deps_.probe.probe());
    for (const Card& card : input_.cards) {
      const auto seen =
          std::find_if(probed.cards.begin(), probed.cards.end(),
                       [&](const ProbedCard& candidate) { return candidate.uuid == card.uuid; });
      if (seen == probed.cards.end() || !seen->fault.empty()) {
        return fail(ErrorCode::no_capacity,
                    text("card {} is not usable: {}", "显卡 {} 不可用：{}", card.uuid.text,
                         seen == probed.cards.end() ? "the driver does not show it" : seen->fault),
                    Text{"start again: another card will be chosen; nothing was charged",
                         "请重新开机，系统会选用其他卡；本次不计费"});
      }
      cards.push_back(EngineCard{card.uuid, seen->pci_address, seen->name,
                                 seen->memory_total_bytes.value_or(card.vram_bytes),
                                 probed.simulated});
    }
    return cards;
  }

  Result<EngineShape> shape_now() const {
    EngineShape shape;
    shape.millicores = instance_.millicores;
    shape.memory_bytes = instance_.memory_bytes;
    TRY_ASSIGN(shape.cards, cards_now());
    return shape;
  }

  StepResult boot() const {
    const auto shape = shape_now();
    if (!shape) return after(shape.error());
    const Status started = deps_.engine.ensure_started(spec(), *shape);
    if (!started) return after(started.error());
    return next(Step::await_ready, deps_.clock.now() + ready_patience());
  }

  StepResult await_ready() const {
    const auto answers = deps_.engine.ssh_answers(spec(), seconds(2));
    if (answers && *answers) return next(Step::verify);
    const Timestamp now = deps_.clock.now();
    if (operation_.deadline && now >= *operation_.deadline) {
      return failed(ErrorCode::engine_failed,
                    Text{"no SSH answer within " + for_people(ready_patience(), Language::en),
                         for_people(ready_patience(), Language::zh) + "内没有 SSH 响应"},
                    Text{"nothing was charged; start again, or look at the image",
                         "本次不计费；请重新开机，或检查镜像"});
    }
    if (!answers) return again(backoff(operation_.attempt), answers.error());
    // A reboot from inside reads "stopped" for a moment; what is still so on the second look
    // died during its boot.
    const Text down{"the instance stopped during its boot", "实例在启动过程中停止"};
    const auto found = deps_.engine.find(instance_.id);
    if (found && *found && (*found)->status == EngineStatus::stopped) {
      if (operation_.last_error != down.en) {
        return again(seconds(2), Error{ErrorCode::engine_failed, down, {}, ""});
      }
      return failed(ErrorCode::engine_failed, down,
                    Text{"nothing was charged; start again, or look at the image",
                         "本次不计费；请重新开机，或检查镜像"});
    }
    return again(milliseconds(50));
  }

  StepResult verify() const {
    if (instance_.mode != Mode::no_gpu) {
      const auto visible = deps_.engine.visible_cards(instance_.id);
      if (!visible) return after(visible.error());
      if (auto wrong = wrong_cards(*visible)) return failed(std::move(*wrong));
    }
    if (!instance_.guest_current) {
      const Status applied = apply_identity();
      if (!applied) return after(applied.error());
    }
    const auto found = deps_.engine.find(instance_.id);
    if (!found) return after(found.error());
    if (!*found || (*found)->status != EngineStatus::running) {
      return failed(ErrorCode::engine_failed,
                    Text{"it stopped by itself right after the start", "实例开机后立即停止"},
                    Text{"nothing was charged; start again", "本次不计费；请重新开机"});
    }
    return done((*found)->run);
  }

  // Exactly the allocated cards, with empty memory; or what is wrong.
  std::optional<Error> wrong_cards(const std::vector<VisibleCard>& visible) const {
    std::set<CardId> expected;
    for (const Card& card : input_.cards) expected.insert(card.uuid);
    std::set<CardId> seen;
    for (const VisibleCard& card : visible) seen.insert(card.uuid);
    const Text nothing_charged{
        "nothing was charged; start again, and tell the operator if it happens twice",
        "本次不计费；请重新开机，若再次出现请联系运营者"};
    if (seen != expected) {
      return Error{
          ErrorCode::engine_failed,
          text("{} cards were allocated, and {} of other identity or number are visible "
               "inside",
               "已分配 {} 张卡，但实例内可见 {} 张，二者不一致", expected.size(), seen.size()),
          nothing_charged, ""};
    }
    for (const VisibleCard& card : visible) {
      if (card.memory_used_bytes.value_or(0) <= deps_.policy.empty_card_bytes) continue;
      return Error{
          ErrorCode::engine_failed,
          text("card {} has {} in use before anything runs", "显卡 {} 在使用前已占用 {} 显存",
               card.uuid.text, for_people_bytes(*card.memory_used_bytes)),
          nothing_charged, ""};
    }
    return std::nullopt;
  }

  StepResult shut_down() const {
    const auto found = deps_.engine.find(instance_.id);
    if (!found) return after(found.error());
    if (!*found || (*found)->status == EngineStatus::stopped) return next(Step::confirm);
    if ((*found)->status == EngineStatus::busy) return again(milliseconds(200));
    const Status asked = deps_.engine.shut_down(instance_.id, deps_.policy.stop_grace);
    if (asked) return next(Step::confirm);
    if (asked.error().code == ErrorCode::engine_failed) return next(Step::force);
    return after(asked.error());
  }

  StepResult force() const {
    const Status forced = deps_.engine.force_stop(instance_.id);
    return forced ? next(Step::confirm) : after(forced.error());
  }

  // "Already stopped" is believed only when nothing of the engine's is in flight.
  StepResult confirm() const {
    const auto found = deps_.engine.find(instance_.id);
    if (!found) return after(found.error());
    if (!*found || (*found)->status == EngineStatus::stopped) return done();
    if ((*found)->status == EngineStatus::busy) return again(milliseconds(500));
    return next(Step::force);
  }

  // Somebody may have started it: in the bin, and on its way out, only this step stops it.
  StepResult remove() const {
    const Status removed = deps_.engine.ensure_removed(instance_.id);
    if (removed) return done();
    if (removed.error().code == ErrorCode::engine_failed) {
      const Status forced = deps_.engine.force_stop(instance_.id);
      if (!forced) return after(forced.error());
    }
    return after(removed.error());
  }

  Status apply_identity() const {
    if (input_.no_identity) return fail(*input_.no_identity);
    return deps_.engine.apply_identity(instance_.id, input_.identity);
  }

  StepResult deliver() const {
    Status brought = apply_identity();
    if (brought) brought = deps_.engine.put_notice(instance_.id, notice_json());
    if (brought) return done();
    if (brought.error().code == ErrorCode::engine_unavailable) return after(brought.error());
    // Full disk, dead guest: a deadline counts all the same, and the next start brings the keys
    // again, so trying forever is of no use.
    constexpr int kAttempts = 10;
    return operation_.attempt + 1 < kAttempts ? after(brought.error()) : done();
  }

  std::string notice_json() const {
    if (instance_.notice_reason.empty()) return "";
    return fmt::format(
        R"({{"id":"{}-{}-{}","reason":"{}","deadline":"{}","next":"the instance is stopped; disks are kept"}})",
        instance_.id.text, instance_.notice_reason,
        instance_.notice_deadline.value_or(Timestamp{}).ms, instance_.notice_reason,
        instance_.notice_deadline ? to_rfc3339(*instance_.notice_deadline) : "");
  }

  const Deps& deps_;
  const Operation& operation_;
  const Instance& instance_;
  const StepInput& input_;
};

}  // namespace

StepResult perform_step(const Deps& deps, const Operation& operation, const Instance& instance,
                        const StepInput& input) {
  return Performer(deps, operation, instance, input).perform();
}

}  // namespace cardhour
