// Statistics files of a table that is being built. Whether there is such a snapshot is not asked:
// they are written before it is committed, too.
#include <algorithm>

#include "iceberg/commit/table_builder.h"

namespace iceblink::iceberg {
namespace {

bool is_same_property(const Property& a, const Property& b) noexcept {
  return a.key == b.key && a.value == b.value;
}

bool is_same_blob(const BlobMetadata& a, const BlobMetadata& b) noexcept {
  return a.type == b.type && a.snapshot_id == b.snapshot_id &&
         a.sequence_number == b.sequence_number && std::ranges::equal(a.fields, b.fields) &&
         std::ranges::equal(a.properties, b.properties, is_same_property);
}

bool is_same(const StatisticsFile& a, const StatisticsFile& b) noexcept {
  return a.statistics_path == b.statistics_path && a.file_size_in_bytes == b.file_size_in_bytes &&
         a.file_footer_size_in_bytes == b.file_footer_size_in_bytes &&
         a.key_metadata == b.key_metadata &&
         std::ranges::equal(a.blob_metadata, b.blob_metadata, is_same_blob);
}

bool is_same(const PartitionStatisticsFile& a, const PartitionStatisticsFile& b) noexcept {
  return a.statistics_path == b.statistics_path && a.file_size_in_bytes == b.file_size_in_bytes;
}

}  // namespace

Status TableBuilder::apply_one(const SetStatistics& update) {
  const StatisticsFile& file = update.statistics;
  const StatisticsFile* const old = statistics_.find(file.snapshot_id);
  if (old != nullptr && is_same(*old, file)) return Ok{};
  statistics_.put(file.snapshot_id, file);
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const RemoveStatistics& update) {
  if (statistics_.remove(update.snapshot_id)) is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const SetPartitionStatistics& update) {
  const PartitionStatisticsFile& file = update.partition_statistics;
  const PartitionStatisticsFile* const old = partition_statistics_.find(file.snapshot_id);
  if (old != nullptr && is_same(*old, file)) return Ok{};
  partition_statistics_.put(file.snapshot_id, file);
  is_changed_ = true;
  return Ok{};
}

Status TableBuilder::apply_one(const RemovePartitionStatistics& update) {
  if (partition_statistics_.remove(update.snapshot_id)) is_changed_ = true;
  return Ok{};
}

}  // namespace iceblink::iceberg
