// Policy: the numbers of the business that an operator may change. The defaults are the
// ones of docs/billing.md; bin/ overlays the configuration file. Pure data.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <string>

#include "base/money.h"
#include "base/port_range.h"
#include "base/size.h"
#include "base/time.h"
#include "domain/estimate/rules.h"

namespace cardhour {

enum class Registration { open, invitation, closed };
BOOST_DESCRIBE_ENUM(Registration, open, invitation, closed)

struct Quotas {
  int running = 5;
  int instances = 20;
  int cards = 8;
};

struct Policy {
  Currency currency;
  Registration registration = Registration::closed;

  // Money.
  Duration minimum_unit = seconds(1);  // a run's time is rounded up to it
  Money minimum_charge{10'000};        // of a run that cost anything: 0.01
  Duration hold = hours(1);            // of the new burn, until ready
  Duration settlement_interval = hours(1);
  Duration settlement_spread = minutes(5);
  Duration arrears_notice = minutes(10);  // runway at which the notice starts
  Duration arrears_notice_withdrawn = minutes(15);

  // Life of an instance.
  Duration ready_timeout = seconds(120);
  Duration restart_timeout = minutes(5);
  Duration start_patience = minutes(10);  // how long a start waits for a silent engine
  Duration stop_grace = seconds(30);
  int start_attempts = 3;
  Duration bin = days(7);
  Duration host_silent_after = seconds(30);  // three missed polls
  Duration observe_interval = seconds(10);

  // Shapes.
  int no_gpu_millicores = 500;
  int64_t no_gpu_memory_bytes = 2 * kGiB;
  int host_no_gpu_millicores = 2000;  // kept on each host for no-GPU runs
  int64_t host_no_gpu_memory_bytes = 8 * kGiB;
  int card_millicores_min = 500;
  int64_t card_memory_bytes_min = 2 * kGiB;
  int64_t system_disk_bytes = 30 * kGiB;
  int64_t data_disk_bytes = 50 * kGiB;
  int64_t data_disk_bytes_min = kGiB;
  int64_t data_disk_bytes_max = 4096 * kGiB;
  int64_t empty_card_bytes = 2 * kGiB;  // VRAM in use above which a card is not empty
  Quotas quotas;

  // Network.
  PortRange ssh_ports;  // of the host, for instances; those that exist keep theirs

  // Backups of the database.
  std::string backup_directory;  // empty: "backups" in the data directory
  Duration backup_interval = days(1);
  int backup_keep = 7;  // the newest so many

  // Accounts.
  Duration session = days(30);
  Duration invitation = days(14);

  EstimateRules estimates;
};

}  // namespace cardhour
