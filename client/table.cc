// A handle's snapshots: by id, by name, by time, by descent.
#include <iceblink/table.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "client/guard.h"
#include "client/object_cache.h"

namespace iceblink {
namespace {

Error no_snapshot(const std::string& metadata_location, const std::string& what) {
  return {ErrorKind::kNotFound, metadata_location + ": there is no snapshot " + what};
}

}  // namespace

Table::Table(TableIdent identifier, std::string metadata_location, std::uint64_t generation,
             std::shared_ptr<const TableMetadata> metadata,
             std::unique_ptr<client::ObjectCache> objects) noexcept
    : identifier_(std::move(identifier)),
      metadata_location_(std::move(metadata_location)),
      generation_(generation),
      metadata_(std::move(metadata)),
      objects_(std::move(objects)) {}

Table::~Table() = default;

Error Table::at_metadata(const Error& error) const noexcept {
  return {error.kind(), {metadata_location_, ": ", error.message()}};
}

Result<const TableSnapshot*> Table::current_snapshot() const noexcept {
  auto found = metadata_->current_snapshot();
  if (!found) return at_metadata(found.error());
  return *found;
}

Result<const TableSnapshot*> Table::snapshot(std::int64_t snapshot_id) const noexcept {
  const auto found = metadata_->snapshot(snapshot_id);
  if (!found) return at_metadata(found.error());
  if (*found != nullptr) return *found;
  return client::guarded([&]() -> Result<const TableSnapshot*> {
    return no_snapshot(metadata_location_, std::to_string(snapshot_id));
  });
}

Result<const TableSnapshot*> Table::snapshot_of_ref(std::string_view name) const noexcept {
  if (const SnapshotRef* const ref = metadata_->find_ref(name)) return snapshot(ref->snapshot_id);
  return client::guarded([&]() -> Result<const TableSnapshot*> {
    return {ErrorKind::kNotFound,
            metadata_location_ + ": there is no branch or tag '" + std::string(name) + "'"};
  });
}

Result<const TableSnapshot*> Table::snapshot_as_of(std::int64_t timestamp_ms) const noexcept {
  const auto log = metadata_->snapshot_log();
  if (!log) return at_metadata(log.error());
  // The last one in the file's order, which is that of what happened, even where clocks went back.
  const auto entry = std::find_if(
      log->rbegin(), log->rend(),
      [&](const SnapshotLogEntry& candidate) { return candidate.timestamp_ms <= timestamp_ms; });
  return client::guarded([&]() -> Result<const TableSnapshot*> {
    const std::string when = std::to_string(timestamp_ms);
    if (entry == log->rend()) {
      return no_snapshot(metadata_location_, "in the snapshot log as of " + when);
    }
    auto found = snapshot(entry->snapshot_id);
    if (found || found.error().kind() != ErrorKind::kNotFound) return found;
    return no_snapshot(
        metadata_location_,
        std::to_string(entry->snapshot_id) + " any more, which was the current one as of " + when);
  });
}

Result<std::vector<const TableSnapshot*>> Table::ancestors(
    std::int64_t snapshot_id) const noexcept {
  ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* const first, snapshot(snapshot_id));
  const auto snapshots = metadata_->snapshots();
  if (!snapshots) return at_metadata(snapshots.error());
  return client::guarded([&]() -> Result<std::vector<const TableSnapshot*>> {
    std::unordered_map<std::int64_t, const TableSnapshot*> by_id;
    for (const TableSnapshot& each : *snapshots) by_id.emplace(each.snapshot_id, &each);
    std::vector<const TableSnapshot*> line;
    std::unordered_set<std::int64_t> seen;
    for (auto at = by_id.find(first->snapshot_id); at != by_id.end();) {
      const TableSnapshot& each = *at->second;
      if (!seen.insert(each.snapshot_id).second) {
        return {ErrorKind::kCorrupt, metadata_location_ +
                                         ": snapshots: " + std::to_string(each.snapshot_id) +
                                         " is an ancestor of itself"};
      }
      line.push_back(&each);
      at = each.parent_snapshot_id ? by_id.find(*each.parent_snapshot_id) : by_id.end();
    }
    return line;
  });
}

Result<const Schema*> Table::schema_of(const TableSnapshot& snapshot) const noexcept {
  if (!snapshot.schema_id) return &schema();
  if (const Schema* const found = schema(*snapshot.schema_id)) return found;
  return client::guarded([&]() -> Result<const Schema*> {
    return {ErrorKind::kCorrupt,
            metadata_location_ + ": snapshot " + std::to_string(snapshot.snapshot_id) +
                ": schema-id: " + std::to_string(*snapshot.schema_id) + " is none of the table's"};
  });
}

CacheStats Table::object_cache_stats() const noexcept {
  return objects_->stats();
}

}  // namespace iceblink
