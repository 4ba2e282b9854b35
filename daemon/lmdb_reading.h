// A read transaction of the store.
#pragma once

#include <memory>
#include <string>

#include "daemon/catalog_tables.h"
#include "daemon/map_gate.h"
#include "daemon/store.h"

namespace iceblink::daemon {

class LmdbReading final : public Store::Reading {
 public:
  /// What is passed must outlive the reading.
  [[nodiscard]] static Result<std::unique_ptr<Store::Reading>> begin(MDB_env* env, MapGate& gate,
                                                                     const Databases& databases,
                                                                     const std::string& file);

  [[nodiscard]] std::uint64_t generation() const override { return generation_; }
  [[nodiscard]] Status for_each(
      const std::function<Status(const shm::Change&)>& visit) const override;

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
  [[nodiscard]] Result<Page<Namespace>> list_namespaces(
      const Namespace& parent, const std::optional<std::string>& after,
      std::optional<std::size_t> limit) const override;
  [[nodiscard]] Result<Page<TableIdent>> list_tables(
      const Namespace& levels, const std::optional<std::string>& after,
      std::optional<std::size_t> limit) const override {
    return list_rows(databases_.tables, levels, after, limit);
  }
  [[nodiscard]] Result<Page<TableIdent>> list_views(
      const Namespace& levels, const std::optional<std::string>& after,
      std::optional<std::size_t> limit) const override {
    return list_rows(databases_.views, levels, after, limit);
  }
  [[nodiscard]] Result<std::optional<StoredAnswer>> find_answer(
      const IdempotencyKey& key, std::int64_t now_ms) const override {
    return tables().find_answer(key, now_ms);
  }
  [[nodiscard]] Status visit_rows(
      shm::RecordKind kind, std::string_view after,
      const std::function<Result<Going>(const shm::Change&)>& visit) const override;
  [[nodiscard]] Result<std::vector<LoggedChange>> changes_since(std::uint64_t since,
                                                                std::size_t limit) const override;

 private:
  LmdbReading(MapGate& gate, const Databases& databases, const std::string& file)
      : pass_(gate), databases_(databases), file_(file) {}
  [[nodiscard]] MDB_dbi database_of(shm::RecordKind kind) const noexcept;
  [[nodiscard]] CatalogTables tables() const { return {txn_.get(), databases_, file_}; }
  [[nodiscard]] Result<Page<TableIdent>> list_rows(MDB_dbi database, const Namespace& levels,
                                                   const std::optional<std::string>& after,
                                                   std::optional<std::size_t> limit) const;

  MapPass pass_;  // outlives the transaction
  const Databases& databases_;
  const std::string& file_;
  lmdb::Txn txn_;
  std::uint64_t generation_ = 0;
};

}  // namespace iceblink::daemon
