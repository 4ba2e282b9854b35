#include "daemon/store_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "daemon/apart.h"
#include "daemon/catalog_tables.h"
#include "daemon/file_errors.h"
#include "daemon/lmdb.h"

namespace iceblink::daemon {
namespace {

constexpr MDB_dbi kDatabasesMax = 8;
void on_failed_assertion(MDB_env* env, const char* assertion) {
  const auto* const name = static_cast<const std::string*>(mdb_env_get_userctx(env));
  end_apart({ErrorKind::kCorrupt,
             *name + ": the file is damaged: LMDB expected " + std::string(assertion)});
}

/// Rows that are taken apart when they are needed; a large one lies in pages of its own.
bool is_readable(std::string_view row) {
  constexpr std::size_t kPageBytes = 4096;
  for (std::size_t at = 0; at < row.size(); at += kPageBytes) {
    static_cast<void>(*static_cast<const volatile char*>(row.data() + at));
  }
  return true;
}

class StoreFile {
 public:
  explicit StoreFile(const std::string& name) : name_(name) {}

  Status open(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      return {file_error_kind(errno), name_ + ": " + std::strerror(errno)};
    }
    if (!S_ISREG(status.st_mode)) return {ErrorKind::kCorrupt, name_ + ": not a regular file"};
    if (status.st_size == 0) return {ErrorKind::kCorrupt, name_ + ": empty"};
    MDB_env* env = nullptr;
    if (const int code = mdb_env_create(&env); code != 0) return error_of(code, "create");
    env_.reset(env);
    int code = mdb_env_set_maxdbs(env, kDatabasesMax);
    if (code == 0) code = mdb_env_set_userctx(env, const_cast<std::string*>(&name_));
    if (code == 0) code = mdb_env_set_assert(env, on_failed_assertion);
    // Nobody writes to it, so that there is nothing to lock.
    if (code == 0) {
      code = mdb_env_open(env, path.c_str(), MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK, 0600);
    }
    if (code == MDB_INVALID || code == ENOENT || code == EIO) {
      return {ErrorKind::kCorrupt, name_ + ": not an LMDB file, or damaged"};
    }
    if (code == ENOMEM || code == EINVAL) {
      return {ErrorKind::kCorrupt, name_ + ": damaged: it claims a size that cannot be"};
    }
    if (code != 0) return error_of(code, "open");
    return check_length(static_cast<std::uint64_t>(status.st_size));
  }

  Result<StoreFileSummary> read() {
    lmdb::Txn txn;
    if (const int code = txn.begin(env_.get(), MDB_RDONLY); code != 0) {
      return error_of(code, "begin");
    }
    ICEBLINK_RETURN_IF_ERROR(open_databases(txn));
    const CatalogTables tables(txn.get(), databases_, name_);
    StoreFileSummary summary;
    ICEBLINK_RETURN_IF_ERROR(read_meta(tables, summary));
    using Check = bool (*)(std::string_view);
    const Check is_namespace = [](std::string_view row) {
      return decode_namespace_row(row).has_value();
    };
    const Check is_row = [](std::string_view row) { return decode_row(row).has_value(); };
    ICEBLINK_ASSIGN_OR_RETURN(summary.namespace_count,
                              count(txn, tables, databases_.namespaces, is_namespace));
    ICEBLINK_ASSIGN_OR_RETURN(summary.table_count, count(txn, tables, databases_.tables, is_row));
    ICEBLINK_ASSIGN_OR_RETURN(summary.view_count, count(txn, tables, databases_.views, is_row));
    ICEBLINK_RETURN_IF_ERROR(count(txn, tables, databases_.log, is_readable));
    ICEBLINK_RETURN_IF_ERROR(count(txn, tables, databases_.idempotency, is_readable));
    return summary;
  }

 private:
  // A file that was cut short would be SIGBUS at the first look behind its end.
  Status check_length(std::uint64_t size) const {
    MDB_envinfo info{};
    MDB_stat pages{};
    if (const int code = mdb_env_info(env_.get(), &info); code != 0) return error_of(code, "open");
    if (const int code = mdb_env_stat(env_.get(), &pages); code != 0) return error_of(code, "open");
    const std::uint64_t needed = (std::uint64_t{info.me_last_pgno} + 1) * pages.ms_psize;
    if (size >= needed) return Ok{};
    return {ErrorKind::kCorrupt,
            name_ + ": cut short: " + std::to_string(size) + " bytes of " + std::to_string(needed)};
  }

