// What a table's metadata says of its snapshots, at load and when all of it is checked.
#include <bit>
#include <string>

#include "iceberg/table_reader.h"

namespace iceblink::iceberg {
namespace {

constexpr std::string_view kMainBranch = "main";

}  // namespace

bool TableReader::has_snapshot(std::int64_t snapshot_id) const noexcept {
  return find_snapshot(raw_, snapshot_id) < raw_.index.size();
}

void TableReader::index_snapshots() {
  if (scanned_.empty() || !knows_snapshots_) return;
  std::vector<SnapshotIndexEntry> entries;
  std::vector<TextRange> ranges;
  entries.reserve(scanned_.size());
  ranges.reserve(scanned_.size());
  for (const auto& scanned : scanned_) {
    entries.push_back(scanned.entry);
    if (values_.format_version == 1) entries.back().sequence_number = 0;
    ranges.push_back({scanned.begin, scanned.bytes});
  }
  raw_.index = reader_.arena().copy(entries);
  raw_.snapshot_ranges = reader_.arena().copy(ranges);
  // Where a document lies is not known to who made it.
  raw_.hash_seed = std::bit_cast<std::uint64_t>(raw_.index.data());
  std::vector<std::uint32_t> buckets(std::bit_ceil(entries.size() * 3 / 2 + 1));
  const std::size_t mask = buckets.size() - 1;
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const std::int64_t id = entries[i].snapshot_id;
    std::size_t bucket = snapshot_bucket(id, raw_.hash_seed, buckets.size());
    for (; buckets[bucket] != 0; bucket = (bucket + 1) & mask) {
      if (entries[buckets[bucket] - 1].snapshot_id != id) continue;
      report_in(Member::kSnapshots, i, "snapshot-id",
                std::to_string(id) + " is that of another one, too");
      break;
    }
    if (buckets[bucket] == 0) buckets[bucket] = i + 1;
  }
  raw_.buckets = reader_.arena().copy(buckets);
}

void TableReader::check_sequence_numbers() {
  if (!knows_last_sequence_number_) return;
  for (std::size_t i = 0; i < raw_.index.size(); ++i) {
    const std::int64_t number = raw_.index[i].sequence_number;
    if (number <= values_.last_sequence_number) continue;
    report_in(Member::kSnapshots, i, "sequence-number",
              std::to_string(number) + " is above the last-sequence-number, which is " +
                  std::to_string(values_.last_sequence_number));
  }
}

void TableReader::read_current_snapshot_id() {
  if (!has(Member::kCurrentSnapshotId)) return;
  at(Member::kCurrentSnapshotId, [&] {
    const std::size_t problem_count = reader_.problem_count();
    const std::int64_t id = reader_.read_int64();
    knows_current_ = reader_.problem_count() == problem_count;
    if (!knows_current_ || id == -1) return;
    values_.current_snapshot_id = id;
    if (knows_snapshots_ && !has_snapshot(id))
      reader_.report(std::to_string(id) + " is the id of no snapshot");
  });
}

void TableReader::read_refs_of_table() {
  std::vector<SnapshotRef> refs;
  if (has(Member::kRefs)) at(Member::kRefs, [&] { refs = read_refs(reader_); });
  if (!reader_.goes_on()) return;
  const auto& current = values_.current_snapshot_id;
  bool has_main = false;
  for (const auto& ref : refs) {
    const std::string id = std::to_string(ref.snapshot_id);
    if (knows_snapshots_ && !has_snapshot(ref.snapshot_id)) {
      report_in(Member::kRefs, ref.name, "snapshot-id", id + " is the id of no snapshot");
    }
    if (ref.name != kMainBranch) continue;
    has_main = true;
    if (!knows_current_) continue;
    if (!current) {
      report_in(Member::kRefs, ref.name, "", "is there, and no current-snapshot-id");
    } else if (ref.snapshot_id != *current) {
      report_in(Member::kRefs, ref.name, "snapshot-id",
                id + " is not the current-snapshot-id, " + std::to_string(*current));
    }
  }
  if (current && !has_main) {
    SnapshotRef main;
    main.name = kMainBranch;
    main.snapshot_id = *current;
    refs.push_back(main);
  }
  values_.refs = reader_.arena().copy(refs);
}

void TableReader::check_raw_parts() {
  const JsonReader::Place end = reader_.place();
  if (raw_.snapshots.bytes > 0) {
    at(Member::kSnapshots,
       [&] { reader_.read_array([&] { (void)read_snapshot(reader_, values_.format_version); }); });
  }
  if (raw_.snapshot_log.bytes > 0 && reader_.goes_on()) {
    at(Member::kSnapshotLog, [&] { (void)read_snapshot_log(reader_, values_.last_updated_ms); });
  }
  if (raw_.metadata_log.bytes > 0 && reader_.goes_on()) {
    at(Member::kMetadataLog, [&] { (void)read_metadata_log(reader_, values_.last_updated_ms); });
  }
  if (reader_.goes_on()) reader_.go_to(end);
}

}  // namespace iceblink::iceberg
