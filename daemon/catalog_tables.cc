#include "daemon/catalog_tables.h"

namespace iceblink::daemon {

Result<std::optional<std::string_view>> CatalogTables::get(MDB_dbi database,
                                                           std::string_view key) const {
  if (key.empty() || key.size() > kEncodedIdentifierBytesMax) return {std::nullopt};
  MDB_val at = lmdb::to_val(key);
  MDB_val value{};
  const int code = mdb_get(txn_, database, &at, &value);
  if (code == MDB_NOTFOUND) return {std::nullopt};
  if (code != 0) return error_of(code, "read");
  return {lmdb::to_view(value)};
}

Result<std::uint64_t> CatalogTables::counter(std::string_view key) const {
  ICEBLINK_ASSIGN_OR_RETURN(const auto bytes, get(databases_.meta, key));
  const auto value = decode_u64(bytes.value_or(std::string_view{}));
  if (!value) return damaged("meta entry '" + std::string(key) + "'");
  return *value;
}

Result<std::optional<Properties>> CatalogTables::find_namespace(const Namespace& levels) const {
  ICEBLINK_ASSIGN_OR_RETURN(const auto bytes, get(databases_.namespaces, encode(levels)));
  if (!bytes) return {std::nullopt};
  auto row = decode_namespace_row(*bytes);
  if (!row) return damaged("the row of namespace '" + format(levels) + "'");
  return {std::move(row->properties)};
}

Result<std::optional<TableRow>> CatalogTables::find_row(MDB_dbi database,
                                                        const TableIdent& ident) const {
  ICEBLINK_ASSIGN_OR_RETURN(const auto bytes, get(database, encode(ident)));
  if (!bytes) return {std::nullopt};
  auto row = decode_row(*bytes);
  if (!row) return damaged("the row of '" + format(ident) + "'");
  return row;
}

Result<std::optional<StoredAnswer>> CatalogTables::find_answer(const IdempotencyKey& key,
                                                               std::int64_t now_ms) const {
  ICEBLINK_ASSIGN_OR_RETURN(const auto bytes, get(databases_.idempotency, answer_key(key)));
  if (!bytes) return {std::nullopt};
  auto answer = decode_answer(*bytes);
  if (!answer) return damaged("the answer kept for an idempotency key");
  if (answer->expires_at_ms <= now_ms) return {std::nullopt};
  return answer;
}

Result<bool> CatalogTables::has_prefix(MDB_dbi database, std::string_view prefix) const {
  lmdb::Cursor cursor;
  int code = cursor.open(txn_, database);
  if (code == 0) code = cursor.seek(prefix);
  if (code == MDB_NOTFOUND) return false;
  if (code != 0) return error_of(code, "read");
  return cursor.key().starts_with(prefix);
}

Result<bool> CatalogTables::has_children(const Namespace& levels) const {
  const std::string key = encode(levels);
  if (key.size() >= kEncodedIdentifierBytesMax) return false;
  for (const MDB_dbi database : {databases_.tables, databases_.views}) {
    ICEBLINK_ASSIGN_OR_RETURN(const bool found, has_prefix(database, key + kNameSeparator));
    if (found) return true;
  }
  return has_prefix(databases_.namespaces, key + kLevelSeparator);
}

Error CatalogTables::damaged(std::string_view what) const {
  return {ErrorKind::kCorrupt,
          std::string(file_) + ": " + std::string(what) + " is damaged or not of this store"};
}

}  // namespace iceblink::daemon
