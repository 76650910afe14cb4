#include "app/backups.h"

#include <algorithm>

namespace cardhour {
namespace {

tl::unexpected<Error> no_shelf() {
  return fail(ErrorCode::conflict, Text{"this server keeps no backups", "该服务未启用备份"});
}

}  // namespace

Result<std::vector<BackupFile>> Backups::list() {
  if (deps_.shelf == nullptr) return no_shelf();
  return deps_.shelf->list();
}

Result<BackupFile> Backups::make(const Actor& actor) { return make(actor.name, "admin"); }

Result<BackupFile> Backups::make(const std::string& actor, const std::string& reason) {
  if (deps_.shelf == nullptr) return no_shelf();
  const Timestamp now = deps_.clock.now();
  TRY_ASSIGN(const BackupFile made, deps_.shelf->make(now));
  {
    const std::lock_guard lock(mutex_);
    newest_ = made.made_at;
  }
  TRY(drop_old());
  TRY(deps_.store.write([&](Tx& tx) {
    return tx.events().append(Event{0, now, std::nullopt, std::nullopt, "backup.made", actor,
                                    reason, "file=" + made.name});
  }));
  deps_.changed();
  return made;
}

Status Backups::drop_old() {
  TRY_ASSIGN(const auto files, deps_.shelf->list());
  const auto keep = static_cast<size_t>(deps_.policy.backup_keep);
  for (size_t i = keep; i < files.size(); ++i) TRY(deps_.shelf->remove(files[i]));
  return {};
}

Status Backups::pass() {
  if (deps_.shelf == nullptr) return {};
  TRY_ASSIGN(const auto files, deps_.shelf->list());
  const Timestamp now = deps_.clock.now();
  const auto newest =
      files.empty() ? std::nullopt : std::optional<Timestamp>(files.front().made_at);
  {
    const std::lock_guard lock(mutex_);
    newest_ = newest;
    if (!watched_since_) watched_since_ = now;
  }
  if (newest && now - *newest < deps_.policy.backup_interval) return {};
  const auto made = make("system:backup", "due");
  return made ? Status() : Status(fail(made.error()));
}

Backups::Health Backups::health() {
  const std::lock_guard lock(mutex_);
  Health health{deps_.shelf != nullptr, newest_, false};
  const auto since = newest_ ? newest_ : watched_since_;
  health.is_overdue =
      health.is_kept && since && deps_.clock.now() - *since > deps_.policy.backup_interval * 2;
  return health;
}

}  // namespace cardhour
