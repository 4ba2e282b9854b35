#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "iceberg/arena.h"
#include "iceberg/manifest/document_growth.h"
#include "iceberg/manifest/growing_list.h"
#include "iceberg/manifest/manifest_file.h"
#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/manifest/record_fields.h"

namespace iceblink::iceberg {
namespace {

enum ListField : std::uint8_t {
  kManifestPath,
  kManifestLength,
  kPartitionSpecId,
  kContent,
  kSequenceNumber,
  kMinSequenceNumber,
  kAddedSnapshotId,
  kAddedFiles,
  kExistingFiles,
  kDeletedFiles,
  kAddedRows,
  kExistingRows,
  kDeletedRows,
  kPartitions,
  kKeyMetadata,
  kFirstRowId,
};

constexpr KnownField kListFields[] = {
    {500, "manifest_path", FieldType::kString, Presence::kRequired},
    {501, "manifest_length", FieldType::kInteger, Presence::kRequired},
    {502, "partition_spec_id", FieldType::kInteger, Presence::kRequired},
    {517, "content", FieldType::kInteger},
    {515, "sequence_number", FieldType::kInteger},
    {516, "min_sequence_number", FieldType::kInteger},
    {503, "added_snapshot_id", FieldType::kInteger},
    {504, "added_files_count", FieldType::kInteger},
    {505, "existing_files_count", FieldType::kInteger},
    {506, "deleted_files_count", FieldType::kInteger},
    {512, "added_rows_count", FieldType::kInteger},
    {513, "existing_rows_count", FieldType::kInteger},
    {514, "deleted_rows_count", FieldType::kInteger},
    {507, "partitions", FieldType::kArray},
    {519, "key_metadata", FieldType::kBytes},
    {520, "first_row_id", FieldType::kInteger}};

enum SummaryField : std::uint8_t { kContainsNull, kContainsNan, kLowerBound, kUpperBound };

constexpr KnownField kSummaryFields[] = {
    {509, "contains_null", FieldType::kBoolean, Presence::kRequired},
    {518, "contains_nan", FieldType::kBoolean},
    {510, "lower_bound", FieldType::kBytes},
    {511, "upper_bound", FieldType::kBytes}};

/// Gathers the entries of one manifest list.
class ListEntryReader {
 public:
  static Result<ListEntryReader> make(const avro::Schema& schema) {
    ICEBLINK_ASSIGN_OR_RETURN(RecordFields fields, RecordFields::bind(schema, kListFields));
    std::optional<RecordFields> summary_fields;
    if (const avro::Schema* const partitions = fields.type(kPartitions)) {
      const std::string what = "an element of " + text_of(507, "partitions");
      ICEBLINK_ASSIGN_OR_RETURN(const avro::Schema* const summary,
                                value_type(*partitions->children[0], what));
      if (summary != nullptr) {
        ICEBLINK_ASSIGN_OR_RETURN(summary_fields, RecordFields::bind(*summary, kSummaryFields));
      }
    }
    return ListEntryReader(std::move(fields), std::move(summary_fields));
  }

  [[nodiscard]] std::vector<bool> wanted() const { return fields_.wanted(); }

  [[nodiscard]] Status add(const avro::Value& record, Arena& arena) {
    EntryFault fault;
    const RecordValues values(fields_, record, "", fault);
    ManifestFile manifest;
    manifest.manifest_path = arena.copy(values.text(kManifestPath).value_or(""));
    if (manifest.manifest_path.empty()) values.refuse(kManifestPath, "is empty");
    manifest.manifest_length = values.count(kManifestLength);
    manifest.partition_spec_id = values.int32(kPartitionSpecId);
    manifest.content = static_cast<ManifestContent>(values.enumerator(kContent, 1));
    manifest.sequence_number = values.count(kSequenceNumber).value_or(0);
    manifest.min_sequence_number = values.count(kMinSequenceNumber).value_or(0);
    manifest.added_snapshot_id = values.integer(kAddedSnapshotId);
    manifest.counts = {
        .added_files_count = values.count(kAddedFiles),
        .existing_files_count = values.count(kExistingFiles),
        .deleted_files_count = values.count(kDeletedFiles),
        .added_rows_count = values.count(kAddedRows),
        .existing_rows_count = values.count(kExistingRows),
        .deleted_rows_count = values.count(kDeletedRows),
    };
    manifest.partitions = read_summaries(values.elements(kPartitions), arena, fault);
    manifest.key_metadata = arena.copy_if_any(values.bytes(kKeyMetadata));
    manifest.first_row_id = values.count(kFirstRowId);
    if (fault.is_set()) {
      const std::string number = std::to_string(manifests_.size());
      return Error(ErrorKind::kCorrupt, {"manifests[", number, "].", fault.text()});
    }
    manifests_.push_back(manifest);
    return Ok{};
  }

