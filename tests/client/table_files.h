// Manifest lists and manifests of small tables, written into a directory. The tables are of format
// 2 or 3; their files are partitioned by a string, `kind`, or not at all.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/iceberg/avro/avro_writer.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::testing {

using iceberg::testing::AvroBytes;
using iceberg::testing::AvroFile;

/// An entry of a manifest: a data file of one record that was added, but for what is given.
struct Entry {
  std::string path;
  std::optional<std::string> kind = std::nullopt;
  int status = 1;  // 0 existing, 1 added, 2 deleted
  int content = 0;
  std::string format = "PARQUET";
  std::int64_t records = 1;
  std::int64_t size = 100;
  std::vector<std::int64_t> equality_ids = {};
  std::optional<std::string> referenced_data_file = std::nullopt;
  std::optional<std::int64_t> content_offset = std::nullopt;
  std::optional<std::int64_t> sequence_number = std::nullopt;  // inherited where it is absent
};

/// A manifest as its list names it.
struct ListedManifest {
  std::string path;
  int content = 0;
  std::int64_t sequence_number = 1;
  std::int64_t snapshot_id = 1;
  std::vector<Entry> entries;
};

inline std::string avro_field(const std::string& name, int id, const std::string& type) {
  return R"({"name":")" + name + R"(","field-id":)" + std::to_string(id) + R"(,"type":)" + type +
         '}';
}

inline std::string avro_record(const std::string& name, const std::vector<std::string>& fields) {
  std::string text;
  for (const auto& field : fields) text += (text.empty() ? "" : ",") + field;
  return R"({"type":"record","name":")" + name + R"(","fields":[)" + text + "]}";
}

inline std::string manifest_schema() {
  const std::string optional_long = R"(["null","long"])";
  const std::string optional_string = R"(["null","string"])";
  const std::string partition = avro_record("r102", {avro_field("kind", 1000, optional_string)});
  const std::string ids = R"(["null",{"type":"array","items":"int","element-id":136}])";
  const std::string file = avro_record(
      "r2",
      {avro_field("content", 134, R"("int")"), avro_field("file_path", 100, R"("string")"),
       avro_field("file_format", 101, R"("string")"), avro_field("partition", 102, partition),
       avro_field("record_count", 103, R"("long")"),
       avro_field("file_size_in_bytes", 104, R"("long")"), avro_field("equality_ids", 135, ids),
       avro_field("referenced_data_file", 143, optional_string),
       avro_field("content_offset", 144, optional_long),
       avro_field("content_size_in_bytes", 145, optional_long)});
  return avro_record(
      "manifest_entry",
      {avro_field("status", 0, R"("int")"), avro_field("snapshot_id", 1, optional_long),
       avro_field("sequence_number", 3, optional_long),
       avro_field("file_sequence_number", 4, optional_long), avro_field("data_file", 2, file)});
}

inline std::string manifest_list_schema() {
  std::vector<std::string> fields{avro_field("manifest_path", 500, R"("string")")};
  const std::pair<const char*, int> longs[] = {
      {"manifest_length", 501},   {"sequence_number", 515},  {"min_sequence_number", 516},
      {"added_snapshot_id", 503}, {"added_rows_count", 512}, {"existing_rows_count", 513},
      {"deleted_rows_count", 514}};
  for (const auto& [name, id] : longs) fields.push_back(avro_field(name, id, R"("long")"));
  const std::pair<const char*, int> ints[] = {{"partition_spec_id", 502},
                                              {"content", 517},
                                              {"added_files_count", 504},
                                              {"existing_files_count", 505},
                                              {"deleted_files_count", 506}};
  for (const auto& [name, id] : ints) fields.push_back(avro_field(name, id, R"("int")"));
  return avro_record("manifest_file", fields);
}

inline AvroBytes optional_integer(const std::optional<std::int64_t>& value) {
  return value ? AvroBytes().some_branch().integer(*value) : AvroBytes().null_branch();
}

