// Prometheus text (exposition format 0.0.4) of cards, instances and the control plane. Readings
// of cards carry the names and labels of NVIDIA's DCGM exporter where it has one, so that
// dashboards made for it work; ours begin with cardhour_. What is unknown is left out. Pure.
#pragma once

#include <string>
#include <vector>

#include "app/gpu_watch.h"
#include "app/instances.h"
#include "app/telemetry.h"

namespace cardhour::http {

struct MetricsInput {
  std::vector<CardNow> cards;
  std::vector<Host> hosts;
  std::vector<InstanceView> instances;  // running
  GpuLook look;
  Timestamp now;
};
std::string prometheus_text(const MetricsInput& input);

}  // namespace cardhour::http
