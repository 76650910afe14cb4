#include "adapters/sql/backup_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

namespace cardhour {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "cardhour-";
constexpr std::string_view kSuffix = ".db";

// "20261201T031500Z": without the colons that some file systems refuse.
std::string stamp_of(Timestamp at) {
  std::string stamp = to_rfc3339(at).substr(0, 19);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  return stamp + "Z";
}

std::optional<Timestamp> time_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::string stamp(
      name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
  if (stamp.size() != 16) return std::nullopt;
  const auto part = [&stamp](size_t at, size_t size) { return stamp.substr(at, size); };
  const auto at = parse_rfc3339(part(0, 4) + "-" + part(4, 2) + "-" + part(6, 2) + "T" +
                                part(9, 2) + ":" + part(11, 2) + ":" + part(13, 2) + "Z");
  if (!at || stamp_of(*at) != stamp) return std::nullopt;
  return *at;
}

tl::unexpected<Error> unusable(const std::string& path, const std::string& why) {
  return fail(
      ErrorCode::store_unavailable,
      text("the backup directory {} cannot be used: {}", "无法使用备份目录 {}：{}", path, why),
      text("Check that it exists, belongs to the server's user and has room.",
           "请确认该目录存在、属于服务的用户，并有剩余空间。"));
}

}  // namespace

Result<std::vector<BackupFile>> BackupDirectory::list() {
  std::vector<BackupFile> files;
  std::error_code error;
  if (!fs::exists(directory_, error)) return files;
  for (fs::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    const auto made_at = time_of(name);
    std::error_code gone;
    const auto bytes = fs::file_size(at->path(), gone);
    if (made_at && !gone) files.push_back({name, *made_at, static_cast<int64_t>(bytes)});
  }
  if (error) return unusable(directory_, error.message());
  std::ranges::sort(files, std::greater{}, &BackupFile::name);
  return files;
}

Result<BackupFile> BackupDirectory::make(Timestamp now) {
  std::error_code error;
  fs::create_directories(fs::path(directory_).parent_path(), error);
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) {
    return unusable(directory_, std::strerror(errno));
  }
  BackupFile file;
  file.made_at = Timestamp{now.ms / 1000 * 1000};
  file.name = std::string(kPrefix) + stamp_of(now) + std::string(kSuffix);
  const std::string path = directory_ + "/" + file.name;
  TRY(store_.backup_to(path));
  file.bytes = static_cast<int64_t>(fs::file_size(path, error));
  if (error) return unusable(directory_, error.message());
  return file;
}

Status BackupDirectory::remove(const BackupFile& file) {
  if (!time_of(file.name)) return {};  // not ours
  const std::string path = directory_ + "/" + file.name;
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return unusable(directory_, std::strerror(errno));
}

}  // namespace cardhour
