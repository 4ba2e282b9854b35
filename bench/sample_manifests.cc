#include "bench/sample_manifests.h"

#include <cstdint>
#include <fstream>
#include <string_view>
#include <vector>

#include "bench/measurement.h"
#include "tests/iceberg/avro/avro_writer.h"

namespace iceblink::bench {
namespace {

using iceberg::testing::AvroBytes;
using iceberg::testing::AvroFile;

constexpr std::int64_t kSnapshotId = 7'000'000'001;
constexpr std::int64_t kRecordsPerFile = 100'000;

std::string field(std::string_view name, int id, const std::string& type) {
  return R"({"name":")" + std::string(name) + R"(","field-id":)" + std::to_string(id) +
         R"(,"type":)" + type + '}';
}
std::string optional(const std::string& type) {
  return R"(["null",)" + type + ']';
}
std::string list_of(const std::string& items, int element_id) {
  return R"({"type":"array","element-id":)" + std::to_string(element_id) + R"(,"items":)" + items +
         '}';
}
std::string map_of(int key_id, int value_id, const std::string& value) {
  return R"({"type":"array","logicalType":"map","items":{"type":"record","name":"k)" +
         std::to_string(key_id) + "_v" + std::to_string(value_id) + R"(","fields":[)" +
         field("key", key_id, R"("int")") + ',' + field("value", value_id, value) + "]}}";
}

std::string entry_schema() {
  const std::string file =
      R"({"type":"record","name":"r2","fields":[)" + field("content", 134, R"("int")") + ',' +
      field("file_path", 100, R"("string")") + ',' + field("file_format", 101, R"("string")") +
      ',' + field("partition", 102, R"({"type":"record","name":"r102","fields":[]})") + ',' +
      field("record_count", 103, R"("long")") + ',' +
      field("file_size_in_bytes", 104, R"("long")") + ',' +
      field("column_sizes", 108, optional(map_of(117, 118, R"("long")"))) + ',' +
      field("value_counts", 109, optional(map_of(119, 120, R"("long")"))) + ',' +
      field("null_value_counts", 110, optional(map_of(121, 122, R"("long")"))) + ',' +
      field("nan_value_counts", 137, optional(map_of(138, 139, R"("long")"))) + ',' +
      field("lower_bounds", 125, optional(map_of(126, 127, R"("bytes")"))) + ',' +
      field("upper_bounds", 128, optional(map_of(129, 130, R"("bytes")"))) + ',' +
      field("key_metadata", 131, optional(R"("bytes")")) + ',' +
      field("split_offsets", 132, optional(list_of(R"("long")", 133))) + ',' +
      field("equality_ids", 135, optional(list_of(R"("int")", 136))) + ',' +
      field("sort_order_id", 140, optional(R"("int")")) + "]}";
  return R"({"type":"record","name":"manifest_entry","fields":[)" + field("status", 0, R"("int")") +
         ',' + field("snapshot_id", 1, optional(R"("long")")) + ',' +
         field("sequence_number", 3, optional(R"("long")")) + ',' +
         field("file_sequence_number", 4, optional(R"("long")")) + ',' +
         field("data_file", 2, file) + "]}";
}

std::string list_schema() {
  const std::string summary = R"({"type":"record","name":"r508","fields":[)" +
                              field("contains_null", 509, R"("boolean")") + ',' +
                              field("contains_nan", 518, optional(R"("boolean")")) + ',' +
                              field("lower_bound", 510, optional(R"("bytes")")) + ',' +
                              field("upper_bound", 511, optional(R"("bytes")")) + "]}";
  std::string fields = field("manifest_path", 500, R"("string")");
  const auto add = [&](std::string_view name, int id, const std::string& type) {
    fields += ',' + field(name, id, type);
  };
  add("manifest_length", 501, R"("long")");
  add("partition_spec_id", 502, R"("int")");
  add("content", 517, R"("int")");
  add("sequence_number", 515, R"("long")");
  add("min_sequence_number", 516, R"("long")");
  add("added_snapshot_id", 503, R"("long")");
  add("added_files_count", 504, R"("int")");
  add("existing_files_count", 505, R"("int")");
  add("deleted_files_count", 506, R"("int")");
  add("added_rows_count", 512, R"("long")");
  add("existing_rows_count", 513, R"("long")");
  add("deleted_rows_count", 514, R"("long")");
  add("partitions", 507, optional(list_of(summary, 508)));
  add("key_metadata", 519, optional(R"("bytes")"));
  return R"({"type":"record","name":"manifest_file","fields":[)" + fields + "]}";
}

std::string eight_bytes(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// A map from each column to what `value(column)` appends.
template <typename Append>
AvroBytes of_columns(std::size_t column_count, Append append) {
  std::vector<AvroBytes> entries;
  for (std::size_t column = 1; column <= column_count; ++column) {
    AvroBytes& entry = entries.emplace_back();
    entry.integer(static_cast<std::int64_t>(column));
    append(entry, column);
  }
  return AvroBytes().some_branch().array(entries);
}

AvroBytes entry_of(const std::string& directory, std::size_t file, std::size_t column_count) {
  const auto count_of = [&](std::int64_t count) {
    return of_columns(column_count, [&](AvroBytes& to, std::size_t) { to.integer(count); });
  };
  const auto bound_of = [&](std::size_t at) {
    return of_columns(column_count, [&](AvroBytes& to, std::size_t column) {
      to.text(eight_bytes(at * kRecordsPerFile + column));
    });
  };
  const auto size = static_cast<std::int64_t>(20'000'000 + file);
  AvroBytes entry;
  entry.integer(1).null_branch().null_branch().null_branch();
  entry.integer(0).text(directory + "/data/00000-" + std::to_string(file) + "-a1b2c3.parquet");
  entry.text("PARQUET").integer(kRecordsPerFile).integer(size);
  entry.append(of_columns(column_count, [&](AvroBytes& to, std::size_t column) {
    to.integer(static_cast<std::int64_t>(1'000'000 + column));
  }));
  entry.append(count_of(kRecordsPerFile)).append(count_of(0)).append(count_of(0));
  entry.append(bound_of(file)).append(bound_of(file + 1));
  entry.null_branch();
  entry.some_branch().array({AvroBytes().integer(4)});
  return entry.null_branch().null_branch();
}

/// How many bytes it has.
std::int64_t write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  require(static_cast<bool>(file << bytes << std::flush), "cannot write a file");
  return static_cast<std::int64_t>(bytes.size());
}

std::string schema_json(std::size_t column_count) {
  std::string json = R"({"type":"struct","schema-id":0,"fields":[)";
  for (std::size_t column = 1; column <= column_count; ++column) {
    const std::string id = std::to_string(column);
    if (column > 1) json += ',';
    json += R"({"id":)" + id + R"(,"name":"c)" + id + R"(","required":false,"type":"long"})";
  }
  return json + "]}";
}

std::string metadata_json(const std::string& directory, const std::string& list,
                          std::size_t column_count) {
  const std::string id = std::to_string(kSnapshotId);
  return R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000007",)" +
         std::string(R"("location":")") + directory +
         R"(","last-sequence-number":1,"last-updated-ms":1700000000000,)" + R"("last-column-id":)" +
         std::to_string(column_count) + R"(,"schemas":[)" + schema_json(column_count) +
         R"(],"current-schema-id":0,"partition-specs":[)" +
         R"({"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,)" +
         R"("sort-orders":[{"order-id":0,"fields":[]}],"default-sort-order-id":0,)" +
         R"("properties":{},)" + std::string(R"("current-snapshot-id":)") + id +
         R"(,"refs":{"main":{"type":"branch","snapshot-id":)" + id +
         R"(}},"snapshots":[{"snapshot-id":)" + id +
         R"(,"sequence-number":1,"timestamp-ms":1700000000000,"schema-id":0,)" +
         R"("summary":{"operation":"append"},"manifest-list":")" + list + R"("}]})";
}

}  // namespace

