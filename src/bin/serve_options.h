// What `cardhour serve` can be told. CLI11 is in serve_options.cc alone.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "adapters/http/server.h"
#include "adapters/incus/firewall.h"
#include "base/error.h"
#include "domain/policy.h"

namespace cardhour {

struct ServeOptions {
  std::string config;  // of the business, see adapters/files/policy_file.h; empty: defaults
  std::string data;
  std::string catalog;  // directory of gpu-models.toml and prices.toml
  std::string console;  // directory of a build of web/
  std::string log_level = "info";
  std::optional<Registration> registration;  // over what the configuration says
  std::string operator_login = "admin";      // made at the first start

  http::ListenAddress listen;
  std::string tls_certificate;  // both or none
  std::string tls_key;

  enum class EngineKind { incus, sim };
  EngineKind engine = EngineKind::incus;
  enum class GpuKind { nvml, sim, none };
  GpuKind gpus = GpuKind::nvml;
  std::string simulated_cards;    // "8xRTX4090"
  std::string simulated_library;  // libcardhour-nvml-sim.so

  std::string deployment = "local";  // our objects in the engine are tagged with it
  std::string incus_socket;
  std::string project;
  std::string pool;
  std::string network;
  std::string subnet;                  // "10.177.0.0/16"
  std::string ssh_address;             // what renters connect to
  std::string ssh_listen;              // where SSH ports listen
  std::optional<PortRange> ssh_ports;  // over what the configuration says
  std::string guest_dir;               // mounted into instances
  std::optional<http::ListenAddress> guest_listen;
  std::vector<FirewallAllow> allow;  // what instances may reach in private networks

  // The first two numbers of the subnet: "10.177".
  std::string subnet_prefix() const;
  // The host's address on the bridge.
  std::string gateway() const { return subnet_prefix() + ".0.1"; }
};

// The options, or the exit code when there is nothing to serve (--help, a usage error;
// already printed). Arguments as main's, with "serve" as the first.
std::variant<ServeOptions, int> parse_serve(int argc, char** argv);

// A directory or file that came with the program: below the prefix of the installed or
// built binary, e.g. "share/cardhour/catalog".
std::string beside_binary(const std::string& relative);

}  // namespace cardhour
