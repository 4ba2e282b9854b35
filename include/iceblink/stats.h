// What a catalog can say about itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace iceblink {

/// Reads by name through all catalogs of the process, counted by each thread for itself, so that a
/// hit writes nothing that another thread reads. May run a moment behind; what threads counted that
/// have ended is in it; a child process goes on from what its parent had. A call that names many
/// tables counts each once. Snapshots do not count: to find a name there costs less than that.
struct ReadStats {
  std::uint64_t found_count = 0;         ///< the segment has the name; hits of caches included
  std::uint64_t absent_count = 0;        ///< it has not
  std::uint64_t metadata_hit_count = 0;  ///< of those found: resolve_metadata from its cache
  std::uint64_t table_hit_count = 0;     ///< of those found: load_table from its cache

  friend bool operator==(const ReadStats&, const ReadStats&) = default;
};

/// A cache. Hits are in ReadStats, but for late ones: the first that a group of threads has of what
/// another group loaded. Everything is exact at one moment, but for `pinned_bytes`, which may run a
/// moment late.
struct CacheStats {
  std::uint64_t late_hit_count = 0;
  std::uint64_t miss_count = 0;          ///< calls that loaded something or waited for one that did
  std::uint64_t wait_count = 0;          ///< of these: waited
  std::uint64_t load_count = 0;          ///< one for any number of calls at once
  std::uint64_t load_failure_count = 0;  ///< of these: not read, not what was registered, invalid
  std::uint64_t unkept_count = 0;        ///< of these: served and not kept, for want of room
  std::uint64_t loaded_bytes = 0;        ///< of all that was loaded, kept or not
  std::uint64_t eviction_count = 0;
  std::uint64_t entry_count = 0;
  std::uint64_t kept_bytes = 0;       ///< what was loaded, entries, keys, references, index
  std::uint64_t in_flight_bytes = 0;  ///< set aside for what is being loaded
  std::uint64_t used_bytes_peak = 0;  ///< the most that both were together
  /// Evicted, and still there: somebody holds it, or did a moment ago.
  std::uint64_t pinned_bytes = 0;
};

/// Reads of metadata files.
struct FileStats {
  /// Whether several files are read through io_uring. False before the first batch, too.
  bool uses_io_uring = false;
  /// Why it was refused: the call, and errno; or that it is switched off. Empty where it was not,
  /// or is used since.
  std::string io_uring_refusal;
  std::uint64_t file_count = 0;       ///< read, or tried to
  std::uint64_t ring_file_count = 0;  ///< of these: through io_uring
  std::uint64_t byte_count = 0;
};

/// Counts since open(), but for `reads`.
struct CatalogStats {
  ReadStats reads;

  std::uint64_t attach_count = 0;       ///< mappings made, the first included
  std::uint64_t retired_count = 0;      ///< old mappings that some thread may still be reading
  std::uint64_t place_check_count = 0;  ///< looks at whether the segment is still at its path
  std::uint64_t wait_count = 0;         ///< calls of wait_for_change that had to wait
  std::uint64_t wake_count = 0;         ///< of these: that saw a change
  /// Lookups use a fence each, some nanoseconds, since the kernel does not offer membarrier.
  bool uses_fences = false;

  std::uint64_t ask_count = 0;           ///< questions put to the daemon about absent names
  std::uint64_t ask_failure_count = 0;   ///< of these: without an answer in time
  std::uint64_t disagreement_count = 0;  ///< of these: the daemon knew the name

  std::uint64_t call_count = 0;     ///< requests over the socket, questions included
  std::uint64_t write_count = 0;    ///< of these: writes
  std::uint64_t connect_count = 0;  ///< connections made

  FileStats files;
  CacheStats metadata_cache;  ///< parsed metadata files
  CacheStats table_cache;     ///< table handles, each with the room of its object cache
};

/// The daemon as the segment shows it, without asking it. For showing only.
struct DaemonHealth {
  std::uint32_t pid = 0;  ///< 0: it said that it stopped, or there is no segment
  std::chrono::nanoseconds heartbeat_age{0};
  bool is_stale = false;  ///< heartbeat_age is above CatalogOptions::stale_after
};

/// The segment, at one moment.
struct SegmentInfo {
  std::uint64_t generation = 0;
  std::uint32_t epoch = 0;            ///< of the arena
  std::uint64_t base_generation = 0;  ///< the oldest that the arena can answer changes from
  std::uint64_t incarnation = 0;      ///< of the store
  std::string store_uuid;
  std::uint64_t table_count = 0;
  std::uint64_t view_count = 0;
  std::uint64_t namespace_count = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t used_bytes = 0;
  std::string daemon_version;          ///< of the daemon that built the arena
  std::uint64_t daemon_started_s = 0;  ///< seconds since 1970-01-01T00:00:00Z
};

}  // namespace iceblink
