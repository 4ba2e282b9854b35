#include "iceberg/manifest/manifest_counts.h"

#include <new>
#include <optional>
#include <string>
#include <utility>

namespace iceblink::iceberg {
namespace {

using Count = std::optional<std::int64_t> ManifestCounts::*;

struct NamedCount {
  std::string_view name;
  Count count;
};

constexpr NamedCount kCounts[] = {{"added_files_count", &ManifestCounts::added_files_count},
                                  {"existing_files_count", &ManifestCounts::existing_files_count},
                                  {"deleted_files_count", &ManifestCounts::deleted_files_count},
                                  {"added_rows_count", &ManifestCounts::added_rows_count},
                                  {"existing_rows_count", &ManifestCounts::existing_rows_count},
                                  {"deleted_rows_count", &ManifestCounts::deleted_rows_count}};

std::pair<Count, Count> counts_of(EntryStatus status) noexcept {
  switch (status) {
    case EntryStatus::kAdded:
      return {&ManifestCounts::added_files_count, &ManifestCounts::added_rows_count};
    case EntryStatus::kExisting:
      return {&ManifestCounts::existing_files_count, &ManifestCounts::existing_rows_count};
    case EntryStatus::kDeleted:
      break;
  }
  return {&ManifestCounts::deleted_files_count, &ManifestCounts::deleted_rows_count};
}

Error disagreement(std::string_view field, std::string_view listed, std::string_view own) {
  return {ErrorKind::kCorrupt,
          {field, ": the manifest list says ", listed, ", the manifest has ", own}};
}

std::string_view name_of(ManifestContent content) noexcept {
  return content == ManifestContent::kData ? "data" : "deletes";
}

}  // namespace

void ManifestTally::add(const ManifestEntry& entry, EntryFault& fault) {
  const auto [files, rows] = counts_of(entry.status);
  ++*(counts_.*files);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(*(counts_.*rows), entry.file.record_count, &sum)) {
    fault.set("data_file.record_count", "more rows than 64 bits can count");
    return;
  }
  counts_.*rows = sum;
}

Status check_identity(std::int32_t spec_id, ManifestContent content, const ManifestFile& listed) {
  if (listed.partition_spec_id && *listed.partition_spec_id != spec_id) {
    return disagreement("partition_spec_id", std::to_string(*listed.partition_spec_id),
                        std::to_string(spec_id));
  }
  if (listed.content != content) {
    return disagreement("content", name_of(listed.content), name_of(content));
  }
  return Ok{};
}

Status check_listed(const Manifest& manifest, const ManifestFile& listed) noexcept try {
  ICEBLINK_RETURN_IF_ERROR(check_identity(manifest.spec_id(), manifest.content(), listed));
  for (const auto& [name, count] : kCounts) {
    const auto& listed_count = listed.counts.*count;
    const auto& own_count = manifest.counts().*count;
    if (listed_count && own_count && *listed_count != *own_count) {
      return disagreement(name, std::to_string(*listed_count), std::to_string(*own_count));
    }
  }
  return Ok{};
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

}  // namespace iceblink::iceberg
