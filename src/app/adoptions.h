// Adoptions: what the operator decides about instances that were found in the engine
// (adopt.h), and what a restored database begins with. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "app/deps.h"

namespace cardhour {

struct AdoptionView {
  Adoption adoption;
  Instance instance;
  std::string owner;  // login
  std::vector<CardId> cards;
};

class Adoptions {
 public:
  explicit Adoptions(const Deps& deps) : deps_(deps) {}

  // Once in a process, before its workers and loops. Of a restored database: what was on its
  // way when the backup was made is called off, and whatever is in the bin gets its whole time
  // there anew; what the engine has of it is found by the first look.
  Status begin();

  Result<std::vector<AdoptionView>> list();
  // The instance is this account's (login or id; empty: whose it is by the engine), and a run
  // is charged from now on. Its keys and secrets are made anew if they are not known.
  Result<Instance> keep(const Actor& actor, const std::string& id, const std::string& account);
  // Into the bin.
  Result<Instance> remove(const Actor& actor, const std::string& id);

 private:
  Deps deps_;
};

}  // namespace cardhour
