#include "adapters/files/policy_file.h"

#include <map>
#include <variant>

#include "adapters/files/toml_file.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

using namespace toml_file;

struct Count {
  int* place;
  int min;
  int max;
};
struct Length {
  Duration* place;
  Duration min = seconds(1);
  Duration max = days(366);
};
struct Bytes {
  int64_t* place;
};
struct Amount {
  Money* place;
};
struct Words {
  std::string* place;
};
struct Directory {
  std::string* place;
};
struct Ports {
  PortRange* place;
};
struct Admission {
  Registration* place;
};
using Place = std::variant<Count, Length, Bytes, Amount, Words, Directory, Ports, Admission>;
using Section = std::map<std::string_view, Place>;

// What an operator may change of the estimator's rules of thumb.
Section estimate_keys(EstimateRules& rules) {
  return {{"trial_percent_new", Count{&rules.trial_percent_new, 100, 1000}},
          {"trial_percent_known", Count{&rules.trial_percent_known, 100, 1000}},
          {"speedup_percent_2", Count{&rules.speedup_percent_2, 100, 200}},
          {"speedup_percent_4", Count{&rules.speedup_percent_4, 100, 400}},
          {"speedup_percent_8", Count{&rules.speedup_percent_8, 100, 800}},
          {"package_day_percent", Count{&rules.package_day_percent, 1, 100}},
          {"package_week_percent", Count{&rules.package_week_percent, 1, 100}},
          {"package_month_percent", Count{&rules.package_month_percent, 1, 100}},
          {"spot_percent", Count{&rules.spot_percent, 1, 100}},
          {"balance_percent", Count{&rules.balance_percent, 100, 500}},
          {"machine_price", Amount{&rules.machine_price}},
          {"machine_watts", Count{&rules.machine_watts, 0, 100'000}},
          {"price_per_kwh", Amount{&rules.price_per_kwh}},
          {"value_lost_percent", Count{&rules.value_lost_percent, 0, 100}}};
}

// Every key that the file may have, and where it goes.
std::map<std::string_view, Section> sections(Policy& p) {
  constexpr int kMany = 1'000'000;
  return {
      {"money",
       {{"currency", Words{&p.currency.code}},
        {"symbol", Words{&p.currency.symbol}},
        {"decimals", Count{&p.currency.decimals, 0, 3}},
        {"minimum_unit", Length{&p.minimum_unit, seconds(1), hours(1)}},
        {"minimum_charge", Amount{&p.minimum_charge}},
        {"hold", Length{&p.hold}},
        {"settlement_interval", Length{&p.settlement_interval, minutes(1), days(1)}},
        {"settlement_spread", Length{&p.settlement_spread, seconds(1), hours(1)}},
        {"arrears_notice", Length{&p.arrears_notice}},
        {"arrears_notice_withdrawn", Length{&p.arrears_notice_withdrawn}}}},
      {"instances",
       {{"ready_timeout", Length{&p.ready_timeout}},
        {"restart_timeout", Length{&p.restart_timeout}},
        {"start_patience", Length{&p.start_patience}},
        {"stop_grace", Length{&p.stop_grace, seconds(1), minutes(10)}},
        {"start_attempts", Count{&p.start_attempts, 1, 10}},
        {"bin", Length{&p.bin}},
        {"host_silent_after", Length{&p.host_silent_after}},
        {"observe_interval", Length{&p.observe_interval, seconds(1), minutes(10)}},
        {"no_gpu_millicores", Count{&p.no_gpu_millicores, 100, kMany}},
        {"no_gpu_memory", Bytes{&p.no_gpu_memory_bytes}},
        {"host_no_gpu_millicores", Count{&p.host_no_gpu_millicores, 0, kMany}},
        {"host_no_gpu_memory", Bytes{&p.host_no_gpu_memory_bytes}},
        {"card_millicores_min", Count{&p.card_millicores_min, 100, kMany}},
        {"card_memory_min", Bytes{&p.card_memory_bytes_min}},
        {"system_disk", Bytes{&p.system_disk_bytes}},
        {"data_disk", Bytes{&p.data_disk_bytes}},
        {"data_disk_min", Bytes{&p.data_disk_bytes_min}},
        {"data_disk_max", Bytes{&p.data_disk_bytes_max}},
        {"empty_card", Bytes{&p.empty_card_bytes}}}},
      {"network", {{"ssh_ports", Ports{&p.ssh_ports}}}},
      {"backup",
       {{"directory", Directory{&p.backup_directory}},
        {"interval", Length{&p.backup_interval, minutes(1), days(30)}},
        {"keep", Count{&p.backup_keep, 1, 1'000}}}},
      {"accounts",
       {{"registration", Admission{&p.registration}},
        {"session", Length{&p.session, minutes(1), days(3653)}},
        {"invitation", Length{&p.invitation, minutes(1), days(3653)}}}},
      {"quotas",
       {{"running", Count{&p.quotas.running, 0, kMany}},
        {"instances", Count{&p.quotas.instances, 0, kMany}},
        {"cards", Count{&p.quotas.cards, 0, kMany}}}},
      {"estimates", estimate_keys(p.estimates)},
  };
}

// Reads one value into its place.
struct Reader {
  const std::string& path;
  std::string_view key;
  const toml::node& value;

  Status operator()(const Count& count) const {
    TRY_ASSIGN(const int64_t number, integer_of(path, key, value));
    if (number < count.min || number > count.max) {
      return wrong(path, value, key,
                   text("must be {} to {}", "必须在 {} 到 {} 之间", count.min, count.max));
    }
    *count.place = static_cast<int>(number);
    return {};
  }
  Status operator()(const Length& length) const {
    TRY_ASSIGN(const Duration parsed, parsed_text(parse_duration));
    if (parsed < length.min || parsed > length.max) {
      return wrong(path, value, key,
                   Text{"must be " + for_people(length.min, Language::en) + " to " +
                            for_people(length.max, Language::en),
                        "必须在 " + for_people(length.min, Language::zh) + " 到 " +
                            for_people(length.max, Language::zh) + " 之间"});
    }
    *length.place = parsed;
    return {};
  }
  Status operator()(const Bytes& bytes) const {
    TRY_ASSIGN(*bytes.place, parsed_text(parse_size));
    return {};
  }
  Status operator()(const Amount& amount) const {
    TRY_ASSIGN(const Money parsed, parsed_text(parse_money));
    if (parsed.micro < 0) return wrong(path, value, key, Text{"is negative", "不能为负数"});
    *amount.place = parsed;
    return {};
  }
  Status operator()(const Words& words) const {
    TRY_ASSIGN(const std::string typed, text_of(path, key, value));
    if (typed.empty() || typed.size() > 16) {
      return wrong(path, value, key, Text{"has 1 to 16 bytes", "长度为 1 到 16 字节"});
    }
    *words.place = typed;
    return {};
  }
  Status operator()(const Directory& directory) const {
    TRY_ASSIGN(const std::string typed, text_of(path, key, value));
    if (!typed.starts_with('/') || typed.size() > 1'000) {
      return wrong(path, value, key, Text{"is an absolute path", "必须是绝对路径"});
    }
    *directory.place = typed;
    return {};
  }
  Status operator()(const Ports& ports) const {
    TRY_ASSIGN(*ports.place, parsed_text(parse_port_range));
    return {};
  }
  Status operator()(const Admission& admission) const {
    TRY_ASSIGN(const std::string typed, text_of(path, key, value));
    const auto found = enum_from<Registration>(typed);
    if (!found) {
      return wrong(path, value, key,
                   Text{"is open, invitation or closed", "可选 open、invitation、closed"});
    }
    *admission.place = *found;
    return {};
  }

 private:
  template <class T>
  Result<T> parsed_text(Result<T> (*parse)(std::string_view)) const {
    TRY_ASSIGN(const std::string typed, text_of(path, key, value));
    Result<T> parsed = parse(typed);
    if (!parsed) return within(path, value, key, parsed.error());
    return parsed;
  }
};

// What must hold between values, wherever each of them came from.
Status check(const std::string& path, const Policy& p) {
  const auto bad = [&](std::string key, const char* en, const char* zh) -> Status {
    return invalid(std::move(key), Text{path + ": " + en, path + "：" + zh});
  };
  if (p.arrears_notice_withdrawn <= p.arrears_notice) {
    return bad("arrears_notice_withdrawn", "arrears_notice_withdrawn must be above arrears_notice",
               "arrears_notice_withdrawn 必须大于 arrears_notice");
  }
  if (p.data_disk_bytes_min > p.data_disk_bytes || p.data_disk_bytes > p.data_disk_bytes_max) {
    return bad("data_disk", "data_disk must lie between data_disk_min and data_disk_max",
               "data_disk 必须在 data_disk_min 与 data_disk_max 之间");
  }
  if (p.host_silent_after < p.observe_interval) {
    return bad("host_silent_after", "host_silent_after must not be below observe_interval",
               "host_silent_after 不能小于 observe_interval");
  }
  return {};
}

}  // namespace

Status load_policy(const std::string& path, Policy& policy) {
  if (path.empty()) return {};
  TRY_ASSIGN(const toml::table file, toml_file::read(path));
  Policy changed = policy;
  const auto known = sections(changed);
  TRY(each(file, [&](std::string_view name, const toml::node& node) -> Status {
    const auto section = known.find(name);
    if (section == known.end()) return unknown_key(path, node, name);
    TRY_ASSIGN(const toml::table* table, table_of(path, name, node));
    return each(*table, [&](std::string_view key, const toml::node& value) -> Status {
      const auto place = section->second.find(key);
      if (place == section->second.end()) return unknown_key(path, value, key);
      return std::visit(Reader{path, key, value}, place->second);
    });
  }));
  TRY(check(path, changed));
  policy = changed;
  return {};
}

}  // namespace cardhour
