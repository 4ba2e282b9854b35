// The store's rows, as the daemon tells them: GET /iceblink/v1/objects (docs/rest.md).
//
// Thread safety: free functions.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/daemon_client.h"
#include "shm/layout.h"

namespace iceblink::cli {

struct StoreRow {
  shm::RecordKind kind = shm::RecordKind::kTable;
  std::string key;                 // encoded
  std::string location;            // empty for a namespace
  shm::Id table_uuid{};            // zero: unknown
  shm::Id metadata_fingerprint{};  // zero: unverified
  std::uint8_t format_version = 0;
  std::uint64_t generation = 0;
};

/// Rows of one generation, in the order of keys.
struct StorePage {
  std::uint64_t generation = 0;
  std::string incarnation;
  std::vector<StoreRow> rows;
  std::optional<std::string> next;  // what to ask for next
};

/// kNoDaemon, kTimedOut, kIo; kUnsupported: a daemon that does not serve it; kInternal: no answer
/// of that kind; else what the daemon says.
[[nodiscard]] Result<StorePage> fetch_store_page(client::DaemonClient& daemon,
                                                 const std::optional<std::string>& after);

}  // namespace iceblink::cli
