#include "guest/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "guest/descriptor.h"

namespace cardhour::guest {
namespace {

tl::unexpected<Error> file_error(const std::string& path, int error) {
  const std::string why = path + ": " + std::strerror(error);
  return fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::internal, Text{why, why});
}

tl::unexpected<Error> not_a_plain_file(const std::string& path) {
  return fail(ErrorCode::conflict, Text{path + " is a link or not a plain file: left alone",
                                        path + " 是链接或不是普通文件：未作改动"});
}

std::pair<std::string, std::string> split(const std::string& path) {
  const size_t slash = path.rfind('/');
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::string> read_to_end(int descriptor, size_t bytes_max) {
  std::string content;
  char buffer[4096];
  while (true) {
    const ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error("read", errno);
    if (got == 0) return content;
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > bytes_max) {
      const std::string limit = std::to_string(bytes_max);
      return fail(ErrorCode::too_large,
                  Text{"more than " + limit + " bytes", "超过 " + limit + " 字节"});
    }
  }
}

Result<std::string> read_file(const std::string& path, size_t bytes_max) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.ok()) return errno == ELOOP ? not_a_plain_file(path) : file_error(path, errno);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return file_error(path, errno);
  if (!S_ISREG(status.st_mode)) return not_a_plain_file(path);
  return read_to_end(file.get(), bytes_max);
}

Status write_file(const std::string& path, std::string_view content, mode_t mode) {
  const auto [directory_path, name] = split(path);
  const Descriptor directory(
      open(directory_path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory.ok()) {
    const bool is_link = errno == ELOOP || errno == ENOTDIR;
    return is_link ? not_a_plain_file(directory_path) : file_error(directory_path, errno);
  }
  struct stat present {};
  if (fstatat(directory.get(), name.c_str(), &present, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISREG(present.st_mode)) {
    return not_a_plain_file(path);
  }

  const std::string beside = "." + name + ".cardhour";
  unlinkat(directory.get(), beside.c_str(), 0);  // what a killed run left
  const Descriptor file(openat(directory.get(), beside.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.ok()) return file_error(path, errno);
  const bool written =
      write_all(file.get(), content) && fchmod(file.get(), mode) == 0 && fsync(file.get()) == 0 &&
      renameat(directory.get(), beside.c_str(), directory.get(), name.c_str()) == 0;
  if (!written) {
    const int error = errno;
    unlinkat(directory.get(), beside.c_str(), 0);
    return file_error(path, error);
  }
  fsync(directory.get());
  return {};
}

Result<bool> ensure_file(const std::string& path, std::string_view content, mode_t mode) {
  struct stat status {};
  const bool mode_fits = lstat(path.c_str(), &status) == 0 && (status.st_mode & 07777) == mode;
  const auto present = read_file(path, content.size());
  if (mode_fits && present && *present == content) return false;
  TRY(write_file(path, content, mode));
  return true;
}

Status ensure_directory(const std::string& path, mode_t mode) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) return file_error(parent, errno);
  }
  if (mkdir(path.c_str(), mode) == 0) return {};
  if (errno != EEXIST) return file_error(path, errno);
  const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory.ok()) return not_a_plain_file(path);
  if (fchmod(directory.get(), mode) != 0) return file_error(path, errno);
  return {};
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Status remove_file(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return file_error(path, errno);
  return {};
}

}  // namespace cardhour::guest
