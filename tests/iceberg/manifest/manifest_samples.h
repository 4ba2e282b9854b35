// Manifest lists and manifests to be changed a field at a time, and what the readers say of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iceberg/manifest/manifest_reader.h"
#include "tests/iceberg/avro/avro_writer.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {

/// A field of a record: its type as JSON, its value as bytes.
struct AvroField {
  std::string name;
  std::string id;  ///< empty: none is written
  std::string type;
  AvroBytes value;
};

/// A record's fields with their values. The schema is that of the first record of a file.
class AvroRecord {
 public:
  AvroRecord() = default;
  AvroRecord(std::initializer_list<AvroField> fields) : fields_(fields) {}

  /// In the place of one of the same name, or behind the others.
  [[nodiscard]] AvroRecord with(const AvroField& field) const {
    AvroRecord changed = *this;
    const auto found = changed.find(field.name);
    if (found == changed.fields_.end()) {
      changed.fields_.push_back(field);
    } else {
      *found = field;
    }
    return changed;
  }
  [[nodiscard]] AvroRecord without(const std::string& name) const {
    AvroRecord changed = *this;
    std::erase_if(changed.fields_, [&](const AvroField& field) { return field.name == name; });
    return changed;
  }
  [[nodiscard]] AvroRecord reversed() const {
    AvroRecord changed = *this;
    std::reverse(changed.fields_.begin(), changed.fields_.end());
    return changed;
  }

  [[nodiscard]] std::string schema(const std::string& name) const {
    std::string json = R"({"type":"record","name":")" + name + R"(","fields":[)";
    for (const AvroField& field : fields_) {
      if (json.back() == '}') json += ',';
      json += R"({"name":")" + field.name + R"(","type":)" + field.type;
      if (!field.id.empty()) json += R"(,"field-id":)" + field.id;
      json += '}';
    }
    return json + "]}";
  }
  [[nodiscard]] AvroBytes value() const {
    AvroBytes bytes;
    for (const AvroField& field : fields_) bytes.append(field.value);
    return bytes;
  }

 private:
  [[nodiscard]] std::vector<AvroField>::iterator find(const std::string& name) {
    return std::find_if(fields_.begin(), fields_.end(),
                        [&](const AvroField& field) { return field.name == name; });
  }

  std::vector<AvroField> fields_;
};

// ---- Fields

inline AvroField int_field(const std::string& name, int id, std::int64_t value) {
  return {name, std::to_string(id), R"("int")", AvroBytes().integer(value)};
}
inline AvroField long_field(const std::string& name, int id, std::int64_t value) {
  return {name, std::to_string(id), R"("long")", AvroBytes().integer(value)};
}
inline AvroField boolean_field(const std::string& name, int id, bool value) {
  return {name, std::to_string(id), R"("boolean")", AvroBytes().boolean(value ? 1 : 0)};
}
inline AvroField text_field(const std::string& name, int id, std::string_view text) {
  return {name, std::to_string(id), R"("string")", AvroBytes().text(text)};
}
inline AvroField bytes_field(const std::string& name, int id, std::string_view bytes) {
  return {name, std::to_string(id), R"("bytes")", AvroBytes().text(bytes)};
}
inline AvroField record_field(const std::string& name, int id, const AvroRecord& record) {
  return {name, std::to_string(id), record.schema("r" + std::to_string(id)), record.value()};
}
/// Of integers, each an "int" or a "long".
inline AvroField list_field(const std::string& name, int id, const std::string& element,
                            std::initializer_list<std::int64_t> values) {
  std::vector<AvroBytes> elements;
  for (const std::int64_t value : values) elements.push_back(AvroBytes().integer(value));
  return {name, std::to_string(id), R"({"type":"array","items":")" + element + R"("})",
          AvroBytes().array(elements)};
}
/// The same as an optional one that is there.
inline AvroField some(AvroField field) {
  field.type = R"(["null",)" + field.type + ']';
  field.value = AvroBytes().some_branch().append(field.value);
  return field;
}
/// And one that is null.
inline AvroField none(AvroField field) {
  field.type = R"(["null",)" + field.type + ']';
  field.value = AvroBytes().null_branch();
  return field;
}

/// The ids of a map of metrics and of what is in it.
struct MapIds {
  std::string name;
  int map;
  int key;
  int value;
};
inline const MapIds kColumnSizes{"column_sizes", 108, 117, 118};
inline const MapIds kValueCounts{"value_counts", 109, 119, 120};
inline const MapIds kNullCounts{"null_value_counts", 110, 121, 122};
inline const MapIds kNanCounts{"nan_value_counts", 137, 138, 139};
inline const MapIds kLowerBounds{"lower_bounds", 125, 126, 127};
inline const MapIds kUpperBounds{"upper_bounds", 128, 129, 130};

