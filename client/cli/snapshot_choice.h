// Which snapshot of a table is meant.
#pragma once

#include <iceblink/result.h>
#include <iceblink/table.h>

#include <cstdint>
#include <optional>
#include <string>

namespace iceblink::cli {

/// By its id, by a branch or tag, or by a time; at most one of them. Without any: the current one.
struct SnapshotChoice {
  std::optional<std::int64_t> snapshot_id;
  std::optional<std::string> ref;
  std::optional<std::int64_t> as_of_ms;

  /// Null: the current one is meant, and there is none. Errors as of Table's functions.
  [[nodiscard]] Result<const TableSnapshot*> find_in(const Table& table) const;
};

/// By its id, or else by a ref of that name. kNotFound, kCorrupt, kOutOfMemory.
[[nodiscard]] Result<const TableSnapshot*> snapshot_named(const Table& table,
                                                          const std::string& name);

}  // namespace iceblink::cli
