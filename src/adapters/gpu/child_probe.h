// ChildProbe: the GpuProbe that asks a child process (gpu_child.h), with a deadline. A question
// that is not answered within `patience` is engine_failed, and so is every other until the
// answer comes; after `deadline` the child is killed. One that a kill does not end (it hangs in
// the kernel) is left alone, and no other is started until it is gone: at most one stuck process
// for each host.
// Thread-safe. No call takes longer than about twice `patience`, and while the driver hangs
// they return at once. The process must ignore SIGPIPE: a child may end while it is asked.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ports/gpu_probe.h"

namespace cardhour {

struct ChildProbeOptions {
  std::vector<std::string> command;  // program and arguments of the child
  std::chrono::milliseconds patience{2'000};
  // The first question initialises the driver, which takes seconds for each card without
  // persistence mode.
  std::chrono::milliseconds first_deadline{60'000};
  std::chrono::milliseconds deadline{15'000};
};

class ChildProbe final : public GpuProbe {
 public:
  explicit ChildProbe(ChildProbeOptions options) : options_(std::move(options)) {}
  ~ChildProbe() override;
  ChildProbe(const ChildProbe&) = delete;
  ChildProbe& operator=(const ChildProbe&) = delete;

  Result<ProbedGpus> probe() override;
  Result<GpuSample> sample() override;

  // The child, running or stuck; 0: none. For tests.
  pid_t child();

 private:
  using Clock = std::chrono::steady_clock;

  Result<std::string> ask(const std::string& question);
  Status ready_for_question();
  Status start();
  Status send(const std::string& question);
  // A line, when it came in time.
  std::optional<std::string> receive(std::chrono::milliseconds patience);
  void give_up();
  bool is_gone();
  tl::unexpected<Error> hangs() const;

  ChildProbeOptions options_;
  std::timed_mutex mutex_;  // of all below
  pid_t child_ = 0;
  int to_child_ = -1;
  int from_child_ = -1;
  bool was_killed_ = false;  // and is waited for
  bool has_answered_ = false;
  std::string received_;  // of the next line
  std::string asked_;     // not answered yet; empty: nothing
  Clock::time_point asked_at_;
  std::optional<Clock::time_point> hangs_since_;  // the first question without an answer
  // An answer that came after its asker had gone: Xid reports must not be lost with it.
  std::optional<std::string> late_sample_;
};

}  // namespace cardhour
