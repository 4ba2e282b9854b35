#include "daemon/write_roots.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "daemon/directory_group.h"
#include "daemon/file_errors.h"
#include "daemon/local_path.h"
#include "daemon/open_beneath.h"

namespace iceblink::daemon {
namespace {

Error error_of(int code, std::string_view location, std::string_view doing) {
  if (code == EXDEV) {
    return {ErrorKind::kNotAllowed, std::string(location) +
                                        ": leaves the directories that this "
                                        "catalog writes to"};
  }
  return {file_error_kind(code),
          std::string(location) + ": " + std::string(doing) + ": " + std::strerror(code)};
}

Error own_directory(std::string_view location) {
  return {ErrorKind::kNotAllowed, std::string(location) + ": a directory of the daemon's own"};
}

/// Below a file there is nothing. Who wants to make something there is told what is in the way.
int missing_code(int code, WriteRoots::Missing missing) {
  return code == ENOTDIR && missing == WriteRoots::Missing::kFails ? ENOENT : code;
}

mode_t mode_for(std::optional<gid_t> group) {
  return group ? kSharedDirectoryMode & 0777u : kOwnDirectoryMode;
}

/// The root itself, from the deepest directory above it that is there; those above are not shared.
/// Returns errno.
int make_root(const std::string& path, std::optional<gid_t> group) {
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const bool is_root = end == path.size();
    const mode_t mode = is_root ? mode_for(group) : kOwnDirectoryMode;
    if (::mkdir(path.substr(0, end).c_str(), mode) == 0) {
      if (!is_root || !group) continue;
      const OwnedFd made(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      const int code = made.get() < 0 ? errno : share_directory(made.get(), *group);
      if (code != 0) return code;
    } else if (errno != EEXIST) {
      return errno;
    }
  }
  return 0;
}

/// Directories below a root, by their way from there.
class DirectoriesBelow {
 public:
  DirectoriesBelow(int root, const std::string& root_path, std::string_view location,
                   WriteRoots::Missing missing, std::optional<gid_t> group,
                   const OwnDirectories& own, DurableDirectories& durable)
      : root_(root),
        root_path_(root_path),
        location_(location),
        missing_(missing),
        group_(group),
        own_(own),
        durable_(durable) {}

  Result<OwnedFd> open(const std::string& relative) const {
    int fd = open_beneath(root_, relative, O_RDONLY | O_DIRECTORY);
    if (fd < 0 && errno == ENOENT && missing_ == WriteRoots::Missing::kIsMade) {
      ICEBLINK_RETURN_IF_ERROR(make(relative));
      fd = open_beneath(root_, relative, O_RDONLY | O_DIRECTORY);
    }
    if (fd < 0) return error_of(missing_code(errno, missing_), location_, "open the directory");
    OwnedFd directory(fd);
    if (own_.are_closed_as(fd)) return own_directory(location_);
    if (missing_ == WriteRoots::Missing::kIsMade) {
      ICEBLINK_RETURN_IF_ERROR(make_durable(relative, fd));
    }
    return directory;
  }

 private:
  static std::string parent_of(const std::string& relative) {
    const auto slash = relative.rfind('/');
    return slash == std::string::npos ? "." : relative.substr(0, slash);
  }

  Status make(const std::string& relative) const {
    if (relative == ".") return error_of(ENOENT, location_, "open the directory");
    ICEBLINK_ASSIGN_OR_RETURN(const OwnedFd parent, open(parent_of(relative)));
    const std::string name = relative.substr(relative.rfind('/') + 1);
    if (::mkdirat(parent.get(), name.c_str(), mode_for(group_)) != 0) {
      return errno == EEXIST ? Status(Ok{}) : error_of(errno, location_, "make the directory");
    }
    if (!group_) return Ok{};
    const OwnedFd made(open_beneath(parent.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    // A root may be of another group, in which we may not give anything away: its owner's choice.
    const int code = made.get() < 0 ? errno : share_directory(made.get(), *group_);
    if (code != 0 && code != EPERM) return error_of(code, location_, "share the directory");
    return Ok{};
  }

  // Whoever made it: another commit that has yet to sync it, an engine, a daemon that was killed.
  Status make_durable(const std::string& relative, int fd) const {
    const std::string path = relative == "." ? root_path_ : root_path_ + "/" + relative;
    if (durable_.has(path, fd)) return Ok{};
    if (relative == ".") {
      if (const int code = sync_directories_above(path); code != 0) {
        return error_of(code, location_, "sync the directories above");
      }
    } else {
      ICEBLINK_ASSIGN_OR_RETURN(const OwnedFd parent, open(parent_of(relative)));
      if (::fsync(parent.get()) != 0) return error_of(errno, location_, "sync the directory");
    }
    durable_.add(path, fd);
    return Ok{};
  }

  const int root_;
  const std::string& root_path_;
  const std::string_view location_;
  const WriteRoots::Missing missing_;
  const std::optional<gid_t> group_;
  const OwnDirectories& own_;
  DurableDirectories& durable_;
};

}  // namespace

Result<WriteRoots> WriteRoots::of(const std::vector<std::string>& roots, iceberg::LocationMap map,
                                  std::optional<gid_t> group) {
  WriteRoots made;
  made.group_ = group;
  for (const std::string& root : roots) {
    ICEBLINK_ASSIGN_OR_RETURN(std::string clean, clean_path_of(root, map));
    made.roots_.push_back(std::move(clean));
  }
  made.map_ = std::move(map);
  return made;
}

Status WriteRoots::keep_out_of(OwnDirectories own) {
  for (const std::string& root : roots_) {
    if (!own.hold(root.empty() ? "/" : root)) continue;
    return {ErrorKind::kInvalidArgument,
            root + ": lies within the store's or the runtime directory, where nothing is written"};
  }
  own_ = std::move(own);
  return Ok{};
}

Status WriteRoots::make_roots() const {
  for (const std::string& root : roots_) {
    if (const int code = make_root(root, group_); code != 0) {
      return error_of(code, root, "make the directory");
    }
  }
  return Ok{};
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
    if (const int code = make_root(*root, group_); code != 0) {
      return error_of(code, location, "make the directory");
    }
    root_fd = OwnedFd(::open(root->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  if (root_fd.get() < 0) {
    return error_of(missing_code(errno, missing), location, "open the directory");
  }
  const std::size_t slash = path.rfind('/');
  const std::string relative =
      slash == root->size() ? "." : path.substr(root->size() + 1, slash - root->size() - 1);
  Place place;
  ICEBLINK_ASSIGN_OR_RETURN(place.directory, DirectoriesBelow(root_fd.get(), *root, location,
                                                              missing, group_, own_, *durable_)
                                                 .open(relative));
  if (own_.have_files_in(place.directory.get())) return own_directory(location);
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

bool WriteRoots::has_root_within(const std::string& directory) const {
  const auto real = real_path_of(directory);
  return std::ranges::any_of(roots_, [&](const std::string& root) {
    if (root == directory || is_below(root, directory)) return true;
    const auto real_root = real_path_of(root);
    return !real || !real_root || *real_root == *real || is_below(*real_root, *real);
  });
}

}  // namespace iceblink::daemon
