#include "adapters/sim/sim_shells.h"

#include <fmt/format.h>
#include <pthread.h>

#include <charconv>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace cardhour {
namespace {

constexpr size_t kPieceBytes = 64 * 1024;
constexpr size_t kOutputBytes = 64 * 1024;  // as in a terminal's buffer; then input waits
constexpr std::string_view kGreeting =
    "SIMULATED: this instance is not real, and neither is this shell.\r\n";
constexpr std::string_view kPrompt = "# ";
constexpr char kInterrupt = '\x03';
constexpr char kEndOfInput = '\x04';
constexpr int kHungUp = 129;  // as a shell tells of SIGHUP

}  // namespace

// The one thread, and what it is to do.
class SimShells::Loop {
 public:
  Loop() : thread_([this] { run(); }) {
    pthread_setname_np(thread_.native_handle(), "ch-sim-shell");
  }
  void post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    tasks_.push_back(std::move(task));
    there_is_.notify_one();
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      there_is_.notify_one();
    }
    thread_.join();
    tasks_.clear();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      there_is_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
      if (stopped_) return;
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable there_is_;
  std::deque<std::function<void()>> tasks_;
  bool stopped_ = false;
  std::thread thread_;
};

// What runs "inside". Belongs to the loop's thread.
class SimShells::Program {
 public:
  explicit Program(ShellSize size) : size_(size) {
    output_ += kGreeting;
    output_ += kPrompt;
  }

  void fail(Error error) {
    output_.clear();
    failure_ = std::move(error);
    ended_ = true;
    go_on();
  }
  void read(std::function<void(ShellOutput)> done) {
    reader_ = std::move(done);
    go_on();
  }
  void write(std::string bytes, std::function<void()> done) {
    typed_ = std::move(bytes);
    writer_ = std::move(done);
    go_on();
  }
  void resize(ShellSize size) { size_ = size; }
  void end() {
    if (!ended_) finish(kHungUp);
    go_on();
  }

 private:
  enum class Mode { prompt, counting, flooding };

  // Takes input while there is room for what it causes; gives output to who asked.
  void go_on() {
    size_t taken = 0;
    while (taken < typed_.size() && !ended_ && output_.size() < kOutputBytes) {
      take(typed_[taken++]);
    }
    typed_.erase(0, ended_ ? typed_.size() : taken);
    if (typed_.empty() && writer_) std::exchange(writer_, nullptr)();
    if (mode_ == Mode::flooding && !ended_ && reader_) {
      while (output_.size() < kPieceBytes) output_ += "y\r\n";
    }
    if (!reader_ || (output_.empty() && !ended_)) return;
    ShellOutput out;
    if (output_.empty()) {
      out.exit_code = code_;
      out.failure = failure_;
    }
    out.bytes = output_.substr(0, kPieceBytes);
    output_.erase(0, out.bytes.size());
    std::exchange(reader_, nullptr)(std::move(out));
    if (!typed_.empty()) go_on();
  }

  void take(char c) {
    if (c == kInterrupt) {
      output_ += "^C\r\n";
      return prompt();
    }
    if (mode_ == Mode::flooding) return;
    if (mode_ == Mode::counting && c == kEndOfInput) {
      output_ += fmt::format("{}\r\n", counted_);
      return prompt();
    }
    if (mode_ == Mode::counting) {
      ++counted_;
      return echo(c);
    }
    echo(c);
    if (c != '\r' && c != '\n') {
      if (line_.size() < 4096) line_ += c;
      return;
    }
    run(std::exchange(line_, {}));
  }

  void echo(char c) {
    if (c == '\r' || c == '\n') {
      output_ += "\r\n";
    } else {
      output_ += c;
    }
  }

  void prompt() {
    mode_ = Mode::prompt;
    line_.clear();
    output_ += kPrompt;
  }

  void run(const std::string& line) {
    if (line == "exit" || line.starts_with("exit ")) {
      int code = 0;
      if (line.size() > 5) std::from_chars(line.data() + 5, line.data() + line.size(), code);
      return finish(code);
    }
    if (line == "yes") {
      mode_ = Mode::flooding;
      return;
    }
    if (line == "wc -c") {
      mode_ = Mode::counting;
      counted_ = 0;
      return;
    }
    if (line == "stty size") output_ += fmt::format("{} {}\r\n", size_.rows, size_.columns);
    if (line.starts_with("echo ")) output_ += without_quotes(line.substr(5)) + "\r\n";
    prompt();
  }

  // A pair of them holds nothing, as in a real shell.
  static std::string without_quotes(std::string words) {
    for (size_t at = words.find("''"); at != std::string::npos; at = words.find("''")) {
      words.erase(at, 2);
    }
    return words;
  }

  void finish(int code) {
    ended_ = true;
    code_ = code;
    if (mode_ == Mode::flooding) output_.clear();
  }

  ShellSize size_;
  Mode mode_ = Mode::prompt;
  std::string line_;
  int64_t counted_ = 0;
  std::string output_;  // not read yet
  std::string typed_;   // not taken yet
  std::function<void(ShellOutput)> reader_;
  std::function<void()> writer_;
  bool ended_ = false;
  std::optional<int> code_;
  std::optional<Error> failure_;
};

class SimShells::Handle final : public Shell {
 public:
  Handle(std::shared_ptr<Loop> loop, ShellSize size)
      : loop_(std::move(loop)), program_(std::make_shared<Program>(size)) {}
  ~Handle() override { end(); }

  void read(std::function<void(ShellOutput)> done) override {
    loop_->post(
        [program = program_, done = std::move(done)]() mutable { program->read(std::move(done)); });
  }
  void write(std::string bytes, std::function<void()> done) override {
    loop_->post([program = program_, bytes = std::move(bytes), done = std::move(done)]() mutable {
      program->write(std::move(bytes), std::move(done));
    });
  }
  void resize(ShellSize size) override {
    loop_->post([program = program_, size] { program->resize(size); });
  }
  void end() override {
    loop_->post([program = program_] { program->end(); });
  }
  void fail(Error error) {
    loop_->post([program = program_, error = std::move(error)] { program->fail(error); });
  }

 private:
  const std::shared_ptr<Loop> loop_;
  const std::shared_ptr<Program> program_;
};

SimShells::SimShells(Engine& engine) : engine_(engine), loop_(std::make_shared<Loop>()) {}

SimShells::~SimShells() { loop_->stop(); }

std::unique_ptr<Shell> SimShells::open(const InstanceId& id, ShellSize size) {
  auto shell = std::make_unique<Handle>(loop_, size);
  const auto found = engine_.find(id);
  if (!found) {
    shell->fail(found.error());
  } else if (!*found || (*found)->status != EngineStatus::running) {
    shell->fail(
        Error{ErrorCode::engine_failed, {"the instance is not running", "实例未在运行"}, {}, {}});
  }
  return shell;
}

}  // namespace cardhour
