#include "daemon/lmdb_reading.h"

#include <new>

namespace iceblink::daemon {
namespace {

// Where a range with this prefix ends: the prefix with its last byte (a separator) one higher.
std::string past(std::string prefix) {
  prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

// Puts the cursor on the first key behind `prefix + after` (all of the range when there is none).
int seek_after(lmdb::Cursor& cursor, const std::string& prefix,
               const std::optional<std::string>& after) {
  if (!after) return cursor.seek(prefix);
  const std::string last = prefix + *after;
  const int code = cursor.seek(last);
  return code == 0 && cursor.key() == last ? cursor.next() : code;
}

}  // namespace

Result<std::unique_ptr<Store::Reading>> LmdbReading::begin(MDB_env* env, MapGate& gate,
                                                           const Databases& databases,
                                                           const std::string& file) {
  std::unique_ptr<LmdbReading> reading(new LmdbReading(gate, databases, file));
  if (const int code = reading->txn_.begin(env, MDB_RDONLY); code != 0) {
    return lmdb::error_of(code, file, "begin a read transaction");
  }
  ICEBLINK_ASSIGN_OR_RETURN(reading->generation_, reading->tables().counter(kMetaGeneration));
  return std::unique_ptr<Store::Reading>(std::move(reading));
}

Status LmdbReading::for_each(const std::function<Status(const shm::Change&)>& visit) const {
  // A parent's key is a prefix of its children's, so that key order visits it first.
  using shm::RecordKind;
  const auto visit_one = [&](const shm::Change& row) -> Result<Going> {
    ICEBLINK_RETURN_IF_ERROR(visit(row));
    return Going::kOn;
  };
  for (const auto kind : {RecordKind::kNamespace, RecordKind::kTable, RecordKind::kView}) {
    ICEBLINK_RETURN_IF_ERROR(visit_rows(kind, {}, visit_one));
  }
  return Ok{};
}

MDB_dbi LmdbReading::database_of(shm::RecordKind kind) const noexcept {
  switch (kind) {
    case shm::RecordKind::kNamespace:
      return databases_.namespaces;
    case shm::RecordKind::kView:
      return databases_.views;
    default:
      return databases_.tables;
  }
}

Status LmdbReading::visit_rows(
    shm::RecordKind kind, std::string_view after,
    const std::function<Result<Going>(const shm::Change&)>& visit) const {
  lmdb::Cursor cursor;
  int code = cursor.open(txn_.get(), database_of(kind));
  if (code == 0) code = cursor.seek(after);
  if (code == 0 && !after.empty() && cursor.key() == after) code = cursor.next();
  for (; code == 0; code = cursor.next()) {
    shm::Change change;
    change.kind = kind;
    change.key = cursor.key();
    if (kind == shm::RecordKind::kNamespace) {
      const auto generation = decode_namespace_generation(cursor.value());
      if (!generation) return tables().damaged("the row of a namespace");
      change.generation = *generation;
    } else if (!decode_row(cursor.value(), change)) {
      return tables().damaged("the row of a table or view");
    }
    ICEBLINK_ASSIGN_OR_RETURN(const Going going, visit(change));
    if (going == Going::kEnough) return Ok{};
  }
  if (code != MDB_NOTFOUND) return tables().error_of(code, "read");
  return Ok{};
}

Result<Page<Namespace>> LmdbReading::list_namespaces(const Namespace& parent,
                                                     const std::optional<std::string>& after,
                                                     std::optional<std::size_t> limit) const {
  Page<Namespace> page;
  const std::string prefix = parent.empty() ? std::string{} : encode(parent) + kLevelSeparator;
  if (prefix.size() > kEncodedIdentifierBytesMax) return page;
  lmdb::Cursor cursor;
  int code = cursor.open(txn_.get(), databases_.namespaces);
  if (code == 0) code = seek_after(cursor, prefix, after);
  while (code == 0 && cursor.key().starts_with(prefix)) {
    const auto rest = cursor.key().substr(prefix.size());
    if (const auto end = rest.find(kLevelSeparator); end != std::string_view::npos) {
      // A grandchild: on behind all of its parent's, which was listed before (its key is shorter).
      code = cursor.seek(past(prefix + std::string(rest.substr(0, end + 1))));
      continue;
    }
    if (limit && page.items.size() == *limit) {
      if (!page.items.empty()) page.next_after = page.items.back().back();
      return page;
    }
    Namespace child = parent;
    child.emplace_back(rest);
    page.items.push_back(std::move(child));
    code = cursor.next();
  }
  if (code != 0 && code != MDB_NOTFOUND) return tables().error_of(code, "read");
  return page;
}

Result<Page<TableIdent>> LmdbReading::list_rows(MDB_dbi database, const Namespace& levels,
                                                const std::optional<std::string>& after,
                                                std::optional<std::size_t> limit) const {
  Page<TableIdent> page;
  const std::string prefix = encode(levels) + kNameSeparator;
  if (prefix.size() > kEncodedIdentifierBytesMax) return page;
  lmdb::Cursor cursor;
  int code = cursor.open(txn_.get(), database);
  if (code == 0) code = seek_after(cursor, prefix, after);
  for (; code == 0 && cursor.key().starts_with(prefix); code = cursor.next()) {
    if (limit && page.items.size() == *limit) {
      if (!page.items.empty()) page.next_after = page.items.back().name;
      return page;
    }
    page.items.push_back({levels, std::string(cursor.key().substr(prefix.size()))});
  }
  if (code != 0 && code != MDB_NOTFOUND) return tables().error_of(code, "read");
  return page;
}

Result<std::vector<LoggedChange>> LmdbReading::changes_since(std::uint64_t since,
                                                             std::size_t limit) const {
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t floor, tables().counter(kMetaLogFloor));
  if (since < floor || since > generation_) {
    return {ErrorKind::kGone, "generation " + std::to_string(since) +
                                  " is not in the change log, which reaches from " +
                                  std::to_string(floor) + " to " + std::to_string(generation_)};
  }
  std::vector<LoggedChange> changes;
  if (since == generation_) return changes;
  lmdb::Cursor cursor;
  int code = cursor.open(txn_.get(), databases_.log);
  if (code == 0) code = cursor.seek(log_key(since + 1, 0));
  for (; code == 0; code = cursor.next()) {
    const auto generation = generation_of_log_key(cursor.key());
    if (!generation) return tables().damaged("a key of the change log");
    const bool enough = changes.size() >= limit && !changes.empty();
    if (enough && changes.back().generation != *generation) return changes;
    if (!decode_changes(cursor.value(), *generation, changes)) {
      return tables().damaged("the change log at generation " + std::to_string(*generation));
    }
  }
  if (code != MDB_NOTFOUND) return tables().error_of(code, "read");
  return changes;
}

}  // namespace iceblink::daemon
