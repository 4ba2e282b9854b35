#include "daemon/purge.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "daemon/local_path.h"
#include "iceberg/commit/metadata_properties.h"
#include "iceberg/fingerprint.h"
#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/metadata_parser.h"

namespace iceblink::daemon {
namespace {

using iceberg::Fingerprint;

/// A table's own directories: where its location and its properties say that its files are. What
/// has a whole write root in it has other tables' files, too, and is nobody's own.
class TableDirectories {
 public:
  TableDirectories(const TableMetadata& table, const iceberg::LocationMap& map,
                   const WriteRoots& roots)
      : roots_(roots) {
    add(clean_path_of(table.location, map));
    for (const std::string_view key : {"write.data.path", "write.folder-storage.path",
                                       "write.object-storage.path", "write.metadata.path"}) {
      if (const auto location = find_property(table.properties, key)) {
        add(clean_path_of(*location, map));
      }
    }
  }

  /// A file of this clean path is another's: a directory that holds it is no table's own.
  void give_up(const std::string& path) {
    std::erase_if(directories_, [&](const Directory& directory) {
      return is_below(path, directory.path) || is_below(path, directory.real_path);
    });
  }

  /// Whether a file of this clean path is in one of them, by its path and in truth: links do not
  /// lead out.
  [[nodiscard]] bool hold(const std::string& path) {
    std::string parent = path.substr(0, path.rfind('/'));
    if (parent != last_parent_) {
      holds_last_parent_ = holds_parent(path, parent);
      last_parent_ = std::move(parent);
    }
    return holds_last_parent_;
  }

 private:
  struct Directory {
    std::string path;
    std::string real_path;
  };

  /// The root of the file system is no table's own.
  void add(const Result<std::string>& path) {
    if (!path || path->empty() || roots_.has_root_within(*path)) return;
    auto real = real_path_of(*path);
    if (real && *real != "/") directories_.push_back({*path, std::move(*real)});
  }
  [[nodiscard]] bool holds_parent(const std::string& path, const std::string& parent) const {
    if (std::ranges::none_of(directories_, [&](const auto& d) { return is_below(path, d.path); })) {
      return false;
    }
    const auto real = real_path_of(parent);
    return real && std::ranges::any_of(directories_, [&](const Directory& directory) {
             return *real == directory.real_path || is_below(*real, directory.real_path);
           });
  }

  const WriteRoots& roots_;
  std::vector<Directory> directories_;
  std::string last_parent_;  // files of one directory come together
  bool holds_last_parent_ = false;
};

struct FirstBytes {
  [[nodiscard]] std::size_t operator()(const Fingerprint& fingerprint) const noexcept {
    std::size_t bytes = 0;
    std::memcpy(&bytes, fingerprint.data(), sizeof(bytes));
    return bytes;
  }
};

/// One table's purge.
class Purge {
 public:
  Purge(const TableMetadata& table, const MetadataFileRules& rules, const WriteRoots& roots,
        const std::atomic<bool>& is_stopping)
      : table_(table),
        is_stopping_(is_stopping),
        rules_(rules),
        roots_(roots),
        directories_(table, rules.map, roots),
        may_delete_data_(!find_property(table.properties, "gc.enabled") ||
                         iceberg::is_true(table.properties, "gc.enabled")) {
    limits_.document_bytes_max = rules.stored_bytes_max;
    limits_.inflated_bytes_max = rules.inflated_bytes_max;
  }

  /// The pointers of other tables and views.
  void heed(const shm::Change& other) {
    if (const auto path = clean_path_of(other.location, rules_.map)) directories_.give_up(*path);
  }

