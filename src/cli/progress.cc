#include "cli/progress.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "cli/decode.h"
#include "cli/terminal.h"
#include "cli/width.h"
#include "cli/words.h"

namespace cardhour::cli {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Duration kQuickPolls = seconds(20);  // most starts end within
constexpr Duration kPatience = seconds(60);    // with a server that does not answer

Duration since(Steady::time_point then) {
  return Duration{
      std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - then).count()};
}

std::string seconds_text(Duration d) {
  return d.ms < 10'000 ? fmt::format("{}.{} s", d.ms / 1000, d.ms % 1000 / 100)
                       : fmt::format("{} s", d.ms / 1000);
}

// One line a phase. On a terminal the present one is redrawn in place.
class PhaseLines {
 public:
  PhaseLines(Language language, Steady::time_point began)
      : language_(language), live_(progress_is_terminal()), began_(began), phase_began_(began) {}

  void show(const wire::InstanceView& view) {
    if (view.activity != phase_) finish();
    if (view.activity.empty()) return;
    if (phase_ != view.activity) {
      phase_ = view.activity;
      phase_began_ = Steady::now();
      if (!live_) remark("  " + label() + "\n");
    }
    if (live_) draw(view.waiting_for);
  }

  // The present phase is over.
  void finish() {
    if (live_ && !phase_.empty()) {
      remark(fmt::format("\r\033[K  ✓ {}  {}\n", label(), seconds_text(since(phase_began_))));
    }
    phase_.clear();
  }

  // Takes the line in progress away.
  void abandon() {
    if (live_ && !phase_.empty()) remark("\r\033[K");
    phase_.clear();
  }

 private:
  std::string label() const {
    return padded(clean(phase_), 11, Align::left) + "  " + clean(phase_text(phase_).in(language_));
  }

  void draw(const std::string& waiting_for) {
    constexpr int kColumns = 79;
    std::string line = fmt::format("  · {}  {}", label(), seconds_text(since(began_)));
    if (!waiting_for.empty()) line += "  (" + clean(waiting_for) + ")";
    remark("\r\033[K" + shortened(line, kColumns));
  }

  Language language_;
  bool live_;
  Steady::time_point began_;
  Steady::time_point phase_began_;
  std::string phase_;
};

bool passes(const Error& error) {
  return error_row(error.code).exit_code == 9;  // the server cannot be reached, or is busy
}

}  // namespace

Result<Waited> wait_until_settled(Context& context, Client& client,
                                  const wire::InstanceView& begun) {
  const InterruptWatch watch;
  const auto began = Steady::now();
  auto heard = began;
  PhaseLines lines(context.language, began);
  Waited waited;
  waited.view = begun;
  while (!InterruptWatch::seen()) {
    Result<std::string> answer = client.get("/instances/" + path_segment(begun.id.text));
    if (InterruptWatch::seen()) break;
    if (answer) {
      heard = Steady::now();
      TRY_ASSIGN(waited.view, decode<wire::InstanceView>(*answer));
      waited.json = std::move(*answer);
      lines.show(waited.view);
      if (waited.view.settled) {
        lines.finish();
        waited.elapsed = since(began);
        return waited;
      }
    } else if (!passes(answer.error()) || since(heard) > kPatience) {
      lines.abandon();
      return fail(std::move(answer).error());
    }
    const bool quick = since(began) < kQuickPolls;
    std::this_thread::sleep_for(std::chrono::milliseconds(quick ? 250 : 1000));
  }
  lines.abandon();
  waited.interrupted = true;
  return waited;
}

Outcome interrupted(const Context& context, const wire::InstanceView& view) {
  const std::string id = view.id.text;
  context.note(
      text("\nThe work goes on without you watching. Look: cardhour show {}   "
           "Stop it: cardhour stop {}",
           "\n操作仍在服务器上继续。查看：cardhour show {}   停止：cardhour stop {}", id, id));
  return kExitInterrupted;
}

Status check_outcome(const wire::InstanceView& view, Observed aim) {
  if (view.observed == aim && !view.fault) return {};
  if (view.fault) {
    const Text what{view.name + ": " + view.fault->what, view.name + "：" + view.fault->what};
    return fail(ErrorCode::engine_failed, what, Text{view.fault->next, view.fault->next});
  }
  const Text now = state_text(view.observed);
  return fail(ErrorCode::conflict,
              Text{view.name + " is now " + now.en + ": something else changed it meanwhile",
                   view.name + " 现在为" + now.zh + "：期间有其他操作改变了它"},
              text("What happened: cardhour events {}", "经过：cardhour events {}", view.id.text));
}

}  // namespace cardhour::cli
