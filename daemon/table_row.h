// A pointer as the store keeps it.
#pragma once

#include <cstdint>
#include <string>

#include "shm/change.h"

namespace iceblink::daemon {

/// What the catalog knows of a table or view: its pointer, and what its file said when the
/// pointer was set.
struct TableRow {
  std::string location;             // the stored string, byte for byte
  shm::Id table_uuid{};             // zero when unknown
  shm::Id metadata_fingerprint{};   // XXH3-128 of the file as stored; zero = unverified
  std::uint8_t format_version = 0;  // 0 when unknown
  std::uint64_t generation = 0;     // of the change that set the pointer
};

}  // namespace iceblink::daemon
