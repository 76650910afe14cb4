#include "guest/machine.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "guest/descriptor.h"

namespace cardhour::guest {
namespace {

constexpr auto kCommandTimeout = std::chrono::seconds(10);
constexpr size_t kOutputBytesMax = 64 * 1024;
constexpr int kNoSuchProgram = 127;

using Clock = std::chrono::steady_clock;

tl::unexpected<Error> command_error(ErrorCode code, const Command& command, const std::string& en,
                                    const std::string& zh) {
  const std::string& name = command.arguments[0];
  return fail(code, Text{name + ": " + en, name + "：" + zh});
}

[[noreturn]] void become(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(kNoSuchProgram);
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  return left.count() > 0 ? static_cast<int>(left.count()) : 0;
}

// Reads what the child says until it closes its output, or the deadline. What is above
// the limit is dropped.
bool collect(int descriptor, Clock::time_point deadline, std::string& output) {
  char buffer[4096];
  while (true) {
    pollfd wait{descriptor, POLLIN, 0};
    const int ready = poll(&wait, 1, milliseconds_until(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got <= 0) return got == 0;
    if (output.size() < kOutputBytesMax) output.append(buffer, static_cast<size_t>(got));
  }
}

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;

  static Pipe make() {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
    return {Descriptor(ends[0]), Descriptor(ends[1])};
  }
};

Result<std::string> outcome_of(const Command& command, int status, std::string output) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoSuchProgram) {
    return command_error(ErrorCode::not_found, command, "not installed", "未安装");
  }
  return command_error(ErrorCode::internal, command, "failed: " + output, "失败：" + output);
}

Result<std::string> run_to_end(const Command& command) {
  Pipe in = Pipe::make();
  Pipe out = Pipe::make();
  const pid_t child = fork();
  if (child < 0) return command_error(ErrorCode::internal, command, "cannot fork", "无法创建进程");
  if (child == 0) {
    dup2(in.read_end.get(), STDIN_FILENO);
    dup2(out.write_end.get(), STDOUT_FILENO);
    dup2(out.write_end.get(), STDERR_FILENO);
    become(command.arguments);
  }
  in.read_end.reset();
  out.write_end.reset();
  // Inputs are a line: they fit into the pipe, whether or not anybody reads it.
  const ssize_t given = write(in.write_end.get(), command.input.data(), command.input.size());
  in.write_end.reset();

  std::string output;
  const bool ended = collect(out.read_end.get(), Clock::now() + kCommandTimeout, output);
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!ended) return command_error(ErrorCode::internal, command, "took too long", "超时");
  if (given != static_cast<ssize_t>(command.input.size()) && status == 0) {
    return command_error(ErrorCode::internal, command, "did not read its input", "未读取输入");
  }
  return outcome_of(command, status, std::move(output));
}

Status start_and_forget(const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  if (child < 0) return fail(ErrorCode::internal, Text{"cannot fork", "无法创建进程"});
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    const int null = open("/dev/null", O_RDWR);
    for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, descriptor);
    become(arguments);
  }
  waitpid(child, nullptr, 0);
  return {};
}

Status set_kernel_hostname(const std::string& name) {
  if (sethostname(name.data(), name.size()) == 0) return {};
  const std::string why = std::string("sethostname: ") + std::strerror(errno);
  return fail(ErrorCode::internal, Text{why, why});
}

}  // namespace

Machine real_machine(std::string root) {
  // A child that ends before it read its input must not take us with it.
  signal(SIGPIPE, SIG_IGN);
  // Whoever runs us may have a PATH without chpasswd, or none.
  setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
  Machine machine{std::move(root), run_to_end, start_and_forget, set_kernel_hostname,
                  [](int process) { kill(process, SIGHUP); }};
  if (!machine.root.empty()) {
    machine.run = [](const Command&) { return Result<std::string>(""); };
    machine.set_hostname = [](const std::string&) { return Status(); };
    machine.ask_to_reload = [](int) {};
  }
  return machine;
}

}  // namespace cardhour::guest
