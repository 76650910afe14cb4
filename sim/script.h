// Script: a life of the world as a list of lines, each one action with all that it needs, so
// that any of them can be left out and the rest still be played. A seed makes a script while it
// lives (Journal writes down what was drawn by chance), a script is played by Player.
// The first line is "world seed S unit MS"; `#` begins a remark. sim/README.md has the words.
// Thread-safe: plain values; a Journal belongs to one life.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace cardhour {

using Words = std::vector<std::string>;
Words words_of(const std::string& line);

struct Script {
  uint64_t seed = 1;  // of ids and secrets: nothing else is drawn when a script is played
  Duration unit = seconds(1);
  std::vector<std::string> lines;

  bool operator==(const Script&) const = default;
};
std::string to_text(const Script& script);
Result<Script> parse_script(const std::string& text);

// What a life does, as it does it, into a file that outlives its process: a step is begun, does
// its lines, and hears of what strikes it.
class Journal {
 public:
  explicit Journal(int fd) : fd_(fd) {}

  void begin_step() { write("step"); }
  void did(const std::string& line) { write("did " + line); }
  void struck(const std::string& line) { write("hit " + line); }

 private:
  void write(const std::string& line) const;
  int fd_;
};
// The lines of a journal: what struck a step is armed before it.
std::vector<std::string> lines_of_journal(const std::string& journal);

}  // namespace cardhour