  [[nodiscard]] const GrowingList<ManifestFile>& manifests() const noexcept { return manifests_; }

 private:
  ListEntryReader(RecordFields fields, std::optional<RecordFields> summary_fields)
      : fields_(std::move(fields)), summary_fields_(std::move(summary_fields)) {}

  [[nodiscard]] std::span<const FieldSummary> read_summaries(std::span<const avro::Value> elements,
                                                             Arena& arena,
                                                             EntryFault& fault) const {
    if (elements.empty()) return {};
    FieldSummary* const summaries = arena.allocate_array<FieldSummary>(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      FieldSummary& summary = *std::construct_at(summaries + i);
      if (elements[i].is_null() || !summary_fields_) continue;  // nothing is known of it
      const std::string path = "partitions[" + std::to_string(i) + "].";
      const RecordValues values(*summary_fields_, elements[i], path, fault);
      summary.contains_null = values.boolean(kContainsNull).value_or(true);
      summary.contains_nan = values.boolean(kContainsNan);
      summary.lower_bound = arena.copy_if_any(values.bytes(kLowerBound));
      summary.upper_bound = arena.copy_if_any(values.bytes(kUpperBound));
    }
    return {summaries, elements.size()};
  }

  RecordFields fields_;
  std::optional<RecordFields> summary_fields_;
  GrowingList<ManifestFile> manifests_;
};

}  // namespace

Result<std::shared_ptr<const ManifestList>> read_manifest_list(
    std::string_view file, const TableSnapshot& snapshot, const MetadataLimits& limits,
    const ManifestBytesWanted& wanted) noexcept try {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reader, open_manifest_file(file, limits));
  ICEBLINK_ASSIGN_OR_RETURN(auto entries, ListEntryReader::make(reader->schema()));
  reader->project(entries.wanted());
  auto arena = std::make_unique<Arena>();
  DocumentGrowth growth(limits, wanted);
  const auto document_bytes = [&] {
    return sizeof(ManifestList) + arena->bytes() +
           entries.manifests().size() * sizeof(ManifestFile);
  };
  const auto scratch_bytes = [&] { return reader->scratch_bytes() + entries.manifests().bytes(); };
  while (true) {
    ICEBLINK_ASSIGN_OR_RETURN(const avro::Value* const record, reader->next());
    if (record == nullptr) break;
    if (entries.manifests().size() == limits.elements_max) {
      return {ErrorKind::kTooLarge,
              "more entries than elements_max, " + std::to_string(limits.elements_max)};
    }
    ICEBLINK_RETURN_IF_ERROR(entries.add(*record, *arena));
    ICEBLINK_RETURN_IF_ERROR(growth.grown(document_bytes(), scratch_bytes()));
  }
  growth.tell(document_bytes(), scratch_bytes());
  const auto manifests = entries.manifests().copy_to(*arena);
  return std::make_shared<const ManifestList>(std::move(arena), snapshot.snapshot_id, manifests);
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

Result<std::shared_ptr<const ManifestList>> embedded_manifest_list(
    const TableSnapshot& snapshot) noexcept try {
  auto arena = std::make_unique<Arena>();
  ManifestFile* const manifests = arena->allocate_array<ManifestFile>(snapshot.manifests.size());
  for (std::size_t i = 0; i < snapshot.manifests.size(); ++i) {
    ManifestFile& manifest = *std::construct_at(manifests + i);
    manifest.manifest_path = arena->copy(snapshot.manifests[i]);
  }
  return std::make_shared<const ManifestList>(
      std::move(arena), snapshot.snapshot_id,
      std::span<const ManifestFile>(manifests, snapshot.manifests.size()));
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

}  // namespace iceblink::iceberg
