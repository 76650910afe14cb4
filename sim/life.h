// Life: one world from its first step to rest, watched by the invariants; drawn from a seed, or
// played from a script. In a process of its own, so that a failed CHECK and a life that never
// ends are results too. Thread-safe: each call makes its own world.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/script.h"

namespace cardhour {

struct LifeOptions {
  int steps = 200;
  bool faults = true;
  bool verbose = false;
  int seconds_max = 120;  // of real time, then it counts as hung
};

struct Outcome {
  std::vector<std::string> broken;  // empty: all was well
  int step = 0;                     // lines played until then
  std::map<std::string, int> paths;
};

// In this process. The journal hears every line.
Outcome live_seed(const LifeOptions& options, uint64_t seed, Journal& journal);
Outcome live_script(const LifeOptions& options, const Script& script, Journal& journal);

// What a seed's script begins with.
Script script_of_seed(uint64_t seed);

// In another process. Begin, and end some time later: several live side by side.
class Birth {
 public:
  Birth(const LifeOptions& options, uint64_t seed);
  Birth(const LifeOptions& options, const Script& script);
  ~Birth();
  Birth(const Birth&) = delete;
  Birth& operator=(const Birth&) = delete;

  int process() const { return process_; }
  // After the process has ended, with its status by waitpid.
  Outcome outcome(int status) const;
  // What it did, as a script that does it again.
  Script script() const;

 private:
  template <class Live>
  void begin(const LifeOptions& options, const Live& live);

  Script header_;
  int process_ = -1;
  int journal_ = -1;
  int outcome_ = -1;
  int errors_ = -1;
};
// Waits for it.
Outcome ended(const Birth& birth);

}  // namespace cardhour
