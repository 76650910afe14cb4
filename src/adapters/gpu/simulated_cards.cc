#include "adapters/gpu/simulated_cards.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

namespace cardhour {
namespace {

constexpr size_t kCardsMax = 64;
constexpr unsigned int kFirstBus = 0x10;
constexpr std::string_view kNameMark = " (SIMULATED)";
constexpr std::string_view kDriverMark = "-SIMULATED";
constexpr int64_t kGiBytes = int64_t{1} << 30;

// Memory, compute capability, board power, boost and memory clock, PCIe, NVLinks, ECC and MIG
// as NVIDIA publishes them.
constexpr std::array<SimulatedModel, 14> kModels = {{
    {"RTX3090", "NVIDIA GeForce RTX 3090", 24, 8, 6, 350, 1695, 9751, 4, 4, false, false},
    {"RTX4090", "NVIDIA GeForce RTX 4090", 24, 8, 9, 450, 2520, 10501, 4, 0, false, false},
    {"RTX5090", "NVIDIA GeForce RTX 5090", 32, 12, 0, 575, 2407, 14001, 5, 0, false, false},
    {"RTX4080", "NVIDIA GeForce RTX 4080", 16, 8, 9, 320, 2505, 11201, 4, 0, false, false},
    {"RTX3080Ti", "NVIDIA GeForce RTX 3080 Ti", 12, 8, 6, 350, 1665, 9501, 4, 0, false, false},
    {"A100-40G", "NVIDIA A100-SXM4-40GB", 40, 8, 0, 400, 1410, 1215, 4, 12, true, true},
    {"A100-80G", "NVIDIA A100-SXM4-80GB", 80, 8, 0, 400, 1410, 1593, 4, 12, true, true},
    {"A800", "NVIDIA A800-SXM4-80GB", 80, 8, 0, 400, 1410, 1593, 4, 8, true, true},
    {"H20", "NVIDIA H20", 96, 9, 0, 500, 1980, 2619, 5, 18, true, true},
    {"H100", "NVIDIA H100 80GB HBM3", 80, 9, 0, 700, 1980, 2619, 5, 18, true, true},
    {"H200", "NVIDIA H200", 141, 9, 0, 700, 1980, 3201, 5, 18, true, true},
    {"L40S", "NVIDIA L40S", 48, 8, 9, 350, 2520, 9001, 4, 0, true, false},
    {"A6000", "NVIDIA RTX A6000", 48, 8, 6, 300, 1800, 8001, 4, 4, true, false},
    {"V100-32G", "Tesla V100-SXM2-32GB", 32, 7, 0, 300, 1530, 877, 3, 6, true, false},
}};
// Of a card whose name is no model's.
constexpr SimulatedModel kUnknownModel = {"", "", 0, 0, 0, 300, 1500, 5000, 4, 0, false, false};

constexpr unsigned int kIdlePercentOfPower = 8;
constexpr unsigned int kIdleCelsius = 31;
constexpr unsigned int kIdleMhz = 210;
constexpr unsigned int kIdleMemoryMhz = 405;

using Field = std::pair<std::string_view, std::string>;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

template <class T>
bool read_number(std::string_view text, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

std::string ending_in(std::string text, std::string_view mark) {
  if (!text.ends_with(mark)) text += mark;
  return text;
}

uint64_t fnv1a(std::string_view text, uint64_t hash) {
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3ULL;
  // FNV's low bits are weak on short texts; this is the finalizer of MurmurHash3.
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdULL;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 33);
}

std::string uuid_for(std::string_view text) {
  const uint64_t high = fnv1a(text, 0xcbf29ce484222325ULL);
  const uint64_t low = fnv1a(text, high);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "GPU-%08x-%04x-%04x-%04x-%012llx",
                static_cast<unsigned>(high >> 32), static_cast<unsigned>(high >> 16 & 0xffff),
                static_cast<unsigned>(high & 0xffff), static_cast<unsigned>(low >> 48),
                static_cast<unsigned long long>(low & 0xffffffffffffULL));
  return buffer;
}

tl::unexpected<Error> bad(std::string_view line, const std::string& en, const std::string& zh) {
  const std::string quoted = " \"" + std::string(line.substr(0, 200)) + "\"";
  return fail(ErrorCode::invalid_argument,
              Text{"simulated cards: " + en + quoted, "模拟显卡：" + zh + quoted});
}

// "a=1 b=two words c=3": a word without '=' belongs to the value before it.
std::optional<std::vector<Field>> split_fields(std::string_view line) {
  std::vector<Field> fields;
  while (!(line = trimmed(line)).empty()) {
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(word.size());
    const size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      fields.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    } else if (!fields.empty()) {
      fields.back().second.append(" ").append(word);
    } else {
      return std::nullopt;
    }
  }
  return fields;
}

