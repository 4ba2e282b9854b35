#include "daemon/store.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "daemon/apart.h"
#include "daemon/catalog_tables.h"
#include "daemon/data_dir.h"
#include "daemon/durable_directories.h"
#include "daemon/lmdb.h"
#include "daemon/lmdb_reading.h"
#include "daemon/lmdb_writing.h"
#include "daemon/map_gate.h"
#include "daemon/random.h"
#include "daemon/row_codec.h"

namespace iceblink::daemon {
namespace {

constexpr unsigned kReadersMax = 1024;
constexpr MDB_dbi kDatabasesMax = 8;
constexpr int kOpenTriesMax = 10;
constexpr const char* kDataFile = "data.mdb";

Result<std::uint64_t> random_number() {
  std::uint64_t number = 0;
  ICEBLINK_RETURN_IF_ERROR(fill_randomly(std::as_writable_bytes(std::span(&number, 1))));
  return number;
}

std::string bytes_of(const shm::Id& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

/// EX_SOFTWARE, as the daemon's other internal failures exit.
constexpr int kExitStatus = 70;

[[noreturn]] void end_process(const char* file, const char* why) {
  std::fprintf(stderr, "iceblink: %s: %s\n", file, why);
  ::_exit(kExitStatus);
}

/// LMDB asserts what it reads from its pages, and would abort without saying of which file.
void on_failed_assertion(MDB_env* env, const char* assertion) {
  const auto* const file = static_cast<const std::string*>(mdb_env_get_userctx(env));
  end_process(file->c_str(),
              ("the file is damaged: LMDB expected " + std::string(assertion)).c_str());
}

void on_failed_assertion_in_child(MDB_env* env, const char* assertion) {
  const auto* const file = static_cast<const std::string*>(mdb_env_get_userctx(env));
  end_apart({ErrorKind::kCorrupt,
             *file + ": the file is damaged: LMDB expected " + std::string(assertion)});
}

/// What is constant in a store.
struct Identity {
  shm::Id store_uuid{};
  std::uint64_t hash_seed = 0;
};

/// No store lives to see so many commits; a larger number is damage.
constexpr std::uint64_t kGenerationMax = std::uint64_t{1} << 62;

class LmdbStore final : public Store {
 public:
  LmdbStore(DataDir dir, StoreOptions options)
      : dir_(std::move(dir)),
        file_(dir_.store_dir() + "/" + kDataFile),
        options_(std::move(options)) {}

  [[nodiscard]] Status open();

  [[nodiscard]] shm::Id store_uuid() const noexcept override { return identity_.store_uuid; }
  [[nodiscard]] std::uint64_t hash_seed() const noexcept override { return identity_.hash_seed; }
  [[nodiscard]] std::uint64_t incarnation() const noexcept override {
    // relaxed: set before the first commit, orders nothing
    return incarnation_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] Status grow() override;
  [[nodiscard]] Extent extent() const noexcept override;
  [[nodiscard]] Status advance_past(std::uint64_t seen_generation) override;
  [[nodiscard]] Status renew_incarnation() override;
  [[nodiscard]] Result<std::unique_ptr<Reading>> read() const override {
    return LmdbReading::begin(env_.get(), gate_, databases_, file_);
  }
  [[nodiscard]] Status copy_to(int fd) const override;
  [[nodiscard]] Result<std::unique_ptr<Writing>> write() override {
    return LmdbWriting::begin(env_.get(), databases_, file_,
                              {options_.log_entries_max, options_.log_bytes_max,
                               options_.answers_max, options_.answers_bytes_max});
  }

 private:
  [[nodiscard]] Result<std::string> copy_in_child(int fd) const;
  [[nodiscard]] Status make_file();
  [[nodiscard]] Status open_environment(const std::string& path, unsigned flags);
  [[nodiscard]] Status sync_names() const;
  [[nodiscard]] Status check_length() const;
  [[nodiscard]] Status open_databases(lmdb::Txn& txn, unsigned flags);
  [[nodiscard]] Status open_or_make();
  [[nodiscard]] Status make(lmdb::Txn& txn);
  [[nodiscard]] Status load(lmdb::Txn& txn);
  [[nodiscard]] Result<std::uint64_t> put_new_incarnation(lmdb::Txn& txn) const;
  [[nodiscard]] Status put_meta(lmdb::Txn& txn, std::string_view key, std::string_view value) const;
  [[nodiscard]] Error error_of(int code, std::string_view doing) const {
    return lmdb::error_of(code, file_, doing);
  }
  [[nodiscard]] Error foreign() const {
    return {ErrorKind::kIncompatible, file_ + ": an LMDB file, but not a store of iceblink's"};
  }

  // Constant after open().
  DataDir dir_;
  std::string file_;
  StoreOptions options_;
  lmdb::Env env_;
  Databases databases_;
  Identity identity_;

  std::atomic<std::uint64_t> incarnation_{0};
  mutable MapGate gate_;
};

Status LmdbStore::open() {
  struct stat status {};
  const bool is_there = ::stat(file_.c_str(), &status) == 0;
  if (!is_there && errno != ENOENT) return error_of(errno, "stat");
  // LMDB takes an empty file for none, too.
  if (!is_there || status.st_size == 0) ICEBLINK_RETURN_IF_ERROR(make_file());
  ICEBLINK_RETURN_IF_ERROR(open_environment(dir_.store_dir(), 0));
  ICEBLINK_RETURN_IF_ERROR(check_length());
  ICEBLINK_RETURN_IF_ERROR(open_or_make());
  // What an earlier daemon committed may have been read back from the page cache: nothing is
  // published before it is durable.
  if (const int code = mdb_env_sync(env_.get(), 1); code != 0) return error_of(code, "sync");
  return sync_names();
}

// Under another name until it is whole: LMDB does not sync the first pages of a new file before it
// goes on, and does not open a file that has lost one of them.
Status LmdbStore::make_file() {
  const std::string made = file_ + ".new";
  ::unlink(made.c_str());
  ICEBLINK_RETURN_IF_ERROR(open_environment(made, MDB_NOSUBDIR));
  ICEBLINK_RETURN_IF_ERROR(open_or_make());
  if (const int code = mdb_env_sync(env_.get(), 1); code != 0) return error_of(code, "sync");
  env_.reset();
  ::unlink((made + "-lock").c_str());
  if (::rename(made.c_str(), file_.c_str()) != 0) return error_of(errno, "rename " + made);
  return Ok{};
}

// That the file is durable is of no use before its name is. Each time: what was made by a daemon
// that was killed is not synced.
Status LmdbStore::sync_names() const {
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(file_, failure);
  if (failure) return error_of(failure.value(), "name");
  const int code = sync_directories_above(absolute.string());
  if (code != 0) return error_of(code, "sync the directories above");
  return Ok{};
}

Status LmdbStore::open_environment(const std::string& path, unsigned flags) {
  MDB_env* env = nullptr;
  if (const int code = mdb_env_create(&env); code != 0) return error_of(code, "create");
  env_.reset(env);
  int code = mdb_env_set_maxreaders(env, kReadersMax);
  if (code == 0) code = mdb_env_set_maxdbs(env, kDatabasesMax);
  if (code == 0) code = mdb_env_set_userctx(env, &file_);
  if (code == 0) code = mdb_env_set_assert(env, on_failed_assertion);
  if (code == 0) code = mdb_env_set_mapsize(env, options_.map_bytes);
  // MDB_NOTLS: read transactions may move between threads.
  if (code == 0) code = mdb_env_open(env, path.c_str(), MDB_NOTLS | flags, 0600);
  if (code == 0) return Ok{};
  if (code == MDB_INVALID) return {ErrorKind::kCorrupt, file_ + ": not an LMDB file, or damaged"};
  return error_of(code, "open");
}

// A file that was cut short would be SIGBUS at the first look behind its end.
Status LmdbStore::check_length() const {
  MDB_envinfo info{};
  MDB_stat pages{};
  struct stat status {};
  if (const int code = mdb_env_info(env_.get(), &info); code != 0) return error_of(code, "open");
  if (const int code = mdb_env_stat(env_.get(), &pages); code != 0) return error_of(code, "open");
  if (::stat(file_.c_str(), &status) != 0) return error_of(errno, "stat");
  const std::uint64_t needed = (std::uint64_t{info.me_last_pgno} + 1) * pages.ms_psize;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size >= needed) return Ok{};
  return {ErrorKind::kCorrupt,
          file_ + ": cut short: " + std::to_string(size) + " bytes of " + std::to_string(needed)};
}

Status LmdbStore::open_databases(lmdb::Txn& txn, unsigned flags) {
  const std::pair<const char*, MDB_dbi*> databases[] = {
      {"meta", &databases_.meta},     {"namespaces", &databases_.namespaces},
      {"tables", &databases_.tables}, {"views", &databases_.views},
      {"log", &databases_.log},       {"idempotency", &databases_.idempotency}};
  for (const auto& [name, handle] : databases) {
    const int code = mdb_dbi_open(txn.get(), name, flags, handle);
    if (code == MDB_NOTFOUND || code == MDB_INCOMPATIBLE) return foreign();
    if (code != 0) return error_of(code, name);
  }
  return Ok{};
}

Status LmdbStore::open_or_make() {
  MDB_stat stat{};
  if (const int code = mdb_env_stat(env_.get(), &stat); code != 0) return error_of(code, "stat");
  const bool is_new = stat.ms_entries == 0;
  lmdb::Txn txn;
  if (const int code = txn.begin(env_.get(), 0); code != 0) return error_of(code, "begin");
  ICEBLINK_RETURN_IF_ERROR(open_databases(txn, is_new ? MDB_CREATE : 0));
  ICEBLINK_RETURN_IF_ERROR(is_new ? make(txn) : load(txn));
  // Commits the handles too: they are the transaction's until then.
  if (const int code = txn.commit(); code != 0) return error_of(code, "commit");
  return Ok{};
}

Status LmdbStore::make(lmdb::Txn& txn) {
  ICEBLINK_ASSIGN_OR_RETURN(identity_.store_uuid, random_uuid());
  ICEBLINK_ASSIGN_OR_RETURN(identity_.hash_seed, random_number());
  ICEBLINK_ASSIGN_OR_RETURN(const auto incarnation, random_number());
  incarnation_.store(incarnation, std::memory_order_relaxed);  // relaxed: see the getter
  const std::pair<std::string_view, std::string> entries[] = {
      {kMetaFormat, encode_u64(kStoreFormat)},
      {kMetaStoreUuid, bytes_of(identity_.store_uuid)},
      {kMetaHashSeed, encode_u64(identity_.hash_seed)},
      {kMetaIncarnation, encode_u64(incarnation)},
      {kMetaGeneration, encode_u64(1)},
      {kMetaLogFloor, encode_u64(0)}};
  for (const auto& [key, value] : entries) {
    ICEBLINK_RETURN_IF_ERROR(put_meta(txn, key, value));
  }
  return Ok{};
}

Status LmdbStore::load(lmdb::Txn& txn) {
  const CatalogTables tables(txn.get(), databases_, file_);
  ICEBLINK_ASSIGN_OR_RETURN(const auto has_format, tables.get(databases_.meta, kMetaFormat));
  if (!has_format) return foreign();
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t format, tables.counter(kMetaFormat));
  if (format != kStoreFormat) {
    return {ErrorKind::kIncompatible, file_ + ": store format " + std::to_string(format) +
                                          ", this daemon knows format " +
                                          std::to_string(kStoreFormat)};
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto uuid, tables.get(databases_.meta, kMetaStoreUuid));
  if (!uuid || uuid->size() != identity_.store_uuid.size()) {
    return tables.damaged("meta entry 'store-uuid'");
  }
  std::copy(uuid->begin(), uuid->end(), identity_.store_uuid.begin());
  ICEBLINK_ASSIGN_OR_RETURN(identity_.hash_seed, tables.counter(kMetaHashSeed));
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t incarnation, tables.counter(kMetaIncarnation));
  incarnation_.store(incarnation, std::memory_order_relaxed);  // relaxed: see the getter
  ICEBLINK_RETURN_IF_ERROR(tables.counter(kMetaGeneration));
  ICEBLINK_RETURN_IF_ERROR(tables.counter(kMetaLogFloor));
  return Ok{};
}

