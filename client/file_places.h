// Where the bytes of a location are: prefixes, schemes, allowed directories.
//
// Thread safety: immutable after make().
#pragma once

#include <iceblink/options.h>
#include <iceblink/result.h>
#include <linux/openat2.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/location_map.h"

namespace iceblink::client {

/// A way to a local file.
struct LocalPath {
  static constexpr int kAnywhere = -1;

  /// What openat2 is told for a path below a root, and openat for others.
  [[nodiscard]] bool is_below_root() const noexcept { return root_fd != kAnywhere; }

  std::string path;         // absolute, or relative to the root
  int root_fd = kAnywhere;  // borrowed from the FilePlaces
};

/// How files are opened: O_NONBLOCK, because a FIFO would make the open wait; it has no effect on
/// regular files.
[[nodiscard]] open_how how_to_open(const LocalPath& path) noexcept;
/// A descriptor, or a negative errno.
[[nodiscard]] int open_file(const LocalPath& path) noexcept;

/// Either local paths or a reader.
struct Place {
  std::vector<LocalPath> paths;    // the next one is tried when one leads out of its root
  ObjectReader* reader = nullptr;  // borrowed from the FilePlaces
  std::string object;              // the location for the reader
};

class FilePlaces {
 public:
  /// kInvalidArgument, kNotFound, kUnsupported (the kernel has no openat2): the message names the
  /// setting.
  [[nodiscard]] static Result<std::unique_ptr<const FilePlaces>> make(const FileOptions& options);
  ~FilePlaces();
  FilePlaces(const FilePlaces&) = delete;
  FilePlaces& operator=(const FilePlaces&) = delete;

  /// kUnsupported, kInvalidArgument (as iceberg::local_path), kNotAllowed (below no root).
  [[nodiscard]] Result<Place> find(const std::string& location) const;

 private:
  /// A directory that files may be read below. It may be a symbolic link itself: it is opened once.
  struct Root {
    int fd;
    std::vector<std::string> names;  // as it was given, and what that is without symbolic links
  };

  FilePlaces() = default;
  [[nodiscard]] Status add_root(const std::string& directory);
  [[nodiscard]] Status add_reader(const SchemeReader& reader);
  [[nodiscard]] Result<Place> local_place(std::string path, std::string_view location) const;

  iceberg::LocationMap map_;
  std::vector<SchemeReader> readers_;
  std::vector<Root> roots_;
};

}  // namespace iceblink::client
