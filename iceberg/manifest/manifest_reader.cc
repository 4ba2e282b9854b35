#include "iceberg/manifest/manifest_reader.h"

#include <new>
#include <optional>
#include <string>
#include <utility>

#include "iceberg/arena.h"
#include "iceberg/manifest/data_file_reader.h"
#include "iceberg/manifest/document_growth.h"
#include "iceberg/manifest/entry_inheritance.h"
#include "iceberg/manifest/growing_list.h"
#include "iceberg/manifest/manifest_counts.h"
#include "iceberg/manifest/manifest_file.h"
#include "iceberg/manifest/record_fields.h"

namespace iceblink::iceberg {
namespace {

enum EntryField : std::uint8_t {
  kStatus,
  kSnapshotId,
  kSequenceNumber,
  kFileSequenceNumber,
  kDataFile,
};

constexpr KnownField kEntryFields[] = {{0, "status", FieldType::kInteger, Presence::kRequired},
                                       {1, "snapshot_id", FieldType::kInteger},
                                       {3, "sequence_number", FieldType::kInteger},
                                       {4, "file_sequence_number", FieldType::kInteger},
                                       {2, "data_file", FieldType::kRecord, Presence::kRequired}};

/// Which spec and content a manifest has, by the list and by its own header.
struct Identity {
  const PartitionSpec* spec = nullptr;
  ManifestContent content = ManifestContent::kData;
};

Result<Identity> identify(const avro::ContainerReader& reader, const ManifestFile& listed,
                          const TableMetadata& table) {
  ICEBLINK_ASSIGN_OR_RETURN(const ManifestHeader header, read_manifest_header(reader));
  const std::int32_t spec_id =
      header.partition_spec_id.value_or(listed.partition_spec_id.value_or(0));
  const ManifestContent content = header.content.value_or(listed.content);
  ICEBLINK_RETURN_IF_ERROR(check_identity(spec_id, content, listed));
  const PartitionSpec* const spec = table.find_partition_spec(spec_id);
  if (spec == nullptr) {
    return {ErrorKind::kCorrupt,
            "partition_spec_id: the table has no partition spec " + std::to_string(spec_id)};
  }
  return Identity{spec, content};
}

/// Gathers the entries of one manifest.
class EntryReader {
 public:
  static Result<EntryReader> make(const avro::Schema& schema, const Identity& identity,
                                  const ManifestFile& listed, const TableMetadata& table) {
    ICEBLINK_ASSIGN_OR_RETURN(RecordFields fields, RecordFields::bind(schema, kEntryFields));
    if (fields.type(kDataFile) == nullptr) {
      return {ErrorKind::kCorrupt, text_of(2, "data_file") + " is always null"};
    }
    ICEBLINK_ASSIGN_OR_RETURN(
        DataFileReader files,
        DataFileReader::make(*fields.type(kDataFile), *identity.spec, table, identity.content));
    return EntryReader(std::move(fields), std::move(files), listed);
  }

  [[nodiscard]] std::vector<bool> wanted() const { return fields_.wanted(); }

  [[nodiscard]] Status add(const avro::Value& record, Arena& arena) {
    EntryFault fault;
    const RecordValues values(fields_, record, "", fault);
    ManifestEntry entry;
    entry.status = static_cast<EntryStatus>(values.enumerator(kStatus, 2));
    if (const avro::Value* const file = values.find(kDataFile)) {
      entry.file = files_.read(*file, arena, fault);
    }
    entry.file.snapshot_id = values.integer(kSnapshotId);
    inheritance_.complete(entry, {values.count(kSequenceNumber), values.count(kFileSequenceNumber)},
                          fault);
    tally_.add(entry, fault);
    if (fault.is_set()) {
      const std::string number = std::to_string(entries_.size());
      return Error(ErrorKind::kCorrupt, {"entries[", number, "].", fault.text()});
    }
    entries_.push_back(entry);
    return Ok{};
  }