Status LmdbStore::put_meta(lmdb::Txn& txn, std::string_view key, std::string_view value) const {
  MDB_val at = lmdb::to_val(key);
  MDB_val data = lmdb::to_val(value);
  const int code = mdb_put(txn.get(), databases_.meta, &at, &data, 0);
  if (code != 0) return error_of(code, "write meta");
  return Ok{};
}

// mdb_env_set_mapsize unmaps first and maps then, and an environment whose second step failed
// cannot be used any more; so the address space is tried before.
Status LmdbStore::grow() {
  const MapClosed closed(gate_);
  MDB_envinfo info{};
  if (const int code = mdb_env_info(env_.get(), &info); code != 0) return error_of(code, "grow");
  const std::size_t bytes = info.me_mapsize * 2;
  void* const room =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    return {ErrorKind::kNoSpace, file_ + ": no address space for a map of " +
                                     std::to_string(bytes) + " bytes: " + std::strerror(errno)};
  }
  ::munmap(room, bytes);
  const int code = mdb_env_set_mapsize(env_.get(), bytes);
  if (code != 0) end_process(file_.c_str(), mdb_strerror(code));  // nobody can read any more
  return Ok{};
}

// A read of its own, so that it neither waits for the writer nor reads a map that is being moved.
Store::Extent LmdbStore::extent() const noexcept {
  const MapPass pass(gate_);
  Extent extent;
  MDB_envinfo info{};
  MDB_stat stat{};
  if (mdb_env_info(env_.get(), &info) != 0 || mdb_env_stat(env_.get(), &stat) != 0) return extent;
  extent.map_bytes = info.me_mapsize;
  extent.used_bytes = (std::uint64_t{info.me_last_pgno} + 1) * stat.ms_psize;
  lmdb::Txn txn;
  if (txn.begin(env_.get(), MDB_RDONLY) != 0) return extent;
  if (mdb_stat(txn.get(), databases_.idempotency, &stat) != 0) return extent;
  extent.answer_count = stat.ms_entries / 2;  // two entries each
  return extent;
}

