#include "daemon/lmdb_writing.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "shm/fault_point.h"

namespace iceblink::daemon {
namespace {

/// Changes in one value of the log, so that no value is a long run of overflow pages.
constexpr std::size_t kChangesPerChunk = 256;
/// Old entries of the log removed by one commit: a bound on its cost when the limit was lowered.
constexpr std::size_t kTrimmedChunksMax = 4096;
/// Expired answers removed before one is stored: more than come in, so that none pile up.
constexpr std::size_t kExpiredAnswersMax = 16;
/// Less room than LMDB writes in one call counts as none.
constexpr std::uint64_t kRoomBytesMin = std::uint64_t{1} << 20;

}  // namespace

Result<std::unique_ptr<Store::Writing>> LmdbWriting::begin(MDB_env* env, const Databases& databases,
                                                           const std::string& file,
                                                           StoreLimits limits) {
  std::unique_ptr<LmdbWriting> writing(new LmdbWriting(env, databases, file, limits));
  if (const int code = writing->txn_.begin(env, 0); code != 0) {
    return lmdb::error_of(code, file, "begin a write transaction");
  }
  ICEBLINK_ASSIGN_OR_RETURN(writing->generation_, writing->tables().counter(kMetaGeneration));
  ++writing->generation_;
  return std::unique_ptr<Store::Writing>(std::move(writing));
}

Status LmdbWriting::begin_part() {
  if (in_part_) return {ErrorKind::kInternal, "a part was begun inside a part"};
  in_part_ = true;
  return Ok{};
}

Status LmdbWriting::commit_part() {
  in_part_ = false;
  undo_.clear();
  return Ok{};
}

Status LmdbWriting::abort_part() {
  in_part_ = false;
  const std::vector<Undo> undo = std::exchange(undo_, {});
  for (auto entry = undo.rbegin(); entry != undo.rend(); ++entry) {
    ICEBLINK_RETURN_IF_ERROR(entry->previous
                                 ? raw_put(entry->database, entry->key, *entry->previous)
                                 : raw_erase(entry->database, entry->key));
  }
  return Ok{};
}

Status LmdbWriting::put_namespace(const Namespace& levels, const Properties& properties) {
  return put(databases_.namespaces, encode(levels),
             encode_namespace_row({properties, generation_}));
}

Status LmdbWriting::erase_namespace(const Namespace& levels) {
  return erase(databases_.namespaces, encode(levels));
}

Status LmdbWriting::put_row(MDB_dbi database, const TableIdent& ident, const TableRow& row) {
  TableRow stamped = row;
  stamped.generation = generation_;
  return put(database, encode(ident), encode_row(stamped));
}

Status LmdbWriting::put(MDB_dbi database, const std::string& key, const std::string& value) {
  ICEBLINK_RETURN_IF_ERROR(remember(database, key));
  return raw_put(database, key, value);
}

Status LmdbWriting::erase(MDB_dbi database, const std::string& key) {
  ICEBLINK_RETURN_IF_ERROR(remember(database, key));
  return raw_erase(database, key);
}

Status LmdbWriting::remember(MDB_dbi database, const std::string& key) {
  if (!in_part_) return Ok{};
  ICEBLINK_ASSIGN_OR_RETURN(const auto previous, tables().get(database, key));
  undo_.push_back({database, key, previous ? std::optional<std::string>(*previous) : std::nullopt});
  return Ok{};
}

Status LmdbWriting::raw_put(MDB_dbi database, std::string_view key, std::string_view value) {
  MDB_val at = lmdb::to_val(key);
  MDB_val data = lmdb::to_val(value);
  if (const int code = mdb_put(txn_.get(), database, &at, &data, 0); code != 0) {
    return failed(code, "write");
  }
  return Ok{};
}

Status LmdbWriting::raw_erase(MDB_dbi database, std::string_view key) {
  MDB_val at = lmdb::to_val(key);
  const int code = mdb_del(txn_.get(), database, &at, nullptr);
  if (code != 0 && code != MDB_NOTFOUND) return failed(code, "erase");
  return Ok{};
}

Result<bool> LmdbWriting::can_put_answer(std::int64_t now_ms) {
  ICEBLINK_RETURN_IF_ERROR(erase_expired_answers(now_ms));
  MDB_stat stat{};
  if (const int code = mdb_stat(txn_.get(), databases_.idempotency, &stat); code != 0) {
    return failed(code, "count the answers");
  }
  const std::uint64_t pages = stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
  return stat.ms_entries / 2 < limits_.answers_max &&  // two entries each
         pages * stat.ms_psize < limits_.answers_bytes_max;
}

Status LmdbWriting::put_answer(const IdempotencyKey& key, const StoredAnswer& answer) {
  ICEBLINK_RETURN_IF_ERROR(erase_answer(key));
  ICEBLINK_RETURN_IF_ERROR(raw_put(databases_.idempotency, answer_key(key), encode_answer(answer)));
  return raw_put(databases_.idempotency, expiry_key(answer.expires_at_ms, key), {});
}

Status LmdbWriting::erase_answer(const IdempotencyKey& key) {
  const std::string at = answer_key(key);
  ICEBLINK_ASSIGN_OR_RETURN(const auto bytes, tables().get(databases_.idempotency, at));
  if (!bytes) return Ok{};
  const auto old = decode_answer(*bytes);
  if (!old) return tables().damaged("the answer kept for an idempotency key");
  ICEBLINK_RETURN_IF_ERROR(raw_erase(databases_.idempotency, expiry_key(old->expires_at_ms, key)));
  return raw_erase(databases_.idempotency, at);
}

Status LmdbWriting::erase_expired_answers(std::int64_t now_ms) {
  const std::string first = expiry_key(0, {});
  for (std::size_t i = 0; i < kExpiredAnswersMax; ++i) {
    std::optional<Expiry> expiry;
    {
      lmdb::Cursor cursor;
      int code = cursor.open(txn_.get(), databases_.idempotency);
      if (code == 0) code = cursor.seek(first);
      if (code == MDB_NOTFOUND) return Ok{};
      if (code != 0) return failed(code, "read the answers");
      expiry = decode_expiry_key(cursor.key());
    }
    if (!expiry || expiry->at_ms > now_ms) return Ok{};
    ICEBLINK_RETURN_IF_ERROR(raw_erase(databases_.idempotency, answer_key(expiry->key)));
    ICEBLINK_RETURN_IF_ERROR(
        raw_erase(databases_.idempotency, expiry_key(expiry->at_ms, expiry->key)));
  }
  return Ok{};
}

Status LmdbWriting::commit(const std::vector<LoggedChange>& changes) {
  if (changes.empty()) return commit_durably();
  if (ICEBLINK_PLANTED("lost-commit")) {
    // Begun anew: nothing of it is kept but that its generation is used up.
    if (const int code = txn_.begin(env_, 0); code != 0) return failed(code, "begin again");
  } else {
    ICEBLINK_RETURN_IF_ERROR(append_log(changes));
    ICEBLINK_RETURN_IF_ERROR(trim_log());
  }
  ICEBLINK_RETURN_IF_ERROR(raw_put(databases_.meta, kMetaGeneration, encode_u64(generation_)));
  return commit_durably();
}

Status LmdbWriting::append_log(const std::vector<LoggedChange>& changes) {
  std::uint32_t chunk = 0;
  for (std::span<const LoggedChange> rest(changes); !rest.empty(); ++chunk) {
    const auto part = rest.first(std::min(rest.size(), kChangesPerChunk));
    ICEBLINK_RETURN_IF_ERROR(
        raw_put(databases_.log, log_key(generation_, chunk), encode_changes(part)));
    rest = rest.subspan(part.size());
  }
  return Ok{};
}

// What is at or below the floor is gone for readers; its entries may linger for a few commits.
Status LmdbWriting::trim_log() {
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t old_floor, tables().counter(kMetaLogFloor));
  std::uint64_t floor = old_floor;
  if (generation_ > limits_.log_entries_max) {
    floor = std::max(floor, generation_ - limits_.log_entries_max);
  }
  ICEBLINK_RETURN_IF_ERROR(erase_old_log(floor));
  if (floor == old_floor) return Ok{};
  return raw_put(databases_.meta, kMetaLogFloor, encode_u64(floor));
}

