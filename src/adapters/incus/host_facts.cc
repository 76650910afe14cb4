#include "adapters/incus/host_facts.h"

#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

namespace cardhour {
namespace {

constexpr std::string_view kPayload = "/lxc.payload.";

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

template <class Use>
void each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

int64_t number_of(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The container's own group in one hierarchy of /proc/PID/cgroup: its first process lives below.
std::string group_of(std::string_view table, std::string_view hierarchy) {
  std::string found;
  each_line(table, [&](std::string_view line) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) return;
    if (line.substr(first + 1, second - first - 1) != hierarchy) return;
    const std::string_view path = line.substr(second + 1);
    const size_t payload = path.find(kPayload);
    if (payload == std::string_view::npos) return;
    found = path.substr(0, std::min(path.find('/', payload + 1), path.size()));
  });
  return found;
}

// "8:0 rbytes=1 wbytes=2 ..."
DiskTraffic traffic_of_io_stat(std::string_view text) {
  DiskTraffic traffic;
  each_line(text, [&](std::string_view line) {
    for (const std::string_view word : words_of(line)) {
      if (word.starts_with("rbytes=")) traffic.read_bytes += number_of(word.substr(7));
      if (word.starts_with("wbytes=")) traffic.written_bytes += number_of(word.substr(7));
    }
  });
  return traffic;
}

// "8:0 Read 123"
DiskTraffic traffic_of_blkio(std::string_view text) {
  DiskTraffic traffic;
  each_line(text, [&](std::string_view line) {
    const auto words = words_of(line);
    if (words.size() != 3) return;
    if (words[1] == "Read") traffic.read_bytes += number_of(words[2]);
    if (words[1] == "Write") traffic.written_bytes += number_of(words[2]);
  });
  return traffic;
}

}  // namespace

int64_t ssh_connections(std::string_view table) {
  constexpr std::string_view kPort22 = ":0016";
  constexpr std::string_view kEstablished = "01";
  int64_t count = 0;
  each_line(table, [&](std::string_view line) {
    const auto words = words_of(line);  // sl local remote state ...
    if (words.size() < 4 || words[3] != kEstablished) return;
    if (words[1].ends_with(kPort22)) ++count;
  });
  return count;
}

std::optional<int64_t> HostFacts::ssh_sessions(int64_t pid) const {
  const std::string net = proc_ + "/" + std::to_string(pid) + "/net/";
  const auto v4 = read_file(net + "tcp");
  if (!v4) return std::nullopt;
  return ssh_connections(*v4) + ssh_connections(read_file(net + "tcp6").value_or(""));
}

std::optional<DiskTraffic> HostFacts::disk_traffic(int64_t pid) const {
  const auto table = read_file(proc_ + "/" + std::to_string(pid) + "/cgroup");
  if (!table) return std::nullopt;
  const std::string unified = group_of(*table, "");
  // Beside version 1 the unified tree is mounted below.
  for (const char* mount : {"", "/unified"}) {
    const auto stat = read_file(cgroups_ + mount + unified + "/io.stat");
    if (!unified.empty() && stat) return traffic_of_io_stat(*stat);
  }
  const std::string old = group_of(*table, "blkio");
  if (old.empty()) return std::nullopt;
  const auto bytes =
      read_file(cgroups_ + "/blkio" + old + "/blkio.throttle.io_service_bytes_recursive");
  if (!bytes) return std::nullopt;
  return traffic_of_blkio(*bytes);
}

}  // namespace cardhour