  [[nodiscard]] PurgeOutcome run(const std::string& metadata_location) && {
    const auto snapshots = table_.snapshots();
    if (!snapshots) {
      fail(metadata_location, snapshots.error());
      return std::move(outcome_);
    }
    for (const TableSnapshot& snapshot : *snapshots) purge_snapshot(snapshot);
    for (const auto& file : table_.statistics) remove(file.statistics_path);
    for (const auto& file : table_.partition_statistics) remove(file.statistics_path);
    if (outcome_.failed_count == 0) remove_metadata_files(metadata_location);
    return std::move(outcome_);
  }

 private:
  enum class Fate : std::uint8_t { kGone, kLeft };

  void fail(std::string_view location, const Error& error) {
    ++outcome_.failed_count;
    if (!outcome_.first_failure.empty()) return;
    outcome_.first_failure = error.message();
    if (error.message().find(location) != std::string::npos) return;
    outcome_.first_failure = std::string(location) + ": " + error.message();
  }

  /// What is not the table's counts as gone: nothing waits for it.
  Fate remove(std::string_view location) {
    const auto path = clean_path_of(location, rules_.map);
    const Fingerprint key = key_of(path ? *path : location);
    if (!seen_.insert(key).second) return left_.contains(key) ? Fate::kLeft : Fate::kGone;
    if (!path || !directories_.hold(*path) || !roots_.covers(location)) {
      ++outcome_.refused_count;
      return Fate::kGone;
    }
    // relaxed: a sign, after which less is done
    const Status removed = is_stopping_.load(std::memory_order_relaxed)
                               ? Status(Error(ErrorKind::kNoDaemon, "the daemon is stopping"))
                               : roots_.remove(location);
    if (!removed) {
      fail(location, removed.error());
      left_.insert(key);
      return Fate::kLeft;
    }
    ++outcome_.removed_count;
    return Fate::kGone;
  }

  [[nodiscard]] bool is_own(std::string_view location) {
    const auto path = clean_path_of(location, rules_.map);
    return path && directories_.hold(*path);
  }

  void purge_snapshot(const TableSnapshot& snapshot) {
    const std::string_view location = snapshot.manifest_list;
    if (location.empty()) {
      const auto embedded = iceberg::embedded_manifest_list(snapshot);
      if (!embedded)
        return fail("snapshot " + std::to_string(snapshot.snapshot_id), embedded.error());
      purge_manifests(**embedded);
      return;
    }
    if (!is_own(location)) {
      remove(location);  // which refuses it
      return;
    }
    const auto list = read_list(snapshot);
    if (!list && list.error().kind() != ErrorKind::kNotFound) return fail(location, list.error());
    if (!list || purge_manifests(**list) == Fate::kGone) remove(location);
  }

  [[nodiscard]] Result<std::shared_ptr<const ManifestList>> read_list(
      const TableSnapshot& snapshot) const {
    ICEBLINK_ASSIGN_OR_RETURN(const std::string bytes,
                              read_metadata_file(snapshot.manifest_list, rules_));
    return iceberg::read_manifest_list(bytes, snapshot, limits_);
  }

  /// All that a list names; kLeft where something of it is.
  Fate purge_manifests(const ManifestList& list) {
    Fate fate = Fate::kGone;
    for (const ManifestFile& listed : list.manifests()) {
      if (purge_files(listed) == Fate::kLeft || remove(listed.manifest_path) == Fate::kLeft) {
        fate = Fate::kLeft;
      }
    }
    return fate;
  }

  /// Those that a manifest names, where that was not tried before.
  Fate purge_files(const ManifestFile& listed) {
    if (!may_delete_data_ || !is_own(listed.manifest_path)) return Fate::kGone;
    const auto [place, is_new] =
        manifests_.emplace(key_of(*clean_path_of(listed.manifest_path, rules_.map)), Fate::kGone);
    if (!is_new) return place->second;
    const auto manifest = read_manifest(listed);
    if (!manifest) {
      if (manifest.error().kind() == ErrorKind::kNotFound) return Fate::kGone;
      fail(listed.manifest_path, manifest.error());
      return place->second = Fate::kLeft;
    }
    for (const ManifestEntry& entry : (*manifest)->entries()) {
      if (entry.is_live() && remove(entry.file.file_path) == Fate::kLeft) {
        place->second = Fate::kLeft;
      }
    }
    return place->second;
  }

