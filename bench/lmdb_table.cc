#include "bench/lmdb_table.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "bench/measurement.h"

namespace iceblink::bench {
namespace {

void check(int code) {
  if (code != MDB_SUCCESS) fail(std::string("LMDB: ") + mdb_strerror(code));
}

MDB_val as_value(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

}  // namespace

LmdbTable::LmdbTable(const std::string& dir, Durability durability) {
  std::filesystem::create_directories(dir);
  check(mdb_env_create(&env_));
  check(mdb_env_set_mapsize(env_, std::size_t{8} << 30));
  const unsigned no_sync = durability == Durability::kNone ? MDB_NOSYNC : 0;
  check(mdb_env_open(env_, dir.c_str(), MDB_NOTLS | MDB_NORDAHEAD | no_sync, 0600));
  MDB_txn* txn = nullptr;
  check(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn));
  check(mdb_dbi_open(txn, nullptr, 0, &dbi_));
  check(mdb_txn_commit(txn));
}

LmdbTable::~LmdbTable() {
  mdb_env_close(env_);
}

void LmdbTable::fill(const SampleCatalog& catalog) {
  std::vector<std::pair<std::string, std::size_t>> keys;
  keys.reserve(catalog.table_count());
  for (std::size_t i = 0; i < catalog.table_count(); ++i) {
    keys.emplace_back(encode(catalog.ident(i)), i);
  }
  std::sort(keys.begin(), keys.end());
  MDB_txn* txn = nullptr;
  check(mdb_txn_begin(env_, nullptr, 0, &txn));
  for (const auto& [key, index] : keys) {
    const std::string location = catalog.location(index, 0);
    MDB_val key_value = as_value(key);
    MDB_val value = as_value(location);
    check(mdb_put(txn, dbi_, &key_value, &value, MDB_APPEND));
  }
  check(mdb_txn_commit(txn));
}

void LmdbTable::put(std::string_view key, std::string_view value) {
  MDB_txn* txn = nullptr;
  check(mdb_txn_begin(env_, nullptr, 0, &txn));
  MDB_val key_value = as_value(key);
  MDB_val data = as_value(value);
  check(mdb_put(txn, dbi_, &key_value, &data, 0));
  check(mdb_txn_commit(txn));
}

LmdbTable::Reader::Reader(const LmdbTable& table) : dbi_(table.dbi_) {
  check(mdb_txn_begin(table.env_, nullptr, MDB_RDONLY, &txn_));
  mdb_txn_reset(txn_);
}

std::size_t LmdbTable::Reader::renew_and_get(std::string_view key) {
  hold();
  const std::size_t bytes = get(key);
  drop();
  return bytes;
}

void LmdbTable::Reader::hold() {
  check(mdb_txn_renew(txn_));
}

void LmdbTable::Reader::drop() {
  mdb_txn_reset(txn_);
}

std::size_t LmdbTable::Reader::get(std::string_view key) {
  MDB_val key_value = as_value(key);
  MDB_val value{};
  const int code = mdb_get(txn_, dbi_, &key_value, &value);
  if (code == MDB_NOTFOUND) return 0;
  check(code);
  return value.mv_size;
}

std::size_t scan_lmdb(const std::string& dir, const char* database) {
  MDB_env* env = nullptr;
  check(mdb_env_create(&env));
  check(mdb_env_set_maxdbs(env, 16));
  check(mdb_env_set_mapsize(env, std::size_t{64} << 30));
  check(mdb_env_open(env, dir.c_str(), MDB_RDONLY | MDB_NOLOCK, 0600));
  MDB_txn* txn = nullptr;
  MDB_dbi dbi = 0;
  MDB_cursor* cursor = nullptr;
  check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn));
  check(mdb_dbi_open(txn, database, 0, &dbi));
  check(mdb_cursor_open(txn, dbi, &cursor));
  MDB_val key{};
  MDB_val value{};
  std::size_t count = 0;
  std::uint64_t touched = 0;
  while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS) {
    ++count;
    touched += *static_cast<const unsigned char*>(value.mv_data);
  }
  mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  mdb_env_close(env);
  require(touched > 0, "LMDB: empty rows");
  return count;
}

}  // namespace iceblink::bench
