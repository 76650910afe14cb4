#include "bin/serve_options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "base/enum_text.h"
#include "bin/data_dir.h"

namespace cardhour {
namespace {

namespace fs = std::filesystem;

// What is typed, before it is understood.
struct Typed {
  std::string listen = "127.0.0.1:8080";
  std::string engine = "incus";
  std::string gpus = "nvml";
  std::string registration;
  std::string guest_listen;
  std::string ssh_ports;
  std::vector<std::string> allow;
};

void describe(CLI::App& app, ServeOptions& options, Typed& typed) {
  app.add_option("--config", options.config, "what the business may change (TOML)");
  app.add_option("--data", options.data, "data directory, this server's own")
      ->capture_default_str();
  app.add_option("--catalog", options.catalog,
                 "directory of gpu-models.toml, model-presets.toml and prices.toml")
      ->capture_default_str();
  app.add_option("--console", options.console, "directory of the web console's build")
      ->capture_default_str();
  app.add_option("--listen", typed.listen, "address of the API; beyond loopback TLS is on")
      ->capture_default_str();
  app.add_option("--tls-cert", options.tls_certificate,
                 "PEM certificate chain; default beyond loopback: self-signed");
  app.add_option("--tls-key", options.tls_key, "PEM key of --tls-cert");
  app.add_option("--registration", typed.registration, "who may make an account")
      ->check(CLI::IsMember({"open", "invitation", "closed"}));
  app.add_option("--operator", options.operator_login, "login of the first operator")
      ->capture_default_str();
  app.add_option("--log", options.log_level, "debug, info, warn or error")->capture_default_str();
}

void describe_machines(CLI::App& app, ServeOptions& options, Typed& typed) {
  app.add_option("--engine", typed.engine, "what runs instances; sim: nothing really runs")
      ->check(CLI::IsMember({"incus", "sim"}))
      ->capture_default_str();
  app.add_option("--gpus", typed.gpus,
                 "nvml, none, simulated cards such as sim:8xRTX4090, or sim:@FILE")
      ->capture_default_str();
  app.add_option("--sim-library", options.simulated_library, "libcardhour-nvml-sim.so")
      ->capture_default_str();
  app.add_option("--deployment", options.deployment, "tag of our objects in the engine")
      ->capture_default_str();
  app.add_option("--incus-socket", options.incus_socket)->capture_default_str();
  app.add_option("--project", options.project, "Incus project")->capture_default_str();
  app.add_option("--pool", options.pool, "Incus storage pool")->capture_default_str();
  app.add_option("--network", options.network, "bridge of the instances")->capture_default_str();
  app.add_option("--subnet", options.subnet, "of the bridge, a /16")->capture_default_str();
  app.add_option("--ssh-address", options.ssh_address, "what renters connect to")
      ->capture_default_str();
  app.add_option("--ssh-listen", options.ssh_listen,
                 "address where SSH ports listen; default: --ssh-address");
  app.add_option("--ssh-ports", typed.ssh_ports,
                 "FROM-TO, ports of the host for instances; default: of the configuration "
                 "(22000-29999)");
  app.add_option("--guest-dir", options.guest_dir, "programs mounted into instances")
      ->capture_default_str();
  app.add_option("--guest-listen", typed.guest_listen,
                 "where instances report to; default: port 8079 of the bridge; none: nowhere");
  app.add_option("--allow", typed.allow,
                 "what instances may reach in private networks, e.g. 10.0.0.5:tcp:443 (port 0: "
                 "all); may be repeated");
}

Status understand_gpus(const std::string& typed, ServeOptions& options) {
  if (typed == "nvml") return {};
  if (typed == "none") {
    options.gpus = ServeOptions::GpuKind::none;
    return {};
  }
  if (typed == "sim" || typed.starts_with("sim:")) {
    options.gpus = ServeOptions::GpuKind::sim;
    options.simulated_cards = typed.size() > 4 ? typed.substr(4) : "8xRTX4090";
    return {};
  }
  return invalid("--gpus", text("\"{}\" is not nvml, none or sim:CARDS",
                                "“{}” 不是 nvml、none 或 sim:卡", typed));
}

bool is_byte(const std::string& text) {
  return !text.empty() && text.size() <= 3 &&
         text.find_first_not_of("0123456789") == std::string::npos && std::stoi(text) <= 255;
}

Status check_subnet(const std::string& subnet) {
  const size_t first = subnet.find('.');
  const size_t second = first == std::string::npos ? first : subnet.find('.', first + 1);
  if (second != std::string::npos && is_byte(subnet.substr(0, first)) &&
      is_byte(subnet.substr(first + 1, second - first - 1)) &&
      (subnet.substr(second) == ".0.0/16" || subnet.substr(second) == ".0.1/16")) {
    return {};
  }
  return invalid("--subnet", text("\"{}\" is not a /16 like 10.177.0.0/16",
                                  "“{}” 不是形如 10.177.0.0/16 的 /16 网段", subnet));
}

// Plain HTTP is for the bridge and loopback only.
Status understand_guest(const std::string& typed, ServeOptions& options) {
  constexpr uint16_t kPort = 8079;
  if (typed == "none") return {};
  if (typed.empty()) {
    const bool bridge = options.engine == ServeOptions::EngineKind::incus;
    if (bridge) options.guest_listen = http::ListenAddress{options.gateway(), kPort};
    return {};
  }
  TRY_ASSIGN(options.guest_listen, http::parse_listen(typed));
  const std::string& address = options.guest_listen->address;
  if (address == options.gateway() || address == "127.0.0.1") return {};
  return invalid("--guest-listen",
                 text("{} is neither the bridge's address {} nor loopback",
                      "{} 既不是网桥地址 {}，也不是回环地址", address, options.gateway()));
}

// "10.0.0.0/24:tcp:443"; the firewall checks address and protocol.
Result<FirewallAllow> understand_allow(const std::string& typed) {
  const size_t first = typed.find(':');
  const size_t second = first == std::string::npos ? first : typed.find(':', first + 1);
  const std::string port = second == std::string::npos ? "" : typed.substr(second + 1);
  const bool digits = !port.empty() && port.size() <= 5 &&
                      port.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) {
    return invalid("--allow",
                   text("\"{}\" is not ADDRESS:PROTOCOL:PORT", "“{}” 不是 地址:协议:端口", typed));
  }
  return FirewallAllow{typed.substr(0, first), typed.substr(first + 1, second - first - 1),
                       std::stoi(port)};
}

Status understand(const Typed& typed, ServeOptions& options) {
  TRY_ASSIGN(options.listen, http::parse_listen(typed.listen));
  if (options.tls_certificate.empty() != options.tls_key.empty()) {
    return invalid("--tls-cert", {"--tls-cert and --tls-key go together",
                                  "--tls-cert 与 --tls-key 必须同时给出"});
  }
  if (typed.engine == "sim") options.engine = ServeOptions::EngineKind::sim;
  if (!typed.registration.empty())
    options.registration = enum_from<Registration>(typed.registration);
  TRY(understand_gpus(typed.gpus, options));
  if (!typed.ssh_ports.empty()) {
    auto ports = parse_port_range(typed.ssh_ports);
    if (!ports) return invalid("--ssh-ports", ports.error().what, ports.error().next);
    options.ssh_ports = *ports;
  }
  for (const std::string& hole : typed.allow) {
    TRY_ASSIGN(options.allow.emplace_back(), understand_allow(hole));
  }
  TRY(check_subnet(options.subnet));
  if (options.ssh_listen.empty()) options.ssh_listen = options.ssh_address;
  return understand_guest(typed.guest_listen, options);
}

void set_defaults(ServeOptions& options) {
  options.data = default_data_dir();
  options.catalog = beside_binary("share/cardhour/catalog");
  options.console = beside_binary("share/cardhour/console");
  options.simulated_library = beside_binary("lib/libcardhour-nvml-sim.so");
  options.guest_dir = beside_binary("lib/cardhour/guest");
  options.incus_socket = "/var/lib/incus/unix.socket";
  options.project = "cardhour";
  options.pool = "cardhour";
  options.network = "cardhour0";
  options.subnet = "10.177.0.0/16";
  options.ssh_address = "127.0.0.1";
}

}  // namespace

std::string ServeOptions::subnet_prefix() const {
  return subnet.substr(0, subnet.find('.', subnet.find('.') + 1));
}

std::variant<ServeOptions, int> parse_serve(int argc, char** argv) {
  constexpr int kUsage = 2;
  CLI::App app{"Runs the server: API, loops and workers, over one Incus", "cardhour serve"};
  ServeOptions options;
  Typed typed;
  set_defaults(options);
  describe(app, options, typed);
  describe_machines(app, options, typed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  const Status status = understand(typed, options);
  if (status) return options;
  std::fprintf(stderr, "cardhour serve: %s: %s\n", status.error().field.c_str(),
               status.error().what.en.c_str());
  return kUsage;
}

std::string beside_binary(const std::string& relative) {
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  return (binary.parent_path().parent_path() / relative).string();
}

}  // namespace cardhour
