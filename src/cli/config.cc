#include "cli/config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/decode.h"

namespace cardhour::cli {
namespace {

constexpr std::string_view kFile = "config.json";
constexpr size_t kFileBytesMax = 1 << 20;

tl::unexpected<Error> file_error(const std::string& path, int number) {
  const std::string why = std::strerror(number);
  return fail(ErrorCode::internal, text("{}: {}", "{}：{}", path, why),
              Text{"Check the directory's owner, mode and free space.",
                   "请检查目录的属主、权限和剩余空间。"});
}

Status make_directories(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return file_error(part, errno);
    if (at == std::string::npos) return {};
  }
}

Status write_all(int file, const std::string& text, const std::string& path) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error(path, errno);
    done += static_cast<size_t>(n);
  }
  if (::fsync(file) != 0) return file_error(path, errno);
  return {};
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// "host" of "http://host:8080"; brackets of IPv6 stay.
std::string host_of(const std::string& server) {
  std::string rest = server.substr(server.find("://") + 3);
  const size_t port = rest.find(':', rest.starts_with('[') ? rest.find(']') : 0);
  return rest.substr(0, port);
}

// "" or ":8080".
bool is_port(const std::string& text) {
  if (text.empty()) return true;
  return text.size() > 1 && text.find_first_not_of("0123456789", 1) == std::string::npos;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

}  // namespace

const Profile* Config::find(const std::string& name) const {
  const auto it = profiles.find(name);
  return it == profiles.end() ? nullptr : &it->second;
}

Result<std::string> config_directory() {
  const std::string xdg = environment("XDG_CONFIG_HOME");
  if (xdg.starts_with('/')) return xdg + "/cardhour";
  const std::string home = environment("HOME");
  if (home.empty()) {
    return fail(ErrorCode::invalid_argument,
                Text{"HOME is not set, so there is no place for the configuration",
                     "没有设置 HOME，找不到存放配置的位置"},
                Text{"Set HOME or XDG_CONFIG_HOME.", "请设置 HOME 或 XDG_CONFIG_HOME。"});
  }
  return home + "/.config/cardhour";
}

Result<Config> load_config(const std::string& directory) {
  const std::string path = directory + "/" + std::string(kFile);
  TRY_ASSIGN(const std::optional<std::string> file, read_file(path));
  if (!file) return Config{};
  Result<Config> config = decode<Config>(*file);
  if (!config) {
    return fail(ErrorCode::invalid_argument, text("{} is damaged", "{} 已损坏", path),
                text("Delete it and log in again: cardhour login URL",
                     "请删除它并重新登录：cardhour login URL"));
  }
  return config;
}

Status save_config(const std::string& directory, const Config& config) {
  return write_private_file(directory, std::string(kFile), pretty_json(encode(config)));
}

Status write_private_file(const std::string& directory, const std::string& name,
                          const std::string& text) {
  TRY(make_directories(directory));
  std::string path = directory + "/." + name + ".XXXXXX";
  const int file = ::mkostemp(path.data(), O_CLOEXEC);  // 0600
  if (file < 0) return file_error(directory, errno);
  Status written = write_all(file, text, path);
  ::close(file);
  const std::string target = directory + "/" + name;
  if (written && ::rename(path.c_str(), target.c_str()) != 0) written = file_error(target, errno);
  if (!written) ::unlink(path.c_str());
  return written;
}

Result<std::optional<std::string>> read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::optional<std::string>{};
  if (file < 0) return file_error(path, errno);
  std::string text;
  char chunk[4096];
  ssize_t n = 0;
  while ((n = ::read(file, chunk, sizeof chunk)) > 0 && text.size() <= kFileBytesMax) {
    text.append(chunk, static_cast<size_t>(n));
  }
  const int number = errno;
  ::close(file);
  if (n < 0) return file_error(path, number);
  if (text.size() > kFileBytesMax) {
    return fail(ErrorCode::too_large, cardhour::text("{} is over 1 MiB", "{} 超过 1 MiB", path));
  }
  return std::optional<std::string>{std::move(text)};
}

Result<std::string> normalize_server(const std::string& typed) {
  const auto bad = [&] {
    return invalid("server",
                   text("not the address of a server: {}", "不是有效的服务器地址：{}", typed),
                   Text{"Write it like https://gpu.example.org or http://127.0.0.1:8080",
                        "请写成 https://gpu.example.org 或 http://127.0.0.1:8080"});
  };
  std::string server = typed;
  while (server.ends_with('/')) server.pop_back();
  if (server.find("://") == std::string::npos) {
    server = (is_loopback(host_of("x://" + server)) ? "http://" : "https://") + server;
  }
  const bool known = server.starts_with("http://") || server.starts_with("https://");
  const std::string rest = server.substr(server.find("://") + 3);
  const std::string host = host_of(server);
  if (!known || host.empty() || !is_port(rest.substr(host.size()))) return bad();
  if (rest.find_first_of("/?#@ \t\r\n\"\\") != std::string::npos) return bad();
  return server;
}

bool is_clear_text(const std::string& server) {
  return server.starts_with("http://") && !is_loopback(host_of(server));
}

}  // namespace cardhour::cli