Status LmdbStore::copy_to(int fd) const {
  const auto copied = run_apart(fd, file_, [this](int kept_fd) { return copy_in_child(kept_fd); });
  // One that was ended in the middle has left its place among the readers taken.
  int dead_count = 0;
  static_cast<void>(mdb_reader_check(env_.get(), &dead_count));
  return copied ? Status(Ok{}) : Status(copied.error());
}

// By an environment of its own: that of the parent is not the child's.
Result<std::string> LmdbStore::copy_in_child(int fd) const {
  int code = MDB_MAP_RESIZED;
  for (int tries = 0; code == MDB_MAP_RESIZED && tries < kOpenTriesMax; ++tries) {
    MDB_env* made = nullptr;
    if (code = mdb_env_create(&made); code != 0) break;
    const lmdb::Env env(made);
    code = mdb_env_set_userctx(made, const_cast<std::string*>(&file_));
    if (code == 0) code = mdb_env_set_assert(made, on_failed_assertion_in_child);
    if (code == 0) code = mdb_env_open(made, dir_.store_dir().c_str(), MDB_RDONLY | MDB_NOTLS, 0);
    // MDB_MAP_RESIZED: the daemon's grew since this one was opened; nothing is written yet.
    if (code == 0) code = mdb_env_copyfd2(made, fd, MDB_CP_COMPACT);
  }
  if (code == 0) return std::string();
  const Error error = error_of(code, "copy");
  if (code != MDB_INCOMPATIBLE && code != MDB_INVALID) return error;
  return {ErrorKind::kCorrupt, error.message()};  // flags of a page that nothing writes
}

