// The durable catalog: LMDB, opened by the daemon only.
//
// Databases: meta {format, store uuid, hash seed, incarnation, generation}, namespaces (encoded
// namespace -> properties), tables and views (encoded identifier -> TableRow), log (generation ->
// changes, bounded), idempotency (key -> the answer given, until it expires). One write transaction
// is one generation.
//
// Thread safety: reads from any thread, and a Reading may move between threads; write transactions
// by one thread, the committer's, start to end.
//
// The map grows between transactions when it fills; nobody sees an error before the disk is full.
// Growing waits for every Reading to end, so a Reading is short, and nobody waits for a commit
// while holding one.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/object_kind.h>
#include <iceblink/result.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/stored_answer.h"
#include "shm/change.h"

namespace iceblink::daemon {

using Properties = std::map<std::string, std::string>;

/// A change in the log. Owns its bytes.
struct LoggedChange {
  std::uint64_t generation = 0;
  shm::RecordKind kind = shm::RecordKind::kTable;
  std::string key;
  TableRow row;                                  // empty for namespaces and tombstones
  ObjectKind dropped_kind = ObjectKind::kTable;  // of a tombstone: a table or a view
};

struct StoreOptions {
  std::string data_dir;                                    // made when missing; data_dir.h
  std::uint64_t map_bytes = std::uint64_t{64} << 30;       // sparse; grows
  std::uint64_t log_entries_max = 100'000;                 // generations kept in the change log
  std::uint64_t log_bytes_max = std::uint64_t{256} << 20;  // above, its oldest generations go
  std::uint64_t answers_max = 1'000'000;                   // kept for idempotency keys
  std::uint64_t answers_bytes_max = std::uint64_t{1} << 30;
};

/// A page of names and where the next one starts.
template <typename T>
struct Page {
  std::vector<T> items;
  std::optional<std::string> next_after;  // the last name given, when there are more
};

class Store {
 public:
  /// Locks the data directory, opens or makes the store, and syncs it. kConflict names the pid
  /// of the daemon that holds the lock. kCorrupt, kIncompatible, kNoSpace, kNotAllowed, kIo.
  /// A new store is at generation 1 with an empty catalog, so that generation 0 means "never".
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(StoreOptions options);
  virtual ~Store() = default;

  [[nodiscard]] virtual shm::Id store_uuid() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t hash_seed() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t incarnation() const noexcept = 0;

  /// Makes the map larger, when a Writing said map_full() and is gone. Waits until no Reading is
  /// left. kNoSpace: the address space or the disk has no more.
  [[nodiscard]] virtual Status grow() = 0;

  /// Of the address space, and of what the store holds in it.
  struct Extent {
    std::uint64_t map_bytes = 0;
    std::uint64_t used_bytes = 0;    // up to the last page that was ever written
    std::uint64_t answer_count = 0;  // kept for idempotency keys
  };
  /// O(1). All zero when the file cannot be asked.
  [[nodiscard]] virtual Extent extent() const noexcept = 0;

  /// Rule 17: a store older than what readers have seen goes above it, durably: generation :=
  /// seen + 1, the log is cut, the incarnation is new. No effect when the store is not older.
  [[nodiscard]] virtual Status advance_past(std::uint64_t seen_generation) = 0;

  /// A new incarnation, durably: no change feed goes on over what cannot be known, such as a
  /// restore beside a lost runtime directory.
  [[nodiscard]] virtual Status renew_incarnation() = 0;

  /// A consistent read-only view. Short-lived: it holds back the reuse of pages.
  class Reading : public shm::CatalogSource {
   public:
    /// Whether a visitor wants more.
    enum class Going : std::uint8_t { kOn, kEnough };