inline AvroField map_field(const MapIds& ids, const std::string& value_type,
                           const std::vector<std::pair<std::int64_t, AvroBytes>>& pairs) {
  const AvroRecord pair{int_field("key", ids.key, 0),
                        {"value", std::to_string(ids.value), value_type, AvroBytes()}};
  std::vector<AvroBytes> elements;
  for (const auto& [key, value] : pairs) {
    elements.push_back(AvroBytes().integer(key).append(value));
  }
  return {ids.name, std::to_string(ids.map),
          R"({"type":"array","logicalType":"map","items":)" +
              pair.schema("k" + std::to_string(ids.key)) + '}',
          AvroBytes().array(elements)};
}
inline AvroField count_map(const MapIds& ids,
                           std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) {
  std::vector<std::pair<std::int64_t, AvroBytes>> encoded;
  for (const auto& [key, value] : pairs) encoded.emplace_back(key, AvroBytes().integer(value));
  return map_field(ids, R"("long")", encoded);
}
inline AvroField bound_map(const MapIds& ids,
                           std::initializer_list<std::pair<std::int64_t, std::string>> pairs) {
  std::vector<std::pair<std::int64_t, AvroBytes>> encoded;
  for (const auto& [key, value] : pairs) encoded.emplace_back(key, AvroBytes().text(value));
  return map_field(ids, R"("bytes")", encoded);
}

// ---- Records

/// What format 2 demands of a data file, and no more.
inline AvroRecord data_file(const std::string& path = "s3://b/t/data/a.parquet") {
  return {int_field("content", 134, 0),
          text_field("file_path", 100, path),
          text_field("file_format", 101, "PARQUET"),
          record_field("partition", 102, {}),
          long_field("record_count", 103, 10),
          long_field("file_size_in_bytes", 104, 1000)};
}
inline AvroRecord position_deletes(const std::string& path = "s3://b/t/data/d.parquet") {
  return data_file(path).with(int_field("content", 134, 1));
}
/// An added file, that inherits all there is to inherit.
inline AvroRecord entry(const AvroRecord& file = data_file(), int status = 1) {
  return {int_field("status", 0, status), none(long_field("snapshot_id", 1, 0)),
          none(long_field("sequence_number", 3, 0)), none(long_field("file_sequence_number", 4, 0)),
          record_field("data_file", 2, file)};
}
/// As format 1 has it.
inline AvroRecord v1_entry(int status = 1) {
  return {int_field("status", 0, status), long_field("snapshot_id", 1, 33),
          record_field("data_file", 2, data_file().without("content"))};
}
/// What format 2 demands of an entry of a manifest list.
inline AvroRecord list_entry(const std::string& path = "s3://b/t/m0.avro") {
  return {text_field("manifest_path", 500, path),    long_field("manifest_length", 501, 100),
          int_field("partition_spec_id", 502, 0),    int_field("content", 517, 0),
          long_field("sequence_number", 515, 5),     long_field("min_sequence_number", 516, 4),
          long_field("added_snapshot_id", 503, 77),  int_field("added_files_count", 504, 1),
          int_field("existing_files_count", 505, 2), int_field("deleted_files_count", 506, 3),
          long_field("added_rows_count", 512, 10),   long_field("existing_rows_count", 513, 20),
          long_field("deleted_rows_count", 514, 30)};
}

// ---- Files

using HeaderMetadata = std::vector<std::pair<std::string, std::string>>;

/// A block for each two records, of the first one's schema.
inline std::string avro_file(const std::vector<AvroRecord>& records,
                             const HeaderMetadata& metadata = {},
                             const std::string& codec = "deflate") {
  AvroFile file(records.at(0).schema("manifest_entry"), codec);
  for (const auto& [key, value] : metadata) file.add_metadata(key, value);
  for (std::size_t i = 0; i < records.size(); ++i) {
    file.add_record(records[i].value());
    if (i % 2 == 1) file.end_block();
  }
  return file.bytes();
}

// ---- What the readers say

/// Of the manifests that the tests make: added by snapshot 77, of sequence number 5.
inline ManifestFile listed(ManifestContent content = ManifestContent::kData) {
  ManifestFile manifest;
  manifest.manifest_path = "s3://b/t/m0.avro";
  manifest.partition_spec_id = 0;
  manifest.content = content;
  manifest.sequence_number = 5;
  manifest.added_snapshot_id = 77;
  return manifest;
}

inline std::shared_ptr<const TableMetadata> table_of(const Document& document) {
  const auto table = load(document);
  EXPECT_TRUE(table) << table.error().message();
  return table ? *table : nullptr;
}
inline std::shared_ptr<const TableMetadata> unpartitioned_table() {
  static const auto table = table_of(v2());
  return table;
}

inline Result<std::shared_ptr<const Manifest>> read(
    const std::vector<AvroRecord>& entries, const ManifestFile& as = listed(),
    const HeaderMetadata& metadata = {},
    const std::shared_ptr<const TableMetadata>& table = unpartitioned_table()) {
  return read_manifest(avro_file(entries, metadata), as, *table);
}
inline Result<std::shared_ptr<const ManifestList>> read_list(const std::vector<AvroRecord>& entries,
                                                             const HeaderMetadata& metadata = {}) {
  TableSnapshot of;
  of.snapshot_id = 77;
  return read_manifest_list(avro_file(entries, metadata), of);
}

template <typename Document>
std::string text_of_result(const Result<std::shared_ptr<const Document>>& result) {
  return result ? "accepted"
                : std::string(to_string(result.error().kind())) + ": " + result.error().message();
}
MATCHER_P(FailsWith, text, "") {
  *result_listener << text_of_result(arg);
  return text_of_result(arg) == text;
}
MATCHER_P(FailsAs, part, "") {
  *result_listener << text_of_result(arg);
  return !arg && text_of_result(arg).find(part) != std::string::npos;
}

}  // namespace iceblink::iceberg::testing