// Erases up to the floor, and raises it by whole generations while the log is too large.
Status LmdbWriting::erase_old_log(std::uint64_t& floor) {
  lmdb::Cursor cursor;
  int code = cursor.open(txn_.get(), databases_.log);
  for (std::size_t i = 0; code == 0 && i < kTrimmedChunksMax; ++i) {
    code = cursor.seek({});
    if (code != 0) break;
    const auto generation = generation_of_log_key(cursor.key());
    if (!generation) return tables().damaged("a key of the change log");
    if (*generation > floor) {
      if (*generation >= generation_ || !log_is_too_large()) return Ok{};
      floor = *generation;
    }
    code = cursor.erase();
  }
  if (code != 0 && code != MDB_NOTFOUND) return failed(code, "trim the change log");
  return Ok{};
}

bool LmdbWriting::log_is_too_large() const {
  MDB_stat stat{};
  if (mdb_stat(txn_.get(), databases_.log, &stat) != 0) return false;
  const std::uint64_t pages = stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
  return pages * stat.ms_psize > limits_.log_bytes_max;
}

Error LmdbWriting::failed(int code, std::string_view doing) {
  if (code == MDB_MAP_FULL) map_full_ = true;
  return tables().error_of(code, doing);
}

// What an error of mdb_txn_commit leaves behind, by the source of LMDB 0.9.24 (mdb_txn_commit,
// mdb_page_flush, mdb_env_write_meta), without NOSYNC, NOMETASYNC and WRITEMAP:
//
//   1. trees of the databases and of free pages are updated  MDB_MAP_FULL, MDB_TXN_FULL, ENOMEM
//   2. dirty pages are written, all of them pages that the    ENOSPC, EDQUOT, EFBIG, EIO (which
//      last meta page does not refer to                       also stands for a short write)
//   3. fdatasync                                              ENOSPC, EIO
//   4. the meta page is written with O_DSYNC                  any; MDB_FATAL_ERROR is set, and
//                                                             the environment refuses all more
//
// An error of 1, 2 or 3 means that no meta page names the new trees, neither now nor after a crash:
// the transaction is aborted, and the old state stands whole. In 4 nobody knows. So: when the
// environment still opens a transaction, and the error is one of space or memory, nothing was done.
// An EIO on a full file system is the short write of 2. Any other EIO is a sick disk, where going
// on would trust an fdatasync that has failed before: that is reported as unknown too.
Status LmdbWriting::commit_durably() {
  const auto begun_at = std::chrono::steady_clock::now();
  const int code = txn_.commit();
  sync_time_ = std::chrono::steady_clock::now() - begun_at;
  if (code == 0) return Ok{};
  const Error error = lmdb::error_of(code, file_, "commit");
  lmdb::Txn probe;
  const bool usable = probe.begin(env_, 0) == 0;
  probe.abort();
  if (usable) {
    if (code == MDB_MAP_FULL) map_full_ = true;
    if (lmdb::is_out_of_space(code) || code == MDB_TXN_FULL || code == ENOMEM) return error;
    if (code == EIO && file_is_at_its_limit()) {
      return {ErrorKind::kNoSpace, file_ + ": commit: no space left for the file to grow"};
    }
  }
  return {ErrorKind::kStateUnknown, error.message()};
}

bool LmdbWriting::file_is_at_its_limit() const {
  struct statvfs disk {};
  if (::statvfs(file_.c_str(), &disk) == 0 &&
      std::uint64_t{disk.f_bavail} * disk.f_frsize < kRoomBytesMin) {
    return true;
  }
  struct rlimit limit {};
  struct stat status {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         ::stat(file_.c_str(), &status) == 0 &&
         static_cast<std::uint64_t>(status.st_size) + kRoomBytesMin > limit.rlim_cur;
}

}  // namespace iceblink::daemon
