// A store's file by itself: a copy of one, that nobody writes to.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <string>

#include "shm/change.h"

namespace iceblink::daemon {

struct StoreFileSummary {
  shm::Id store_uuid{};
  std::uint64_t generation = 0;
  std::uint64_t namespace_count = 0;
  std::uint64_t table_count = 0;
  std::uint64_t view_count = 0;
};

/// Reads all of the file, which stays as it is, and which nobody may change meanwhile: every page,
/// and every row of the catalog. In a child process, since it may be anything. Messages call it
/// `name`. kCorrupt: cut short, damaged, no LMDB file; kIncompatible: not a store of ours, or of
/// another format; kNotAllowed, kOutOfMemory, kInternal, kIo.
[[nodiscard]] Result<StoreFileSummary> check_store_file(int fd, const std::string& name);

}  // namespace iceblink::daemon
