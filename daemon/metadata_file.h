// Reads metadata files by their stored location.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/file_identity.h"
#include "daemon/read_roots.h"
#include "daemon/store.h"
#include "iceberg/location_map.h"

namespace iceblink::daemon {

struct MetadataFileRules {
  std::size_t stored_bytes_max = std::size_t{256} << 20;
  std::size_t inflated_bytes_max = std::size_t{256} << 20;
  iceberg::LocationMap map{};  // where locations are read; messages speak of the stored ones
  /// Never opened, under whatever name: LMDB's locks are POSIX ones, and a process loses those of a
  /// file when it closes any descriptor of it (but for those of O_PATH).
  std::vector<FileIdentity> own_files{};
  ReadRoots read_roots{};  // nothing is opened elsewhere
};

/// The file's bytes, as stored. kNotFound: "Failed to open input stream for file: <location>";
/// kTooLarge; kNotAllowed: also, it leaves the read roots; kInvalidArgument: no regular file, or a
/// bad location; kUnsupported: a location of another scheme or host, or there is no /proc; kBusy:
/// out of descriptors or kernel memory; kOutOfMemory; kIo.
[[nodiscard]] Result<std::string> read_metadata_file(std::string_view location,
                                                     const MetadataFileRules& rules = {});

/// What a file says of itself: the row that a pointer to it is stored as (without a generation).
struct DescribedFile {
  TableRow row;
  bool is_view = false;
  std::string bytes;  // as stored
};

/// Reads, fingerprints and parses the header. Errors as read_metadata_file, and those of
/// iceberg::parse_metadata_header with the location in front.
[[nodiscard]] Result<DescribedFile> describe_metadata_file(std::string_view location,
                                                           const MetadataFileRules& rules = {});

}  // namespace iceblink::daemon