bool read_pci(std::string_view text, SimulatedCard& card) {
  // DDDD:BB:DD.0, the domain of four to eight digits.
  const size_t colon = text.find(':');
  if (colon < 4 || colon > 8 || text.size() != colon + 8 || text[colon + 3] != ':') return false;
  return text.substr(colon + 6) == ".0" &&
         read_number(text.substr(0, colon), card.pci_domain, 16) &&
         read_number(text.substr(colon + 1, 2), card.pci_bus, 16) &&
         read_number(text.substr(colon + 4, 2), card.pci_device, 16);
}

bool read_compute(std::string_view text, SimulatedCard& card) {
  const size_t dot = text.find('.');
  return dot != std::string_view::npos && read_number(text.substr(0, dot), card.compute_major) &&
         read_number(text.substr(dot + 1), card.compute_minor);
}

bool read_fault(std::string_view text, SimulatedCard& card) {
  card.fault = text == "lost"   ? SimulatedFault::lost
               : text == "gone" ? SimulatedFault::gone
                                : SimulatedFault::none;
  return text == "lost" || text == "gone" || text == "none";
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

// "4711:8000", "4712:na", "99:10:g", "5:100@2"
bool read_process(std::string_view text, SimulatedProcess& process) {
  const size_t at = text.find('@');
  if (at != std::string_view::npos && !read_number(text.substr(at + 1), process.slice)) {
    return false;
  }
  const auto parts = split(text.substr(0, at), ':');
  if (parts.size() < 2 || parts.size() > 3 || !read_number(parts[0], process.pid)) return false;
  process.is_graphics = parts.size() == 3 && parts[2] == "g";
  if (parts[1] == "na") return true;
  if (!read_number(parts[1], process.memory_bytes)) return false;
  process.memory_bytes *= int64_t{1} << 20;
  return process.memory_bytes >= 0;
}

bool read_processes(std::string_view text, SimulatedCard& card) {
  card.processes.clear();
  for (const std::string_view one : split(text, '+')) {
    if (one.empty()) continue;
    SimulatedProcess process;
    if (!read_process(one, process)) return false;
    card.processes.push_back(process);
  }
  return true;
}

bool read_xids(std::string_view text, SimulatedCard& card) {
  card.xids.clear();
  for (const std::string_view one : split(text, '+')) {
    if (one.empty()) continue;
    if (!read_number(one, card.xids.emplace_back())) return false;
  }
  return true;
}

void read_words(std::string_view text, std::vector<std::string>& words) {
  words.clear();
  for (const std::string_view one : split(text, '+')) {
    if (!one.empty()) words.emplace_back(one);
  }
}

bool read_pair(std::string_view text, char separator, unsigned long long& first,
               unsigned long long& second) {
  const auto parts = split(text, separator);
  return parts.size() == 2 && read_number(parts[0], first) && read_number(parts[1], second);
}

bool read_link(std::string_view text, SimulatedCard& card) {
  unsigned long long generation = 0;
  unsigned long long width = 0;
  if (!read_pair(text, 'x', generation, width)) return false;
  card.pcie_generation = static_cast<unsigned int>(generation);
  card.pcie_width = static_cast<unsigned int>(width);
  return generation >= 1 && width >= 1;
}

bool read_throttle(std::string_view text, SimulatedCard& card) {
  return text.starts_with("0x") ? read_number(text.substr(2), card.throttle_reasons, 16)
                                : read_number(text, card.throttle_reasons);
}

bool read_watts(std::string_view text, unsigned int& milliwatts) {
  if (!read_number(text, milliwatts) || milliwatts > 2'000) return false;
  milliwatts *= 1'000;
  return true;
}

// What a load makes of a card, for whatever is not said by its own field.
void warm_up(SimulatedCard& card) {
  const unsigned int idle = card.power_limit_milliwatts / 100 * kIdlePercentOfPower;
  card.power_milliwatts = idle + (card.power_limit_milliwatts - idle) / 100 * card.gpu_percent;
  card.temperature_celsius = kIdleCelsius + card.gpu_percent * 45 / 100;
  card.throttle_reasons = card.gpu_percent == 0 ? 1 : 0;  // idle
  card.clock_mhz = card.gpu_percent == 0 ? kIdleMhz : card.clock_max_mhz;
}

void apply_model(const SimulatedModel& model, SimulatedCard& card) {
  card.power_limit_milliwatts = model.power_limit_watts * 1'000;
  card.clock_max_mhz = model.clock_max_mhz;
  card.memory_clock_mhz = kIdleMemoryMhz;
  card.pcie_generation = model.pcie_generation;
  card.pcie_generation_max = model.pcie_generation;
  card.nvlinks = model.nvlinks;
  card.has_ecc = model.has_ecc;
  card.can_be_divided = model.can_be_divided;
  warm_up(card);
}

const SimulatedModel& model_named(std::string_view name) {
  for (const SimulatedModel& model : kModels) {
    if (name.starts_with(model.name)) return model;
  }
  return kUnknownModel;
}

bool read_doing(std::string_view key, const std::string& value, SimulatedCard& card) {
  if (key == "util") {
    const bool fine = read_number(value, card.gpu_percent) && card.gpu_percent <= 100;
    if (fine) warm_up(card);
    return fine;
  }
  if (key == "membw") return read_number(value, card.memory_percent) && card.memory_percent <= 100;
  if (key == "power") return read_watts(value, card.power_milliwatts);
  if (key == "limit") return read_watts(value, card.power_limit_milliwatts);
  if (key == "temp") return read_number(value, card.temperature_celsius);
  if (key == "clock") return read_number(value, card.clock_mhz);
  if (key == "memclock") return read_number(value, card.memory_clock_mhz);
  if (key == "throttle") return read_throttle(value, card);
  if (key == "tx") return read_number(value, card.pcie_sent_kb);
  if (key == "rx") return read_number(value, card.pcie_received_kb);
  if (key == "link") return read_link(value, card);
  if (key == "replays") return read_number(value, card.pcie_replays);
  if (key == "nvlinks") return read_number(value, card.nvlinks) && card.nvlinks <= 18;
  if (key == "nvtx") return read_number(value, card.nvlink_sent_kib);
  if (key == "nvrx") return read_number(value, card.nvlink_received_kib);
  if (key == "slow") return read_number(value, card.slow_ms) && card.slow_ms <= 60'000;
  return false;
}

bool read_trouble(std::string_view key, const std::string& value, SimulatedCard& card) {
  if (key == "fault") return read_fault(value, card);
  if (key == "ecc") {
    card.has_ecc = true;
    return read_pair(value, '/', card.ecc_corrected, card.ecc_uncorrected);
  }
  if (key == "remap") {
    card.remap_is_pending = value == "pending";
    card.remap_has_failed = value == "failed";
    return card.remap_is_pending || card.remap_has_failed || value == "none";
  }
  if (key == "xids") return read_xids(value, card);
  if (key == "procs") return read_processes(value, card);
  if (key == "mig") {
    read_words(value, card.slices);
    return card.slices.size() <= 7;
  }
  if (key == "na") {
    read_words(value, card.unknown);
    return true;
  }
  if (key == "hang") {
    card.hangs = value;
    return true;
  }
  return false;
}

bool read_field(const Field& field, SimulatedCard& card) {
  const auto& [key, value] = field;
  if (key == "uuid") {
    card.uuid = value;
    return value.starts_with("GPU-") && value.size() < 80 && value.find(' ') == std::string::npos;
  }
  if (key == "name") {
    card.name = ending_in(value, kNameMark);
    return !value.empty() && card.name.size() < 96;
  }
  if (key == "pci") return read_pci(value, card);
  if (key == "memory") return read_number(value, card.memory_total_bytes);
  if (key == "used") return read_number(value, card.memory_used_bytes);
  if (key == "reserved") return read_number(value, card.memory_reserved_bytes);
  if (key == "cc") return read_compute(value, card);
  return read_doing(key, value, card) || read_trouble(key, value, card);
}

// Reads one text, once.
class Parser {
 public:
  Result<SimulatedHost> read(std::string_view text);

 private:
  Status line(std::string_view line);
  Status long_line(std::string_view line);
  Status short_line(std::string_view line);
  Status setting(std::string_view line, const Field& field);
  Status change(std::string_view line, const std::vector<Field>& fields);
  Status add(std::string_view line, SimulatedCard card);

  SimulatedHost host_;
  std::string seed_;
  std::array<size_t, kModels.size()> count_of_model_{};
};

Status Parser::line(std::string_view line) {
  line = trimmed(line.substr(0, line.find('#')));
  if (line.empty()) return {};
  return line.find('=') == std::string_view::npos ? short_line(line) : long_line(line);
}

Status Parser::add(std::string_view line, SimulatedCard card) {
  if (host_.cards.size() == kCardsMax) return bad(line, "more than 64 cards", "超过 64 张卡");
  const int64_t usable = card.memory_total_bytes - card.memory_reserved_bytes;
  if (card.memory_used_bytes < 0 || card.memory_reserved_bytes < 0 ||
      card.memory_used_bytes > usable) {
    return bad(line, "more memory used than there is", "已用显存超过总显存");
  }
  for (const SimulatedCard& other : host_.cards) {
    const bool same_place = other.pci_domain == card.pci_domain && other.pci_bus == card.pci_bus &&
                            other.pci_device == card.pci_device;
    if (other.uuid == card.uuid || same_place) {
      return bad(line, "a card twice", "显卡重复");
    }
  }
  host_.cards.push_back(std::move(card));
  return {};
}

Status Parser::setting(std::string_view line, const Field& field) {
  const auto& [key, value] = field;
  if (key == "seed") {
    seed_ = value;
  } else if (key == "init") {
    host_.start = value == "mismatch"   ? SimulatedStart::mismatch
                  : value == "unloaded" ? SimulatedStart::unloaded
                  : value == "hang"     ? SimulatedStart::hangs
                                        : SimulatedStart::works;
    const bool known = host_.start != SimulatedStart::works || value == "works";
    if (!known) return bad(line, "not understood", "无法识别");
  } else if (key == "driver" && !value.empty() && value.size() < 60) {
    host_.driver_version = ending_in(value, kDriverMark);
  } else {
    SimulatedCard version;
    if (key != "cuda" || !read_compute(value, version)) {
      return bad(line, "not understood", "无法识别");
    }
    host_.cuda_version = version.compute_major * 1000 + version.compute_minor * 10;
  }
  return {};
}

Status Parser::long_line(std::string_view line) {
  const auto fields = split_fields(line);
  if (!fields) return bad(line, "not understood", "无法识别");
  const std::string_view first = (*fields)[0].first;
  const bool is_setting =
      first == "driver" || first == "cuda" || first == "seed" || first == "init";
  if (is_setting) {
    for (const Field& field : *fields) TRY(setting(line, field));
    return {};
  }
  if (first == "card") return change(line, *fields);
  SimulatedCard card;
  card.pci_bus = kFirstBus + static_cast<unsigned int>(host_.cards.size());
  for (const auto& [key, value] : *fields) {
    if (key == "name") apply_model(model_named(value), card);
  }
  for (const Field& field : *fields) {
    if (!read_field(field, card)) {
      return bad(line, "wrong " + std::string(field.first) + " in",
                 std::string(field.first) + " 有误");
    }
  }
  if (card.uuid.empty() || card.name.empty() || card.memory_total_bytes <= 0) {
    return bad(line, "uuid, name or memory missing in", "缺少 uuid、name 或 memory");
  }
  return add(line, std::move(card));
}

Status Parser::change(std::string_view line, const std::vector<Field>& fields) {
  size_t number = 0;
  if (!read_number(fields[0].second, number) || number >= host_.cards.size()) {
    return bad(line, "no such card in", "没有这张卡");
  }
  SimulatedCard card = host_.cards[number];
  for (size_t i = 1; i < fields.size(); ++i) {
    if (!read_field(fields[i], card)) {
      return bad(line, "wrong " + std::string(fields[i].first) + " in",
                 std::string(fields[i].first) + " 有误");
    }
  }
  host_.cards.erase(host_.cards.begin() + static_cast<std::ptrdiff_t>(number));
  TRY(add(line, std::move(card)));
  std::rotate(host_.cards.begin() + static_cast<std::ptrdiff_t>(number), host_.cards.end() - 1,
              host_.cards.end());
  return {};
}

Status Parser::short_line(std::string_view line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view item = trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));

    size_t count = 1;
    if (const size_t x = item.find('x'); x != std::string_view::npos) {
      if (!read_number(item.substr(0, x), count) || count == 0 || count > kCardsMax) {
        return bad(line, "wrong number of cards in", "显卡数量有误");
      }
      item.remove_prefix(x + 1);
    }
    const auto model = std::ranges::find(kModels, item, &SimulatedModel::word);
    if (model == kModels.end()) return bad(item, "unknown model", "未知型号");
    size_t& number = count_of_model_.at(static_cast<size_t>(model - kModels.begin()));
    for (; count > 0; --count, ++number) {
      SimulatedCard card;
      card.uuid = uuid_for(seed_ + "/" + std::string(item) + "/" + std::to_string(number));
      card.name = ending_in(std::string(model->name), kNameMark);
      card.pci_bus = kFirstBus + static_cast<unsigned int>(host_.cards.size());
      card.memory_total_bytes = model->memory_gib * kGiBytes;
      card.compute_major = model->compute_major;
      card.compute_minor = model->compute_minor;
      apply_model(*model, card);
      TRY(add(line, std::move(card)));
    }
  }
  return {};
}

Result<SimulatedHost> Parser::read(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\n;"), text.size());
    TRY(line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(host_);
}

}  // namespace

Result<SimulatedHost> parse_simulated_cards(std::string_view text) { return Parser().read(text); }

std::string write_simulated_cards(const ProbedGpus& gpus) {
  std::string out;
  if (!gpus.driver_version.empty()) out += "driver=" + gpus.driver_version + "\n";
  if (!gpus.cuda_version.empty()) out += "cuda=" + gpus.cuda_version + "\n";
  for (const ProbedCard& card : gpus.cards) {
    out += "uuid=" + card.uuid.text + " name=" + card.name + " pci=" + card.pci_address +
           " memory=" + std::to_string(card.memory_total_bytes.value_or(0)) +
           " used=" + std::to_string(card.memory_used_bytes.value_or(0));
    if (card.compute_capability) out += " cc=" + *card.compute_capability;
    out += "\n";
  }
  return out;
}

}  // namespace cardhour
