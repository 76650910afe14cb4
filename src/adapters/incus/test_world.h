// The daemon that integration tests run against, and what they make in it: one deployment
// tag per process, so that several test programs share a daemon; whatever was made is
// removed by the destructor. From the environment:
//   CARDHOUR_INCUS_SOCKET   without it the tests are skipped
//   CARDHOUR_INCUS_NETWORK, _SUBNET, _POOL, _PROJECT, _IMAGE   [chlab0, 10.178.0.1/16, chlab,
//   cardhour, base]
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/incus/incus_client.h"
#include "adapters/incus/incus_engine.h"
#include "adapters/incus/incus_exec.h"

namespace cardhour {

class TestWorld {
 public:
  // Null when there is no daemon to test with.
  static std::unique_ptr<TestWorld> make(const std::string& ssh_listen = "127.0.0.1");
  ~TestWorld();

  IncusEngine& engine() { return *engine_; }
  IncusClient& client() { return *client_; }
  const IncusOptions& options() const { return options_; }

  EngineSpec fresh_spec();
  GuestIdentity identity(const EngineSpec& spec) const;
  EngineShape shape(int simulated_cards = 1) const;
  // Created and started, with an SSH banner; ADD_FAILUREs otherwise.
  EngineSpec ready();

  // What a shell line says inside, output and errors in one.
  ExecOutcome inside(const InstanceId& id, const std::string& line,
                     Duration patience = seconds(30));
  ExecOutcome python(const InstanceId& id, const std::string& script,
                     Duration patience = seconds(30));
  // A bare instance of somebody else, with this name.
  void add_foreign(const std::string& name, const std::string& extra_config_key = {});
  bool foreign_is(const std::string& name, const std::string& status);

 private:
  explicit TestWorld(IncusOptions options);
  void remove_foreign(const std::string& name);

  IncusOptions options_;
  std::string scratch_;
  std::unique_ptr<IncusClient> client_;
  std::unique_ptr<IncusEngine> engine_;
  std::vector<InstanceId> made_;
  std::vector<std::string> foreign_;
};

}  // namespace cardhour