    [[nodiscard]] virtual Result<std::optional<Properties>> find_namespace(
        const Namespace& levels) const = 0;
    [[nodiscard]] virtual Result<std::optional<TableRow>> find_table(
        const TableIdent& ident) const = 0;
    [[nodiscard]] virtual Result<std::optional<TableRow>> find_view(
        const TableIdent& ident) const = 0;
    /// Direct children of `parent` (root: empty), sorted by bytes, after `after` (last level).
    /// An empty page when `parent` does not exist: ask find_namespace.
    [[nodiscard]] virtual Result<Page<Namespace>> list_namespaces(
        const Namespace& parent, const std::optional<std::string>& after,
        std::optional<std::size_t> limit) const = 0;
    [[nodiscard]] virtual Result<Page<TableIdent>> list_tables(
        const Namespace& levels, const std::optional<std::string>& after,
        std::optional<std::size_t> limit) const = 0;
    [[nodiscard]] virtual Result<Page<TableIdent>> list_views(
        const Namespace& levels, const std::optional<std::string>& after,
        std::optional<std::size_t> limit) const = 0;
    /// What was stored under the key and has not expired at `now_ms`.
    [[nodiscard]] virtual Result<std::optional<StoredAnswer>> find_answer(
        const IdempotencyKey& key, std::int64_t now_ms) const = 0;
    /// Calls `visit` for the namespaces, tables or views (`kind`) behind the encoded key `after`,
    /// in the order of keys, until it says that it has enough, or fails. Empty: from the first on.
    [[nodiscard]] virtual Status visit_rows(
        shm::RecordKind kind, std::string_view after,
        const std::function<Result<Going>(const shm::Change&)>& visit) const = 0;
    /// Changes of the generations after `since`, oldest first, whole generations, at least one
    /// and about `limit` changes. kGone: the log no longer (or does not yet) reach that far.
    [[nodiscard]] virtual Result<std::vector<LoggedChange>> changes_since(
        std::uint64_t since, std::size_t limit) const = 0;
  };
  [[nodiscard]] virtual Result<std::unique_ptr<Reading>> read() const = 0;

  /// Writes a consistent copy of all of it, compacted, to a file that is open for writing, at its
  /// offset. A child process does it, so that it is in nobody's way but that of pages that would be
  /// used again. kCorrupt, kNoSpace, kOutOfMemory, kInternal, kIo.
  [[nodiscard]] virtual Status copy_to(int fd) const = 0;

  /// One write transaction; at most one at a time. Destroying it aborts it. After an error of
  /// any operation the transaction can only be destroyed; nothing of it was done. kNoSpace,
  /// kTooLarge (more than one transaction holds), kCorrupt, kIo.
  class Writing {
   public:
    virtual ~Writing() = default;
    /// Operations between begin_part and a following abort_part are undone; commit_part keeps
    /// them. Parts do not nest.
    virtual Status begin_part() = 0;
    virtual Status commit_part() = 0;
    virtual Status abort_part() = 0;
    /// The error was kNoSpace because the map is full: destroy this, grow(), and start over.
    [[nodiscard]] virtual bool map_full() const noexcept = 0;

    [[nodiscard]] virtual Result<std::optional<Properties>> find_namespace(
        const Namespace& levels) const = 0;
    [[nodiscard]] virtual Result<std::optional<TableRow>> find_table(
        const TableIdent& ident) const = 0;
    [[nodiscard]] virtual Result<std::optional<TableRow>> find_view(
        const TableIdent& ident) const = 0;
    /// True when tables, views or child namespaces stand below.
    [[nodiscard]] virtual Result<bool> has_children(const Namespace& levels) const = 0;

    virtual Status put_namespace(const Namespace& levels, const Properties& properties) = 0;
    virtual Status erase_namespace(const Namespace& levels) = 0;
    /// `row.generation` is ignored: it becomes this transaction's.
    virtual Status put_table(const TableIdent& ident, const TableRow& row) = 0;
    virtual Status erase_table(const TableIdent& ident) = 0;
    virtual Status put_view(const TableIdent& ident, const TableRow& row) = 0;
    virtual Status erase_view(const TableIdent& ident) = 0;

    /// Removes some answers that have expired at `now_ms`. False: there are still as many as may
    /// be kept.
    [[nodiscard]] virtual Result<bool> can_put_answer(std::int64_t now_ms) = 0;
    /// In place of another of that key, if there is one. Not to be called within a part.
    virtual Status put_answer(const IdempotencyKey& key, const StoredAnswer& answer) = 0;

    /// The generation this transaction will be.
    [[nodiscard]] virtual std::uint64_t generation() const noexcept = 0;
    /// Writes the log entry and the generation, commits durably. Without changes there is no new
    /// generation, only what else was written. kStateUnknown: the outcome is
    /// unknown, and the caller must end the process without answering (rule 13). After any
    /// other error nothing was done.
    [[nodiscard]] virtual Status commit(const std::vector<LoggedChange>& changes) = 0;
    /// How long the last step of commit() took, writing and syncing; zero before it.
    [[nodiscard]] virtual std::chrono::nanoseconds sync_time() const noexcept = 0;
  };
  [[nodiscard]] virtual Result<std::unique_ptr<Writing>> write() = 0;
};

}  // namespace iceblink::daemon