  [[nodiscard]] const GrowingList<ManifestEntry>& entries() const noexcept { return entries_; }
  [[nodiscard]] const ManifestCounts& counts() const noexcept { return tally_.counts(); }
  [[nodiscard]] std::size_t scratch_bytes() const noexcept {
    return entries_.bytes() + files_.scratch_bytes();
  }

 private:
  EntryReader(RecordFields fields, DataFileReader files, const ManifestFile& listed)
      : fields_(std::move(fields)),
        files_(std::move(files)),
        inheritance_(listed, fields_.has(kSequenceNumber) ? SequenceNumberColumn::kPresent
                                                          : SequenceNumberColumn::kAbsent) {}

  RecordFields fields_;
  DataFileReader files_;
  EntryInheritance inheritance_;
  ManifestTally tally_;
  GrowingList<ManifestEntry> entries_;
};

Result<std::shared_ptr<const Manifest>> read_whole(std::string_view file,
                                                   const ManifestFile& listed,
                                                   const TableMetadata& table,
                                                   const MetadataLimits& limits,
                                                   const ManifestBytesWanted& wanted) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reader, open_manifest_file(file, limits));
  ICEBLINK_ASSIGN_OR_RETURN(const Identity identity, identify(*reader, listed, table));
  ICEBLINK_ASSIGN_OR_RETURN(auto entries,
                            EntryReader::make(reader->schema(), identity, listed, table));
  reader->project(entries.wanted());
  auto arena = std::make_unique<Arena>();
  DocumentGrowth growth(limits, wanted);
  const auto document_bytes = [&] {
    return sizeof(Manifest) + arena->bytes() + entries.entries().size() * sizeof(ManifestEntry);
  };
  const auto scratch_bytes = [&] { return reader->scratch_bytes() + entries.scratch_bytes(); };
  while (true) {
    ICEBLINK_ASSIGN_OR_RETURN(const avro::Value* const record, reader->next());
    if (record == nullptr) break;
    if (entries.entries().size() == limits.elements_max) {
      return {ErrorKind::kTooLarge,
              "more entries than elements_max, " + std::to_string(limits.elements_max)};
    }
    ICEBLINK_RETURN_IF_ERROR(entries.add(*record, *arena));
    ICEBLINK_RETURN_IF_ERROR(growth.grown(document_bytes(), scratch_bytes()));
  }
  growth.tell(document_bytes(), scratch_bytes());
  const auto all = entries.entries().copy_to(*arena);
  return std::make_shared<const Manifest>(std::move(arena), identity.spec->spec_id,
                                          identity.content, entries.counts(), all);
}

/// Whether the list's counts of files show that no entry is missing.
bool are_files_counted(const ManifestFile& listed) noexcept {
  return listed.counts.added_files_count && listed.counts.existing_files_count &&
         listed.counts.deleted_files_count;
}

}  // namespace

Result<std::shared_ptr<const Manifest>> read_manifest(
    std::string_view file, const ManifestFile& listed, const TableMetadata& table,
    const MetadataLimits& limits, const ManifestBytesWanted& wanted) noexcept try {
  auto manifest = read_whole(file, listed, table, limits, wanted);
  const Status is_as_listed = manifest ? check_listed(**manifest, listed) : Status(Ok{});
  const auto& error = manifest ? is_as_listed.error() : manifest.error();
  const bool is_sound = manifest && is_as_listed;
  const bool is_short =
      listed.manifest_length && std::cmp_less(file.size(), *listed.manifest_length);
  if (is_short && (is_sound ? !are_files_counted(listed) : error.kind() == ErrorKind::kCorrupt)) {
    const std::string lengths =
        std::to_string(file.size()) + " of " + std::to_string(*listed.manifest_length) + " bytes";
    return Error(ErrorKind::kCorrupt,
                 {"manifest_length: the file is cut short, ", lengths, " are there",
                  is_sound ? "" : ": ", is_sound ? "" : error.message()});
  }
  if (!is_sound) return error;
  return manifest;
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

}  // namespace iceblink::iceberg