Status LmdbStore::advance_past(std::uint64_t seen_generation) {
  lmdb::Txn txn;
  if (const int code = txn.begin(env_.get(), 0); code != 0) return error_of(code, "begin");
  const CatalogTables tables(txn.get(), databases_, file_);
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t generation, tables.counter(kMetaGeneration));
  if (generation >= seen_generation) return Ok{};
  if (seen_generation >= kGenerationMax) {
    return {ErrorKind::kCorrupt, file_ + ": the segment claims generation " +
                                     std::to_string(seen_generation) + ", which cannot be"};
  }
  if (const int code = mdb_drop(txn.get(), databases_.log, 0); code != 0) {
    return error_of(code, "cut the change log");
  }
  const std::string next = encode_u64(seen_generation + 1);
  ICEBLINK_RETURN_IF_ERROR(put_meta(txn, kMetaGeneration, next));
  ICEBLINK_RETURN_IF_ERROR(put_meta(txn, kMetaLogFloor, next));
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t incarnation, put_new_incarnation(txn));
  if (const int code = txn.commit(); code != 0) return error_of(code, "commit");
  incarnation_.store(incarnation, std::memory_order_relaxed);  // relaxed: see the getter
  return Ok{};
}

Status LmdbStore::renew_incarnation() {
  lmdb::Txn txn;
  if (const int code = txn.begin(env_.get(), 0); code != 0) return error_of(code, "begin");
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t incarnation, put_new_incarnation(txn));
  if (const int code = txn.commit(); code != 0) return error_of(code, "commit");
  incarnation_.store(incarnation, std::memory_order_relaxed);  // relaxed: see the getter
  return Ok{};
}

Result<std::uint64_t> LmdbStore::put_new_incarnation(lmdb::Txn& txn) const {
  ICEBLINK_ASSIGN_OR_RETURN(const auto incarnation, random_number());
  ICEBLINK_RETURN_IF_ERROR(put_meta(txn, kMetaIncarnation, encode_u64(incarnation)));
  return incarnation;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(StoreOptions options) {
  ICEBLINK_ASSIGN_OR_RETURN(DataDir dir, DataDir::open(options.data_dir));
  auto store = std::make_unique<LmdbStore>(std::move(dir), std::move(options));
  ICEBLINK_RETURN_IF_ERROR(store->open());
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace iceblink::daemon
