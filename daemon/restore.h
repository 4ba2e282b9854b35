// Puts a backup into a data directory, while no daemon runs there.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <optional>
#include <string>

namespace iceblink::daemon {

struct RestoreOptions {
  enum class IfThere : std::uint8_t { kFail, kReplace };

  std::string backup_file;
  std::string data_dir;
  /// What becomes of a store that is there already: with kReplace it is kept, in lmdb.<time>.
  IfThere if_there = IfThere::kFail;
};

struct Restored {
  /// Whether the backup ended with a checksum to compare it with.
  enum class Checksum : std::uint8_t { kNone, kRight };

  std::uint64_t generation = 0;
  std::uint64_t table_count = 0;
  Checksum checksum = Checksum::kNone;
  std::optional<std::string> replaced_dir;  // where the store before is kept
};

/// Takes the data directory's lock, copies the backup beside the store, proves the copy (all of it
/// is read, and compared with its checksum where it has one), syncs it, and puts it in the store's
/// place: at any moment there is one whole store.
///
/// kConflict: a daemon runs there; kAlreadyExists: a store is there; kNotFound: no such backup;
/// kCorrupt, kIncompatible: it is none; kNotAllowed, kNoSpace, kIo. After an error the store is
/// what it was, but for one of the last sync: its message says so.
[[nodiscard]] Result<Restored> restore_backup(const RestoreOptions& options);

}  // namespace iceblink::daemon