inline AvroBytes optional_text(const std::optional<std::string>& value) {
  return value ? AvroBytes().some_branch().text(*value) : AvroBytes().null_branch();
}

inline AvroBytes avro_of(const Entry& entry) {
  std::vector<AvroBytes> ids;
  for (const auto id : entry.equality_ids) ids.push_back(AvroBytes().integer(id));
  const auto content_size = entry.content_offset ? std::optional(entry.size) : std::nullopt;
  return AvroBytes()
      .integer(entry.status)
      .null_branch()  // snapshot_id
      .append(optional_integer(entry.sequence_number))
      .append(optional_integer(entry.sequence_number))  // file_sequence_number
      .integer(entry.content)
      .text(entry.path)
      .text(entry.format)
      .append(optional_text(entry.kind))
      .integer(entry.records)
      .integer(entry.size)
      .append(ids.empty() ? AvroBytes().null_branch() : AvroBytes().some_branch().array(ids))
      .append(optional_text(entry.referenced_data_file))
      .append(optional_integer(entry.content_offset))
      .append(optional_integer(content_size));
}

/// Counts of files, or records, of each status: added, existing, deleted.
struct StatusCounts {
  std::int64_t files[3] = {};
  std::int64_t records[3] = {};

  explicit StatusCounts(const std::vector<Entry>& entries) {
    for (const auto& entry : entries) {
      ++files[entry.status];
      records[entry.status] += entry.records;
    }
  }
};

/// Files of one table, in a directory that is there.
class TableFiles {
 public:
  explicit TableFiles(std::string directory, std::string codec = "null")
      : directory_(std::move(directory)), codec_(std::move(codec)) {}

  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = directory_ + '/' + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  ListedManifest manifest(const std::string& name, std::vector<Entry> entries,
                          std::int64_t sequence_number = 1, int content = 0) const {
    AvroFile file(manifest_schema(), codec_);
    file.add_metadata("format-version", "2").add_metadata("partition-spec-id", "0");
    file.add_metadata("content", content == 0 ? "data" : "deletes");
    for (const auto& entry : entries) file.add_record(avro_of(entry));
    return {write(name, file.bytes()), content, sequence_number, sequence_number,
            std::move(entries)};
  }

  /// Its path.
  std::string manifest_list(const std::string& name,
                            const std::vector<ListedManifest>& manifests) const {
    AvroFile file(manifest_list_schema(), codec_);
    file.add_metadata("format-version", "2");
    for (const auto& manifest : manifests) {
      const StatusCounts counts(manifest.entries);
      std::ifstream written(manifest.path, std::ios::binary | std::ios::ate);
      file.add_record(AvroBytes()
                          .text(manifest.path)
                          .integer(written.tellg())
                          .integer(manifest.sequence_number)
                          .integer(manifest.sequence_number)
                          .integer(manifest.snapshot_id)
                          .integer(counts.records[1])
                          .integer(counts.records[0])
                          .integer(counts.records[2])
                          .integer(0)
                          .integer(manifest.content)
                          .integer(counts.files[1])
                          .integer(counts.files[0])
                          .integer(counts.files[2]));
    }
    return write(name, file.bytes());
  }

 private:
  const std::string directory_;
  const std::string codec_;
};

/// A table of format 2 with columns `id` and `kind`, partitioned by `kind`.
inline iceberg::testing::Document partitioned_table() {
  using iceberg::testing::field;
  return iceberg::testing::with_schema(
             iceberg::testing::v2(),
             field(1, "id").text() + ',' + field(2, "kind", R"("string")").text())
      .with("last-column-id", "2")
      .with("last-partition-id", "1000")
      .with("partition-specs", R"([{"spec-id":0,"fields":[{"name":"kind","transform":"identity",)"
                               R"("source-id":2,"field-id":1000}]}])");
}

}  // namespace iceblink::testing
