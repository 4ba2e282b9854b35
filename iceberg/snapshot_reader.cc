#include "iceberg/snapshot_reader.h"

#include <string>

#include "iceberg/member_set.h"
#include "iceberg/property_reader.h"

namespace iceblink::iceberg {
namespace {

/// What clocks of writers may differ by.
constexpr std::int64_t kClockSkewMs = 60'000;

void scan_snapshot(JsonReader& reader, ScannedSnapshot& found) {
  enum class Member { kSnapshotId, kSequenceNumber };
  MemberSet<Member> members;
  found.begin = static_cast<std::uint32_t>(reader.offset());
  reader.read_object([&](std::string_view key) {
    if (is(key, "snapshot-id")) {
      if (members.add(reader, Member::kSnapshotId)) found.entry.snapshot_id = reader.read_int64();
    } else if (is(key, "sequence-number")) {
      if (members.add(reader, Member::kSequenceNumber)) {
        found.entry.sequence_number = reader.read_int64();
      }
    } else {
      reader.skip_raw();
    }
    // Writers put both near the begin, and the long summary behind them.
    if (members.has(Member::kSnapshotId) && members.has(Member::kSequenceNumber)) {
      reader.skip_raw_to_end();
    }
  });
  members.require(reader, {{Member::kSnapshotId, "snapshot-id"}});
  if (!reader.goes_on()) return;
  found.bytes = static_cast<std::uint32_t>(reader.end_offset() - found.begin);
}

std::span<const std::string_view> read_manifests(JsonReader& reader) {
  std::vector<std::string_view> manifests;
  reader.read_array([&] { manifests.push_back(reader.read_string()); });
  return reader.arena().copy(manifests);
}

void check_row_lineage(JsonReader& reader, const TableSnapshot& snapshot) {
  if (snapshot.first_row_id && *snapshot.first_row_id < 0) {
    reader.report("is negative", "first-row-id");
  }
  if (snapshot.added_rows && *snapshot.added_rows < 0) reader.report("is negative", "added-rows");
  if (snapshot.first_row_id && !snapshot.added_rows) {
    reader.report("is missing beside first-row-id", "added-rows");
  }
}

/// Checks the times of a log, entry by entry.
class LogClock {
 public:
  LogClock(JsonReader& reader, std::int64_t last_updated_ms)
      : reader_(reader), last_updated_ms_(last_updated_ms) {}

  void check(std::int64_t timestamp_ms) {
    if (!reader_.goes_on()) return;
    // Without a sum, which may not fit.
    if (has_previous_ && timestamp_ms<previous_ms_&& static_cast<std::uint64_t>(previous_ms_) -
                                      static_cast<std::uint64_t>(timestamp_ms)>
                             kClockSkewMs) {
      reader_.report("is more than a minute before the entry before it", "timestamp-ms");
    }
    previous_ms_ = timestamp_ms;
    has_previous_ = true;
  }
  void check_last() {
    if (!reader_.goes_on() || !has_previous_ || previous_ms_ <= last_updated_ms_) return;
    if (static_cast<std::uint64_t>(previous_ms_) - static_cast<std::uint64_t>(last_updated_ms_) >
        kClockSkewMs) {
      reader_.report("its last entry is more than a minute after last-updated-ms");
    }
  }

