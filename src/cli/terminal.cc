#include "cli/terminal.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace cardhour::cli {
namespace {

// Signal handlers can reach nothing else.
volatile std::sig_atomic_t interrupt_seen = 0;
struct sigaction previous_action;

void on_interrupt(int) { interrupt_seen = 1; }

constexpr size_t kLineBytesMax = 4096;
constexpr char kControlC = 3;
constexpr char kControlD = 4;
constexpr char kBackspace = 8;
constexpr char kDelete = 127;

void write_text(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

tl::unexpected<Error> no_terminal() {
  return fail(ErrorCode::invalid_argument,
              Text{"a password is needed, and there is no terminal to ask on",
                   "需要密码，但没有可以输入的终端"},
              Text{"Pipe it in with --password-stdin.", "请用 --password-stdin 从管道传入。"});
}

// Takes the last character off, which may have several bytes.
void drop_last(std::string& typed) {
  while (!typed.empty() && (static_cast<unsigned char>(typed.back()) & 0xC0U) == 0x80) {
    typed.pop_back();
  }
  if (!typed.empty()) typed.pop_back();
}

// Typed until Enter, with the echo off; the caller restores the terminal.
Result<Secret> read_typed(int terminal) {
  std::string typed;
  char c = 0;
  while (typed.size() < kLineBytesMax) {
    const ssize_t n = ::read(terminal, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || c == '\n' || c == '\r' || c == kControlD) break;
    if (c == kControlC) {
      return fail(ErrorCode::invalid_argument, Text{"cancelled", "已取消"});
    }
    if (c == kBackspace || c == kDelete) {
      drop_last(typed);
    } else {
      typed.push_back(c);
    }
  }
  return Secret(std::move(typed));
}

}  // namespace

Language language_of_environment() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::string_view(value).starts_with("zh") ? Language::zh : Language::en;
  }
  return Language::en;
}

void print(std::string_view text) { write_text(stdout, text); }
void remark(std::string_view text) { write_text(stderr, text); }
bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }
bool progress_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }
bool input_is_terminal() { return ::isatty(STDIN_FILENO) == 1; }

std::string read_line() {
  std::string line;
  for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar()) {
    if (line.size() < kLineBytesMax) line.push_back(static_cast<char>(c));
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

Result<Secret> ask_secret(std::string_view question) {
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal < 0) return no_terminal();
  termios before{};
  if (::tcgetattr(terminal, &before) != 0) {
    ::close(terminal);
    return no_terminal();
  }
  termios quiet = before;
  quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG);
  ::tcsetattr(terminal, TCSAFLUSH, &quiet);  // before the question: a quick answer is not lost
  remark(question);
  Result<Secret> typed = read_typed(terminal);
  ::tcsetattr(terminal, TCSAFLUSH, &before);
  ::close(terminal);
  remark("\n");
  return typed;
}

Result<Secret> read_secret() {
  std::string line = read_line();
  if (line.empty()) {
    return fail(ErrorCode::invalid_argument, Text{"standard input is empty", "标准输入为空"},
                Text{"Pipe one line in, e.g. from a file of mode 0600.",
                     "请传入一行内容，例如来自权限为 0600 的文件。"});
  }
  return Secret(std::move(line));
}

InterruptWatch::InterruptWatch() {
  interrupt_seen = 0;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second Ctrl-C ends the program
  ::sigaction(SIGINT, &action, &previous_action);
}

InterruptWatch::~InterruptWatch() { ::sigaction(SIGINT, &previous_action, nullptr); }

bool InterruptWatch::seen() { return interrupt_seen != 0; }

}  // namespace cardhour::cli
