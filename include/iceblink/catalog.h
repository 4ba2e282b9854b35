// An Iceberg catalog, as every process of the host sees it: reads come from shared memory, writes
// go to the daemon.
//
//   auto catalog = iceblink::Catalog::open("/run/iceblink/main");
//   if (!catalog) return fail(catalog.error());
//   auto location = catalog->resolve_location({{"analytics", "web"}, "events"});
//
// Thread safety: everything may be called from any thread. A lookup that hits writes no memory
// that another thread reads. After fork the child reads on, and connects anew when it writes.
//
// Nothing here may be called from a signal handler.
//
// Nothing throws, logs, starts threads or installs signal handlers.
#pragma once

#include <iceblink/batch.h>
#include <iceblink/change.h>
#include <iceblink/identifier.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>
#include <iceblink/options.h>
#include <iceblink/prepared_key.h>
#include <iceblink/result.h>
#include <iceblink/snapshot.h>
#include <iceblink/stats.h>
#include <iceblink/table.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iceblink {

namespace shm {
class Segment;
}

/// A handle: copies share one attachment. A moved-from catalog may only be assigned to or
/// destroyed.
class Catalog {
 public:
  /// Maps the segment of a runtime directory. Needs no daemon and scans nothing.
  /// kNoSegment, kIncompatible (prints both versions), kCorrupt, kNotAllowed, kIo, kOutOfMemory;
  /// kInvalidArgument: an option that cannot be.
  [[nodiscard]] static Result<Catalog> open(const std::string& runtime_dir,
                                            CatalogOptions options = {}) noexcept;

  // ---- Lookups. Errors of all: kInvalidArgument (an identifier that cannot name anything),
  // kCorrupt, kOutOfMemory, and when the segment has been taken away those of open(). About a
  // name that is absent the daemon may be asked (CatalogOptions::ask_daemon); lookups of several
  // names do not ask.

  /// A view is not a table.
  [[nodiscard]] Result<bool> table_exists(const TableIdent& ident) const noexcept;
  [[nodiscard]] Result<bool> table_exists(const PreparedKey& key) const noexcept;
  [[nodiscard]] Result<bool> view_exists(const TableIdent& ident) const noexcept;
  [[nodiscard]] Result<bool> namespace_exists(const Namespace& levels) const noexcept;

  /// The table's metadata location, exactly as stored. kNotFound.
  [[nodiscard]] Result<std::string> resolve_location(const TableIdent& ident) const noexcept;
  [[nodiscard]] Result<std::string> resolve_location(const PreparedKey& key) const noexcept;

  /// Many at once, all at one generation. A table that does not exist has no location.
  [[nodiscard]] Result<std::vector<std::optional<std::string>>> resolve_locations(
      std::span<const TableIdent> idents) const noexcept;
  /// Many at once, all at one generation; `exist` is as long as `idents`.
  [[nodiscard]] Status tables_exist(std::span<const TableIdent> idents,
                                    std::span<bool> exist) const noexcept;

  /// The table's metadata, parsed; immutable and shared, and its caller's for as long as it is
  /// held, the catalog's end included. From the cache where it is there: two lookups, O(1); else
  /// its file is read and parsed once for all callers of the process, within the call.
  ///
  /// It belongs to the pointer that the call saw, and is what the pointer was registered for: a
  /// file that changed in place is found out, one that moved away is looked for anew.
  ///
  /// Messages about a file begin with its location, or end with it. kNotFound: no such table, or
  /// the file is gone ("Failed to open input stream for file"). kCorrupt: the segment; or the file,
  /// with the field, or that its content no longer matches the fingerprint it was registered with.
  /// kTooLarge (FileOptions and MetadataLimits), kUnsupported (scheme; format version),
  /// kNotAllowed, kIo; kInvalidArgument (a location that is none); kInternal.
  [[nodiscard]] Result<std::shared_ptr<const TableMetadata>> resolve_metadata(
      const TableIdent& ident) const noexcept;
  [[nodiscard]] Result<std::shared_ptr<const TableMetadata>> resolve_metadata(
      const PreparedKey& key) const noexcept;
  /// The same for a view.
  [[nodiscard]] Result<std::shared_ptr<const ViewMetadata>> resolve_view_metadata(
      const TableIdent& ident) const noexcept;
  /// Many at once, all at one generation; what the cache does not have is read together. Each has
  /// its own result, with the errors of the above and kInvalidArgument.
  [[nodiscard]] Result<std::vector<Result<std::shared_ptr<const TableMetadata>>>> resolve_metadata(
      std::span<const TableIdent> idents) const noexcept;

