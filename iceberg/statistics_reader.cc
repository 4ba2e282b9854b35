#include "iceberg/statistics_reader.h"

#include <vector>

#include "iceberg/member_set.h"
#include "iceberg/property_reader.h"
#include "iceberg/schema_reader.h"

namespace iceblink::iceberg {
namespace {

BlobMetadata read_blob(JsonReader& reader) {
  enum class Member { kType, kSnapshotId, kSequenceNumber, kFields, kProperties };
  BlobMetadata blob;
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "type")) {
      if (members.add(reader, Member::kType)) blob.type = reader.read_string();
    } else if (is(key, "snapshot-id")) {
      if (members.add(reader, Member::kSnapshotId)) blob.snapshot_id = reader.read_int64();
    } else if (is(key, "sequence-number")) {
      if (members.add(reader, Member::kSequenceNumber)) blob.sequence_number = reader.read_int64();
    } else if (is(key, "fields")) {
      if (members.add(reader, Member::kFields)) blob.fields = read_ids(reader);
    } else if (is(key, "properties")) {
      if (!members.add(reader, Member::kProperties)) return;
      blob.properties = read_properties(reader, PropertyValues::kStrings);
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kType, "type"},
                           {Member::kSnapshotId, "snapshot-id"},
                           {Member::kSequenceNumber, "sequence-number"},
                           {Member::kFields, "fields"}});
  return blob;
}

/// What can be read of an array whose entries may be ignored.
template <typename Entry>
std::span<const Entry> read_what_is_whole(JsonReader& reader, Entry (*read)(JsonReader&)) {
  if (reader.take_null()) return {};
  std::vector<Entry> entries;
  reader.read_array([&] {
    const JsonReader::Lenient lenient(reader);
    const Entry entry = read(reader);
    if (!lenient.failed()) entries.push_back(entry);
  });
  return reader.arena().copy(entries);
}

}  // namespace

StatisticsFile read_statistics_file(JsonReader& reader) {
  enum class Member { kSnapshotId, kPath, kFileSize, kFooterSize, kKeyMetadata, kBlobs };
  StatisticsFile file;
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "snapshot-id")) {
      if (members.add(reader, Member::kSnapshotId)) file.snapshot_id = reader.read_int64();
    } else if (is(key, "statistics-path")) {
      if (members.add(reader, Member::kPath)) file.statistics_path = reader.read_string();
    } else if (is(key, "file-size-in-bytes")) {
      if (members.add(reader, Member::kFileSize)) file.file_size_in_bytes = reader.read_int64();
    } else if (is(key, "file-footer-size-in-bytes")) {
      if (!members.add(reader, Member::kFooterSize)) return;
      file.file_footer_size_in_bytes = reader.read_int64();
    } else if (is(key, "key-metadata")) {
      if (!members.add(reader, Member::kKeyMetadata) || reader.take_null()) return;
      file.key_metadata = reader.read_string();
    } else if (is(key, "blob-metadata")) {
      if (!members.add(reader, Member::kBlobs)) return;
      std::vector<BlobMetadata> blobs;
      reader.read_array([&] { blobs.push_back(read_blob(reader)); });
      file.blob_metadata = reader.arena().copy(blobs);
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kSnapshotId, "snapshot-id"},
                           {Member::kPath, "statistics-path"},
                           {Member::kFileSize, "file-size-in-bytes"},
                           {Member::kFooterSize, "file-footer-size-in-bytes"},
                           {Member::kBlobs, "blob-metadata"}});
  return file;
}

PartitionStatisticsFile read_partition_statistics_file(JsonReader& reader) {
  enum class Member { kSnapshotId, kPath, kFileSize };
  PartitionStatisticsFile file;
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "snapshot-id")) {
      if (members.add(reader, Member::kSnapshotId)) file.snapshot_id = reader.read_int64();
    } else if (is(key, "statistics-path")) {
      if (members.add(reader, Member::kPath)) file.statistics_path = reader.read_string();
    } else if (is(key, "file-size-in-bytes")) {
      if (members.add(reader, Member::kFileSize)) file.file_size_in_bytes = reader.read_int64();
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kSnapshotId, "snapshot-id"},
                           {Member::kPath, "statistics-path"},
                           {Member::kFileSize, "file-size-in-bytes"}});
  return file;
}

EncryptionKey read_encryption_key(JsonReader& reader) {
  enum class Member { kKeyId, kMetadata, kEncryptedBy, kProperties };
  EncryptionKey encryption_key;
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "key-id")) {
      if (members.add(reader, Member::kKeyId)) encryption_key.key_id = reader.read_string();
    } else if (is(key, "encrypted-key-metadata")) {
      if (!members.add(reader, Member::kMetadata)) return;
      encryption_key.encrypted_key_metadata = reader.read_string();
    } else if (is(key, "encrypted-by-id")) {
      if (!members.add(reader, Member::kEncryptedBy) || reader.take_null()) return;
      encryption_key.encrypted_by_id = reader.read_string();
    } else if (is(key, "properties")) {
      if (!members.add(reader, Member::kProperties)) return;
      encryption_key.properties = read_properties(reader, PropertyValues::kStrings);
    } else {
      reader.skip();
    }
  });
  members.require(reader,
                  {{Member::kKeyId, "key-id"}, {Member::kMetadata, "encrypted-key-metadata"}});
  return encryption_key;
}

std::span<const StatisticsFile> read_statistics(JsonReader& reader) {
  return read_what_is_whole(reader, read_statistics_file);
}

std::span<const PartitionStatisticsFile> read_partition_statistics(JsonReader& reader) {
  return read_what_is_whole(reader, read_partition_statistics_file);
}

std::span<const EncryptionKey> read_encryption_keys(JsonReader& reader) {
  if (reader.take_null()) return {};
  std::vector<EncryptionKey> keys;
  reader.read_array([&] { keys.push_back(read_encryption_key(reader)); });
  return reader.arena().copy(keys);
}

}  // namespace iceblink::iceberg
