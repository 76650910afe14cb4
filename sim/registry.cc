#include "sim/registry.h"

#include "sim/paths.h"
#include "sim/player.h"

namespace cardhour {

std::vector<std::string> registered_paths() {
  std::vector<std::string> paths = Player::verbs();
  for (const LifecycleEdge& edge : lifecycle()) {
    paths.push_back(Paths::edge_name(edge.from, edge.event));
  }
  for (const std::string& hit : FaultPlan::possible_hits()) paths.push_back("fault: " + hit);
  for (const char* path :
       {// Why runs end and pause.
        "running -> stopping (renter)", "running -> stopping (guest_shutdown)",
        "running -> stopping (arrears)", "running -> stopping (admin)",
        "running -> stopping (restart_failed)", "running -> stopping (card_fault)",
        "running -> stopped (vanished)", "running -> stopped (host_reboot)",
        "creating -> stopping (start_failed)", "starting -> stopping (start_failed)",
        "unreachable (host_silent)", "reachable (host_back)", "restarted (ready)",
        "rebooting (guest_shutdown)", "purging (renter)", "purging (expired)", "notice (arrears)",
        "notice_withdrawn ()", "host.silent",
        // What may be refused.
        "refused: conflict", "refused: engine_failed", "refused: engine_unavailable",
        "refused: idempotency_mismatch", "refused: insufficient_balance",
        "refused: invalid_argument", "refused: no_capacity", "refused: store_unavailable",
        "refused: quota_exceeded",
        // Cards that nobody gets now.
        "out of the market: quarantine", "out of the market: excluded", "out of the market: unfit",
        // Threads in one another's way.
        "stale result dropped", "lock taken over", "meanwhile: work", "meanwhile: observe",
        "meanwhile: settle", "meanwhile: reconcile", "meanwhile: stop", "meanwhile: release",
        // An older backup over a newer engine.
        "adopted: kept", "adopted: removed",
        // The rest.
        "replayed with its key", "quote kept", "written off", "started behind our back",
        "PCI addresses swapped", "process restarted", "wall clock set back",
        "wall clock set forward", "crash in a request"}) {
    paths.push_back(path);
  }
  return paths;
}

}  // namespace cardhour
