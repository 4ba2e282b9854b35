#include "client/file_places.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "client/file_errors.h"
#include "iceberg/location.h"

namespace iceblink::client {
namespace {

Error refused(ErrorKind kind, const std::string& setting, const std::string& why) {
  return {kind, setting + ": " + why};
}

/// The next part of a path; slashes and parts that are a dot are passed over.
std::string_view next_part(std::string_view& path) noexcept {
  while (true) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const auto part = path.substr(0, path.find('/'));
    if (part != ".") {
      path.remove_prefix(part.size());
      return part;
    }
    path.remove_prefix(1);
  }
}

/// What is left of `path` below `directory`, by their words alone.
std::optional<std::string_view> rest_below(std::string_view directory,
                                           std::string_view path) noexcept {
  for (auto part = next_part(directory); !part.empty(); part = next_part(directory)) {
    if (next_part(path) != part) return std::nullopt;
  }
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return path;
}

int openat2(int directory, const char* path, const open_how& how) noexcept {
  const auto fd = ::syscall(SYS_openat2, directory, path, &how, sizeof(how));
  return fd >= 0 ? static_cast<int>(fd) : -errno;
}

}  // namespace

open_how how_to_open(const LocalPath& path) noexcept {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  if (path.is_below_root()) how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return how;
}

int open_file(const LocalPath& path) noexcept {
  const open_how how = how_to_open(path);
  if (path.is_below_root()) return openat2(path.root_fd, path.path.c_str(), how);
  const int fd = ::open(path.path.c_str(), static_cast<int>(how.flags));
  return fd >= 0 ? fd : -errno;
}

Result<std::unique_ptr<const FilePlaces>> FilePlaces::make(const FileOptions& options) {
  std::unique_ptr<FilePlaces> places(new FilePlaces);
  if (!options.location_prefixes.empty()) {
    auto map = iceberg::LocationMap::of(options.location_prefixes);
    if (!map) return refused(map.error().kind(), "location_prefixes", map.error().message());
    places->map_ = std::move(*map);
  }
  for (const SchemeReader& reader : options.readers) {
    ICEBLINK_RETURN_IF_ERROR(places->add_reader(reader));
  }
  places->roots_.reserve(options.read_roots.size());
  for (const std::string& root : options.read_roots) {
    ICEBLINK_RETURN_IF_ERROR(places->add_root(root));
  }
  return std::unique_ptr<const FilePlaces>(std::move(places));
}

FilePlaces::~FilePlaces() {
  for (const Root& root : roots_) ::close(root.fd);
}

Status FilePlaces::add_reader(const SchemeReader& reader) {
  const std::string setting = "readers: scheme '" + reader.scheme + "'";
  const auto refuse = [&](const char* why) {
    return refused(ErrorKind::kInvalidArgument, setting, why);
  };
  if (iceberg::scheme_of(reader.scheme + ":") != reader.scheme) return refuse("is no scheme");
  if (iceberg::is_same_scheme(reader.scheme, "file")) return refuse("is read by the cache itself");
  if (reader.reader == nullptr) return refuse("has no reader");
  for (const SchemeReader& other : readers_) {
    if (iceberg::is_same_scheme(other.scheme, reader.scheme)) return refuse("has two readers");
  }
  readers_.push_back(reader);
  return Ok{};
}

Status FilePlaces::add_root(const std::string& directory) {
  const std::string setting = "read_roots: '" + directory + "'";
  if (!directory.starts_with('/') || directory.find('\0') != std::string::npos) {
    return refused(ErrorKind::kInvalidArgument, setting, "is not an absolute path");
  }
  const int fd = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    const auto kind = errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kInvalidArgument;
    return refused(kind, setting, std::strerror(errno));
  }
  Root& root = roots_.emplace_back(Root{fd, {}});  // there is room: the descriptor is not lost
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const int probe = openat2(fd, ".", how);
  if (probe < 0) {
    return refused(ErrorKind::kUnsupported, setting,
                   std::string("cannot be kept to without openat2: ") + std::strerror(-probe));
  }
  ::close(probe);
  root.names.push_back(directory);
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(directory.c_str(), nullptr),
                                                    std::free);
  if (real != nullptr && directory != real.get()) root.names.emplace_back(real.get());
  return Ok{};
}

Result<Place> FilePlaces::find(const std::string& location) const {
  std::string mapped = map_.map(location);
  const auto scheme = iceberg::scheme_of(mapped);
  if (scheme && std::string_view(mapped).substr(scheme->size()).starts_with("://")) {
    for (const SchemeReader& reader : readers_) {
      if (iceberg::is_same_scheme(reader.scheme, *scheme)) {
        return Place{{}, reader.reader.get(), std::move(mapped)};
      }
    }
  }
  ICEBLINK_ASSIGN_OR_RETURN(std::string path, map_.path_of(location));
  return local_place(std::move(path), location);
}

Result<Place> FilePlaces::local_place(std::string path, std::string_view location) const {
  Place place;
  if (roots_.empty()) {
    place.paths.push_back({std::move(path), LocalPath::kAnywhere});
    return place;
  }
  for (const Root& root : roots_) {
    for (const std::string& name : root.names) {
      const auto rest = rest_below(name, path);
      if (!rest) continue;
      place.paths.push_back({rest->empty() ? "." : std::string(*rest), root.fd});
      break;
    }
  }
  if (place.paths.empty()) return file_error(EXDEV, location, "open");
  return place;
}

}  // namespace iceblink::client
