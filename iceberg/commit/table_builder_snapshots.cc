// Snapshots of a table that is being built, and what names them.
#include <algorithm>
#include <limits>
#include <utility>

#include "iceberg/commit/refusal.h"
#include "iceberg/commit/table_builder.h"

namespace iceblink::iceberg {
namespace {

constexpr std::string_view kMainBranch = "main";
constexpr std::string_view kOperation = "operation";
/// As current-snapshot-id: there is none.
constexpr std::int64_t kNoSnapshot = -1;
/// What clocks of writers may differ by.
constexpr std::int64_t kClockSkewMs = 60'000;

/// a is before b by more than the skew. Without a sum, which may not fit.
bool is_long_before(std::int64_t a, std::int64_t b) noexcept {
  return a<b&& static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)> kClockSkewMs;
}

bool is_same(const SnapshotRef& a, const SnapshotRef& b) noexcept {
  return a.snapshot_id == b.snapshot_id && a.type == b.type &&
         a.min_snapshots_to_keep == b.min_snapshots_to_keep &&
         a.max_snapshot_age_ms == b.max_snapshot_age_ms && a.max_ref_age_ms == b.max_ref_age_ms;
}

Status check_ref(const SnapshotRef& ref) {
  const std::string begin = "Cannot set " + std::string(ref.name) + ": ";
  if (ref.name.empty()) return refusal("Cannot set a ref without a name");
  if (ref.type == RefType::kTag) {
    if (ref.name == kMainBranch) return refusal(begin + "main must be a branch");
    if (ref.min_snapshots_to_keep || ref.max_snapshot_age_ms) {
      return refusal(begin + "a tag has neither min-snapshots-to-keep nor max-snapshot-age-ms");
    }
  }
  if (ref.min_snapshots_to_keep.value_or(1) <= 0 || ref.max_snapshot_age_ms.value_or(1) <= 0 ||
      ref.max_ref_age_ms.value_or(1) <= 0) {
    return refusal(begin + "what it keeps must be greater than 0");
  }
  return Ok{};
}

Status check_order(const SnapshotLogEntry& before, const SnapshotLogEntry& entry) {
  if (!is_long_before(entry.timestamp_ms, before.timestamp_ms)) return Ok{};
  return refusal("Cannot set main to snapshot " + std::to_string(entry.snapshot_id) +
                 ": its timestamp " + std::to_string(entry.timestamp_ms) +
                 " is more than a minute before the last snapshot-log entry at " +
                 std::to_string(before.timestamp_ms));
}

}  // namespace

// ---- Snapshots

Status TableBuilder::check_structure_for_snapshots() const {
  if (schemas_.empty()) {
    return refusal("Attempting to add a snapshot before a schema is added");
  }
  if (partition_specs_.empty()) {
    return refusal("Attempting to add a snapshot before a partition spec is added");
  }
  if (sort_orders_.empty()) {
    return refusal("Attempting to add a snapshot before a sort order is added");
  }
  return Ok{};
}

Status TableBuilder::check_new_snapshot(const TableSnapshot& snapshot,
                                        bool has_sequence_number) const {
  const std::string id = std::to_string(snapshot.snapshot_id);
  if (snapshot.snapshot_id == kNoSnapshot) {
    return refusal("Cannot add snapshot " + id + ": this id stands for no snapshot");
  }
  if (snapshots_.find(snapshot.snapshot_id) != nullptr) {
    return refusal("Snapshot already exists for id: " + id);
  }
  if (snapshot.schema_id && schemas_.find(*snapshot.schema_id) == nullptr) {
    return refusal("Cannot add snapshot " + id +
                   " with unknown schema: " + std::to_string(*snapshot.schema_id));
  }
  if (snapshot.manifest_list.empty() &&
      (values_.format_version > 1 || snapshot.manifests.empty())) {
    return refusal("Cannot add snapshot " + id + ": it has no manifest-list");
  }
  if (values_.format_version == 1) return Ok{};
  // Optional in format 1 alone: others refuse to read a table with such a snapshot.
  if (std::ranges::find(snapshot.summary, kOperation, &Property::key) == snapshot.summary.end()) {
    return refusal("Cannot add snapshot " + id + ": its summary has no operation");
  }
  if (!has_sequence_number || snapshot.sequence_number < 0) {
    return refusal("Cannot add snapshot " + id + ": its sequence-number is " +
                   (has_sequence_number ? "negative" : "missing"));
  }
  if (snapshot.parent_snapshot_id && snapshot.sequence_number <= values_.last_sequence_number) {
    return {ErrorKind::kConflict,
            "Cannot add snapshot with sequence number " + std::to_string(snapshot.sequence_number) +
                " older than last sequence number " + std::to_string(values_.last_sequence_number)};
  }
  return Ok{};
}

Status TableBuilder::add_row_lineage(const TableSnapshot& snapshot) {
  if (!snapshot.first_row_id) {
    return refusal("Cannot add a snapshot: first-row-id is null");
  }
  if (!snapshot.added_rows) return refusal("Cannot add a snapshot: added-rows is null");
  const std::int64_t first = *snapshot.first_row_id;
  const std::int64_t next = values_.next_row_id.value_or(0);
  if (first < next) {
    return {ErrorKind::kConflict,
            "Cannot add a snapshot, first-row-id is behind table next-row-id: " +
                std::to_string(first) + " < " + std::to_string(next)};
  }
  if (*snapshot.added_rows < 0 ||
      *snapshot.added_rows > std::numeric_limits<std::int64_t>::max() - first) {
    return refusal("Cannot add a snapshot: no table has room for " +
                   std::to_string(*snapshot.added_rows) + " rows from first-row-id " +
                   std::to_string(first) + " on");
  }
  // The first one that no row has: also where the snapshot left some out.
  values_.next_row_id = first + *snapshot.added_rows;
  return Ok{};
}