  /// The table as it is now: a handle to its metadata, snapshots and manifests, which stays what it
  /// is (iceblink/table.h). From the cache where the table has not changed: two lookups, O(1); else
  /// its metadata is had as by resolve_metadata(), with the same errors. The handle's identifier is
  /// always `ident`, whatever other names its metadata file is registered under.
  [[nodiscard]] Result<std::shared_ptr<const Table>> load_table(
      const TableIdent& ident) const noexcept;
  [[nodiscard]] Result<std::shared_ptr<const Table>> load_table(
      const PreparedKey& key) const noexcept;
  /// Many at once, all at one generation; the files that no cache has are read together. Each has
  /// its own result, with the errors of the above and kInvalidArgument.
  [[nodiscard]] Result<std::vector<Result<std::shared_ptr<const Table>>>> load_tables(
      std::span<const TableIdent> idents) const noexcept;

  /// kInvalidArgument.
  [[nodiscard]] Result<PreparedKey> prepare(const TableIdent& ident) const noexcept;

  /// The last levels of the direct children, sorted; the root is the empty `parent`. kNotFound.
  [[nodiscard]] Result<std::vector<std::string>> list_namespaces(
      const Namespace& parent = {}) const noexcept;
  /// The tables' names (no views), sorted. kNotFound: no such namespace.
  [[nodiscard]] Result<std::vector<std::string>> list_tables(
      const Namespace& levels) const noexcept;
  [[nodiscard]] Result<std::vector<std::string>> list_views(const Namespace& levels) const noexcept;

  // ---- Time.

  [[nodiscard]] Result<Snapshot> snapshot() const noexcept;
  [[nodiscard]] Result<std::uint64_t> generation() const noexcept;

  /// The first generation above `after_generation` that is seen; nothing when `timeout` has
  /// passed. kGone at once when `after_generation` is above the current one.
  [[nodiscard]] Result<std::optional<std::uint64_t>> wait_for_change(
      std::uint64_t after_generation, std::chrono::milliseconds timeout) const noexcept;

  /// Where the feed stands now.
  [[nodiscard]] Result<ChangeToken> change_token() const noexcept;
  /// What happened after `token`: from the segment where it reaches back so far, else from the
  /// daemon's log. At most about kChangesPerCall of them, in whole generations; go on with the
  /// returned token until none come. kGone: above the current generation, of another incarnation,
  /// or older than the log. kNoDaemon, kTimedOut: the log is needed, and not to be had.
  [[nodiscard]] Result<Changes> changes_since(const ChangeToken& token) const noexcept;
  static constexpr std::size_t kChangesPerCall = 10'000;

  // ---- Writes, over the socket. Each returns the generation it became, which this process and
  // every other one sees from then on. Errors of all: kNoDaemon and kTimedOut (nothing was sent),
  // kStateUnknown (sent, and no answer came: look before trying again), kBusy, kNoSpace,
  // kNotAllowed, kTooLarge, kInvalidArgument, kInternal.

  /// kAlreadyExists; kNotFound: its parent does not exist.
  Result<std::uint64_t> create_namespace(const Namespace& levels,
                                         const Properties& properties = {}) noexcept;
  /// kNotFound, kNotEmpty.
  Result<std::uint64_t> drop_namespace(const Namespace& levels) noexcept;
  /// kNotFound; kInvalidArgument: a key is both removed and updated.
  Result<std::uint64_t> update_properties(const Namespace& levels,
                                          const std::vector<std::string>& removals,
                                          const Properties& updates) noexcept;
  /// A read, but of the store: properties are not in the segment. kNotFound.
  [[nodiscard]] Result<Properties> namespace_properties(const Namespace& levels) const noexcept;

  /// kAlreadyExists; kNotFound: the namespace or the metadata file does not exist.
  Result<std::uint64_t> register_table(const TableIdent& ident, const std::string& location,
                                       RegisterOptions options = {}) noexcept;
  /// Compare-and-swap of an existing table's pointer. kConflict: it is not `expected_location`;
  /// kNotFound.
  Result<std::uint64_t> move_table(const TableIdent& ident, const std::string& expected_location,
                                   const std::string& new_location,
                                   RegisterOptions::Verification verification =
                                       RegisterOptions::Verification::kVerified) noexcept;
  /// Deletes no files. kNotFound.
  Result<std::uint64_t> drop_table(const TableIdent& ident) noexcept;
  /// kNotFound: the table or the new namespace; kAlreadyExists.
  Result<std::uint64_t> rename_table(const TableIdent& from, const TableIdent& to) noexcept;
  /// All or nothing, one generation. Errors: those of the operations; the message names the line.
  Result<std::uint64_t> apply(const Batch& batch) noexcept;

  // ---- Itself.

  [[nodiscard]] CatalogStats stats() const noexcept;
  [[nodiscard]] DaemonHealth health() const noexcept;
  [[nodiscard]] Result<SegmentInfo> info() const noexcept;
  [[nodiscard]] const std::string& runtime_dir() const noexcept;

 private:
  class State;
  explicit Catalog(std::shared_ptr<State> state) noexcept;

  std::shared_ptr<State> state_;
  shm::Segment* segment_;  // of state_
};

}  // namespace iceblink
