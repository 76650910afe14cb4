// Doctor: gathers what is known of an instance and asks domain/diagnosis.h what is wrong with
// it. Its loop tells problems of running instances as events, each once a run. `examine` is
// thread-safe; the loop has one thread.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/instances.h"
#include "app/telemetry.h"
#include "domain/diagnosis.h"

namespace cardhour {

class Doctor {
 public:
  Doctor(const Deps& deps, Telemetry& telemetry) : deps_(deps), telemetry_(telemetry) {}

  // Of an instance that the caller may see (as found by Instances::get).
  Result<std::vector<Finding>> examine(const Instance& instance);
  // Once a minute or so.
  Status pass();

 private:
  Result<DiagnosisInput> gather(const Instance& instance);

  Deps deps_;
  Telemetry& telemetry_;
  std::set<std::pair<RunId, std::string>> told_;
};

}  // namespace cardhour