Status TableBuilder::apply_one(const AddSnapshot& update) {
  TableSnapshot snapshot = update.snapshot;
  ICEBLINK_RETURN_IF_ERROR(check_structure_for_snapshots());
  ICEBLINK_RETURN_IF_ERROR(check_new_snapshot(snapshot, update.has_sequence_number));
  if (values_.format_version == 1) snapshot.sequence_number = 0;
  if (values_.format_version > 2) {
    ICEBLINK_RETURN_IF_ERROR(add_row_lineage(snapshot));
  } else {
    // Nor is it there once the format is upgraded.
    snapshot.first_row_id.reset();
    snapshot.added_rows.reset();
    snapshot.key_id.reset();
  }
  values_.last_sequence_number = std::max(values_.last_sequence_number, snapshot.sequence_number);
  values_.last_updated_ms = std::max(values_.last_updated_ms, snapshot.timestamp_ms);
  snapshots_.append(snapshot.snapshot_id, snapshot);
  added_snapshot_ids_.insert(snapshot.snapshot_id);
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const RemoveSnapshots& update) {
  for (const std::int64_t id : update.snapshot_ids) {
    if (!snapshots_.remove(id)) continue;
    statistics_.remove(id);
    partition_statistics_.remove(id);
    std::vector<std::string_view> names;
    ref_names_.for_each_of(id, [&](std::string_view name) { names.push_back(name); });
    for (const auto name : names) {
      const SnapshotRef* const ref = refs_.find(name);
      if (ref != nullptr && ref->snapshot_id == id) remove_ref(name);
    }
    ref_names_.remove(id);
    has_removed_snapshots_ = is_changed_ = true;
  }
  return Ok{};
}

// ---- Refs

void TableBuilder::put_ref(const SnapshotRef& ref) {
  refs_.put(ref.name, ref);
  ref_names_.append(ref.snapshot_id, ref.name);
}

void TableBuilder::remove_ref(std::string_view name) {
  if (!refs_.remove(name)) return;
  // The log stays: it says what was current, and a table that is replaced keeps its history.
  if (name == kMainBranch) values_.current_snapshot_id.reset();
  is_changed_ = true;
}

Status TableBuilder::apply_one(const SetSnapshotRef& update) {
  const SnapshotRef& ref = update.ref;
  ICEBLINK_RETURN_IF_ERROR(check_ref(ref));
  if (snapshots_.find(ref.snapshot_id) == nullptr) {
    return refusal("Cannot set " + std::string(ref.name) +
                   " to unknown snapshot: " + std::to_string(ref.snapshot_id));
  }
  const SnapshotRef* const old = refs_.find(ref.name);
  if (old != nullptr && is_same(*old, ref)) return Ok{};
  if (ref.name == kMainBranch && (old == nullptr || old->snapshot_id != ref.snapshot_id)) {
    move_main(ref.snapshot_id);
  }
  put_ref(ref);
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const RemoveSnapshotRef& update) {
  remove_ref(update.ref_name);
  return Ok{};
}

void TableBuilder::move_main(std::int64_t snapshot_id) {
  SnapshotLogEntry entry;
  entry.snapshot_id = snapshot_id;
  entry.timestamp_ms = added_snapshot_ids_.contains(snapshot_id)
                           ? snapshots_.find(snapshot_id)->timestamp_ms
                           : std::max(context_.now_ms, values_.last_updated_ms);
  snapshot_log_.push_back(entry);
  values_.last_updated_ms = std::max(values_.last_updated_ms, entry.timestamp_ms);
  values_.current_snapshot_id = snapshot_id;
}

// Snapshots that were current only between two updates never were for anybody else. And a log with
// a gap would tell the wrong snapshot for the time of the gap: what is before it goes.
Status TableBuilder::finish_snapshot_log() {
  std::vector<SnapshotLogEntry> kept;
  kept.reserve(snapshot_log_.size());
  for (std::size_t i = 0; i < snapshot_log_.size(); ++i) {
    const SnapshotLogEntry& entry = snapshot_log_[i];
    const bool is_added =
        i >= base_snapshot_log_count_ && added_snapshot_ids_.contains(entry.snapshot_id);
    if (is_added && entry.snapshot_id != values_.current_snapshot_id) continue;
    if (is_added && !kept.empty() && kept.back().snapshot_id == entry.snapshot_id) continue;
    if (has_removed_snapshots_ && snapshots_.find(entry.snapshot_id) == nullptr) {
      kept.clear();
      continue;
    }
    if (i >= base_snapshot_log_count_ && !kept.empty()) {
      ICEBLINK_RETURN_IF_ERROR(check_order(kept.back(), entry));
    }
    kept.push_back(entry);
  }
  snapshot_log_ = std::move(kept);
  return Ok{};
}

}  // namespace iceblink::iceberg
