// The person at the keyboard: language, whether anybody is there, questions, passwords that
// do not echo, and Ctrl-C. Results go to stdout, everything else (questions, progress,
// remarks) to stderr, so that a pipe sees results only. Not thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"

namespace cardhour::cli {

// From LC_ALL, LC_MESSAGES, LANG: the first that is set; Chinese if it begins with zh.
Language language_of_environment();

void print(std::string_view text);   // stdout
void remark(std::string_view text);  // stderr
bool output_is_terminal();           // stdout
bool progress_is_terminal();         // stderr
bool input_is_terminal();            // stdin

// Reads one line from stdin; nullopt-like empty text at the end of input.
std::string read_line();

// Asks on the terminal without showing what is typed. invalid_argument when there is no
// terminal; Ctrl-C gives the error of `interrupted()`.
Result<Secret> ask_secret(std::string_view question);

// Reads one line of stdin as a secret (--password-stdin).
Result<Secret> read_secret();

// While it lives, Ctrl-C sets a flag instead of ending the program; a second one ends it.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  static bool seen();
};

inline constexpr int kExitInterrupted = 130;  // 128 + SIGINT, as shells have it

}  // namespace cardhour::cli
