// The store's databases, and the look-ups that read and write transactions share.
//
// Keys of tables and views are {levels joined by 0x1F | NUL | name}: the tables of one namespace
// are one contiguous range, and so are all namespaces below `a` (those with the prefix `a\x1F`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/lmdb.h"
#include "daemon/row_codec.h"
#include "daemon/store.h"

namespace iceblink::daemon {

inline constexpr std::uint32_t kStoreFormat = 1;

// Keys of `meta`.
inline constexpr std::string_view kMetaFormat = "format";
inline constexpr std::string_view kMetaStoreUuid = "store-uuid";
inline constexpr std::string_view kMetaHashSeed = "hash-seed";
inline constexpr std::string_view kMetaIncarnation = "incarnation";
inline constexpr std::string_view kMetaGeneration = "generation";
/// The oldest generation that changes_since can start from: what follows it is in the log, whole.
inline constexpr std::string_view kMetaLogFloor = "log-floor";

/// Handles of the databases; constant once the store is open.
struct Databases {
  MDB_dbi meta = 0;
  MDB_dbi namespaces = 0;
  MDB_dbi tables = 0;
  MDB_dbi views = 0;
  MDB_dbi log = 0;
  MDB_dbi idempotency = 0;
};

/// One transaction's view of the catalog. Views it returns live until the transaction writes or
/// ends.
class CatalogTables {
 public:
  CatalogTables(MDB_txn* txn, const Databases& databases, std::string_view file)
      : txn_(txn), databases_(databases), file_(file) {}

  /// The bytes at `key`; nullopt when there are none (or there can be none: too long, or empty).
  [[nodiscard]] Result<std::optional<std::string_view>> get(MDB_dbi database,
                                                            std::string_view key) const;
  /// A counter in `meta`; kCorrupt when it is not there.
  [[nodiscard]] Result<std::uint64_t> counter(std::string_view key) const;

  [[nodiscard]] Result<std::optional<Properties>> find_namespace(const Namespace& levels) const;
  [[nodiscard]] Result<std::optional<TableRow>> find_row(MDB_dbi database,
                                                         const TableIdent& ident) const;
  /// Nothing where it has expired.
  [[nodiscard]] Result<std::optional<StoredAnswer>> find_answer(const IdempotencyKey& key,
                                                                std::int64_t now_ms) const;
  [[nodiscard]] Result<bool> has_prefix(MDB_dbi database, std::string_view prefix) const;
  [[nodiscard]] Result<bool> has_children(const Namespace& levels) const;

  [[nodiscard]] Error error_of(int code, std::string_view doing) const {
    return lmdb::error_of(code, file_, doing);
  }
  /// kCorrupt: `what` is not what this store writes.
  [[nodiscard]] Error damaged(std::string_view what) const;

 private:
  MDB_txn* txn_;
  const Databases& databases_;
  std::string_view file_;
};

}  // namespace iceblink::daemon
