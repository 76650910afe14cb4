#include "bin/serve.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "adapters/files/catalog_file.h"
#include "adapters/files/policy_file.h"
#include "adapters/files/presets_file.h"
#include "adapters/http/api/endpoints.h"
#include "adapters/http/console.h"
#include "adapters/http/event_hub.h"
#include "adapters/http/server.h"
#include "adapters/http/tls_identity.h"
#include "adapters/series/ring_files.h"
#include "adapters/sql/backup_directory.h"
#include "adapters/sql/sql_store.h"
#include "adapters/system/clock.h"
#include "adapters/system/entropy.h"
#include "app/control_plane.h"
#include "base/limits.h"
#include "bin/backends.h"
#include "bin/background.h"
#include "bin/crash_points.h"
#include "bin/data_dir.h"
#include "bin/log.h"
#include "bin/serve_options.h"

namespace cardhour {
namespace {

// What does not change while the server runs, in the order of its making.
struct Settings {
  Policy policy;
  Catalog catalog;
  std::vector<Price> default_prices;
  NetworkPlan network;
};

Result<Settings> load_settings(const ServeOptions& options) {
  Settings settings;
  TRY(load_policy(options.config, settings.policy));
  if (options.registration) settings.policy.registration = *options.registration;
  if (options.ssh_ports) settings.policy.ssh_ports = *options.ssh_ports;
  TRY_ASSIGN(const Catalog models, load_catalog(options.catalog + "/gpu-models.toml"));
  TRY_ASSIGN(auto presets, load_presets(options.catalog + "/model-presets.toml"));
  settings.catalog = Catalog(models.models(), std::move(presets));
  TRY_ASSIGN(settings.default_prices,
             load_prices(options.catalog + "/prices.toml", settings.catalog));
  const bool shell = options.engine == ServeOptions::EngineKind::incus;
  if (shell) settings.network.ssh_address = options.ssh_address;
  if (!shell) settings.network.ssh_address.clear();
  settings.network.ssh_ports = settings.policy.ssh_ports;
  settings.network.subnet = options.subnet_prefix() + ".0.0";
  settings.network.idmap_first = 1;  // the first 65536 ids are the daemon's own default
  return settings;
}

struct Tls {
  std::optional<http::TlsFiles> files;
  std::string fingerprint;  // of a certificate that we made
};

// Beyond loopback there is always TLS: the operator's certificate or our own.
Result<Tls> tls_of(const ServeOptions& options, const DataDir& data) {
  Tls tls;
  if (!options.tls_certificate.empty()) {
    tls.files = http::TlsFiles{options.tls_certificate, options.tls_key};
    return tls;
  }
  const std::string& address = options.listen.address;
  if (address.starts_with("127.") || address == "::1") return tls;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  std::vector<std::string> names{"localhost", "127.0.0.1", host};
  if (address != "0.0.0.0" && address != "::") names.push_back(address);
  TRY_ASSIGN(http::TlsIdentity identity, http::ensure_self_signed(data.path(), names));
  tls.files = identity.files;
  tls.fingerprint = identity.fingerprint;
  return tls;
}

Result<std::unique_ptr<http::HttpServer>> start_http(
    const ServeOptions& options, const Tls& tls,
    const std::shared_ptr<const http::Console>& console, ControlPlane& plane, http::EventHub& hub) {
  const auto serve = [&plane](std::vector<http::Endpoint> endpoints,
                              http::Fallback fallback) -> http::Serve {
    const auto router = std::make_shared<http::Router>(
        std::move(endpoints), http::authorizer(plane), std::move(fallback));
    return [router](http::Request request) { return router->handle(std::move(request)); };
  };
  std::vector<http::Listener> listeners(1);
  listeners[0].address = options.listen.address;
  listeners[0].port = options.listen.port;
  listeners[0].tls = tls.files;
  listeners[0].serve = serve(http::make_endpoints(plane), [console](const http::Request& request) {
    return console->answer(request);
  });
  if (options.guest_listen) {
    // The bridge is private to this host: a packet on it is an instance's or ours.
    http::Listener guest;
    guest.address = options.guest_listen->address;
    guest.port = options.guest_listen->port;
    guest.plain = http::Listener::Plain::anywhere;
    guest.serve = serve(http::make_guest_endpoints(plane), nullptr);
    listeners.push_back(std::move(guest));
  }
  http::ServerOptions server;
  server.log = log::request;
  return http::HttpServer::start(std::move(listeners), std::move(server), hub);
}

std::string gpus_text(const ServeOptions& options) {
  switch (options.gpus) {
    case ServeOptions::GpuKind::nvml:
      return "by NVML";
    case ServeOptions::GpuKind::none:
      return "none";
    case ServeOptions::GpuKind::sim:
      return "SIMULATED " + options.simulated_cards + ": nothing computes on them";
  }
  return {};
}

void print_start(const ServeOptions& options, const Tls& tls, const DataDir& data,
                 const http::HttpServer& server) {
  const bool v6 = options.listen.address.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + options.listen.address + "]" : options.listen.address;
  fmt::print("Cardhour {}\n  API     {}://{}:{}\n", http::product_version(),
             tls.files ? "https" : "http", host, server.port());
  if (!tls.fingerprint.empty()) fmt::print("  TLS     self-signed, SHA-256 {}\n", tls.fingerprint);
  fmt::print("  data    {}\n", data.path());
  if (options.engine == ServeOptions::EngineKind::sim) {
    fmt::print("  engine  SIMULATED in memory: instances are not real and have no shell\n");
  } else {
    fmt::print("  engine  Incus at {}, project {}\n", options.incus_socket, options.project);
  }
  fmt::print("  GPUs    {}\n", gpus_text(options));
  if (options.guest_listen) {
    fmt::print("  guests  report to http://{}:{}\n", options.guest_listen->address, server.port(1));
  }
}

void print_operator(const Accounts::FirstOperator& made) {
  fmt::print(
      "\nFirst start: the operator's login. The password is shown only now.\n"
      "  login     {}\n  password  {}\n\n",
      made.account.login, made.password.reveal());
}

// Until SIGTERM or SIGINT; a second one ends the process at once.
void wait_for_signal(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  log::info(fmt::format("{}: stopping", signal == SIGTERM ? "SIGTERM" : "SIGINT"));
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

Result<Timestamp> known_instant(Store& store) {
  Timestamp known;
  TRY(store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(known, newest_instant(tx));
    return {};
  }));
  return known;
}

Status serve(const ServeOptions& options, const sigset_t& signals) {
  SystemEntropy entropy;
  TRY_ASSIGN(const Settings settings, load_settings(options));
  TRY_ASSIGN(DataDir data, DataDir::open(options.data));
  TRY_ASSIGN(const SealKey seal_key, data.secret_key(entropy));
  TRY_ASSIGN(const auto store, open_sqlite(data.database()));
  TRY_ASSIGN(const Timestamp known, known_instant(*store));
  SystemClock clock(known);
  TRY_ASSIGN(const Backends backends,
             make_backends(options, settings.network.ssh_ports, clock, data.engine_state()));

  const std::string& shelf_path = settings.policy.backup_directory;
  BackupDirectory shelf(*store, shelf_path.empty() ? data.backups() : shelf_path);

  http::EventHub hub;
  Hint hint;
  TRY_ASSIGN(const auto crash, crash_points_from_environment(*store, *backends.engine));
  Deps deps{crash ? crash->store() : static_cast<Store&>(*store),
            crash ? crash->engine() : *backends.engine,
            clock,
            entropy,
            *backends.probe,
            settings.policy,
            settings.catalog,
            settings.network,
            seal_key};
  deps.changed = [&hub, &hint] {
    hint.raise();
    hub.notify();
  };
  TRY_ASSIGN(const auto series, RingFiles::open(data.path() + "/series"));
  deps.series = series.get();
  deps.shelf = &shelf;
  deps.shells = backends.shells.get();
  ControlPlane plane(deps);
  TRY(plane.operations.unlock_all());
  TRY(plane.adoptions.begin());
  TRY(plane.inventory.seed_prices(settings.default_prices));
  TRY_ASSIGN(const Tls tls, tls_of(options, data));
  TRY_ASSIGN(const auto console, http::Console::open(options.console, entropy));
  TRY_ASSIGN(const auto server, start_http(options, tls, console, plane, hub));
  print_start(options, tls, data, *server);
  if (!console->is_built()) fmt::print("  console not built: nothing at {}\n", options.console);
  // After everything that can refuse to start: it is shown once.
  TRY_ASSIGN(const auto first, plane.accounts.ensure_first_operator(options.operator_login));
  if (first) print_operator(*first);
  std::fflush(stdout);

  const Background background(plane, clock, hint);
  log::info(fmt::format("ready on port {}", server->port()));
  wait_for_signal(signals);
  plane.terminals.end_all();  // their readers hear of it before the connections end
  const Status written = plane.terminals.sweep();
  server->stop();
  return written;
}

}  // namespace

int serve_main(int argc, char** argv) {
  const auto parsed = parse_serve(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const auto& options = std::get<ServeOptions>(parsed);
  if (!log::start(options.log_level)) {
    std::fprintf(stderr, "cardhour serve: --log: no level \"%s\"\n", options.log_level.c_str());
    return 2;
  }
  ::umask(0077);
  crypto_init();
  // Blocked before the first thread, so that only wait_for_signal takes them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const Status status = serve(options, signals);
  if (status) return 0;
  log::error(log::text_of(status.error()));
  return error_row(status.error().code).exit_code;
}

}  // namespace cardhour