 private:
  JsonReader& reader_;
  const std::int64_t last_updated_ms_;
  std::int64_t previous_ms_ = 0;
  bool has_previous_ = false;
};

}  // namespace

void scan_snapshots(JsonReader& reader, std::vector<ScannedSnapshot>& found) {
  if (reader.take_null()) return;
  reader.read_array([&] { scan_snapshot(reader, found.emplace_back()); });
}

WrittenSnapshot read_written_snapshot(JsonReader& reader, std::uint8_t format_version) {
  enum class Member {
    kSnapshotId,
    kParent,
    kSequenceNumber,
    kTimestamp,
    kManifestList,
    kManifests,
    kSummary,
    kSchemaId,
    kFirstRowId,
    kAddedRows,
    kKeyId
  };
  const bool has_sequence_numbers = format_version > 1;
  const bool has_row_lineage = format_version > 2;
  TableSnapshot snapshot;
  bool has_manifests = false;
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "snapshot-id")) {
      if (members.add(reader, Member::kSnapshotId)) snapshot.snapshot_id = reader.read_int64();
    } else if (is(key, "parent-snapshot-id")) {
      if (!members.add(reader, Member::kParent) || reader.take_null()) return;
      snapshot.parent_snapshot_id = reader.read_int64();
    } else if (has_sequence_numbers && is(key, "sequence-number")) {
      if (!members.add(reader, Member::kSequenceNumber)) return;
      snapshot.sequence_number = reader.read_int64();
    } else if (is(key, "timestamp-ms")) {
      if (members.add(reader, Member::kTimestamp)) snapshot.timestamp_ms = reader.read_int64();
    } else if (is(key, "summary")) {
      if (!members.add(reader, Member::kSummary)) return;
      snapshot.summary = read_properties(reader, PropertyValues::kStrings);
    } else if (is(key, "manifest-list")) {
      if (!members.add(reader, Member::kManifestList) || reader.take_null()) return;
      snapshot.manifest_list = reader.read_filled_string();
      has_manifests = true;
    } else if (is(key, "manifests")) {
      if (!members.add(reader, Member::kManifests) || reader.take_null()) return;
      snapshot.manifests = read_manifests(reader);
      has_manifests = true;
    } else if (is(key, "schema-id")) {
      if (!members.add(reader, Member::kSchemaId) || reader.take_null()) return;
      snapshot.schema_id = reader.read_int32();
    } else if (has_row_lineage && is(key, "first-row-id")) {
      if (!members.add(reader, Member::kFirstRowId) || reader.take_null()) return;
      snapshot.first_row_id = reader.read_int64();
    } else if (has_row_lineage && is(key, "added-rows")) {
      if (!members.add(reader, Member::kAddedRows) || reader.take_null()) return;
      snapshot.added_rows = reader.read_int64();
    } else if (has_row_lineage && is(key, "key-id")) {
      if (!members.add(reader, Member::kKeyId) || reader.take_null()) return;
      snapshot.key_id = reader.read_string();
    } else {
      reader.skip();
    }
  });
  members.require(reader,
                  {{Member::kSnapshotId, "snapshot-id"}, {Member::kTimestamp, "timestamp-ms"}});
  if (!has_manifests && reader.has_read_object()) reader.report("is missing", "manifest-list");
  if (!snapshot.manifest_list.empty()) snapshot.manifests = {};  // the list names them
  check_row_lineage(reader, snapshot);
  return {snapshot, members.has(Member::kSequenceNumber)};
}

TableSnapshot read_snapshot(JsonReader& reader, std::uint8_t format_version) {
  return read_written_snapshot(reader, format_version).snapshot;
}

SnapshotRef read_ref(JsonReader& reader, std::string_view name) {
  enum class Member { kSnapshotId, kType, kMinSnapshots, kMaxSnapshotAge, kMaxRefAge };
  SnapshotRef ref;
  ref.name = name;
  MemberSet<Member> members;
  const auto positive = [&](std::int64_t value) {
    if (reader.goes_on() && value <= 0) reader.report(std::to_string(value) + " is not positive");
    return value;
  };
  reader.read_object([&](std::string_view key) {
    if (is(key, "snapshot-id")) {
      if (members.add(reader, Member::kSnapshotId)) ref.snapshot_id = reader.read_int64();
    } else if (is(key, "type")) {
      if (!members.add(reader, Member::kType)) return;
      const auto type = reader.read_string();
      if (type == "tag" || type == "TAG") {
        ref.type = RefType::kTag;
      } else if (reader.goes_on() && type != "branch" && type != "BRANCH") {
        reader.report("'" + std::string(type) + "' is neither branch nor tag");
      }
    } else if (is(key, "min-snapshots-to-keep")) {
      if (!members.add(reader, Member::kMinSnapshots) || reader.take_null()) return;
      ref.min_snapshots_to_keep = static_cast<std::int32_t>(positive(reader.read_int32()));
    } else if (is(key, "max-snapshot-age-ms")) {
      if (!members.add(reader, Member::kMaxSnapshotAge) || reader.take_null()) return;
      ref.max_snapshot_age_ms = positive(reader.read_int64());
    } else if (is(key, "max-ref-age-ms")) {
      if (!members.add(reader, Member::kMaxRefAge) || reader.take_null()) return;
      ref.max_ref_age_ms = positive(reader.read_int64());
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kSnapshotId, "snapshot-id"}, {Member::kType, "type"}});
  if (ref.type == RefType::kTag && (ref.min_snapshots_to_keep || ref.max_snapshot_age_ms)) {
    reader.report(
        "a tag keeps one snapshot: it has neither min-snapshots-to-keep nor "
        "max-snapshot-age-ms");
  }
  return ref;
}