  [[nodiscard]] Result<std::shared_ptr<const Manifest>> read_manifest(
      const ManifestFile& listed) const {
    ICEBLINK_ASSIGN_OR_RETURN(const std::string bytes,
                              read_metadata_file(listed.manifest_path, rules_));
    return iceberg::read_manifest(bytes, listed, table_, limits_);
  }

  /// The old ones, and when they are gone the last one.
  void remove_metadata_files(const std::string& metadata_location) {
    const auto log = table_.metadata_log();
    if (!log) return fail(metadata_location, log.error());
    for (const auto& entry : *log) {
      if (entry.metadata_file != metadata_location) remove(entry.metadata_file);
    }
    if (outcome_.failed_count == 0) remove(metadata_location);
  }

  [[nodiscard]] static Fingerprint key_of(std::string_view text) noexcept {
    return iceberg::fingerprint_of(std::as_bytes(std::span(text)));
  }

  const TableMetadata& table_;
  const std::atomic<bool>& is_stopping_;
  const MetadataFileRules& rules_;
  const WriteRoots& roots_;
  TableDirectories directories_;
  const bool may_delete_data_;
  MetadataLimits limits_;
  std::unordered_set<Fingerprint, FirstBytes> seen_;  // paths that were to be removed
  std::unordered_set<Fingerprint, FirstBytes> left_;  // those of them that are still there
  std::unordered_map<Fingerprint, Fate, FirstBytes> manifests_;  // what became of their files
  PurgeOutcome outcome_;
};

/// The metadata that the row points to; no other that its file may hold by now.
Result<std::shared_ptr<TableMetadata>> read_table(const TableRow& row,
                                                  const MetadataFileRules& rules) {
  ICEBLINK_ASSIGN_OR_RETURN(const std::string bytes, read_metadata_file(row.location, rules));
  const Error another(ErrorKind::kConflict, {row.location,
                                             ": the file is not the one that was "
                                             "committed"});
  if (row.metadata_fingerprint != shm::Id{} &&
      row.metadata_fingerprint != iceberg::fingerprint_of(std::as_bytes(std::span(bytes)))) {
    return another;
  }
  MetadataLimits limits;
  limits.document_bytes_max = rules.stored_bytes_max;
  limits.inflated_bytes_max = rules.inflated_bytes_max;
  const auto table = iceberg::parse_table_metadata(iceberg::ByteBuffer(bytes), limits);
  if (!table) {
    return Error(table.error().kind(), {row.location, ": ", table.error().message()});
  }
  if (row.table_uuid != shm::Id{} && row.table_uuid != (*table)->table_uuid) return another;
  return table;
}

}  // namespace

PurgeOutcome purge_table(const TableRow& row, const MetadataFileRules& rules,
                         const WriteRoots& roots, const LivePointers& live,
                         const std::atomic<bool>& is_stopping) {
  const auto failure = [](std::string_view why) {
    PurgeOutcome outcome;
    outcome.failed_count = 1;
    outcome.first_failure = why;
    return outcome;
  };
  const auto table = read_table(row, rules);
  if (!table) return failure(table.error().message());
  Purge purge(**table, rules, roots, is_stopping);
  const bool has_uuid = row.table_uuid != shm::Id{};
  bool has_another_name = false;
  const Status status = live([&](const shm::Change& other) {
    const bool is_same =
        other.location == row.location || (has_uuid && other.table_uuid == row.table_uuid);
    has_another_name = has_another_name || is_same;
    purge.heed(other);
  });
  if (!status) return failure(status.error().message());
  if (has_another_name) return failure("another name of the catalog has this table");
  return std::move(purge).run(row.location);
}

}  // namespace iceblink::daemon
