#include "daemon/read_roots.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "daemon/local_path.h"
#include "daemon/open_beneath.h"

namespace iceblink::daemon {
namespace {

Error outside(std::string_view location) {
  return {ErrorKind::kNotAllowed,
          std::string(location) + ": not below a directory that this catalog reads"};
}

bool has_parent_segment(std::string_view path) noexcept {
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    if (path.substr(0, end) == "..") return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

/// Without the empty and "." segments, which would hide that a path is below a root.
std::string without_empty_segments(std::string_view path) {
  std::string clean;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (segment.empty() || segment == ".") continue;
    clean += '/';
    clean += segment;
  }
  return clean;
}

}  // namespace

Result<ReadRoots> ReadRoots::of(const std::vector<std::string>& roots,
                                const iceberg::LocationMap& map) {
  ReadRoots made;
  made.is_bound_ = !roots.empty();
  for (const std::string& root : roots) {
    ICEBLINK_ASSIGN_OR_RETURN(std::string path, clean_path_of(root, map));
    made.roots_.push_back(std::move(path));
  }
  // Of roots that lie within each other the outermost counts: a link between them is no way out.
  std::erase_if(made.roots_, [all = made.roots_](const std::string& root) {
    return std::ranges::any_of(all, [&](const auto& other) { return is_below(root, other); });
  });
  return made;
}

Result<ReadRoots::Place> ReadRoots::find(std::string_view location,
                                         const iceberg::LocationMap& map) const {
  auto path = map.path_of(location);
  if (!is_bound_) {
    if (!path) return path.error();
    return Place(std::move(*path));
  }
  if (!path) {
    if (path.error().kind() == ErrorKind::kUnsupported) return outside(location);
    return path.error();
  }
  std::string clean = without_empty_segments(*path);
  for (const std::string& root : roots_) {
    if (is_below(clean, root)) return Place(std::move(clean), root.size());
  }
  return outside(location);
}

Status ReadRoots::admit(std::string_view location, const iceberg::LocationMap& map) const {
  if (!is_bound_) return Ok{};
  ICEBLINK_ASSIGN_OR_RETURN(const Place place, find(location, map));
  if (has_parent_segment(place.path)) return outside(location);
  return Ok{};
}

int find_file(const ReadRoots::Place& place, std::uint64_t resolve) {
  if (place.root_bytes == ReadRoots::Place::npos) {
    if (resolve == 0) return ::open(place.path.c_str(), O_PATH | O_CLOEXEC);
    struct open_how how {};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = resolve;
    return static_cast<int>(
        ::syscall(SYS_openat2, AT_FDCWD, place.path.c_str(), &how, sizeof(how)));
  }
  const std::string root = place.root_bytes == 0 ? "/" : place.path.substr(0, place.root_bytes);
  const OwnedFd directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return -1;
  return open_beneath(directory.get(), place.path.substr(place.root_bytes + 1), O_PATH, resolve);
}

int open_found(int found) noexcept {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "/proc/self/fd/%d", found);
  // O_NONBLOCK: it has no effect on regular files, but for those that are leased.
  const int fd = ::open(name.data(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 && errno == ENOENT) errno = ENOSYS;  // what was found is there: /proc is not
  return fd;
}

}  // namespace iceblink::daemon
