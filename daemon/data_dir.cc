#include "daemon/data_dir.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace iceblink::daemon {
namespace {

constexpr mode_t kDataDirMode = 0755;
constexpr mode_t kStoreDirMode = 0700;

Error error_of(int code, const std::string& path, std::string_view doing) {
  ErrorKind kind = ErrorKind::kIo;
  if (code == EACCES || code == EPERM || code == EROFS) kind = ErrorKind::kNotAllowed;
  if (code == ENOSPC || code == EDQUOT) kind = ErrorKind::kNoSpace;
  if (code == ENOTDIR) kind = ErrorKind::kInvalidArgument;
  return {kind, path + ": " + std::string(doing) + ": " + std::strerror(code)};
}

// Makes `path`, and what is missing above it.
Status make_directories(const std::string& path, mode_t mode) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return Ok{};
    return error_of(ENOTDIR, path, "data directory");
  }
  if (errno != ENOENT) return error_of(errno, path, "data directory");
  if (const auto slash = path.find_last_of('/'); slash != std::string::npos && slash > 0) {
    ICEBLINK_RETURN_IF_ERROR(make_directories(path.substr(0, slash), kDataDirMode));
  }
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return error_of(errno, path, "cannot make the data directory");
  }
  return Ok{};
}

// Run by root, nothing is written where another user's link leads.
Status refuse_link_of_others(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return Ok{};
  if (status.st_uid == ::geteuid()) return Ok{};
  return {ErrorKind::kNotAllowed, path + ": is a link that belongs to another user"};
}

Status move_store_to_its_place(const std::string& data_dir) {
  const std::string to = store_dir_of(data_dir) + "/data.mdb";
  const std::string from = data_dir + "/data.mdb";
  struct stat status {};
  if (::stat(to.c_str(), &status) == 0) return Ok{};
  if (errno != ENOENT) return error_of(errno, to, "stat");
  if (::stat(from.c_str(), &status) != 0) return Ok{};
  if (::rename(from.c_str(), to.c_str()) != 0) return error_of(errno, from, "move to " + to);
  // LMDB makes a new one.
  ::unlink((data_dir + "/lock.mdb").c_str());
  return Ok{};
}

Status refuse_network(const std::string& path) {
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) return error_of(errno, path, "statfs");
  if (const auto name = network_filesystem(static_cast<std::uint32_t>(status.f_type))) {
    return {ErrorKind::kUnsupported, path + ": the data directory is on a network file system (" +
                                         std::string(*name) +
                                         "), where LMDB can lose data; use a local disk"};
  }
  return Ok{};
}

}  // namespace

std::optional<std::string_view> network_filesystem(std::uint32_t magic) noexcept {
  switch (magic) {
    case 0x6969:
      return "NFS";
    case 0x517b:
      return "SMB";
    case 0xff534d42:
      return "CIFS";
    case 0xfe534d42:
      return "SMB2";
    case 0x01021997:
      return "9p";
    case 0x00c36400:
      return "Ceph";
    case 0x5346414f:
      return "AFS";
    case 0x73757245:
      return "Coda";
    case 0x0bd00bd0:
      return "Lustre";
    default:
      return std::nullopt;
  }
}

std::string store_dir_of(const std::string& data_dir) {
  return data_dir + "/lmdb";
}

Result<DataDir> DataDir::open(std::string path) {
  if (path.empty()) return {ErrorKind::kInvalidArgument, "no data directory is given"};
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  ICEBLINK_RETURN_IF_ERROR(make_directories(path, kDataDirMode));
  ICEBLINK_RETURN_IF_ERROR(refuse_network(path));
  ICEBLINK_ASSIGN_OR_RETURN(shm::DirectoryLock lock, shm::DirectoryLock::take(path));
  ICEBLINK_RETURN_IF_ERROR(refuse_link_of_others(store_dir_of(path)));
  ICEBLINK_RETURN_IF_ERROR(make_directories(store_dir_of(path), kStoreDirMode));
  ICEBLINK_RETURN_IF_ERROR(refuse_network(store_dir_of(path)));  // a mount of its own
  ICEBLINK_RETURN_IF_ERROR(move_store_to_its_place(path));
  DataDir dir(std::move(path), std::move(lock));
  ::unlink(dir.restore_file().c_str());
  return dir;
}

}  // namespace iceblink::daemon
