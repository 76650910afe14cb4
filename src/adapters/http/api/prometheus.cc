#include "adapters/http/api/prometheus.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "base/enum_text.h"

namespace cardhour::http {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

std::string escaped(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// Samples of one name stand together, as the format asks for.
class Page {
 public:
  void add(const std::string& name, const char* type, const char* help, const Labels& labels,
           double value) {
    if (std::isnan(value)) return;
    Family& family = families_[name];
    family.type = type;
    family.help = help;
    std::string text;
    for (const auto& [label, content] : labels) {
      text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", label, escaped(content));
    }
    family.samples += text.empty() ? fmt::format("{} {}\n", name, value)
                                   : fmt::format("{}{{{}}} {}\n", name, text, value);
  }
  std::string text() const {
    std::string out;
    for (const auto& [name, family] : families_) {
      out += fmt::format("# HELP {} {}\n# TYPE {} {}\n{}", name, family.help, name, family.type,
                         family.samples);
    }
    return out;
  }

 private:
  struct Family {
    std::string type;
    std::string help;
    std::string samples;
  };
  std::map<std::string, Family> families_;
};

double number(const std::optional<int64_t>& value, double unit = 1) {
  return value ? static_cast<double>(*value) / unit : std::nan("");
}

constexpr double kMib = 1024 * 1024;

void add_readings(Page& page, const Labels& labels, const CardReading& r) {
  const auto gauge = [&](const char* name, const char* help, double value) {
    page.add(name, "gauge", help, labels, value);
  };
  const auto counter = [&](const char* name, const char* help, double value) {
    page.add(name, "counter", help, labels, value);
  };
  gauge("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", number(r.gpu_percent));
  gauge("DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", number(r.memory_percent));
  gauge("DCGM_FI_DEV_FB_USED", "VRAM used (in MiB).", number(r.memory_used_bytes, kMib));
  if (r.memory_used_bytes && r.memory_total_bytes) {
    gauge("DCGM_FI_DEV_FB_FREE", "VRAM free (in MiB).",
          number(*r.memory_total_bytes - *r.memory_used_bytes, kMib));
  }
  gauge("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", number(r.power_milliwatts, 1000));
  gauge("DCGM_FI_DEV_POWER_MGMT_LIMIT", "Power limit (in W).",
        number(r.power_limit_milliwatts, 1000));
  gauge("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", number(r.temperature_celsius));
  gauge("DCGM_FI_DEV_SM_CLOCK", "SM clock (in MHz).", number(r.sm_clock_mhz));
  gauge("DCGM_FI_DEV_MEM_CLOCK", "Memory clock (in MHz).", number(r.memory_clock_mhz));
  gauge("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "Why the clocks are low (bits).",
        number(r.throttle_reasons));
  gauge("DCGM_FI_DEV_PCIE_TX_THROUGHPUT", "PCIe sent (in KB/s).",
        number(r.pcie_sent_bytes_per_second, 1000));
  gauge("DCGM_FI_DEV_PCIE_RX_THROUGHPUT", "PCIe received (in KB/s).",
        number(r.pcie_received_bytes_per_second, 1000));
  gauge("DCGM_FI_DEV_PCIE_LINK_GEN", "PCIe generation of the link.", number(r.pcie_generation));
  gauge("DCGM_FI_DEV_PCIE_LINK_WIDTH", "PCIe lanes of the link.", number(r.pcie_width));
  counter("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "PCIe retries.", number(r.pcie_replays));
  counter("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "Corrected memory errors since the driver's start.",
          number(r.ecc_corrected));
  counter("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Uncorrected memory errors since the driver's start.",
          number(r.ecc_uncorrected));
  gauge("DCGM_FI_DEV_ROW_REMAP_PENDING", "Whether a row waits to be remapped.",
        number(r.row_remap_is_pending));
  gauge("DCGM_FI_DEV_ROW_REMAP_FAILURE", "Whether remapping of rows has failed.",
        number(r.row_remap_has_failed));
  counter("cardhour_nvlink_sent_kib_total", "NVLink data sent (in KiB).",
          number(r.nvlink_sent_kib));
  counter("cardhour_nvlink_received_kib_total", "NVLink data received (in KiB).",
          number(r.nvlink_received_kib));
}

void add_card(Page& page, const CardNow& now, const std::string& host) {
  const Card& card = now.view.card;
  const Labels labels = {{"gpu", std::to_string(card.card_index)},
                         {"UUID", card.uuid.text},
                         {"device", "nvidia" + std::to_string(card.card_index)},
                         {"modelName", card.driver_name},
                         {"Hostname", host}};
  if (now.sample) add_readings(page, labels, now.sample->reading);
  Labels state = labels;
  state.emplace_back("model", card.model);
  state.emplace_back("state", now.view.state);
  state.emplace_back("instance_id", now.view.instance_id ? now.view.instance_id->text : "");
  state.emplace_back("renter", now.view.renter);
  page.add("cardhour_card_state", "gauge", "1, with the card's state and its holder as labels.",
           state, 1);
  page.add("cardhour_card_unowned_bytes", "gauge", "VRAM that no process accounts for.", labels,
           number(now.unowned_bytes));
  for (const CardCondition& condition : now.conditions) {
    Labels why = labels;
    why.emplace_back("kind", enum_text(condition.kind));
    why.emplace_back("reason", condition.reason);
    page.add("cardhour_card_condition", "gauge", "1 for each reason why a card is not for rent.",
             why, 1);
  }
  for (const CardXid& xid : now.xids) {
    Labels which = labels;
    which.emplace_back("xid", std::to_string(xid.code));
    page.add("cardhour_card_xids_total", "counter", "Errors that the driver reported.", which,
             static_cast<double>(xid.count));
  }
  if (!now.xids.empty()) {
    page.add("DCGM_FI_DEV_XID_ERRORS", "gauge", "The last Xid error.", labels,
             static_cast<double>(now.xids.front().code));
  }
}

void add_instance(Page& page, const InstanceView& view, const GpuLook& look) {
  const auto row = look.rows.find({SeriesKind::instance, view.instance.id.text});
  if (row == look.rows.end()) return;
  const Labels labels = {{"instance_id", view.instance.id.text},
                         {"instance", view.instance.name},
                         {"renter", view.owner}};
  const auto columns = columns_of(SeriesKind::instance);
  for (size_t i = 0; i < columns.size(); ++i) {
    page.add("cardhour_instance_" + std::string(columns[i].name), "gauge",
             "Of a running instance; the name carries the unit.", labels, row->second[i]);
  }
}

}  // namespace

std::string prometheus_text(const MetricsInput& input) {
  Page page;
  std::map<HostId, std::string> names;
  for (const Host& host : input.hosts) {
    names[host.id] = host.name;
    page.add("cardhour_host_reachable", "gauge", "Whether the engine shows signs of life.",
             {{"Hostname", host.name}}, host.reachable ? 1 : 0);
  }
  for (const CardNow& card : input.cards) add_card(page, card, names[card.view.card.host_id]);
  for (const InstanceView& view : input.instances) add_instance(page, view, input.look);
  page.add("cardhour_driver_answers", "gauge", "Whether the NVIDIA driver answers.", {},
           input.look.failure ? 0 : 1);
  if (input.look.sampled_at) {
    page.add("cardhour_sample_age_seconds", "gauge", "Age of the last look at the cards.", {},
             static_cast<double>((input.now - *input.look.sampled_at).ms) / 1000);
  }
  return page.text();
}

}  // namespace cardhour::http