std::string write_sample_table(const std::string& directory, const SampleManifestsShape& shape) {
  AvroFile list(list_schema(), "deflate");
  list.add_metadata("format-version", "2");
  for (std::size_t m = 0; m < shape.manifest_count; ++m) {
    AvroFile manifest(entry_schema(), "deflate");
    manifest.add_metadata("schema", schema_json(shape.column_count));
    manifest.add_metadata("partition-spec", "[]").add_metadata("partition-spec-id", "0");
    manifest.add_metadata("format-version", "2").add_metadata("content", "data");
    for (std::size_t i = 0; i < shape.files_per_manifest; ++i) {
      const std::size_t file = m * shape.files_per_manifest + i;
      manifest.add_record(entry_of(directory, file, shape.column_count));
      if (i % 100 == 99) manifest.end_block();
    }
    const std::string path = directory + '/' + std::to_string(m) + "-m0.avro";
    const auto files = static_cast<std::int64_t>(shape.files_per_manifest);
    AvroBytes entry;
    entry.text(path).integer(write_file(path, manifest.bytes())).integer(0).integer(0);
    entry.integer(1).integer(1).integer(kSnapshotId).integer(files).integer(0).integer(0);
    entry.integer(files * kRecordsPerFile).integer(0).integer(0);
    list.add_record(entry.some_branch().array({}).null_branch());
  }
  const std::string list_path = directory + "/snap-1.avro";
  write_file(list_path, list.bytes());
  const std::string path = directory + "/00001.metadata.json";
  write_file(path, metadata_json(directory, list_path, shape.column_count));
  return path;
}

}  // namespace iceblink::bench
