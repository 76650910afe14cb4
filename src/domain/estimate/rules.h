// The rules of thumb of the estimator: numbers of experience and of the business, not of
// physics. Part of Policy: the configuration file's section [estimates] changes them. Pure data.
#pragma once

#include "base/money.h"
#include "base/time.h"

namespace cardhour {

struct EstimateRules {
  // Training. Real projects need several runs: the plan is multiplied by this.
  int trial_percent_new = 250;
  int trial_percent_known = 150;
  // Tuning one card comes before adding cards: mixed precision, accumulation, loading.
  int tuning_percent_min = 150;
  int tuning_percent_max = 200;
  // What n cards do of one, unless it was measured.
  int speedup_percent_2 = 180;
  int speedup_percent_4 = 300;
  int speedup_percent_8 = 450;
  int timing_steps = 200;   // to measure a step
  int smoke_samples = 100;  // to see that it runs at all
  int smoke_steps_min = 10;
  int smoke_steps_max = 20;
  Duration checkpoint_min = minutes(15);
  Duration checkpoint_max = minutes(30);
  int checkpoints_kept = 3;

  // Packages and spot, as shares of the on-demand price.
  int package_day_percent = 90;
  int package_week_percent = 70;
  int package_month_percent = 55;
  int package_rule_percent = 60;  // the rule of thumb for "a package pays"
  int spot_percent = 40;

  // The wallet.
  int balance_percent = 200;  // of the expected cost
  int topup_hours_min = 10;   // of the first top-up
  int topup_hours_max = 20;

  // Disks and images.
  int disk_warn_percent = 90;
  int disk_alarm_percent = 95;
  Duration rebuild = minutes(20);  // an environment that takes longer is worth an image

  // Owning a machine.
  Money machine_price{20'000'000'000};
  int machine_watts = 600;
  Money price_per_kwh{800'000};
  int value_lost_percent = 50;    // in a year of hard use
  int owned_use_percent_min = 5;  // of the hours of a year that owned machines really work
  int owned_use_percent_max = 10;
  int own_rule_hours = 150;  // effective hours a month: the rule of thumb
};

}  // namespace cardhour
