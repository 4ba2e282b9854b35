// The write transaction of the store.
//
// Parts are undone from a list of the values they replaced, not by LMDB's nested transactions:
// those copy the list of dirty pages for every part, and cannot outgrow it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/catalog_tables.h"
#include "daemon/store.h"

namespace iceblink::daemon {

/// What the store may hold beside the catalog.
struct StoreLimits {
  std::uint64_t log_entries_max;  // the newest generation stays whatever its size
  std::uint64_t log_bytes_max;
  std::uint64_t answers_max;
  std::uint64_t answers_bytes_max;
};

class LmdbWriting final : public Store::Writing {
 public:
  /// What is passed must outlive the writing.
  [[nodiscard]] static Result<std::unique_ptr<Store::Writing>> begin(MDB_env* env,
                                                                     const Databases& databases,
                                                                     const std::string& file,
                                                                     StoreLimits limits);

  Status begin_part() override;
  Status commit_part() override;
  Status abort_part() override;
  [[nodiscard]] bool map_full() const noexcept override { return map_full_; }

  [[nodiscard]] Result<std::optional<Properties>> find_namespace(
      const Namespace& levels) const override {
    return tables().find_namespace(levels);
  }
  [[nodiscard]] Result<std::optional<TableRow>> find_table(const TableIdent& ident) const override {
    return tables().find_row(databases_.tables, ident);
  }
  [[nodiscard]] Result<std::optional<TableRow>> find_view(const TableIdent& ident) const override {
    return tables().find_row(databases_.views, ident);
  }
  [[nodiscard]] Result<bool> has_children(const Namespace& levels) const override {
    return tables().has_children(levels);
  }

  Status put_namespace(const Namespace& levels, const Properties& properties) override;
  Status erase_namespace(const Namespace& levels) override;
  Status put_table(const TableIdent& ident, const TableRow& row) override {
    return put_row(databases_.tables, ident, row);
  }
  Status erase_table(const TableIdent& ident) override {
    return erase(databases_.tables, encode(ident));
  }
  Status put_view(const TableIdent& ident, const TableRow& row) override {
    return put_row(databases_.views, ident, row);
  }
  Status erase_view(const TableIdent& ident) override {
    return erase(databases_.views, encode(ident));
  }

  [[nodiscard]] Result<bool> can_put_answer(std::int64_t now_ms) override;
  Status put_answer(const IdempotencyKey& key, const StoredAnswer& answer) override;

  [[nodiscard]] std::uint64_t generation() const noexcept override { return generation_; }
  [[nodiscard]] Status commit(const std::vector<LoggedChange>& changes) override;
  [[nodiscard]] std::chrono::nanoseconds sync_time() const noexcept override { return sync_time_; }

 private:
  struct Undo {
    MDB_dbi database;
    std::string key;
    std::optional<std::string> previous;
  };

  LmdbWriting(MDB_env* env, const Databases& databases, const std::string& file, StoreLimits limits)
      : env_(env), databases_(databases), file_(file), limits_(limits) {}
  [[nodiscard]] CatalogTables tables() const { return {txn_.get(), databases_, file_}; }
  [[nodiscard]] Status put_row(MDB_dbi database, const TableIdent& ident, const TableRow& row);
  [[nodiscard]] Status put(MDB_dbi database, const std::string& key, const std::string& value);
  [[nodiscard]] Status erase(MDB_dbi database, const std::string& key);
  [[nodiscard]] Status remember(MDB_dbi database, const std::string& key);
  [[nodiscard]] Status raw_put(MDB_dbi database, std::string_view key, std::string_view value);
  [[nodiscard]] Status raw_erase(MDB_dbi database, std::string_view key);
  [[nodiscard]] Status append_log(const std::vector<LoggedChange>& changes);
  [[nodiscard]] Status trim_log();
  [[nodiscard]] Status erase_old_log(std::uint64_t& floor);
  [[nodiscard]] Status erase_answer(const IdempotencyKey& key);
  [[nodiscard]] Status erase_expired_answers(std::int64_t now_ms);
  [[nodiscard]] bool log_is_too_large() const;
  [[nodiscard]] Error failed(int code, std::string_view doing);
  [[nodiscard]] Status commit_durably();
  [[nodiscard]] bool file_is_at_its_limit() const;

  MDB_env* env_;
  const Databases& databases_;
  const std::string& file_;
  const StoreLimits limits_;
  lmdb::Txn txn_;
  std::uint64_t generation_ = 0;
  bool in_part_ = false;
  bool map_full_ = false;
  std::chrono::nanoseconds sync_time_{0};
  std::vector<Undo> undo_;
};

}  // namespace iceblink::daemon
