#include "daemon/write_roots.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "daemon/local_path.h"

namespace iceblink::daemon {
namespace {

constexpr mode_t kDirectoryMode = 0775;

/// Directories that are made, and not yet synced into theirs, by any thread. Who finds a directory
/// while there are some cannot know whether its name is durable.
std::atomic<int> unsynced_directories{0};

class Unsynced {
 public:
  Unsynced() noexcept {
    // SYNC unsynced-directory: counted before the directory can be seen; partner DirectoryBelow
    unsynced_directories.fetch_add(1, std::memory_order_seq_cst);
  }
  ~Unsynced() {
    // SYNC unsynced-directory: until it is durable; partner DirectoryBelow
    unsynced_directories.fetch_sub(1, std::memory_order_seq_cst);
  }
  Unsynced(const Unsynced&) = delete;
  Unsynced& operator=(const Unsynced&) = delete;
};

ErrorKind kind_of(int code) {
  switch (code) {
    case ENOENT:
      return ErrorKind::kNotFound;
    case EXDEV:  // what openat2 says of a way out
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::kNotAllowed;
    case ENOSPC:
    case EDQUOT:
      return ErrorKind::kNoSpace;
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EISDIR:
      return ErrorKind::kInvalidArgument;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return ErrorKind::kBusy;
    case ENOSYS:
      return ErrorKind::kUnsupported;
    default:
      return ErrorKind::kIo;
  }
}

Error error_of(int code, std::string_view location, std::string_view doing) {
  if (code == EXDEV) {
    return {ErrorKind::kNotAllowed, std::string(location) +
                                        ": leaves the directories that this "
                                        "catalog writes to"};
  }
  return {kind_of(code),
          std::string(location) + ": " + std::string(doing) + ": " + std::strerror(code)};
}

int open_beneath(int root, const std::string& relative, std::uint64_t flags) {
  struct open_how how {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (;;) {
    const long fd = ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return static_cast<int>(fd);
  }
}

/// Makes `name` in a directory, and the directory durable. Returns errno.
int make_directory(int parent, const char* name) {
  const Unsynced unsynced;
  if (::mkdirat(parent, name, kDirectoryMode) != 0 && errno != EEXIST) return errno;
  return ::fsync(parent) == 0 ? 0 : errno;
}

/// The root itself, from the deepest directory above it that is there.
int make_root(const std::string& path) {
  OwnedFd at(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t begin = 1; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    int next = ::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (next < 0 && errno == ENOENT) {
      if (const int code = make_directory(at.get(), name.c_str()); code != 0) return code;
      next = ::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (next < 0) return errno;
    at = OwnedFd(next);
  }
  return 0;
}

/// One directory below a root, by its way from there.
class DirectoryBelow {
 public:
  DirectoryBelow(int root, std::string_view location, WriteRoots::Missing missing)
      : root_(root), location_(location), missing_(missing) {}

  Result<OwnedFd> open(const std::string& relative) const {
    int fd = open_beneath(root_, relative, O_RDONLY | O_DIRECTORY);
    if (fd < 0 && errno == ENOENT && missing_ == WriteRoots::Missing::kIsMade) {
      return make(relative);
    }
    if (fd < 0) return error_of(errno, location_, "open the directory");
    OwnedFd directory(fd);
    // SYNC unsynced-directory: read after the directory was found; partner Unsynced
    if (unsynced_directories.load(std::memory_order_seq_cst) > 0) {
      ICEBLINK_RETURN_IF_ERROR(sync_above(relative));
    }
    return directory;
  }

 private:
  static std::string parent_of(const std::string& relative) {
    const auto slash = relative.rfind('/');
    return slash == std::string::npos ? "." : relative.substr(0, slash);
  }

  Result<OwnedFd> make(const std::string& relative) const {
    if (relative == ".") return error_of(ENOENT, location_, "open the directory");
    ICEBLINK_ASSIGN_OR_RETURN(const OwnedFd parent, open(parent_of(relative)));
    const std::string name = relative.substr(relative.rfind('/') + 1);
    if (const int code = make_directory(parent.get(), name.c_str()); code != 0) {
      return error_of(code, location_, "make the directory");
    }
    const int fd = open_beneath(root_, relative, O_RDONLY | O_DIRECTORY);
    if (fd < 0) return error_of(errno, location_, "open the directory");
    return OwnedFd(fd);
  }

  Status sync_above(const std::string& relative) const {
    for (std::string at = relative; at != ".";) {
      at = parent_of(at);
      const OwnedFd directory(open_beneath(root_, at, O_RDONLY | O_DIRECTORY));
      if (directory.get() < 0 || ::fsync(directory.get()) != 0) {
        return error_of(errno, location_, "sync the directory");
      }
    }
    return Ok{};
  }

  const int root_;
  const std::string_view location_;
  const WriteRoots::Missing missing_;
};

}  // namespace

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) ::close(fd_);
}

Result<WriteRoots> WriteRoots::of(const std::vector<std::string>& roots, iceberg::LocationMap map) {
  WriteRoots made;
  for (const std::string& root : roots) {
    ICEBLINK_ASSIGN_OR_RETURN(std::string clean, clean_path_of(root, map));
    made.roots_.push_back(std::move(clean));
  }
  made.map_ = std::move(map);
  return made;
}

Result<WriteRoots::Place> WriteRoots::open_parent(std::string_view location,
                                                  Missing missing) const {
  ICEBLINK_ASSIGN_OR_RETURN(const std::string path, clean_path_of(location, map_));
  const auto root = std::ranges::find_if(roots_, [&](const auto& r) { return is_below(path, r); });
  if (root == roots_.end()) {
    return {ErrorKind::kNotAllowed,
            std::string(location) + ": not below a directory that this catalog writes to"};
  }
  OwnedFd root_fd(::open(root->empty() ? "/" : root->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root_fd.get() < 0 && errno == ENOENT && missing == Missing::kIsMade) {
    if (const int code = make_root(*root); code != 0) {
      return error_of(code, location, "make the directory");
    }
    root_fd = OwnedFd(::open(root->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  if (root_fd.get() < 0) return error_of(errno, location, "open the directory");
  const std::size_t slash = path.rfind('/');
  const std::string relative =
      slash == root->size() ? "." : path.substr(root->size() + 1, slash - root->size() - 1);
  Place place;
  ICEBLINK_ASSIGN_OR_RETURN(place.directory,
                            DirectoryBelow(root_fd.get(), location, missing).open(relative));
  place.name = path.substr(slash + 1);
  return place;
}

Status WriteRoots::remove(std::string_view location) const {
  const auto place = open_parent(location, Missing::kFails);
  if (!place) {
    if (place.error().kind() == ErrorKind::kNotFound) return Ok{};
    return place.error();
  }
  if (::unlinkat(place->directory.get(), place->name.c_str(), 0) == 0 || errno == ENOENT) {
    return Ok{};
  }
  return error_of(errno, location, "remove");
}

bool WriteRoots::covers(std::string_view location) const {
  const auto path = clean_path_of(location, map_);
  return path && std::ranges::any_of(roots_, [&](const auto& r) { return is_below(*path, r); });
}

}  // namespace iceblink::daemon
