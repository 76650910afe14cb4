// CHECK: an assertion that stays on in every build. It guards what the program
// promises itself, never input: a failed CHECK is a bug in Cardhour.
// Prints the place and the message on stderr and aborts. Thread-safe.
#pragma once

#include <string_view>

namespace cardhour {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view message);

}  // namespace cardhour

#define CHECK(condition, message)                                          \
  do {                                                                     \
    if (!(condition)) {                                                    \
      ::cardhour::check_failed(__FILE__, __LINE__, #condition, (message)); \
    }                                                                      \
  } while (false)
