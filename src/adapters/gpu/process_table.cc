#include "adapters/gpu/process_table.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace cardhour {
namespace {

constexpr size_t kFileBytesMax = 64 * 1024;
constexpr size_t kNameBytesMax = 32;

std::string read_all(int file) {
  std::string text(kFileBytesMax, '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(file, text.data() + filled, text.size() - filled);
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
  }
  text.resize(filled);
  return text;
}

std::string read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text = read_all(file);
  ::close(file);
  return text;
}

// A regular file below `root`, whatever links it goes through.
std::string read_below(const std::string& root, const char* path) {
  const int directory = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return {};
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const int file = static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof how));
  ::close(directory);
  if (file < 0) return {};
  struct stat about {};
  std::string text;
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode)) text = read_all(file);
  ::close(file);
  return text;
}

// Takes a line off the front.
std::optional<std::string_view> next_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Takes a number off the front, past blanks.
std::optional<int64_t> next_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::optional<int64_t> uid_on_host(std::string_view status) {
  while (auto line = next_line(status)) {
    if (!line->starts_with("Uid:")) continue;
    line->remove_prefix(4);
    return next_number(*line);
  }
  return std::nullopt;
}

// /proc/PID/uid_map: lines of "inside outside count".
std::optional<int64_t> uid_inside(std::string_view map, int64_t outside) {
  while (auto line = next_line(map)) {
    const auto first_inside = next_number(*line);
    const auto first_outside = next_number(*line);
    const auto count = next_number(*line);
    if (!first_inside || !first_outside || !count) continue;
    if (outside < *first_outside || outside >= *first_outside + *count) continue;
    return *first_inside + (outside - *first_outside);
  }
  return std::nullopt;
}

// Printable ASCII only: it goes into tables and logs.
std::string harmless(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kNameBytesMax)) {
    if (c > 0x20 && c < 0x7f) out += c;
  }
  return out;
}

std::string user_name(std::string_view passwd, int64_t uid) {
  while (const auto line = next_line(passwd)) {
    const size_t name_end = line->find(':');
    const size_t uid_at =
        name_end == std::string_view::npos ? name_end : line->find(':', name_end + 1);
    if (uid_at == std::string_view::npos) continue;
    std::string_view rest = line->substr(uid_at + 1);
    if (next_number(rest) == uid) return harmless(line->substr(0, name_end));
  }
  return {};
}

}  // namespace

std::string container_of(std::string_view cgroup) {
  constexpr std::string_view kMark = "/lxc.payload.";
  while (const auto line = next_line(cgroup)) {
    const size_t at = line->find(kMark);
    if (at == std::string_view::npos) continue;
    std::string_view name = line->substr(at + kMark.size());
    name = name.substr(0, name.find('/'));
    // Outside the default project: PROJECT_NAME; names have no underscore.
    name.remove_prefix(std::min(name.rfind('_') + 1, name.size()));
    return std::string(name);
  }
  return {};
}

void ProcessTable::describe(GpuProcess& process) const {
  const std::string directory = proc_ + "/" + std::to_string(process.pid);
  const std::string status = read_file(directory + "/status");
  if (status.empty()) return;  // it ended meanwhile
  process.command = harmless(read_file(directory + "/comm"));
  process.container = container_of(read_file(directory + "/cgroup"));
  const auto outside = uid_on_host(status);
  if (outside) process.uid = uid_inside(read_file(directory + "/uid_map"), *outside);
  if (process.uid) {
    process.user = user_name(read_below(directory + "/root", "etc/passwd"), *process.uid);
  }
}

}  // namespace cardhour