  Status open_databases(lmdb::Txn& txn) {
    const std::pair<const char*, MDB_dbi*> databases[] = {
        {"meta", &databases_.meta},     {"namespaces", &databases_.namespaces},
        {"tables", &databases_.tables}, {"views", &databases_.views},
        {"log", &databases_.log},       {"idempotency", &databases_.idempotency}};
    for (const auto& [name, handle] : databases) {
      const int code = mdb_dbi_open(txn.get(), name, 0, handle);
      if (code == MDB_NOTFOUND || code == MDB_INCOMPATIBLE) {
        return {ErrorKind::kIncompatible, name_ + ": an LMDB file, but not a store of iceblink's"};
      }
      if (code != 0) return error_of(code, name);
    }
    return Ok{};
  }

  Status read_meta(const CatalogTables& tables, StoreFileSummary& summary) const {
    ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t format, tables.counter(kMetaFormat));
    if (format != kStoreFormat) {
      return {ErrorKind::kIncompatible, name_ + ": store format " + std::to_string(format) +
                                            ", this daemon knows format " +
                                            std::to_string(kStoreFormat)};
    }
    ICEBLINK_ASSIGN_OR_RETURN(const auto uuid, tables.get(databases_.meta, kMetaStoreUuid));
    if (!uuid || uuid->size() != summary.store_uuid.size()) {
      return tables.damaged("meta entry 'store-uuid'");
    }
    std::copy(uuid->begin(), uuid->end(), summary.store_uuid.begin());
    ICEBLINK_ASSIGN_OR_RETURN(summary.generation, tables.counter(kMetaGeneration));
    for (const auto key : {kMetaHashSeed, kMetaIncarnation, kMetaLogFloor}) {
      ICEBLINK_RETURN_IF_ERROR(tables.counter(key));
    }
    return Ok{};
  }

  Result<std::uint64_t> count(lmdb::Txn& txn, const CatalogTables& tables, MDB_dbi database,
                              bool (*is_sound)(std::string_view)) const {
    MDB_stat stat{};
    if (const int code = mdb_stat(txn.get(), database, &stat); code != 0) {
      return error_of(code, "read");
    }
    lmdb::Cursor cursor;
    int code = cursor.open(txn.get(), database);
    if (code == 0) code = cursor.seek({});
    std::uint64_t found = 0;
    for (; code == 0; code = cursor.next()) {
      // Pages that lead back to others would go on for ever.
      if (++found > stat.ms_entries) return tables.damaged("the number of rows");
      if (!is_sound(cursor.value())) return tables.damaged("a row of the catalog");
    }
    if (code != MDB_NOTFOUND) return error_of(code, "read");
    if (found != stat.ms_entries) return tables.damaged("the number of rows");
    return found;
  }

  Error error_of(int code, std::string_view doing) const {
    return lmdb::error_of(code, name_, doing);
  }

  const std::string& name_;
  lmdb::Env env_;
  Databases databases_;
};

}  // namespace

Result<StoreFileSummary> check_store_file(int fd, const std::string& name) {
  const auto told = run_apart(fd, name, [&name](int kept_fd) -> Result<std::string> {
    StoreFile file(name);
    ICEBLINK_RETURN_IF_ERROR(file.open("/proc/self/fd/" + std::to_string(kept_fd)));
    ICEBLINK_ASSIGN_OR_RETURN(const StoreFileSummary summary, file.read());
    return std::string(reinterpret_cast<const char*>(&summary), sizeof(summary));
  });
  if (!told) return told.error();
  StoreFileSummary summary;
  if (told->size() != sizeof(summary)) return {ErrorKind::kInternal, name + ": cannot be checked"};
  std::memcpy(&summary, told->data(), sizeof(summary));
  return summary;
}

}  // namespace iceblink::daemon
