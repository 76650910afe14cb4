#include "bench/server.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "adapters/http/api/endpoints.h"
#include "adapters/http/event_hub.h"
#include "adapters/http/server.h"
#include "adapters/system/clock.h"
#include "adapters/system/entropy.h"
#include "app/secrets.h"
#include "bench/fixture.h"
#include "bench/hanging_engine.h"
#include "bin/background.h"

namespace cardhour::bench {
namespace {

struct Options {
  PopulationOptions population;
  bool stopped = false;
};

SimHost host_of(const Population& population) {
  SimHost host;
  for (const Card& row : population.cards) {
    ProbedCard card;
    card.uuid = row.uuid;
    card.name = row.driver_name;
    card.pci_address = row.pci_address;
    card.index = row.card_index;
    card.memory_total_bytes = row.vram_bytes;
    card.memory_used_bytes = 0;
    card.numa_node = row.numa_node;
    host.cards.push_back(std::move(card));
  }
  return host;
}

// The engine runs what the rows say, and the rows know the engine's mark of each run.
void run_all(SimEngine& engine, Population& population) {
  std::map<CardId, const Card*> rows;
  for (const Card& card : population.cards) rows[card.uuid] = &card;
  std::map<InstanceId, EngineCard> cards;
  for (const Allocation& allocation : population.allocations) {
    const Card& card = *rows.at(allocation.card_uuid);
    cards[allocation.instance_id] =
        EngineCard{card.uuid, card.pci_address, card.driver_name, card.vram_bytes, true};
  }
  for (Instance& instance : population.instances) {
    EngineSpec spec;
    spec.id = instance.id;
    spec.account = instance.account_id;
    spec.image = instance.image;
    spec.ipv4 = instance.ipv4;
    spec.idmap_base = instance.idmap_base;
    spec.ssh_port = instance.ssh_port;
    must(engine.ensure_created(spec, {}));
    if (instance.observed != Observed::running) continue;
    EngineShape shape{instance.millicores, instance.memory_bytes, {}};
    if (const auto card = cards.find(instance.id); card != cards.end()) {
      shape.cards.push_back(card->second);
    }
    must(engine.ensure_started(spec, shape));
    instance.engine_run = must(engine.find(instance.id))->run;
  }
}

std::string token_of(const Deps& deps, const AccountId& account) {
  const MintedToken minted =
      mint_token(deps, account, TokenKind::session, to_text(all_scopes(Role::renter)));
  must(deps.store.write([&](Tx& tx) { return tx.accounts().insert_token(minted.token); }));
  return minted.text.reveal();
}

void serve_until_told(const Options& options, const sigset_t& signals) {
  const Scratch scratch;
  SystemClock clock;
  SystemEntropy entropy;
  Population population = make_population(entropy, clock.now(), options.population);
  SimEngineOptions at_once;
  at_once.start_time = at_once.boot_time = milliseconds(0);
  SimEngine engine(clock, {host_of(population)}, std::move(at_once));
  run_all(engine, population);
  HangingEngine asked(engine);
  SimProbe probe(engine);
  const auto store = must(open_sqlite(scratch.file("cardhour.db")));
  insert(*store, population);

  Policy policy;
  const Catalog models = catalog();
  NetworkPlan network;
  http::EventHub hub;
  Hint hint;
  Deps deps{*store, asked, clock, entropy, probe, policy, models, network, SealKey{}};
  deps.changed = [&hub, &hint] {
    hint.raise();
    hub.notify();
  };
  ControlPlane plane(deps);
  must(plane.inventory.seed_prices(default_prices(models)));
  const std::string token = token_of(deps, population.accounts.front().id);
  population = {};

  const auto router =
      std::make_shared<http::Router>(http::make_endpoints(plane), http::authorizer(plane));
  std::vector<http::Listener> listeners(1);
  listeners[0].serve = [router](http::Request request) {
    return router->handle(std::move(request));
  };
  const auto server = must(http::HttpServer::start(std::move(listeners), {}, hub));
  const Background background(plane, clock, hint);
  fmt::print("{{\"url\": \"http://127.0.0.1:{}\", \"token\": \"{}\"}}\n", server->port(), token);
  std::fflush(stdout);
  for (int signal = 0; sigwait(&signals, &signal) == 0 && signal == SIGUSR1;) asked.hang();
  asked.end();
  server->stop();
}

}  // namespace

int serve(int argc, char** argv) {
  Options options;
  CLI::App app{"A server with a made-up population"};
  app.add_option("--accounts", options.population.accounts);
  app.add_option("--instances-per-account", options.population.instances_per_account);
  app.add_option("--cards", options.population.cards_per_host);
  app.add_flag("--stopped", options.stopped, "the instances are stopped");
  CLI11_PARSE(app, argc - 1, argv + 1);
  if (options.stopped) options.population.state = Observed::stopped;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGUSR1);  // the engine hangs from now on
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  crypto_init();
  serve_until_told(options, signals);
  return 0;
}

}  // namespace cardhour::bench
