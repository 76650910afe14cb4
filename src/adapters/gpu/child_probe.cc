#include "adapters/gpu/child_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "adapters/gpu/gpu_child.h"

extern char** environ;

namespace cardhour {
namespace {

constexpr size_t kAnswerBytesMax = 16 * 1024 * 1024;  // 64 cards with a thousand processes each
constexpr int kFirstFreeFile = 3;

void close_file(int& file) {
  if (file >= 0) ::close(file);
  file = -1;
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  ~Pipe() {
    close_file(read_end);
    close_file(write_end);
  }
};

// The child gets its two pipes, our stderr and nothing else: above all no socket, which one that
// hangs would keep from the next server.
int spawn(const std::vector<std::string>& command, int input, int output, pid_t& child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, kFirstFreeFile);
  sigset_t none;
  sigemptyset(&none);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  // A group of its own: what ends the server by Ctrl-C is not for the child.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int wrong =
      ::posix_spawn(&child, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return wrong;
}

}  // namespace

ChildProbe::~ChildProbe() {
  close_file(to_child_);
  close_file(from_child_);
  if (child_ == 0) return;
  // Its input has ended; one that is in the middle of a call is not waited for.
  ::kill(child_, SIGKILL);
  for (int i = 0; i < 20 && !is_gone(); ++i) ::poll(nullptr, 0, 10);
}

pid_t ChildProbe::child() {
  const std::lock_guard lock(mutex_);
  return child_;
}

bool ChildProbe::is_gone() {
  if (child_ == 0) return true;
  int status = 0;
  if (::waitpid(child_, &status, WNOHANG) == 0) return false;
  child_ = 0;
  was_killed_ = false;
  return true;
}

Status ChildProbe::start() {
  Pipe questions;
  Pipe answers;
  pid_t child = 0;
  int wrong = questions.open() && answers.open() ? 0 : errno;
  if (wrong == 0) wrong = spawn(options_.command, questions.read_end, answers.write_end, child);
  if (wrong != 0) {
    return fail(ErrorCode::engine_failed, text("cannot start the GPU reader: {}",
                                               "无法启动 GPU 读取进程：{}", std::strerror(wrong)));
  }
  child_ = child;
  to_child_ = std::exchange(questions.write_end, -1);
  from_child_ = std::exchange(answers.read_end, -1);
  ::fcntl(from_child_, F_SETFL, O_NONBLOCK);
  ::fcntl(to_child_, F_SETFL, O_NONBLOCK);
  has_answered_ = false;
  received_.clear();
  asked_.clear();
  return {};
}

void ChildProbe::give_up() {
  close_file(to_child_);
  close_file(from_child_);
  asked_.clear();
  if (child_ == 0) return;
  ::kill(child_, SIGKILL);
  was_killed_ = true;
  for (int i = 0; i < 10 && !is_gone(); ++i) ::poll(nullptr, 0, 10);
}

tl::unexpected<Error> ChildProbe::hangs() const {
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(
      hangs_since_ ? Clock::now() - *hangs_since_ : Clock::duration{});
  return fail(ErrorCode::engine_failed,
              text("the NVIDIA driver has not answered for {} s", "NVIDIA 驱动已 {} 秒没有应答",
                   since.count()),
              Text{"look at dmesg for NVRM and Xid lines; a hung driver often needs a reboot of "
                   "the host",
                   "请查看 dmesg 中的 NVRM 与 Xid 记录；驱动挂起通常需要重启主机"});
}

std::optional<std::string> ChildProbe::receive(std::chrono::milliseconds patience) {
  const auto end = Clock::now() + patience;
  while (true) {
    const size_t line_end = received_.find('\n');
    if (line_end != std::string::npos) {
      std::string line = received_.substr(0, line_end);
      received_.erase(0, line_end + 1);
      has_answered_ = true;
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() < 0) return std::nullopt;
    pollfd wanted{from_child_, POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(left.count())) <= 0) continue;
    char buffer[64 * 1024];
    const ssize_t got = ::read(from_child_, buffer, sizeof buffer);
    if (got > 0) received_.append(buffer, static_cast<size_t>(got));
    const bool broken = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (broken || received_.size() > kAnswerBytesMax) {
      give_up();
      return std::nullopt;
    }
  }
}

// A child that runs and owes no answer; or why there is none. Who asked before has waited
// already: an answer is there or is not.
Status ChildProbe::ready_for_question() {
  if (was_killed_ && !is_gone()) return hangs();
  if (child_ == 0) return start();
  if (asked_.empty()) return {};
  const bool samples = asked_ == "sample";
  if (auto late = receive(std::chrono::milliseconds{0})) {
    asked_.clear();
    if (samples) late_sample_ = std::move(*late);
    return {};
  }
  if (child_ == 0) return start();  // it ended by itself
  const auto limit = has_answered_ ? options_.deadline : options_.first_deadline;
  if (Clock::now() - asked_at_ >= limit) give_up();
  return hangs();
}

Status ChildProbe::send(const std::string& question) {
  const std::string line = question + "\n";
  if (::write(to_child_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
    asked_ = question;
    asked_at_ = Clock::now();
    if (!hangs_since_) hangs_since_ = asked_at_;
    return {};
  }
  give_up();
  return fail(ErrorCode::engine_failed,
              Text{"the GPU reader ended by itself", "GPU 读取进程意外退出"});
}

Result<std::string> ChildProbe::ask(const std::string& question) {
  std::unique_lock lock(mutex_, options_.patience);
  if (!lock.owns_lock()) {
    return fail(ErrorCode::engine_failed,
                Text{"the NVIDIA driver is still answering", "NVIDIA 驱动仍在应答中"});
  }
  TRY(ready_for_question());
  if (question == "sample" && late_sample_) return *std::exchange(late_sample_, std::nullopt);
  TRY(send(question));
  if (auto answer = receive(options_.patience)) {
    asked_.clear();
    hangs_since_.reset();
    return std::move(*answer);
  }
  if (child_ != 0) return hangs();
  return fail(ErrorCode::engine_failed,
              Text{"the GPU reader ended by itself", "GPU 读取进程意外退出"});
}

Result<ProbedGpus> ChildProbe::probe() {
  TRY_ASSIGN(const std::string answer, ask("probe"));
  return probe_answer(answer);
}

Result<GpuSample> ChildProbe::sample() {
  TRY_ASSIGN(const std::string answer, ask("sample"));
  return sample_answer(answer);
}

}  // namespace cardhour
