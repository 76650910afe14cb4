// IdleRepository: what renters set for instances that do nothing. A part of the Store
// (ports/store.h), with its rules.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "domain/idle.h"

namespace cardhour {

class IdleRepository {
 public:
  virtual ~IdleRepository() = default;
  virtual Result<std::vector<IdleRule>> rules() = 0;  // by instance
  virtual Result<std::optional<IdleRule>> find(const InstanceId& id) = 0;
  virtual Status set(const IdleRule& rule) = 0;  // the instance has one
  // False: there was none.
  virtual Result<bool> remove(const InstanceId& id) = 0;
};

}  // namespace cardhour
