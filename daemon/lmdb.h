// Thin owners of LMDB's handles, and its error codes as Errors. No policy.
//
// Thread safety: as LMDB's. An Env may be shared; a write Txn stays on the thread that began it.
#pragma once

#include <iceblink/result.h>
#include <lmdb.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace iceblink::daemon::lmdb {

/// `code` as an Error: "<path>: <doing>: <LMDB's text>".
[[nodiscard]] Error error_of(int code, std::string_view path, std::string_view doing);
/// True for what a full disk, quota or file size limit makes of a write.
[[nodiscard]] bool is_out_of_space(int code) noexcept;

[[nodiscard]] inline MDB_val to_val(std::string_view bytes) noexcept {
  return {bytes.size(), const_cast<char*>(bytes.data())};  // LMDB does not write through it
}
[[nodiscard]] inline std::string_view to_view(const MDB_val& value) noexcept {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

struct EnvCloser {
  void operator()(MDB_env* env) const noexcept { mdb_env_close(env); }
};
using Env = std::unique_ptr<MDB_env, EnvCloser>;

/// A transaction; aborted unless committed.
class Txn {
 public:
  /// `flags`: 0 or MDB_RDONLY. Returns LMDB's code.
  [[nodiscard]] int begin(MDB_env* env, unsigned flags) noexcept {
    abort();
    return mdb_txn_begin(env, nullptr, flags, &txn_);
  }
  Txn() noexcept = default;
  Txn(Txn&& other) noexcept : txn_(std::exchange(other.txn_, nullptr)) {}
  Txn& operator=(Txn&& other) noexcept {
    std::swap(txn_, other.txn_);
    return *this;
  }
  ~Txn() { abort(); }

  [[nodiscard]] MDB_txn* get() const noexcept { return txn_; }
  /// Returns LMDB's code; the transaction is over either way.
  [[nodiscard]] int commit() noexcept { return mdb_txn_commit(std::exchange(txn_, nullptr)); }
  void abort() noexcept {
    if (txn_ != nullptr) mdb_txn_abort(std::exchange(txn_, nullptr));
  }

 private:
  MDB_txn* txn_ = nullptr;
};

/// A cursor of a transaction that outlives it.
class Cursor {
 public:
  Cursor() noexcept = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor() {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
  }

  [[nodiscard]] int open(MDB_txn* txn, MDB_dbi database) noexcept {
    return mdb_cursor_open(txn, database, &cursor_);
  }
  /// To the first key >= `at`. Returns LMDB's code; MDB_NOTFOUND at the end.
  [[nodiscard]] int seek(std::string_view at) noexcept {
    if (at.empty()) return move(MDB_FIRST);  // LMDB takes no empty key
    key_ = to_val(at);
    return move(MDB_SET_RANGE);
  }
  [[nodiscard]] int next() noexcept { return move(MDB_NEXT); }
  [[nodiscard]] int erase() noexcept { return mdb_cursor_del(cursor_, 0); }

  /// Of the current entry; valid until the transaction writes or ends.
  [[nodiscard]] std::string_view key() const noexcept { return to_view(key_); }
  [[nodiscard]] std::string_view value() const noexcept { return to_view(value_); }

 private:
  [[nodiscard]] int move(MDB_cursor_op op) noexcept {
    return mdb_cursor_get(cursor_, &key_, &value_, op);
  }

  MDB_cursor* cursor_ = nullptr;
  MDB_val key_{};
  MDB_val value_{};
};

}  // namespace iceblink::daemon::lmdb
