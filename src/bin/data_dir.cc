#include "bin/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace cardhour {
namespace {

namespace fs = std::filesystem;

// What errno says about a file that could not be used.
tl::unexpected<Error> unusable(const std::string& path) {
  const std::string why = std::strerror(errno);
  return fail(ErrorCode::store_unavailable, text("cannot use {}: {}", "无法使用 {}：{}", path, why),
              {"check that the directory exists and belongs to the user that runs the server",
               "请确认该目录存在，且属于运行服务的用户"});
}

Status make_private(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return unusable(path);
  struct stat now {};
  if (::stat(path.c_str(), &now) != 0) return unusable(path);
  if ((now.st_mode & 0777) != 0700 && ::chmod(path.c_str(), 0700) != 0) return unusable(path);
  return {};
}

bool write_all(int file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return ::fsync(file) == 0;
}

Result<SealKey> read_key(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  SealKey key{};
  if (!stream.good() && !stream.eof()) return unusable(file);
  if (bytes.size() != key.size()) {
    return fail(
        ErrorCode::store_unavailable,
        text("{} is damaged: {} bytes instead of {}", "{} 已损坏：{} 字节，应为 {} 字节", file,
             bytes.size(), key.size()),
        {"put the copy back that was kept apart from the backups", "请放回与备份分开保存的副本"});
  }
  std::memcpy(key.data(), bytes.data(), key.size());
  return key;
}

}  // namespace

Result<DataDir> DataDir::open(const std::string& path) {
  const std::string directory = fs::absolute(path).lexically_normal().string();
  TRY(make_private(directory));
  const std::string file = directory + "/lock";
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return unusable(file);
  DataDir opened(directory, lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return opened;
  if (errno != EWOULDBLOCK) return unusable(file);
  return fail(
      ErrorCode::conflict,
      text("another Cardhour server is using {}", "另一个 Cardhour 服务正在使用 {}", directory),
      {"stop it first, or give this one another --data directory",
       "请先停止它，或用 --data 指定其他目录"});
}

DataDir::DataDir(DataDir&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataDir::~DataDir() {
  if (lock_ >= 0) ::close(lock_);
}

Status DataDir::create_key(const std::string& file, Entropy& entropy) {
  SealKey key{};
  entropy.fill(key);
  // Written beside it and renamed: a kill leaves the whole key or none.
  const std::string fresh = file + ".new";
  const int out = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) return unusable(fresh);
  const bool written = write_all(out, key);
  ::close(out);
  if (!written || ::rename(fresh.c_str(), file.c_str()) != 0) return unusable(fresh);
  const int directory = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return unusable(path_);
  const bool synced = ::fsync(directory) == 0;
  ::close(directory);
  if (!synced) return unusable(path_);
  return {};
}

Result<SealKey> DataDir::secret_key(Entropy& entropy) {
  const std::string file = path_ + "/secret.key";
  if (!fs::exists(file)) {
    if (fs::exists(database())) {
      return fail(
          ErrorCode::store_unavailable,
          text("{} is missing, and the database needs it", "缺少数据库所需的 {}", file),
          {"put the copy back that was kept apart from the backups", "请放回与备份分开保存的副本"});
    }
    TRY(create_key(file, entropy));
  }
  if (::chmod(file.c_str(), 0600) != 0) return unusable(file);
  return read_key(file);
}

std::string default_data_dir() {
  if (::geteuid() == 0) return "/var/lib/cardhour";
  const char* xdg = std::getenv("XDG_DATA_HOME");
  if (xdg != nullptr && *xdg == '/') return std::string(xdg) + "/cardhour";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : ".") + "/.local/share/cardhour";
}

}  // namespace cardhour
