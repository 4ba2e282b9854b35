// The whole catalog at one generation.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/prepared_key.h>
#include <iceblink/result.h>
#include <iceblink/table_view.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iceblink {

namespace shm {
struct Mapping;
class ArenaView;
}  // namespace shm

/// A pinned generation: every lookup sees the same catalog, whatever is committed meanwhile. Never
/// asks the daemon, and needs neither it nor the Catalog it came from. Holding one keeps its arena
/// in memory.
///
/// Thread safety: const and lock-free; copies are cheap and independent. A moved-from snapshot may
/// only be assigned to or destroyed.
///
/// Errors of every lookup: kInvalidArgument (the identifier cannot name anything; only found out
/// when there is no such name), kCorrupt (damage in the segment), kOutOfMemory.
class Snapshot {
 public:
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

  /// The table or view of that name. O(1).
  [[nodiscard]] Result<std::optional<TableView>> find(const TableIdent& ident) const noexcept;
  [[nodiscard]] Result<std::optional<TableView>> find(const PreparedKey& key) const noexcept;

  /// As many finds, with the memory accesses of several keys under way at once. `found` is as long
  /// as `idents`. On an error its contents are unspecified.
  [[nodiscard]] Status find_many(std::span<const TableIdent> idents,
                                 std::span<std::optional<TableView>> found) const noexcept;

  /// A view is not a table.
  [[nodiscard]] Result<bool> table_exists(const TableIdent& ident) const noexcept;
  [[nodiscard]] Result<bool> view_exists(const TableIdent& ident) const noexcept;
  [[nodiscard]] Result<bool> namespace_exists(const Namespace& levels) const noexcept;

  /// The last levels of the direct children, sorted; the root is the empty `parent`. kNotFound.
  [[nodiscard]] Result<std::vector<std::string>> list_namespaces(
      const Namespace& parent = {}) const noexcept;
  /// The tables' names (no views), sorted. kNotFound: no such namespace.
  [[nodiscard]] Result<std::vector<std::string>> list_tables(
      const Namespace& levels) const noexcept;
  [[nodiscard]] Result<std::vector<std::string>> list_views(const Namespace& levels) const noexcept;

  /// kInvalidArgument.
  [[nodiscard]] Result<PreparedKey> prepare(const TableIdent& ident) const noexcept;

 private:
  friend class Catalog;
  Snapshot(std::shared_ptr<const shm::Mapping> mapping, std::uint64_t generation) noexcept;

  std::shared_ptr<const shm::Mapping> mapping_;
  const shm::ArenaView* arena_;  // of mapping_
  std::uint64_t generation_;
};

}  // namespace iceblink
