// Fuzz targets: each takes any bytes, feeds them to one parser or to the whole API, and holds the
// answer against what must be true of it (a failed CHECK aborts). The same targets are driven by
// libFuzzer (libfuzzer.cc) and by a replay with mutations from a seed (replay.cc).
// Not thread-safe: some targets keep a world.
#pragma once

#include <string_view>
#include <vector>

namespace cardhour::fuzz {

struct Target {
  const char* name;  // of its folder in corpus/
  void (*run)(std::string_view input);
  // Words that mean something in its input, for mutations.
  std::vector<const char*> words;
  int cost = 1;  // how many inputs of the cheapest target take as long as one of these
};

const std::vector<Target>& targets();

// One row each, in the file of that name.
Target api_target();
Target grammars_target();
Target http_target();
Target files_target();
Target guest_target();
Target command_line_target();
Target stream_target();
Target ssh_key_target();

}  // namespace cardhour::fuzz
