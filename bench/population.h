// Population: a made-up deployment of any size, as rows, and its way into a store. Everything
// is as the product would have left it: running instances have their cards, an open segment, a
// run, and a start that is done; wallets are full. For benchmarks only. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "ports/entropy.h"
#include "ports/store.h"

namespace cardhour::bench {

struct PopulationOptions {
  int hosts = 1;
  int cards_per_host = 8;
  int accounts = 1;
  int instances_per_account = 0;
  // Running ones take a card each for as long as there are any, and are no-GPU runs beyond.
  Observed state = Observed::running;
};

struct Population {
  std::vector<Host> hosts;
  std::vector<Card> cards;
  std::vector<Account> accounts;
  std::vector<Instance> instances;
  std::vector<Allocation> allocations;
  std::vector<Segment> segments;
  std::vector<Operation> operations;
  std::vector<LedgerEntry> topups;
};

Population make_population(Entropy& entropy, Timestamp now, const PopulationOptions& options);

// Inserts all of it, thousands of rows a transaction.
void insert(Store& store, const Population& population);

}  // namespace cardhour::bench
