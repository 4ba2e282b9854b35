// LMDB as somebody would use it directly: one environment, one unnamed database, encoded
// identifier -> metadata location. The other side of comparisons.
//
// Thread safety: a reader belongs to one thread.
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "bench/sample_catalog.h"

namespace iceblink::bench {

class LmdbTable {
 public:
  enum class Durability : std::uint8_t { kDurable, kNone };

  /// Makes the directory when it is missing.
  LmdbTable(const std::string& dir, Durability durability);
  ~LmdbTable();
  LmdbTable(const LmdbTable&) = delete;
  LmdbTable& operator=(const LmdbTable&) = delete;

  /// Every table of the sample, in the order of keys.
  void fill(const SampleCatalog& catalog);
  /// One put, one transaction.
  void put(std::string_view key, std::string_view value);

  /// A read transaction that is renewed for each lookup, as a process that wants the current
  /// state has to.
  class Reader {
   public:
    explicit Reader(const LmdbTable& table);
    ~Reader() { mdb_txn_abort(txn_); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    /// The size of the value; 0: absent.
    [[nodiscard]] std::size_t renew_and_get(std::string_view key);
    /// The same in steps, for a reader that keeps to one state: get() between hold() and drop().
    void hold();
    [[nodiscard]] std::size_t get(std::string_view key);
    void drop();

   private:
    MDB_txn* txn_ = nullptr;
    MDB_dbi dbi_;
  };

 private:
  MDB_env* env_ = nullptr;
  MDB_dbi dbi_ = 0;
};

/// Reads every row of a database of another LMDB environment; returns how many there were.
[[nodiscard]] std::size_t scan_lmdb(const std::string& dir, const char* database);

}  // namespace iceblink::bench
