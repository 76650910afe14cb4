// Adoption: an instance, or a run of one, that the engine has and the database did not know.
// Pure data.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "base/id.h"
#include "base/time.h"

namespace cardhour {

enum class AdoptionKind {
  instance,  // there was no row of it
  run,       // there was a row, of an instance at rest or of another run
};
BOOST_DESCRIBE_ENUM(AdoptionKind, instance, run)

struct Adoption {
  InstanceId instance_id;
  AdoptionKind kind = AdoptionKind::instance;
  AccountId engine_account;  // whose it is by the engine's tag; may be unknown here
  int64_t generation = 0;    // how often its engine object was configured
  Timestamp found_at;
};
BOOST_DESCRIBE_STRUCT(Adoption, (), (instance_id, kind, engine_account, generation, found_at))

// The database was put back from a backup.
struct Restore {
  Timestamp restored_at;
  std::string file;
  std::optional<Timestamp> rested_at;      // what was on its way then has been called off
  std::optional<Timestamp> reconciled_at;  // everything in the engine is accounted for
};
BOOST_DESCRIBE_STRUCT(Restore, (), (restored_at, file, rested_at, reconciled_at))

}  // namespace cardhour