std::vector<SnapshotRef> read_refs(JsonReader& reader) {
  std::vector<SnapshotRef> refs;
  if (reader.take_null()) return refs;
  const auto name_of = [](const SnapshotRef& ref) { return ref.name; };
  RepeatedKeys names;
  reader.read_object([&](std::string_view name) {
    names.add(reader, name, refs, name_of);
    const JsonReader::Watch watch(reader);
    const SnapshotRef ref = read_ref(reader, name);
    if (watch.all_is_well()) refs.push_back(ref);
  });
  names.finish(reader, refs, name_of);
  return refs;
}

std::span<const SnapshotLogEntry> read_snapshot_log(JsonReader& reader,
                                                    std::int64_t last_updated_ms) {
  enum class Member { kTimestamp, kSnapshotId };
  std::vector<SnapshotLogEntry> entries;
  if (reader.take_null()) return {};
  LogClock clock(reader, last_updated_ms);
  reader.read_array([&] {
    SnapshotLogEntry entry;
    MemberSet<Member> members;
    const JsonReader::Watch watch(reader);
    reader.read_object([&](std::string_view key) {
      if (is(key, "timestamp-ms")) {
        if (members.add(reader, Member::kTimestamp)) entry.timestamp_ms = reader.read_int64();
      } else if (is(key, "snapshot-id")) {
        if (members.add(reader, Member::kSnapshotId)) entry.snapshot_id = reader.read_int64();
      } else {
        reader.skip();
      }
    });
    members.require(reader,
                    {{Member::kTimestamp, "timestamp-ms"}, {Member::kSnapshotId, "snapshot-id"}});
    if (watch.all_is_well()) clock.check(entry.timestamp_ms);
    entries.push_back(entry);
  });
  clock.check_last();
  return reader.arena().copy(entries);
}

std::span<const MetadataLogEntry> read_metadata_log(JsonReader& reader,
                                                    std::int64_t last_updated_ms) {
  enum class Member { kTimestamp, kMetadataFile };
  std::vector<MetadataLogEntry> entries;
  if (reader.take_null()) return {};
  LogClock clock(reader, last_updated_ms);
  reader.read_array([&] {
    MetadataLogEntry entry;
    MemberSet<Member> members;
    const JsonReader::Watch watch(reader);
    reader.read_object([&](std::string_view key) {
      if (is(key, "timestamp-ms")) {
        if (members.add(reader, Member::kTimestamp)) entry.timestamp_ms = reader.read_int64();
      } else if (is(key, "metadata-file")) {
        if (members.add(reader, Member::kMetadataFile)) entry.metadata_file = reader.read_string();
      } else {
        reader.skip();
      }
    });
    members.require(
        reader, {{Member::kTimestamp, "timestamp-ms"}, {Member::kMetadataFile, "metadata-file"}});
    if (watch.all_is_well()) clock.check(entry.timestamp_ms);
    entries.push_back(entry);
  });
  clock.check_last();
  return reader.arena().copy(entries);
}

}  // namespace iceblink::iceberg
