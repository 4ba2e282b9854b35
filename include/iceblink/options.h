// How a process wants its catalog.
#pragma once

#include <iceblink/location_prefix.h>
#include <iceblink/metadata/document.h>
#include <iceblink/object_reader.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace iceblink {

/// When the daemon is asked about a name that the segment does not have. A live segment is
/// complete by construction, so this is a safety net.
enum class AskDaemon : std::uint8_t {
  kWhenStale,  ///< when its sign of life is older than stale_after
  kAlways,
  kNever,
};

/// Where and how metadata files are read.
struct FileOptions {
  std::vector<LocationPrefix> location_prefixes;
  /// Local files are read below these directories only, whatever `..` or symbolic links say. Empty:
  /// anywhere.
  std::vector<std::string> read_roots;
  /// For other schemes than file.
  std::vector<SchemeReader> readers;
  /// Whether several files are read through io_uring, where the kernel lets us.
  bool use_io_uring = true;
};

struct CatalogOptions {
  /// How long open() waits for a segment to appear. 0: fails at once when there is none.
  std::chrono::milliseconds attach_timeout{0};

  AskDaemon ask_daemon = AskDaemon::kWhenStale;
  /// Age of the daemon's last sign of life from which the segment is in doubt.
  std::chrono::milliseconds stale_after{2000};
  /// How long one such question may take; then the segment's answer stands.
  std::chrono::milliseconds ask_deadline{50};
  /// Questions a second, at most, of this catalog object and its copies.
  std::uint32_t asks_per_second_max = 1;

  /// Deadline of a call over the socket. Past it a write's outcome is kStateUnknown.
  std::chrono::milliseconds write_deadline{30'000};

  FileOptions files{};
  MetadataLimits metadata_limits{};
  /// What the cache of parsed metadata may take, in bytes: what it keeps, its own index included,
  /// and what is being loaded to be kept. 0: nothing is kept.
  std::size_t metadata_cache_bytes_max = std::size_t{128} << 20;
  /// The share of it that one document may take, above 0 and up to 1. A larger one is served, and
  /// not kept, so that no single table empties the cache.
  double metadata_cache_entry_share = 0.125;

  /// What the cache of table handles may take, in bytes. Each handle counts with its metadata and
  /// all that its object cache may take, from the start. 0: nothing is kept.
  std::size_t table_cache_bytes_max = std::size_t{256} << 20;
  /// What each handle's cache of manifest lists and manifests may take, in bytes. 0: nothing is
  /// kept.
  std::size_t object_cache_bytes_max = std::size_t{4} << 20;
};

}  // namespace iceblink
